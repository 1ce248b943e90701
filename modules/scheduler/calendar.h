/* SPDX-License-Identifier: Apache-2.0
 *
 * calendar.h - what will be free when: ends of running jobs, and jobs that are planned.
 *
 * Pure functions over snapshots. A search for the first moment at which a job fits is made of steps,
 * each of which takes a millisecond or so, however many jobs run.
 */
#ifndef CALENDAR_H
#define CALENDAR_H

#include "place.h"

/* A job that is planned. */
struct planned {
	char *who; /* owned */
	int64_t from, till; /* seconds since 1970 */
	struct keel_exec *exec; /* owned */
	int32_t share;
	uint32_t *node; /* its vnodes, as indexes into snapshots */
	uint32_t n_node;
	double *slack;  /* by vnode and column: what is free once it has begun */
	struct pool *pool; /* likewise, of queues and server */
	uint32_t n_pool;
};

/* Something comes free, or is taken. */
struct happening {
	int64_t at, till; /* till: of a job, its end at the latest */
	const struct keel_exec *exec;
	const char *who;
	int32_t share;
	bool begins;
	bool owned; /* exec and who */
	struct block *block; /* it is one that begins or ends, and counts this; NULL: a job */
};

struct calendar {
	int64_t now, grain; /* happenings within `grain` seconds count as one moment */
	struct happening *list; /* sorted by time once a search began */
	uint32_t n, room;
	struct planned *planned;
	uint32_t n_planned, room_planned;
	int64_t *begin; /* of blocks, sorted as the list is */
	uint32_t n_begin, room_begin;
	bool sorted;
	void (*exec_free)(struct keel_exec *);
	/* This job takes (sign 1) of the totals of queue and server and counts for the limits of its
	 * vnodes, or no more (-1). `exec` NULL: totals only. NULL: there are neither. */
	void (*moved)(void *arg, struct snapshot *s, const char *who, const struct keel_exec *exec,
		      int sign);
	void *arg;
};

void calendar_init(struct calendar *c, int64_t now, int64_t grain,
		   void (*exec_free)(struct keel_exec *));
void calendar_fini(struct calendar *c);
/* A running job ends, at the latest at `till`; `exec` is owned by the calendar, not by the caller any more, also when this fails. False without
 * memory. */
bool calendar_end(struct calendar *c, int64_t at, int64_t till, struct keel_exec *exec, int32_t share,
		  const char *who);
/* A block begins and ends. False without memory. */
bool calendar_block(struct calendar *c, struct block *b);
/* A job is planned, `longest` is the time that it may take; `exec` is owned by the calendar, also when this fails; `after` is how it will be once it has begun.
 * False without memory. */
bool calendar_plan(struct calendar *c, int64_t from, int64_t till, int64_t longest, struct keel_exec *exec,
		   int32_t share, const char *who, const struct snapshot *after);
/* A job has begun now: what is planned has less beside it. */
void calendar_begun(struct calendar *c, const struct snapshot *s, const struct keel_exec *exec,
		    int64_t from, int64_t till, const char *who);

/* Does anything planned begin between these? */
bool calendar_crosses(const struct calendar *c, int64_t from, int64_t till);
/* Makes a snapshot of the time `from` as full as it will be at its fullest until `till`; the caller undoes that with
 * calendar_unhold(), and may place jobs in between. NULL without memory. */
struct holds;
struct holds *calendar_hold(const struct calendar *c, struct snapshot *s, int64_t from, int64_t till);
void calendar_unhold(struct snapshot *s, struct holds *h); /* NULL is fine */

/* A search; `longest`: `fits` asks for as much time. The caller's `fits` must leave the snapshot as it was; search_begin() fails with NULL without memory. */
struct search;
typedef bool search_fits(void *arg, struct snapshot *s);
struct search *search_begin(struct calendar *c, const struct snapshot *now, int64_t duration, int64_t longest,
			    int64_t not_before, search_fits *fits, void *arg);
enum found { FOUND_MORE /* call again */, FOUND_IT, FOUND_NEVER };
enum found search_step(struct search *s);
/* Once it was found. The snapshot is that moment's, with what is planned held; it is owned by the search, and the caller
 * may place the job in it. */
int64_t search_at(const struct search *s);
struct snapshot *search_snapshot(struct search *s);
void search_unhold(struct search *s); /* the snapshot as it is at that moment */
void search_free(struct search *s); /* NULL is fine */

#endif
