/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - status answers as batch_status objects.
 */
#ifndef CLIENT_STATUS_H
#define CLIENT_STATUS_H

#include "pack.h"
#include "pbs_ifl.h"

/* What to ask; everything is borrowed, and what is NULL is sent as nil. */
struct status_query {
	const char *klass, *id, *extend;
	const struct attropl *select;
	const struct attrl *want;
};

/* Gets each object as it arrives and owns it (pbs_statfree). 0; -ENOMEM; > 0: no more. */
typedef int status_taker(struct batch_status *one, void *arg);

/* 0 or the error. */
int status_run(int c, const struct status_query *q, status_taker *take, void *arg);

/* The whole list, NULL on error (pbs_errno) or when nothing matched. */
struct batch_status *status_list(int c, const struct status_query *q);

/* An empty object: one block with room for `n` attributes and `text_size` bytes of strings behind
 * them (*ret_text). NULL: no memory. Freed with free(), and so by pbs_statfree. */
struct batch_status *status_block(size_t n, size_t text_size, struct attrl **ret_attribs,
				  char **ret_text);

#endif
