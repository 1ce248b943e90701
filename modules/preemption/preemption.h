/* SPDX-License-Identifier: Apache-2.0
 *
 * preemption.h - what the files of this module share.
 */
#ifndef PREEMPTION_H
#define PREEMPTION_H

#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/resource.h"
#include "order.h"
#include "pbs_error.h"
#include "prio.h"

#define OUTCOME_FAILED "000"

/* A method somebody offers. */
struct method {
	const struct keel_preempt_def *def;
	struct keel_mod *owner;
	struct method *next;
};

struct conf {
	bool preemptive_sched;
	int64_t preempt_attempts, timeout;
	const char *const *scheduler_users;
};

struct state {
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_hook_api *hook;
	const struct keel_call_api *call;
	const struct keel_msg_api *msg;
	const struct keel_request_api *request;
	const struct keel_resource_api *resource;
	const struct keel_job_api *job;
	struct {
		const struct keel_attr *queue, *list, *used, *stime, *checkpoint, *ptime, *stopped_at,
			*stopped_for;
	} a;
	struct {
		const struct keel_attr *priority, *kill_delay;
	} queue;
	struct {
		const struct keel_attr *order, *prio, *queue_prio, *targets_enable, *scheduling;
	} sched;
	struct method *methods;
	struct order order; /* as preempt_order says now */
	struct prio prio;
	uint32_t waiting; /* attempts under way */
	char who[300];	  /* Scheduler@host */
};

/* kind.c */
extern const struct keel_kind_def preempt_kind;
struct method *method_find(struct state *st, char letter);

/* methods.c */
extern const struct keel_preempt_def suspend_method, checkpoint_method, requeue_method;

/* attributes.c */
#define PREEMPTION_SCHED_ATTRS 6
#define PREEMPTION_JOB_ATTRS 3
extern const struct keel_attr_def preemption_sched_attrs[PREEMPTION_SCHED_ATTRS];
extern const struct keel_attr_def preemption_job_attrs[PREEMPTION_JOB_ATTRS];
int32_t attributes_find(struct keel_mod *mod, struct keel_err *err);
void attributes_read(struct keel_mod *mod); /* as they are now */
/* Of the scheduler `default`; NULL: there is none. */
struct keel_obj *sched_default(struct keel_mod *mod);

/* time.c: how much of its time a job has left, in percent; -1: it asked for none. */
int32_t time_left(struct keel_mod *mod, struct keel_obj *job);
keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev);
keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev);
keel_verdict on_resumed(struct keel_call *c, const struct keel_ev_job_resumed *ev);
/* The methods that are for it now. */
const char *letters_for(struct keel_mod *mod, struct keel_obj *job);

/* preempt.c: one victim. `by` is NULL unless a method succeeded. Exactly once, maybe at once. */
typedef void preempted_fn(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
			  const struct keel_preempt_def *by);
void preempt(struct keel_mod *mod, const char *id, preempted_fn *done, void *arg);
keel_verdict on_preempt(struct keel_call *c, const struct keel_ev_job_preempt *ev);

/* request.c */
extern const struct keel_request_def preempt_request;

#endif
