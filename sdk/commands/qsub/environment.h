/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.h - the variables of a job.
 */
#ifndef QSUB_ENVIRONMENT_H
#define QSUB_ENVIRONMENT_H

#include <stdbool.h>

/* The value of Variable_List, which the caller frees: the submitter's PBS_O_* variables, then `wanted` (the value of
 * -v, or NULL), then, if `all`, the rest of the environment. Returns 0; -ENOENT: a name in
 * `wanted` is not set; -EINVAL: `wanted` is malformed; -ENOMEM. */
int environment_list(const char *wanted, bool all, char **ret);

#endif
