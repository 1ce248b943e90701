/* SPDX-License-Identifier: Apache-2.0
 *
 * account.h - how long things of a kind took; keel_account() of keel/inspect.h gives it to modules.
 */
#ifndef KEELSON_ACCOUNT_H
#define KEELSON_ACCOUNT_H

#include "keel/api.h"

/* One of them is over, and took so long. */
static inline void account_add(struct keel_account *a, int64_t ns)
{
	uint64_t took = ns > 0 ? (uint64_t)ns : 0, us = took / 1000;
	int i = us > 0 ? 64 - __builtin_clzll(us) : 0;

	a->count++;
	a->sum_ns += took;
	a->longest_ns = took > a->longest_ns ? took : a->longest_ns;
	a->bucket[i < KEEL_ACCOUNT_BUCKETS ? i : KEEL_ACCOUNT_BUCKETS - 1]++;
}

#endif
