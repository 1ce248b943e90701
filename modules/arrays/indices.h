/* SPDX-License-Identifier: Apache-2.0
 *
 * indices.h - the numbers users give subjobs: `1-10:2`, and lists of such ranges.
 *
 * Inside, subjobs are counted by ordinals 0..count-1: index = first + ordinal * step.
 */
#ifndef ARRAYS_INDICES_H
#define ARRAYS_INDICES_H

#include "runs.h"

#include <stddef.h>

struct indices {
	uint32_t first, step, count;
};

/* Some of an array's ordinals: first, first+step .. last. */
struct some {
	uint32_t first, last, step;
};
struct selection {
	struct some *at; /* owned */
	uint32_t n;
	bool outside; /* it also named what is not in the array */
};

#define INDEX_MAX 2000000000u

/* `X-Y[:Z]`, X < Y, Z >= 1. False: it is not that. */
bool indices_parse(const char *text, struct indices *ret);
/* Is it one of them? */
bool indices_ordinal(const struct indices *x, uint32_t index, uint32_t *ret_ordinal);
uint32_t indices_index(const struct indices *x, uint32_t ordinal);
/* `3`, `1-9:2`, `1-3,7,10-20:5`: len bytes of text. 0, and the caller calls selection_fini(); fails with -EINVAL (another
 * grammar) or -ENOMEM. */
int selection_parse(const struct indices *x, const char *text, size_t len, struct selection *ret);
int selection_all(const struct indices *x, struct selection *ret);
void selection_fini(struct selection *s);
/* The indices of the ordinals with this value, in the grammar above, "" when there are none; the caller frees it. NULL
 * without memory. */
char *indices_text(const struct indices *x, const struct runs *r, int32_t value);
/* The same for each value from `least` on: `value:indices;value:indices`, by value. */
char *indices_text_each(const struct indices *x, const struct runs *r, int32_t least);

#endif
