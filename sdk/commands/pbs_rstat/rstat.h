/* SPDX-License-Identifier: Apache-2.0
 *
 * rstat.h - what the files of pbs_rstat share: the forms in which a reservation is printed.
 */
#ifndef PBS_RSTAT_H
#define PBS_RSTAT_H

#include <stdbool.h>
#include <stdint.h>

#include "pbs_ifl.h"

struct rstat {
	int64_t now;
	bool long_ids, headed;
};

typedef void rstat_form(struct rstat *r, const struct batch_status *resv);
rstat_form rstat_table, rstat_brief, rstat_full; /* text.c */
rstat_form rstat_motd;				 /* motd.c */
rstat_form rstat_event;				 /* ical.c */
void rstat_calendar_begin(void);
void rstat_calendar_end(void);

/* "Today 15:27", "Sat 15:26", "Wed Nov 19 15:27", "Wed Nov 19 2031 15:27", local time; the shortest that is clear at
 * `now`. Returns `text`. */
#define RSTAT_TIME_SIZE 32
const char *rstat_time(int64_t when, int64_t now, char text[RSTAT_TIME_SIZE]);

/* Returns the number of an attribute; 0: it has none. */
int64_t rstat_number(const struct batch_status *resv, const char *name);

/* Is it a maintenance reservation? Its id has an M. */
bool rstat_is_maintenance(const struct batch_status *resv);

/* Returns its name, NULL: none was given. */
const char *rstat_name(const struct batch_status *resv);

/* One content line of an iCalendar file: what is longer than 75 octets goes on behind a line break and a blank, and no character
 * is cut. `put` gets the pieces. */
void rstat_fold(const char *line, void (*put)(void *arg, const char *bytes, size_t n), void *arg);

/* A text with its backslashes, commas, semicolons and line breaks escaped, and other control characters as blanks. Returns
 * a text that the caller frees, NULL: out of memory. */
char *rstat_escape(const char *text);

#endif
