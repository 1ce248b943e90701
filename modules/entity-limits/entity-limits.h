/* SPDX-License-Identifier: Apache-2.0
 *
 * entity-limits.h - what the files of this module share.
 */
#ifndef ENTITY_LIMITS_H
#define ENTITY_LIMITS_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/limits.h"
#include "keel/service/resource.h"
#include "limit.h"
#include "pbs_error.h"

/* What kind of entity a limit is about, and where it is set. */
enum kind { GROUP, PROJECT, OVERALL, USER, KINDS }; /* in the order of checks */
enum scope { QUEUE, SERVER, SCOPES };

/* What is counted of a job. */
enum tally { TALLY_ALL, TALLY_WAITS, TALLY_RUNS, TALLIES }; /* not over; state Q; runs */

/* What a limit limits; each has an attribute for counts and one for amounts (`_res`). */
enum family { MAX_QUEUED, THRESHOLD, MAX_RUN, MAX_RUN_SOFT, FAMILIES };

#define OLD_LIMITS 9 /* rows of old.def */
#define WANTS_RECENT 64u

struct resource_limit {
	const struct keel_resource *res;
	struct limit_list list;
};
/* Value of a "resource_limits" attribute, sorted by name. */
struct resource_limits {
	uint32_t n;
	struct resource_limit v[];
};

/* What one user, group, project or all together have, of a queue or of the server. */
struct amount {
	const struct keel_resource *res;
	double n[TALLIES];
};
struct counter {
	UT_hash_handle hh;
	uint32_t parties; /* that count here */
	double n[TALLIES];
	struct amount *amount;
	uint32_t n_amount, room;
	char key[]; /* <queue or nothing>/u:alice */
};

/* The same user, group and project in the same queue: such jobs count in the same counters. */
struct party {
	struct party *chain;
	uint32_t hash, jobs;
	uint64_t serial; /* no other one has had it */
	struct counter *at[SCOPES][KINDS]; /* all of them */
	const char *queue, *name[KINDS];
	char words[];
};

/* Numbers of a Resource_List; jobs that want the same may share them. */
struct item {
	const struct keel_resource *res;
	double n;
};
struct wants {
	uint32_t jobs, n_item, place; /* among the recent ones */
	uint64_t placed;	      /* the serial of the party whose counters have room for them */
	struct item item[];
};

/* Private memory on each job: what has been counted of it, and where. */
struct counted {
	struct party *party; /* NULL: not counted at all */
	struct wants *wants; /* NULL: nothing */
	double weight;	 /* 1; an array: its queued subjobs */
	uint8_t tallies; /* bits */
	bool placed;	 /* has its vnodes */
	bool away;	 /* vacated by a trial */
};

struct state {
	/* Attributes of queues and of the server: new limits of counts and amounts, old ones. */
	const struct keel_attr *count[SCOPES][FAMILIES], *amount[SCOPES][FAMILIES];
	const struct keel_attr *old[SCOPES][OLD_LIMITS];
	struct counter *counters; /* by key */
	struct party **parties, *latest; /* of the job that was counted last: the next one is often its equal */
	uint32_t parties_size, n_party;
	struct wants *recent[WANTS_RECENT];
	uint64_t serial; /* that was given last */
	bool closing; /* the counters are gone, jobs' memory is about to go */
};

/* types.c */
extern const struct keel_type_def list_type, resource_type;
const struct limit_list *resource_limits_find(const struct resource_limits *all,
					      const struct keel_resource *res);

/* count.c: how much each entity has; changed with each step of a job, never by walking all jobs. Without memory a job is
 * not counted, which is logged. */
void count_job(struct keel_mod *mod, struct keel_obj *job);  /* as it is now */
void count_placed(struct keel_mod *mod, struct keel_obj *job, bool placed);
keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev);
void count_away(struct keel_mod *mod, struct keel_obj *job, bool away); /* trials */
void counted_fini(struct keel_mod *mod, void *slot);
void count_fini(struct keel_mod *mod);
struct counted *counted_of(struct keel_mod *mod, struct keel_obj *job);
/* NULL: no entity of that name has a job. */
const struct counter *counter_find(struct state *st, const char *queue, enum kind kind,
				   const char *name);
double counter_amount(const struct counter *c, const struct keel_resource *res, enum tally tally);
/* `u:alice` */
void entity_text(enum kind kind, const char *name, char buf[300]);

/* The caller gives it back with counter_drop(). NULL without memory. */
struct counter *counter_take(struct state *st, const char *queue, enum kind kind, const char *name);
void counter_drop(struct state *st, struct counter *c);

/* alike.c: what jobs share; the caller gives it back with _drop(). NULL without memory; of wants also when the job requests
 * nothing */
struct party *party_take(struct keel_mod *mod, struct keel_obj *job);
void party_drop(struct state *st, struct party *y);
void parties_fini(struct state *st);
struct wants *wants_take(struct state *st, struct keel_obj *job);
void wants_drop(struct state *st, struct wants *w);
static inline const struct counter *counter_of(const struct counted *j, enum scope scope, enum kind kind)
{
	return j->party ? j->party->at[scope][kind] : NULL;
}
static inline uint32_t items_of(const struct counted *j)
{
	return j->wants ? j->wants->n_item : 0;
}

/* old.c: limits of the old style mean PBS_GENERIC or PBS_ALL */
extern const struct keel_attr_def old_attrs[SCOPES][OLD_LIMITS];
void old_find(struct keel_mod *mod);
/* The limit the old style sets; `res` NULL: of counts. */
bool old_limit(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	       enum kind kind, const struct keel_resource *res, double *ret);
bool old_has(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	     bool of_amounts);
/* May the change of this object's limits be made? Rejects with 15141 when old and new style would be mixed. */
keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev);

/* find.c: which limit holds for whom */
struct found {
	double limit;
	bool named; /* it names the entity; else it is that of all of its kind */
};
/* The limit of an entity; false: there is none. `holder` is the queue or the server; `res` NULL: of counts. */
bool limit_of(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	      enum kind kind, const char *name, const struct keel_resource *res, struct found *ret);
bool has_limits(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
		bool of_amounts);
struct keel_obj *holder_of(struct keel_mod *mod, enum scope scope, struct keel_obj *job);
const char *name_of(struct keel_obj *job, enum kind kind);

/* run.c */
keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev);
bool over_soft(struct keel_mod *mod, struct keel_obj *job, uint32_t of);

/* explain.c */
keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev);

/* submit.c */
keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev);
keel_verdict on_move(struct keel_call *c, const struct keel_ev_job_move *ev);

#endif
