/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - reports for administrators: the compiled chains; what each tap, and each module, has cost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
	char longest[32];

	buf_printf(out, "%u %s order=%d %s", place, t->name, t->place.order, policy_name(t->policy));
	if (t->place.before != NULL)
		buf_printf(out, " before=%s", t->place.before);
	if (t->place.after != NULL)
		buf_printf(out, " after=%s", t->place.after);
	buf_printf(out, " calls=%llu fails=%u longest=%s", (unsigned long long)tap_calls(t), t->stat.fails,
		   duration(t->stat.longest_ns, longest, sizeof(longest)));
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

/* ---- what it costs: rows of a table, for `keelson hooks --time` --------------------------------------- */
/* `hook` names a row: the same tap may be at several points. */
#define COLUMNS "hook\tpoint\ttap\tcalls\ttime_ns\tlongest_ns\tfails\tstrikes\tstate\n"

static void put_row(struct buf *out, const struct tap *t)
{
	const char *point = t->owner->parts->hooks->point[t->point].info->name;
	const struct tap_stat *s = &t->stat;

	buf_printf(out, "%s/%s\t%s\t%s", point, t->name, point, t->name);
	buf_printf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, tap_calls(t), s->time_ns, s->longest_ns);
	buf_printf(out, "\t%u\t%u\t%s\n", s->fails, s->strikes,
		   t->off & TAP_BENCHED ? "benched" : t->off & TAP_QUIET ? "quiet" : "on");
}

/* Most time first. */
static int by_time(const void *left, const void *right)
{
	const struct tap *a = *(const struct tap *const *)left, *b = *(const struct tap *const *)right;

	if (a->stat.time_ns != b->stat.time_ns)
		return a->stat.time_ns > b->stat.time_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Fills `taps` unless it is NULL; returns how many there are. `only` 0: of all points. */
static uint32_t collect(const struct hooks *h, uint32_t only, const struct tap **taps)
{
	uint32_t n = 0;

	FOR_EACH_TAP(h, t) {
		if (only != 0 && only != t->point)
			continue;
		if (taps != NULL)
			taps[n] = t;
		n++;
	}
	return n;
}

int hooks_describe_times(struct hooks *h, const char *point, struct buf *out)
{
	const struct point *p = point != NULL ? point_named(h, point) : NULL;
	uint32_t only = p != NULL ? p->info->id : 0, n = collect(h, only, NULL);
	const struct tap **taps;

	if (point != NULL && p == NULL)
		return -ENOENT;
	taps = calloc(n + 1, sizeof(*taps));
	if (taps == NULL)
		return -ENOMEM;
	collect(h, only, taps);
	qsort(taps, n, sizeof(*taps), by_time);
	buf_str(out, COLUMNS);
	for (uint32_t i = 0; i < n; i++)
		put_row(out, taps[i]);
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
