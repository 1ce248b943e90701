/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/sched.h - service "sched" (offered by scheduler): what-if, and its settings.
 */
#ifndef KEEL_SERVICE_SCHED_H
#define KEEL_SERVICE_SCHED_H

#include "keel/types.h"
#include "keel/use.h"

/* A what-if, one at a time. It may live over turns of the loop, while its opener chooses victims: jobs that
 * end meanwhile are forgotten, vnodes are looked at anew. */
struct keel_trial;

/* Why a job does not start. */
struct keel_sched_reason {
	uint32_t size;
	int32_t code;   /* 163xx, keel/sched_reason.def; 0: a text of a module */
	uint32_t never; /* 1: not even on empty vnodes */
	char text[256]; /* as the comment says it, without "Not Running: " */
	char what[64];  /* the missing resource, the limit, the vnode; "" when it is none */
};

struct keel_sched_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */

	/* Today's vnodes, totals and limits; `job` (queued, or suspended) wants to start. The caller calls trial_free(). Fails
	 * with NULL: one is open, no memory, or the job's request cannot be parsed. */
	struct keel_trial *(*trial)(struct keel_mod *, struct keel_obj *job);
	/* `running` gives back what it holds. `only`: comma list of resource names (a suspension that keeps
	 * the rest), NULL all. Raises the point trial_vacate. Fails with a negative errno: it keeps all. */
	int32_t (*trial_vacate)(struct keel_trial *, struct keel_obj *running, const char *only);
	void (*trial_restore)(struct keel_trial *, struct keel_obj *running); /* undo; trial_restore */
	/* Would it start now? Every check of a real start: limits, queue, server, placement. *why (may be
	 * NULL) is filled when not. */
	bool (*trial_fits)(struct keel_trial *, struct keel_sched_reason *why);
	void (*trial_free)(struct keel_trial *); /* restores all; NULL is fine */

	/* Something changed: a cycle soon. Jobs that back off are looked at again. */
	void (*reconsider)(struct keel_mod *);
	/* Is a qrun for this job being served? Run limits, prime time and the order do not hold for it. */
	bool (*asked_for)(struct keel_mod *, struct keel_obj *job);
	/* A setting of the scheduler's configuration, as sched_config or its conf file has it at this time
	 * of day: like snprintf(), lines that may be repeated one per line; fails with -ENOENT when it is nowhere. */
	int32_t (*setting)(struct keel_mod *, const char *name, char *buf, uint32_t len);
	/* It is prime time, or not: which lines of sched_config hold. Before the first call: prime. */
	void (*set_prime)(struct keel_mod *, bool prime);
	/* The jobs that are vacated now will give way for the job of the trial, which is the one that preempt_victims is
	 * raised for; the last call before trial_free(). Until that point is answered no other job is placed on
	 * their vnodes or where the job would go, and the scheduler goes on with jobs for other vnodes; without
	 * this call it stands still. Fails with -EINVAL for another job, -ENOENT when the job has no place. */
	int32_t (*trial_keep)(struct keel_trial *);
};

KEEL_SERVICE(sched);
#define keel_sched_trial(...) KEEL_CALL(sched, trial, __VA_ARGS__)
#define keel_sched_trial_vacate(...) KEEL_CALL_PLAIN(sched, trial_vacate, __VA_ARGS__)
#define keel_sched_trial_restore(...) KEEL_CALL_PLAIN(sched, trial_restore, __VA_ARGS__)
#define keel_sched_trial_fits(...) KEEL_CALL_PLAIN(sched, trial_fits, __VA_ARGS__)
#define keel_sched_trial_free(...) KEEL_CALL_PLAIN(sched, trial_free, __VA_ARGS__)
#define keel_sched_reconsider() KEEL_CALL0(sched, reconsider)
#define keel_sched_asked_for(...) KEEL_CALL(sched, asked_for, __VA_ARGS__)
#define keel_sched_setting(...) KEEL_CALL(sched, setting, __VA_ARGS__)
#define keel_sched_set_prime(...) KEEL_CALL(sched, set_prime, __VA_ARGS__)
#define keel_sched_trial_keep(...) KEEL_CALL_PLAIN(sched, trial_keep, __VA_ARGS__)

#endif
