/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - reports for administrators: the compiled chains; what each tap, and each module, has cost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"

static void describe_tap(uint32_t place, const struct tap *t, struct buf *out)
{
	const double ns = (double)t->stat.longest_ns;

	buf_printf(out, "%u %s order=%d %s", place, t->name, t->place.order,
		   t->policy == KEEL_ON_FAIL_REJECT ? "on_fail=reject" :
		   t->policy == KEEL_ON_FAIL_BENCH  ? "on_fail=bench" :
						      "on_fail=skip");
	if (t->place.before != NULL)
		buf_printf(out, " before=%s", t->place.before);
	if (t->place.after != NULL)
		buf_printf(out, " after=%s", t->place.after);
	buf_printf(out, " calls=%llu fails=%u", (unsigned long long)tap_calls(t), t->stat.fails);
	if (ns < 1e3)
		buf_printf(out, " longest=%.0fns", ns);
	else
		buf_printf(out, ns < 1e6 ? " longest=%.1fus" : " longest=%.1fms", ns / (ns < 1e6 ? 1e3 : 1e6));
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

void hooks_describe_points(struct hooks *h, struct buf *out)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		const struct point *p = &h->point[i];

		if (p->info != NULL)
			buf_printf(out, "%s %s taps=%u %s\n", p->info->name, kind_name(p->kind),
				   p->chain != NULL ? p->chain->n : 0, p->info->doc);
	}
}

/* ---- what it costs: rows of a table, for `keelson hooks --time` --------------------------------------- */
/* `hook` names a row: the same tap may be at several points. */
#define COLUMNS "hook\tpoint\ttap\tcalls\ttime_ns\tlongest_ns\tfails\tstrikes\tstate\n"

/* Most time first. */
static int by_time(const void *left, const void *right)
{
	const struct tap *a = *(const struct tap *const *)left, *b = *(const struct tap *const *)right;

	if (a->stat.time_ns != b->stat.time_ns)
		return a->stat.time_ns > b->stat.time_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

int hooks_describe_times(struct hooks *h, const char *point, struct buf *out)
{
	const struct point *only = point != NULL ? point_named(h, point) : NULL;
	const struct tap **taps;
	uint32_t n = 0;

	if (point != NULL && only == NULL)
		return -ENOENT;
	FOR_EACH_TAP(h, t)
		n++;
	taps = calloc(n + 1, sizeof(*taps));
	if (taps == NULL)
		return -ENOMEM;
	n = 0;
	FOR_EACH_TAP(h, t) {
		if (only == NULL || only == &h->point[t->point])
			taps[n++] = t;
	}
	qsort(taps, n, sizeof(*taps), by_time);
	buf_str(out, COLUMNS);
	for (uint32_t i = 0; i < n; i++) {
		const struct tap *t = taps[i];
		const char *at = h->point[t->point].info->name;

		buf_printf(out, "%s/%s\t%s\t%s", at, t->name, at, t->name);
		buf_printf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, tap_calls(t), t->stat.time_ns, t->stat.longest_ns);
		buf_printf(out, "\t%u\t%u\t%s\n", t->stat.fails, t->stat.strikes,
			   t->off & TAP_BENCHED ? "benched" : t->off & TAP_QUIET ? "quiet" : "on");
	}
	free(taps);
	return 0;
}

void hooks_usage(struct hooks *h, const struct owner *owner, struct hooks_usage *ret)
{
	*ret = (struct hooks_usage){ 0 };
	FOR_EACH_TAP(h, t) {
		if (t->owner != owner)
			continue;
		ret->taps++;
		ret->benched += (t->off & TAP_BENCHED) != 0;
		ret->strikes += t->stat.strikes;
		ret->fails += t->stat.fails;
		ret->calls += tap_calls(t);
		ret->time_ns += t->stat.time_ns;
	}
}
