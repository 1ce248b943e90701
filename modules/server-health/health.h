/* SPDX-License-Identifier: Apache-2.0
 *
 * health.h - what the files of this module share.
 *
 *	request -> survey (hosts, the oldest job: slices) + space (a worker) -> figures, reasons -> a form of the answer
 *	                                          window: accounts of the kernel, read every 15 s
 */
#ifndef HEALTH_H
#define HEALTH_H

#include "keel/alarm.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/text.h"

struct conf {
	int64_t disk_free; /* percent */
	int64_t slow_commit, stall; /* ms */
};

/* ---- window.c: what the kernel's accounts say of the last minute, and hour ------------------------------------ */

enum { SLOT_MS = 15000, MINUTE = 4, HOUR = 240 };

struct window {
	struct keel_account before[MINUTE]; /* as they were at the last ends of slots */
	int64_t before_ms[MINUTE];
	uint64_t longest[HOUR]; /* ns, of each slot */
	uint32_t slots;		/* that have ended; the one of now has the place slots % HOUR */
};

struct recent {
	struct keel_account all; /* since the start */
	double rate, half, most; /* of the last minute: a second; seconds that 50 % and 99 % took at most */
	double minute, hour;	 /* the longest one, seconds */
};

void window_begin(struct keel_mod *mod, struct window *w, uint32_t which);
void window_turn(struct keel_mod *mod, struct window *w, uint32_t which); /* a slot is over */
void window_read(struct keel_mod *mod, struct window *w, uint32_t which, struct recent *ret);
/* Seconds that this part (0.5) of what is counted between the two took at most. */
double quantile(const struct keel_account *now, const struct keel_account *before, double part);

/* ---- survey.c: hosts, and the job that has waited longest ------------------------------------------------------ */

enum host_state { HOST_UP, HOST_DOWN, HOST_OFFLINE, HOST_CLOSED, HOST_STATES };
#define NO_VERSION "unavailable"
#define VERSIONS 8 /* different ones; hosts with more are "other" */
#define NAMES_SHOWN 10

struct survey {
	uint32_t vnodes, hosts[HOST_STATES], unlinked, n_versions;
	struct {
		char text[64];
		uint32_t hosts;
	} version[VERSIONS + 1];
	struct keel_text down; /* names */
	uint64_t *seen;	       /* hashes of hosts, in places by hash */
	uint32_t room;
	struct keel_cursor *nodes, *jobs;
	char oldest[300]; /* the job; kept from survey to survey */
	int64_t since;
	char best[300];	  /* of the walk of jobs under way */
	int64_t best_since;
	bool failed;
};

/* Begins anew. The caller calls survey_go() until it returns true: it is complete. */
void survey_begin(struct keel_mod *mod, struct survey *s);
bool survey_go(struct keel_mod *mod, struct survey *s);
void survey_end(struct survey *s);

/* ---- space.c: file systems, on a worker thread ----------------------------------------------------------------- */

enum { SPACE_STORE, SPACE_SPOOL, SPACE_LOGS, SPACES };

struct space {
	struct {
		char path[4096];
		uint64_t free, size, free_files, files;
		int32_t error; /* errno */
	} at[SPACES];
	uint64_t store;
};

extern const char *const space_names[SPACES];
void space_name(struct keel_mod *mod, struct space *s);
void space_read(void *space);

/* ---- print.c ------------------------------------------------------------------------------------------------------ */

enum figure_name {
#define FIGURE(NAME, ...) FIGURE_##NAME,
#include "figures.def"
#undef FIGURE
	FIGURES_KNOWN,
};

struct figure {
	enum figure_name name;
	char label[64];
	double value;
	struct keel_account account; /* of a histogram */
};

#define FIGURES 128
#define WORDS 16
struct report {
	struct figure figure[FIGURES];
	uint32_t n, n_why, n_note;
	char why[WORDS][512], note[WORDS][512]; /* why it is degraded; what else is worth saying */
	bool names; /* the requester may see names of hosts, modules, jobs */
};

void report_put(struct report *r, enum figure_name name, const char *label, double value);
void report_account(struct report *r, enum figure_name name, const struct keel_account *account);
void report_why(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_note(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void print_text(const struct report *r, struct keel_text *out);
void print_json(const struct report *r, struct keel_text *out);
void print_metrics(const struct report *r, struct keel_text *out);

/* ---- server-health.c ------------------------------------------------------------------------------------------------------ */

struct waiter {
	struct waiter *next;
	struct keel_req *req;
};

struct state {
	struct window window[KEEL_ACCOUNTS];
	struct keel_alarm slot, step, patience;
	struct survey survey;
	struct space *space;	   /* of the requests that wait; NULL: not known, or not yet */
	bool surveyed, reading;	   /* reading: a worker has it */
	bool going, stopped;	   /* a survey is under way */
	struct waiter *waiters;
	int64_t started;
};

#endif
