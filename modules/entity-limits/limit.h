/* SPDX-License-Identifier: Apache-2.0
 *
 * limit.h - a list of limits: `[u:alice=2],[g:PBS_GENERIC=5],[o:PBS_ALL=100]`.
 *
 * Pure functions over text. A list is sorted by its words (`u:alice`), each once.
 */
#ifndef LIMIT_H
#define LIMIT_H

#include "keel/text.h"
#include "keel/types.h"

struct limit {
	char *entity; /* "u:alice"; owned, with the number's text behind it */
	const char *text; /* the number as it was given */
	double n;
};
struct limit_list {
	uint32_t n, room;
	struct limit *v; /* sorted by entity */
};

/* Reads a number: 0; fails with a PBSE code. */
typedef int32_t limit_number_fn(void *arg, const char *text, double *ret);
limit_number_fn limit_count; /* digits */

/* SET, INCR (a word that is there gets the new number) or DECR (the number may be missing). 0; fails with a PBSE code, or
 * LIMIT_TOO_MANY (so many fit into no list), and the list is as before. */
#define LIMIT_TOO_MANY (-1)
int32_t limit_parse(struct limit_list *l, int32_t op, const char *text, limit_number_fn *number,
		    void *arg);
const struct limit *limit_find(const struct limit_list *l, const char *entity);
void limit_text(const struct limit_list *l, struct keel_text *out);
int32_t limit_copy(const struct limit_list *from, struct limit_list *to); /* fails with -ENOMEM */
void limit_fini(struct limit_list *l);

#endif
