/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.h - becoming a user: the one place where a process of ours gives up root. A process that has
 * done so cannot go back, so whatever acts as a user is a process of its own.
 */
#ifndef EXECUTOR_IDENTITY_H
#define EXECUTOR_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

/* Sets groups, gid and uid for good, and verifies them; root cannot be taken back. 0; when it fails, with -errno, the
 * caller's process must end. */
int identity_become(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);

#endif
