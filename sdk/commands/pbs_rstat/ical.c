/* SPDX-License-Identifier: Apache-2.0
 *
 * ical.c - reservations as an iCalendar file (RFC 5545).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr_list.h"
#include "reach.h"
#include "resv.h"
#include "rstat.h"

#define FOLD_AT 75 /* octets of a line, without its end */

void rstat_fold(const char *line, void (*put)(void *arg, const char *bytes, size_t n), void *arg)
{
	size_t left = strlen(line), room = FOLD_AT, n;

	while (left > room) {
		n = room;
		while (n > room - 3 && ((unsigned char)line[n] & 0xc0) == 0x80) /* in a character of UTF-8 */
			n--;
		put(arg, line, n);
		put(arg, "\r\n ", 3);
		line += n;
		left -= n;
		room = FOLD_AT - 1;
	}
	put(arg, line, left);
	put(arg, "\r\n", 2);
}

char *rstat_escape(const char *text)
{
	char *escaped = malloc(2 * strlen(text) + 1), *to = escaped;

	for (; escaped && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '\n' || strchr("\\,;", c))
			*to++ = '\\';
		*to++ = c == '\n' ? 'n' : c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
	if (escaped)
		*to = '\0';
	return escaped;
}

static void put_stdout(void *arg, const char *bytes, size_t n)
{
	(void)arg;
	fwrite(bytes, 1, n, stdout);
}

/* Prints one content line; without memory it is left out. */
static void __attribute__((format(printf, 1, 2))) put_line(const char *form, ...)
{
	char *line = NULL;
	va_list args;

	va_start(args, form);
	if (vasprintf(&line, form, args) >= 0)
		rstat_fold(line, put_stdout, NULL);
	va_end(args);
	free(line);
}

static void put_moment(const char *name, int64_t when)
{
	time_t at = (time_t)when;
	char text[32];
	struct tm tm;

	if (gmtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm) > 0)
		put_line("%s:%s", name, text);
}

static void put_text(const char *name, const char *text)
{
	char *escaped = rstat_escape(text);

	if (escaped)
		put_line("%s:%s", name, escaped);
	free(escaped);
}

/* "Maintenance (disks): hA, hB"; "Reservation R12.svr (name)" */
static char *summary(const struct batch_status *resv)
{
	const char *name = rstat_name(resv);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (rstat_is_maintenance(resv))
		fputs("Maintenance", out);
	else
		fprintf(out, "Reservation %s", resv->name);
	if (name)
		fprintf(out, " (%s)", name);
	if (rstat_is_maintenance(resv)) {
		fputs(": ", out);
		resv_hosts_print(out, resv, 0);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void rstat_calendar_begin(void)
{
	put_line("BEGIN:VCALENDAR");
	put_line("VERSION:2.0");
	put_line("PRODID:-//Keelson//pbs_rstat %s//EN", reach_own_version());
}

void rstat_calendar_end(void)
{
	put_line("END:VCALENDAR");
}

void rstat_event(struct rstat *r, const struct batch_status *resv)
{
	int64_t changed = rstat_number(resv, ATTR_mtime);
	char *text = summary(resv);

	put_line("BEGIN:VEVENT");
	/* numbers of reservations may begin anew: the time of its making tells them apart */
	put_line("UID:%s-%lld", resv->name, (long long)rstat_number(resv, ATTR_ctime));
	put_moment("DTSTAMP", changed > 0 ? changed : r->now);
	put_moment("DTSTART", rstat_number(resv, ATTR_resv_start));
	put_moment("DTEND", rstat_number(resv, ATTR_resv_end));
	put_text("SUMMARY", text ? text : resv->name);
	put_line("STATUS:%s", rstat_number(resv, ATTR_resv_state) == RESV_UNCONFIRMED ? "TENTATIVE" : "CONFIRMED");
	put_line("END:VEVENT");
	free(text);
}
