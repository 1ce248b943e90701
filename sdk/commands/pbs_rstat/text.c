/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - a reservation as a row of the table, as its id, with all its attributes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr_list.h"
#include "resv.h"
#include "rstat.h"

#define SHORT_ROW "%-10.10s %-8.8s %-8.8s %-5.5s %17.17s / %s / %-17.17s\n"
#define LONG_ROW "%-15.15s %-13.13s %-8.8s %-5.5s %17.17s / %s / %-17.17s\n"
enum { SHORT_RULE = 69, LONG_RULE = 79 };

static const char *const dates[] = {
	ATTR_resv_start, ATTR_resv_end, ATTR_ctime, ATTR_mtime, ATTR_resv_retry,
};
static const char *const left_out[] = { ATTR_resv_execvnodes, ATTR_resv_standing, ATTR_resv_timezone };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int64_t rstat_number(const struct batch_status *resv, const char *name)
{
	const char *value = status_value(resv, name, NULL);

	return value ? strtoll(value, NULL, 10) : 0;
}

bool rstat_is_maintenance(const struct batch_status *resv)
{
	return resv->name && *resv->name == 'M';
}

const char *rstat_name(const struct batch_status *resv)
{
	const char *name = status_value(resv, ATTR_resv_name, NULL);

	return name && *name && strcmp(name, "NULL") != 0 ? name : NULL;
}

/* The day on which the week of a time begins, a Sunday, as days since some day. */
static long week_of(const struct tm *tm)
{
	long y = tm->tm_year;

	return y * 365 + (y + 3) / 4 + tm->tm_yday - tm->tm_wday; /* leap years of 1901 to 2099: enough to compare neighbours */
}

const char *rstat_time(int64_t when, int64_t now, char text[RSTAT_TIME_SIZE])
{
	time_t at = (time_t)when, today = (time_t)now;
	struct tm tm, here;
	const char *form;

	if (!localtime_r(&at, &tm) || !localtime_r(&today, &here)) {
		snprintf(text, RSTAT_TIME_SIZE, "%lld", (long long)when);
		return text;
	}
	if (tm.tm_year == here.tm_year && tm.tm_yday == here.tm_yday)
		form = "Today %H:%M";
	else if (week_of(&tm) == week_of(&here))
		form = "%a %H:%M";
	else if (tm.tm_year == here.tm_year)
		form = "%a %b %d %H:%M";
	else
		form = "%a %b %d %Y %H:%M";
	if (strftime(text, RSTAT_TIME_SIZE, form, &tm) == 0)
		*text = '\0';
	return text;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* A value stays on its line: control characters become blanks. */
static void put_value(const char *value)
{
	for (const unsigned char *at = (const unsigned char *)value; *at; at++)
		putchar(*at < ' ' || *at == 0x7f ? ' ' : *at);
}

static void put_head(struct rstat *r)
{
	printf(r->long_ids ? LONG_ROW : SHORT_ROW, "Resv ID", "Queue", "User", "State", "Start", "Duration", "End");
	for (int i = r->long_ids ? LONG_RULE : SHORT_RULE; i > 0; i--)
		putchar('-');
	putchar('\n');
	r->headed = true;
}

void rstat_table(struct rstat *r, const struct batch_status *resv)
{
	char start[RSTAT_TIME_SIZE], end[RSTAT_TIME_SIZE];

	if (!r->headed)
		put_head(r);
	printf(r->long_ids ? LONG_ROW : SHORT_ROW, resv->name, or_empty(status_value(resv, ATTR_queue, NULL)),
	       or_empty(status_value(resv, ATTR_auth_u, NULL)),
	       resv_state_letters(or_empty(status_value(resv, ATTR_resv_state, NULL))),
	       rstat_time(rstat_number(resv, ATTR_resv_start), r->now, start),
	       or_empty(status_value(resv, ATTR_resv_duration, NULL)),
	       rstat_time(rstat_number(resv, ATTR_resv_end), r->now, end));
}

void rstat_brief(struct rstat *r, const struct batch_status *resv)
{
	(void)r;
	printf("Resv ID: %s\n", resv->name);
}

static bool is_in(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void put_date(const char *value)
{
	char *end, text[64];
	time_t when = (time_t)strtoll(value, &end, 10);
	struct tm tm;

	if (end == value || *end || !localtime_r(&when, &tm) || strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &tm) == 0)
		put_value(value);
	else
		fputs(text, stdout);
}

static void put_attribute(const struct attrl *a)
{
	const char *value = or_empty(a->value);

	printf("%s%s%s = ", a->name, a->resource ? "." : "", or_empty(a->resource));
	if (strcmp(a->name, ATTR_resv_state) == 0)
		put_value(resv_state_name(value));
	else if (is_in(dates, COUNT(dates), a->name))
		put_date(value);
	else
		put_value(value);
	putchar('\n');
}

static const struct attrl *resource(const struct batch_status *resv, const char *name)
{
	const struct attrl *a = resv->attribs;

	while (a && !(a->resource && strcmp(a->name, ATTR_l) == 0 && strcmp(a->resource, name) == 0))
		a = a->next;
	return a;
}

/* As the server has them; place goes behind select. */
void rstat_full(struct rstat *r, const struct batch_status *resv)
{
	const struct attrl *select = resource(resv, "select"), *place = select ? resource(resv, "place") : NULL;

	rstat_brief(r, resv);
	for (const struct attrl *a = resv->attribs; a; a = a->next) {
		if (a != place && !is_in(left_out, COUNT(left_out), a->name))
			put_attribute(a);
		if (a == select && place)
			put_attribute(place);
	}
	putchar('\n');
}
