/* SPDX-License-Identifier: Apache-2.0
 *
 * dedicated.c - the dedicated times file: periods for some queues alone.
 *
 *   MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM
 */
#include "calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PERIODS_MAX 10000

static bool time_of(int month, int day, int year, int hour, int minute, int64_t *ret)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour,
			 .tm_min = minute, .tm_isdst = -1 };
	time_t t;

	if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970 || year > 9999 || hour < 0 ||
	    hour > 23 || minute < 0 || minute > 59)
		return false;
	t = mktime(&tm);
	*ret = (int64_t)t;
	return t != (time_t)-1 && tm.tm_mday == day;
}

static const char *read_line(const char *line, struct period *ret)
{
	int b[5], e[5], end = 0;

	if (sscanf(line, " %d/%d/%d %d:%d %d/%d/%d %d:%d %n", &b[0], &b[1], &b[2], &b[3], &b[4], &e[0],
		   &e[1], &e[2], &e[3], &e[4], &end) < 10 || line[end])
		return "expected MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM";
	if (!time_of(b[0], b[1], b[2], b[3], b[4], &ret->begin) ||
	    !time_of(e[0], e[1], e[2], e[3], e[4], &ret->end))
		return "there is no such day or time";
	return ret->begin < ret->end ? NULL : "it ends before it begins";
}

static const char no_memory[] = "no memory for it";

static const char *add(struct dedicated *d, const struct period *p)
{
	struct period *bigger;

	if (d->n == PERIODS_MAX)
		return "a file has at most 10000 periods";
	if (d->n == d->room) {
		bigger = realloc(d->v, (d->room * 2 + 8) * sizeof(*bigger));
		if (!bigger)
			return no_memory;
		d->v = bigger;
		d->room = d->room * 2 + 8;
	}
	d->v[d->n++] = *p;
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct period *p = a, *q = b;

	return p->begin < q->begin ? -1 : p->begin > q->begin;
}

static void periods_merge(struct dedicated *d)
{
	uint32_t n = 0;

	if (d->n)
		qsort(d->v, d->n, sizeof(d->v[0]), by_begin);
	for (uint32_t i = 0; i < d->n; i++)
		if (n && d->v[i].begin <= d->v[n - 1].end)
			d->v[n - 1].end = d->v[i].end > d->v[n - 1].end ? d->v[i].end : d->v[n - 1].end;
		else
			d->v[n++] = d->v[i];
	d->n = n;
}

bool dedicated_read(struct dedicated *d, const char *text, calendar_complaint_fn *complain, void *arg)
{
	struct period period;
	char line[256];
	const char *why;
	bool whole = true;

	d->n = 0;
	for (int number = 1; *text; number++) {
		size_t len = strcspn(text, "\n"), words;

		snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1),
			 text);
		text += len + (text[len] == '\n');
		line[strcspn(line, "#\r")] = '\0';
		words = strspn(line, " \t");
		if (!line[words])
			continue;
		why = read_line(line, &period);
		if (!why)
			why = add(d, &period);
		if (why)
			complain(arg, number, why);
		whole &= why != no_memory;
	}
	periods_merge(d);
	return whole;
}

void dedicated_fini(struct dedicated *d)
{
	free(d->v);
	memset(d, 0, sizeof(*d));
}

const struct period *dedicated_at(const struct dedicated *d, int64_t when)
{
	for (uint32_t i = 0; i < d->n && d->v[i].begin <= when; i++)
		if (when < d->v[i].end)
			return &d->v[i];
	return NULL;
}

const struct period *dedicated_after(const struct dedicated *d, int64_t when)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].begin > when)
			return &d->v[i];
	return NULL;
}
