/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the language of preempt_order: METHODS { PERCENT METHODS }.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_RANGES 20
#define ORDER_LETTERS 26

struct order {
	uint32_t n;
	struct {
		char letters[ORDER_LETTERS + 1];
		int32_t above; /* for jobs with more than this percentage left; the last: for all others */
	} range[ORDER_RANGES];
};

/* Returns whether a loaded module offers a method of this letter. */
typedef bool order_known_fn(void *arg, char letter);

/* False: not a value of preempt_order. `known` NULL: any upper case letter will do. */
bool order_parse(const char *text, order_known_fn *known, void *arg, struct order *ret);
/* The letters for a job with so much of its time left; `percent` < 0: it requests no walltime. */
const char *order_letters(const struct order *o, int32_t percent);

/* What is left of `requested` seconds, in percent; 1 when more than that was used. */
int32_t percent_left(int64_t used, int64_t requested);

#endif
