/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - what the files about runs share.
 *
 *   run.c      taps, and runs at GATEs
 *   series.c   runs that nothing waits for
 *   outcome.c  the end of a run: log, accounts
 *   apply.c    objects and changes
 *   record.c   debug = true: files with what a script had and answered
 */
#ifndef PYTHON_HOOKS_RUN_H
#define PYTHON_HOOKS_RUN_H

#include "hooks.h"

#define NOTES_MAX 10000u /* runs that nothing waits for */
#define NOTE_BYTES_MAX (256u << 20) /* that they are about */

struct series;
struct line;
/* A run as these files know it: struct run is its first member. */
struct going {
	struct run run;
	struct keel_hold *hold; /* at a GATE */
	struct ask *ask;	/* NULL: it is answered, or cancelled */
	struct result result;	/* once it is over */
	bool over, has_begun;
	struct line *line; /* of a note */
	struct pack event; /* of a note: as it was when that came. Empty: written when the run begins */
	uint32_t bytes;	   /* of that */
	struct going *prev, *next; /* of its series */
	struct record *record;	   /* record.c; NULL: it is not recorded */
};

struct runs {
	struct run *all;
	uint32_t n_notes, note_bytes;
	int64_t said_ms; /* when it was last said that notes are dropped */
	struct tap *taps[EVENTS];
	struct line *lines; /* of series, by what they are about */
	struct series *current; /* of the note that is being raised */
	struct shape *shapes;
	int64_t recorded; /* how many runs were */
	uint32_t n_records; /* being written */
};

/* run.c */
struct going *run_new(struct state *st, struct hook *h, enum event_id event); /* NULL without memory */
void run_free(struct going *g);
struct hook **hooks_of_event(const struct state *st, enum event_id event);
/* The EVENT of talk.h. about: the hook, packed; may be NULL. False: no script runs for this event, or no memory. */
bool run_write(struct going *g, const void *ev, const struct pack *about, struct pack *event);
enum event_id run_event(const struct run *r);
/* Its script is called; done() is, too, where that cannot be. g->over: it was, before this returned. */
void run_ask(struct going *g, const struct pack *event, ask_done *done);
void run_over(struct going *g, struct result *result); /* takes the result: of done() */

/* series.c */
bool note_add(struct going *g); /* to what the note that is being raised sets off. False: too many wait */
void series_stop(struct state *st);

/* outcome.c */
void run_started(struct run *r);
void run_ended(struct run *r, const struct result *result);
void run_exit_log(const struct run *r, const struct result *result); /* of a timed one that did not accept */

/* apply.c */
void shapes_free(struct state *st);

/* record.c */
void record_in(struct run *r, const struct pack *event);
void record_answer(struct run *r, const struct value *frame, const struct pack *answer); /* to a question of its script */
void record_free(struct record *rec); /* NULL is fine */
void record_out(struct run *r, const struct result *result); /* it is over: the files are written */

#endif
