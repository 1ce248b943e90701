/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.h - a small number for each of many ordinals 0..count-1, kept as runs of equal ones.
 *
 * A million subjobs that all wait are one run. Memory follows the number of runs, never the count.
 */
#ifndef ARRAYS_RUNS_H
#define ARRAYS_RUNS_H

#include <stdbool.h>
#include <stdint.h>

struct run {
	uint32_t first; /* up to the next run's first */
	int32_t value;
};
struct runs {
	struct run *at; /* owned; never empty, neighbours differ */
	uint32_t n, cap, count;
};

/* All of `count` (> 0) ordinals have this value. Fails with -ENOMEM. */
int runs_init(struct runs *r, uint32_t count, int32_t value);
void runs_fini(struct runs *r);
/* Of ordinal i < count. *ret_last (may be NULL): the last ordinal of its run. */
int32_t runs_get(const struct runs *r, uint32_t i, uint32_t *ret_last);
/* 0; fails with -ENOMEM, and nothing has changed. */
int runs_set(struct runs *r, uint32_t i, int32_t value);
/* `to` for each of first, first+step .. last that is `from`. *ret_n (may be NULL): how many. Fails with -ENOMEM, and
 * nothing has changed. */
int runs_replace(struct runs *r, uint32_t first, uint32_t last, uint32_t step, int32_t from, int32_t to,
		 uint32_t *ret_n);
/* Every value becomes what fn makes of it; neighbours that become equal are one. */
void runs_map(struct runs *r, int32_t (*fn)(int32_t value));
/* The first ordinal >= `from` that has this value; false: none. */
bool runs_find(const struct runs *r, uint32_t from, int32_t value, uint32_t *ret_i);

#endif
