/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - the compiled chains in words, for administrators.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hook/inside.h"

static const char *duration(uint64_t ns, char *text, size_t size)
{
	if (ns < 1000)
		snprintf(text, size, "%lluns", (unsigned long long)ns);
	else if (ns < 1000000)
		snprintf(text, size, "%.1fus", (double)ns / 1e3);
	else
		snprintf(text, size, "%.1fms", (double)ns / 1e6);
	return text;
}

static const char *policy_name(uint32_t policy)
{
	return policy == KEEL_ON_FAIL_REJECT ? "on_fail=reject" :
	       policy == KEEL_ON_FAIL_BENCH  ? "on_fail=bench" :
					       "on_fail=skip";
}

static void describe_tap(uint32_t place, const struct tap *t, struct buf *out)
{
	char p50[32], p99[32], max[32];

	buf_printf(out, "%u %s order=%d %s", place, t->name, t->order, policy_name(t->policy));
	if (t->before != NULL)
		buf_printf(out, " before=%s", t->before);
	if (t->after != NULL)
		buf_printf(out, " after=%s", t->after);
	buf_printf(out, " calls=%llu fails=%u p50=%s p99=%s max=%s", (unsigned long long)tap_calls(t),
		   t->stat.fails, duration(stat_quantile(&t->stat, 50), p50, sizeof(p50)),
		   duration(stat_quantile(&t->stat, 99), p99, sizeof(p99)),
		   duration(t->stat.max_ns, max, sizeof(max)));
	if (t->stat.strikes > 0)
		buf_printf(out, " strikes=%u", t->stat.strikes);
	if (t->off & TAP_BENCHED)
		buf_str(out, " BENCHED");
	buf_str(out, "\n");
}

int hooks_describe(struct hooks *h, const char *name, struct buf *out)
{
	const struct point *p = point_named(h, name);
	const struct chain *c = p != NULL ? p->chain : NULL;

	if (p == NULL)
		return -ENOENT;
	for (uint32_t i = 0, place = 1; c != NULL && i < c->n; i++) {
		if (!(c->tap[i]->off & TAP_GONE))
			describe_tap(place++, c->tap[i], out);
	}
	return 0;
}

static void describe_point(const struct point *p, struct buf *out)
{
	buf_printf(out, "%s %s taps=%u %s", p->info->name, kind_name(p->kind), p->chain != NULL ? p->chain->n : 0,
		   p->info->doc);
	if (p->info->owner != NULL)
		buf_printf(out, " (of %s)", p->info->owner->pub.name);
	buf_str(out, "\n");
}

void hooks_describe_points(struct hooks *h, struct buf *out)
{
	for (uint32_t i = 0; i < n_point_infos; i++)
		describe_point(&h->point[point_infos[i].id], out);
	for (uint32_t i = KEEL_POINT_OWN; i < KEEL_POINT_MAX; i++) {
		if (h->point[i].info != NULL)
			describe_point(&h->point[i], out);
	}
}
