/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.h - values of job attributes in the form that is sent.
 */
#ifndef CLIENT_PREPARE_H
#define CLIENT_PREPARE_H

#include "pbs_ifl.h"

/* Copies `list`; the strings are borrowed from it, except Output_Path and Error_Path (host and directory added) and
 * depend (ids completed); each `op` is SET. The caller frees the copy with prepare_free(), before `list`. Returns 0,
 * -ENOMEM, or -EINVAL for a value that verify() refuses. */
int prepare_job(const struct attropl *list, struct attropl **ret_copy);

/* Frees the copy and what was made for it; NULL is allowed. */
void prepare_free(struct attropl *copy);

#endif
