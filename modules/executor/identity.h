/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.h - becoming a user: the one place where a process of ours gives up root. A process that has
 * done so cannot go back, so whatever acts as a user is a process of its own.
 */
#ifndef EXECUTOR_IDENTITY_H
#define EXECUTOR_IDENTITY_H

#include <stddef.h>
#include <sys/types.h>

/* Groups, gid, uid for good, and verified; root cannot be taken back. 0 or -errno: the process must end. */
int identity_become(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);

#endif
