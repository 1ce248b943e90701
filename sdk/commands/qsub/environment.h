/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.h - the variables a job is given.
 */
#ifndef QSUB_ENVIRONMENT_H
#define QSUB_ENVIRONMENT_H

#include <stdbool.h>

/* The value of Variable_List: the submitter's surroundings (PBS_O_*), then `wanted` (the value of
 * -v, or NULL), then, when `all`, the rest of the environment. Malloc'ed. 0; -ENOENT: a name in
 * `wanted` is not set; -EINVAL: `wanted` is malformed; -ENOMEM. */
int environment_list(const char *wanted, bool all, char **ret);

#endif
