/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - moves a planned start to the first time at which the job may start.
 */
#include "prime-time.h"

#include <stdio.h>

#define BOUNDARIES 400 /* tried for one job: about a year of prime times */

keel_verdict on_start_when(struct keel_call *c, const struct keel_ev_start_when *ev)
{
	struct state *st = keel_state(c);
	int64_t when = ev->start;
	char text[32];
	uint32_t i;

	for (i = 0; i < BOUNDARIES && when && time_conflict(st, ev->job, when); i++)
		when = next_event(st, when);
	if (when == ev->start)
		return KEEL_NEXT;
	snprintf(text, sizeof(text), "%lld", (long long)when);
	return keel_answer(c, when && i < BOUNDARIES ? text : "never");
}
