/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - status replies as batch_status objects.
 */
#ifndef CLIENT_STATUS_H
#define CLIENT_STATUS_H

#include "pack.h"
#include "pbs_ifl.h"

/* A status request; all members are borrowed, NULL is sent as nil. */
struct status_query {
	const char *klass, *id, *extend;
	const struct attropl *select;
	const struct attrl *want;
};

/* Called for each object as it arrives; takes ownership (pbs_statfree). Returns 0; -ENOMEM: error; > 0: no more. */
typedef int status_taker(struct batch_status *one, void *arg);

/* Returns 0 or the error, as call(). */
int status_run(int c, const struct status_query *q, status_taker *take, void *arg);

/* Returns the whole list, owned by the caller; NULL on an error (pbs_errno) or if nothing matched. */
struct batch_status *status_list(int c, const struct status_query *q);

/* Returns an empty object: one allocation with room for `n` attributes and `text_size` bytes of strings behind them
 * (*ret_text). NULL: out of memory. Freed with free(), and so by pbs_statfree. */
struct batch_status *status_block(size_t n, size_t text_size, struct attrl **ret_attribs,
				  char **ret_text);

#endif
