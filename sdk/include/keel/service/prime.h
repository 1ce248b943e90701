/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/prime.h - service "prime": what time of day it is, and will be, to a scheduler.
 */
#ifndef KEEL_SERVICE_PRIME_H
#define KEEL_SERVICE_PRIME_H

#include "keel/types.h"
#include "keel/use.h"

struct keel_prime_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* Is it prime time at `when` (seconds since 1970)? Without a calendar it always is. */
	bool (*is_prime)(struct keel_mod *, int64_t when);
	/* When prime time begins or ends next after `when`; 0: never, as far as a year goes. */
	int64_t (*next_change)(struct keel_mod *, int64_t when);
	/* The same, or when a dedicated time begins or ends, whatever is first. */
	int64_t (*next_event)(struct keel_mod *, int64_t when);
	/* May the job start at `start`? 0, or why not: a number of keel/sched_reason.def. */
	int32_t (*conflict)(struct keel_mod *, struct keel_obj *job, int64_t start);
};

KEEL_SERVICE(prime);
#define keel_prime_is_prime(...) KEEL_CALL(prime, is_prime, __VA_ARGS__)
#define keel_prime_next_change(...) KEEL_CALL(prime, next_change, __VA_ARGS__)
#define keel_prime_next_event(...) KEEL_CALL(prime, next_event, __VA_ARGS__)
#define keel_prime_conflict(...) KEEL_CALL(prime, conflict, __VA_ARGS__)

#endif
