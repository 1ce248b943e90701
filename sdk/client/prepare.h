/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.h - values of job attributes in the form that is sent.
 */
#ifndef CLIENT_PREPARE_H
#define CLIENT_PREPARE_H

#include "pbs_ifl.h"

/* A copy of `list` whose strings are borrowed from it, but for Output_Path and Error_Path (host and
 * directory added) and depend (ids completed); each `op` is SET. The copy is freed with prepare_free() and outlives
 * `list` in nothing. 0, -ENOMEM, -EINVAL (a value that verify() would have refused). */
int prepare_job(const struct attropl *list, struct attropl **ret_copy);
void prepare_free(struct attropl *copy);

#endif
