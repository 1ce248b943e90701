/* SPDX-License-Identifier: Apache-2.0
 *
 * usage.c - what the taps of one module have done, added up.
 */
#include "hook/inside.h"

static void add(struct hooks_usage *u, const struct tap *t)
{
	u->taps++;
	u->benched += (t->off & TAP_BENCHED) != 0;
	u->strikes += t->stat.strikes;
	u->fails += t->stat.fails;
	u->calls += tap_calls(t);
	u->time_ns += t->stat.wall_ns;
	u->cpu_ns += t->stat.cpu_ns;
}

void hooks_usage(struct hooks *h, const struct owner *owner, struct hooks_usage *ret)
{
	*ret = (struct hooks_usage){ 0 };
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		for (const struct tap *t = h->point[i].taps; t != NULL; t = t->next) {
			if (t->owner == owner)
				add(ret, t);
		}
	}
}
