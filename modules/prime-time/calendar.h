/* SPDX-License-Identifier: Apache-2.0
 *
 * calendar.h - prime time by days of the week and holidays, and dedicated times. Pure functions over
 * the texts of two files and a clock in local time.
 */
#ifndef CALENDAR_H
#define CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

/* Called for each line with an error. */
typedef void calendar_complaint_fn(void *arg, int line, const char *why);

/* ---- holidays: when it is prime time ------------------------------------------------------------- */

enum { DAY_ALL = -1, DAY_NONE = -2 }; /* instead of a minute of the day */
enum { NON_PRIME_DAY = 7, DAYS };     /* 0 is Sunday; holidays have a row of their own */
enum { BY_DATE = 1, BY_NUMBER = 2 };  /* dates count as in a leap year, numbers as in that year */
struct day {
	int32_t prime, nonprime; /* when they begin: minute of the day, or DAY_ALL, DAY_NONE */
};
struct holidays {
	struct day day[DAYS];
	uint8_t holiday[367];	 /* by day of the year, 1..366: BY_DATE, BY_NUMBER */
	bool any;
	int32_t year;		 /* in which holidays count; 0: any */
};

void holidays_init(struct holidays *h); /* always prime */
void holidays_read(struct holidays *h, const char *text, calendar_complaint_fn *complain, void *arg);
bool holidays_is_prime(const struct holidays *h, int64_t when);
/* When that changes next; 0: not within a year. */
int64_t holidays_next_change(const struct holidays *h, int64_t when);

/* ---- dedicated times ------------------------------------------------------------------------------- */

struct period {
	int64_t begin, end;
};
struct dedicated {
	uint32_t n, room;
	struct period *v; /* owned; sorted by begin; overlapping ones are merged */
};

/* Returns false if it ran out of memory: some periods are missing. */
bool dedicated_read(struct dedicated *d, const char *text, calendar_complaint_fn *complain, void *arg);
void dedicated_fini(struct dedicated *d);
/* The period that holds `when`; NULL: none. */
const struct period *dedicated_at(const struct dedicated *d, int64_t when);
/* The first one that begins after `when`; NULL: none. */
const struct period *dedicated_after(const struct dedicated *d, int64_t when);

#endif
