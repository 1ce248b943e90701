/* SPDX-License-Identifier: Apache-2.0
 *
 * timetable.c - what each tap has cost, as rows of a table: for `keelson hooks --time`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "keel/module.h"

/* ---- columns ---------------------------------------------------------------------------------------- */
static void number(struct buf *out, uint64_t n)
{
	buf_printf(out, "%llu", (unsigned long long)n);
}

static const char *point_of(const struct tap *t)
{
	return t->owner->parts->hooks->point[t->point].info->name;
}

/* One name for a row: the same tap may be at several points. */
static void put_hook(struct buf *out, const struct tap *t)
{
	buf_printf(out, "%s/%s", point_of(t), t->name);
}

static void put_point(struct buf *out, const struct tap *t)
{
	buf_str(out, point_of(t));
}

static void put_tap(struct buf *out, const struct tap *t)
{
	buf_str(out, t->name);
}

static void put_calls(struct buf *out, const struct tap *t)
{
	number(out, tap_calls(t));
}

static void put_timed(struct buf *out, const struct tap *t)
{
	number(out, t->stat.timed);
}

static void put_time(struct buf *out, const struct tap *t)
{
	number(out, t->stat.wall_ns);
}

static void put_cpu(struct buf *out, const struct tap *t)
{
	number(out, t->stat.cpu_ns);
}

static void put_p50(struct buf *out, const struct tap *t)
{
	number(out, stat_quantile(&t->stat, 50));
}

static void put_p99(struct buf *out, const struct tap *t)
{
	number(out, stat_quantile(&t->stat, 99));
}

static void put_max(struct buf *out, const struct tap *t)
{
	number(out, t->stat.max_ns);
}

static void put_fails(struct buf *out, const struct tap *t)
{
	number(out, t->stat.fails);
}

static void put_strikes(struct buf *out, const struct tap *t)
{
	number(out, t->stat.strikes);
}

static void put_state(struct buf *out, const struct tap *t)
{
	buf_str(out, t->off & TAP_BENCHED ? "benched" : t->off & TAP_QUIET ? "quiet" : "on");
}

static const struct {
	const char *name;
	void (*put)(struct buf *out, const struct tap *t);
} columns[] = {
	{ "hook", put_hook },	{ "point", put_point },	  { "tap", put_tap },	  { "calls", put_calls },
	{ "time_ns", put_time }, { "cpu_ns", put_cpu },	  { "p50_ns", put_p50 },  { "p99_ns", put_p99 },
	{ "max_ns", put_max },	{ "timed", put_timed },	  { "fails", put_fails }, { "strikes", put_strikes },
	{ "state", put_state },
};

/* ---- rows: whoever has taken most comes first ---------------------------------------------------------- */
static int by_time(const void *left, const void *right)
{
	const struct tap *a = *(const struct tap *const *)left, *b = *(const struct tap *const *)right;

	if (a->stat.wall_ns != b->stat.wall_ns)
		return a->stat.wall_ns > b->stat.wall_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Into `taps`, or just counted. `only` 0: those of all points. */
static uint32_t collect(const struct hooks *h, uint32_t only, const struct tap **taps)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		for (const struct tap *t = h->point[i].taps; t != NULL; t = t->next) {
			if (only != 0 && only != i)
				continue;
			if (taps != NULL)
				taps[n] = t;
			n++;
		}
	}
	return n;
}

static void put_row(struct buf *out, const struct tap *t)
{
	for (size_t i = 0; i < KEEL_COUNT(columns); i++) {
		buf_str(out, i > 0 ? "\t" : "");
		if (t != NULL)
			columns[i].put(out, t);
		else
			buf_str(out, columns[i].name);
	}
	buf_str(out, "\n");
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
	put_row(out, NULL);
	for (uint32_t i = 0; i < n; i++)
		put_row(out, taps[i]);
	free(taps);
	return 0;
}
