/* SPDX-License-Identifier: Apache-2.0
 *
 * preemption.h - what the files of this module share.
 */
#ifndef PREEMPTION_H
#define PREEMPTION_H

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/fairshare.h"
#include "keel/service/job.h"
#include "keel/service/limits.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "order.h"
#include "pbs_error.h"
#include "prio.h"

#define OUTCOME_FAILED "000"
#define TURN_US 3000 /* after that the rest is for the next turn of the loop */

/* A row of PREEMPT. */
struct method {
	const struct keel_preempt_def *def;
	struct keel_mod *owner;
	uint32_t taken; /* in the what-if that is open: how many would give way so */
	struct method *next;
};

/* A running job, in its crowd. Private memory on each job. */
struct runner {
	struct keel_obj *job;
	struct crowd *crowd; /* NULL: it does not run */
	struct runner *next, *prev;
	int64_t since;	     /* its start */
	uint64_t number;     /* of the start, where seconds are equal */
	uint64_t tried_by;   /* the search for which it did not give way */
	bool gives_way;	     /* it is being tried */
	bool sibling;	     /* a subjob of the same array, for the search that listed it */
	struct method *by;   /* in the what-if that is open; NULL: it stays */
	char *why;	     /* why it has no victims, for explain; owned, or NULL */
};

/* Running jobs that share a level. */
struct crowd {
	char *key;
	struct runner *first; /* the youngest */
	uint32_t n;
	int64_t level;	    /* as levels_compute() or levels_moved() found it */
	bool is_over_limit; /* a soft one; others do not move when a job goes */
	struct crowd *next;
};

/* The jobs that give way for another: found by choose.c, in the order in which they were taken. */
struct victims {
	uint32_t n, room;
	char **id;
};
enum choice { CHOICE_NONE, CHOICE_FITS, CHOICE_VICTIMS, CHOICE_FOR_NOTHING, CHOICE_LATER };

/* One job's attempt, over several rounds. */
struct search {
	char *id;
	uint64_t number;
	int64_t level;
	int32_t code; /* why it did not start */
	char what[64];
	uint32_t round, open, failed, owners;
	uint32_t gave_way; /* in all rounds */
	bool gave_less;	   /* some victim gave back less than the simulation had said */
	bool may_run, gone;
	int32_t refused; /* its start would be: a PBSE number */
	char refusal[256];
	struct victims victims; /* of this round */
	struct simulation *sim; /* choose.c; NULL: it is not choosing */
	uint32_t candidates, turns; /* turns: that choosing took, but for the last */
	uint32_t handed;	    /* of the victims: requests sent */
	struct keel_hold *hold;	       /* NULL: none open */
	struct keel_mod *mod;
};

struct conf {
	bool preemptive_sched;
	int64_t preempt_attempts, timeout;
	const char *const *scheduler_users;
};

struct state {
	struct method *methods;
	struct order order; /* as preempt_order says now */
	struct prio prio;
	uint32_t waiting; /* attempts under way */
	struct attempt *under_way;
	struct search *choosing; /* NULL: none is running */
	bool stopping;
	struct crowd *crowds;
	uint64_t last_number, last_search;
	int64_t attempts; /* in this cycle */
	struct {
		char *id;	   /* the job for which victims gave way in this cycle; NULL: none */
		struct victims deleted; /* those that do not come back */

	} last;
	char who[300];	  /* Scheduler@host */
};

/* kind.c */
extern const struct keel_kind_def preempt_kind;
struct method *method_find(struct state *st, char letter); /* NULL: no module offers it */
/* The method with this outcome, "Q"; NULL: none. */

/* methods.c */
extern const struct keel_preempt_def suspend_method, checkpoint_method, requeue_method;

/* attributes.c */
#define PREEMPTION_SCHED_ATTRS 6
#define PREEMPTION_JOB_ATTRS 3
extern const struct keel_attr_def preemption_sched_attrs[PREEMPTION_SCHED_ATTRS];
extern const struct keel_attr_def preemption_job_attrs[PREEMPTION_JOB_ATTRS];
int32_t attributes_read(struct keel_mod *mod, struct keel_err *err);
/* Of the scheduler `default`; NULL: there is none. */
struct keel_obj *sched_default(struct keel_mod *mod);

/* time.c: how much of its walltime a job has left, in percent; -1: it requests none. */
int32_t time_left(struct keel_mod *mod, struct keel_obj *job);
keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev);
keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev);
keel_verdict on_resumed(struct keel_call *c, const struct keel_ev_job_resumed *ev);
/* The methods that are for it now. */
const char *letters_for(struct keel_mod *mod, struct keel_obj *job);

/* preempt.c: one victim. The callback runs exactly once, perhaps before the caller has returned; `by` is the method that
 * succeeded, NULL when all failed. */
typedef void preempted_fn(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
			  const struct keel_preempt_def *by);
void preempt(struct keel_mod *mod, const char *id, preempted_fn *done, void *arg);
keel_verdict on_preempt(struct keel_call *c, const struct keel_ev_job_preempt *ev);
keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev);

/* level.c */
extern const struct keel_job_key_def level_row, preempted_row;
/* `as_if`: 0, or KEEL_LIMITS_ALSO_IT: once it ran. */
int64_t level_of(struct keel_mod *mod, struct keel_obj *job, uint32_t as_if);
uint32_t over_limits(struct keel_mod *mod, struct keel_obj *job, uint32_t as_if); /* PRIO_QUEUE_SOFT, PRIO_SERVER_SOFT */
bool is_express(struct keel_mod *mod, struct keel_obj *job, int64_t *ret_priority);

/* running.c */
void runner_out(struct keel_mod *mod, struct runner *r); /* it does not run any more; NULL is fine */
struct runner *runner_of(struct keel_mod *mod, struct keel_obj *job); /* NULL without memory: the caller ignores the job */
void runner_fini(struct keel_mod *mod, void *slot);
void levels_compute(struct keel_mod *mod);
bool levels_moved(struct keel_mod *mod); /* by soft limits, in the what-if that is open */
keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev);
keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev);
keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev);

/* candidate.c: the jobs that may be chosen. */
struct wanted {
	struct search *s;
	uint32_t relevance;
	struct keel_exec *own; /* where a suspended job goes on, and nowhere else; NULL: anywhere */
	bool has_targets;
	char targets[1024];
};
struct keel_exec *exec_of(struct keel_obj *job); /* the caller frees it; NULL: it has none */
bool is_candidate(struct keel_mod *mod, const struct wanted *w, struct keel_obj *job, struct runner *r);
/* Sorts into the order in which they are chosen; empty places are taken out. */
void candidates_sort(struct runner **list, uint32_t *n);
/* By which method it would be preempted now; NULL: by none. */
struct method *first_method(struct keel_mod *mod, struct keel_obj *job);
/* The same, if it is known what it would give back: *ret_only, which the caller frees; NULL: everything. */
struct method *first_useful(struct keel_mod *mod, struct keel_obj *job, char **ret_only);

/* choose.c: simulates until the job fits. LATER: the caller calls it again in another turn. */
enum choice choose(struct keel_mod *mod, struct search *s, struct keel_obj *job);
void choose_drop(struct keel_mod *mod, struct search *s);
void choose_without(struct keel_mod *mod, struct runner *r); /* it does not run any more */
/* Does it fit as it is? Also true when the what-if fails, for lack of memory: then the scheduler decides. */
bool fits_now(struct keel_obj *job);
bool victims_add(struct victims *v, const char *id); /* false without memory */
void victims_clear(struct victims *v);

/* search.c: the point preempt_victims */
keel_verdict on_victims(struct keel_call *c, const struct keel_ev_preempt_victims *ev);
keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev);
keel_verdict on_cycle_end(struct keel_call *c, const struct keel_ev_cycle_end *ev);
keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev);

/* wish.c: preempt_targets of jobs */
bool targets_of(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len);
bool is_target(const char *targets, struct keel_obj *job);
keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev);
keel_verdict on_modify(struct keel_call *c, const struct keel_ev_job_modify *ev);
keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev);

/* request.c */
extern const struct keel_request_def preempt_request;

#endif
