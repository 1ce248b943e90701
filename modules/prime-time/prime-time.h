/* SPDX-License-Identifier: Apache-2.0
 *
 * prime-time.h - what the files of this module share.
 */
#ifndef PRIME_TIME_H
#define PRIME_TIME_H

#include "calendar.h"
#include "keel/file.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/prime.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"

struct conf {
	const char *holidays, *dedicated_time; /* files, from PBS_HOME */
	const char *dedicated_prefix, *primetime_prefix, *nonprimetime_prefix;
	const char *prime_spill;
	bool backfill_prime, prime_exempt_anytime_queues;
};

/* The settings in force: the configuration, overridden by sched_config. */
struct rules {
	char *dedicated, *prime, *nonprime; /* prefixes, owned; NULL: out of memory */
	int64_t spill; /* seconds */
	bool backfill, exempt_anytime;
};

struct state {
	struct holidays holidays;
	struct dedicated dedicated;
	struct keel_file holidays_file, dedicated_file;
	struct rules rules;
	struct keel_timer *timer; /* at the next boundary */
	struct {
		int64_t from, change; /* change 0: never */

	} known;		      /* cache of next_change() */
	bool each;		  /* boundaries are ahead: start_job is tapped */
};

/* file.c: reads the two files again if they have changed; the next call retries what failed */
void files_read(struct keel_mod *mod);

/* rules.c */
void rules_read(struct keel_mod *mod);
enum queue_kind { ANYTIME, DEDICATED, PRIME, NONPRIME };
enum queue_kind queue_kind(const struct rules *r, const char *name);

/* gate.c */
/* May a job of this queue start at `when`? 0, or a number of keel/sched_reason.def. */
int32_t check_queue(const struct state *st, const char *queue, int64_t when);
/* The same for a job that runs `seconds`; `boundaries`: those of prime time count, too. */
int32_t check_length(struct state *st, const char *queue, int64_t when, int64_t seconds,
		     bool boundaries);
int64_t next_change(struct state *st, int64_t when); /* of prime time, cached; 0: none */
int64_t length_of(struct keel_obj *job);
keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev);
keel_verdict on_start_job(struct keel_call *c, uint32_t point, const void *event, void *arg);
/* Returns 0, or the reason why the job may not start at `when`. */
int32_t time_conflict(struct state *st, struct keel_obj *job, int64_t when);

/* prime-time.c */
int64_t next_event(struct state *st, int64_t when); /* 0: none */

/* plan.c */
keel_verdict on_start_when(struct keel_call *c, const struct keel_ev_start_when *ev);

/* gate.c */
keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev);

#endif
