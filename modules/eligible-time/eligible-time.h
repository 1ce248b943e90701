/* SPDX-License-Identifier: Apache-2.0
 *
 * eligible-time.h - what the files of this module share.
 */
#ifndef ELIGIBLE_TIME_H
#define ELIGIBLE_TIME_H

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "pbs_error.h"

/* The numbers of accrue_type. */
enum accrue { ACCRUE_INITIAL, ACCRUE_INELIGIBLE, ACCRUE_ELIGIBLE, ACCRUE_RUN, ACCRUE_EXIT };

struct state {
	struct keel_cursor *walk; /* over all jobs, in slices; NULL: none under way */
	struct keel_timer *slice;
	bool started;
};

/* clock.c: an amount of time that stands, or runs. As a number: what has come together in seconds; when
 * it runs, below 0, the moment at which it would have begun at nothing, with the sign turned. */
extern const struct keel_type_def clock_type;
int64_t clock_read(int64_t clock, int64_t now);
int64_t clock_run(int64_t clock, int64_t now);
int64_t clock_stop(int64_t clock, int64_t now);
#define CLOCK_MAX 1000000000 /* s: the moment at which it began is after 1970 */
/* Returns the seconds of `[[H:]M:]S`; fails with -1. */
int64_t clock_parse(const char *text);

/* reason.c: does this comment of a scheduler say that limits of the job's own user, group or project
 * keep it from starting? */
bool reason_is_own_limit(const char *comment);

/* accrue.c */
bool accrue_on(struct keel_mod *mod);
void accrue_to(struct keel_mod *mod, struct keel_obj *job, enum accrue type);
void accrue_by_state(struct keel_mod *mod, struct keel_obj *job);
/* Brings all jobs in line with the server's eligible_time_enable, in slices. */
void accrue_all(struct keel_mod *mod);
void accrue_stop(struct keel_mod *mod);

#endif
