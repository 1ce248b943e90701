/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/sched.h - service "sched" (offered by scheduler): what-if, time on vnodes, and its settings.
 */
#ifndef KEEL_SERVICE_SCHED_H
#define KEEL_SERVICE_SCHED_H

#include "keel/types.h"
#include "keel/use.h"

/* A what-if, one at a time. It may live over turns of the loop, while its opener chooses victims: jobs that
 * end meanwhile are forgotten, vnodes are looked at anew. */
struct keel_trial;

/* A time for which vnodes are promised: of a reservation, for each of its occurrences one. */
enum keel_block_flag {
	KEEL_BLOCK_ALONE = 1, /* nobody else is placed on its vnodes then, whatever is left there */
	/* The same, and what else is promised or runs there is no matter of its own: maintenance. Jobs of its queue may use what is
	 * physically free. */
	KEEL_BLOCK_WHATEVER = 2,
	KEEL_BLOCK_BEGAN = 4, /* its vnodes are charged already (service node, hold()) */
};
struct keel_sched_block {
	uint32_t size, flags; /* enum keel_block_flag */
	const char *id;	      /* whose, as comments and explain name it */
	uint32_t part;	      /* which of its times */
	uint32_t reserved;
	int64_t from, till;   /* [from, till), seconds since 1970 */
	const char *exec_vnode; /* what of which vnodes; "": nothing, jobs of its queue have no place */
	const char *queue;    /* jobs of this queue are placed inside it, and nowhere else; NULL: there is none */
};

/* A place in time for something that is not a job. */
struct keel_sched_wish {
	uint32_t size, reserved;
	const char *select, *place; /* as schedselect and Resource_List.place have them */
	int64_t from, till;	    /* [from, till) when `duration` is 0; else it begins at `from` or later, `till` is not read */
	int64_t duration;	    /* seconds; > 0: the soonest time of that length */
	const char *except;	    /* blocks of this id do not count: it gives up what it has; NULL */
	const char *beside;	    /* an exec_vnode that it keeps, and that is not free for the rest; NULL */
	const char *partition;	    /* NULL: of none */
	/* May this vnode be used? Called for vnodes whose state lets new work in. NULL: all. */
	bool (*usable)(struct keel_mod *me, void *arg, struct keel_obj *node);
};
struct keel_sched_place {
	uint32_t size;
	int32_t code;		/* 0, or why not: enum keel_why of keel/sched_reason.def, a PBSE code */
	const char *exec_vnode; /* NULL: there is none */
	int64_t from;		/* when it begins */
	const char *why;	/* not; a sentence without "Not Running: " */
};
typedef void keel_sched_found(struct keel_mod *me, void *arg, const struct keel_sched_place *);

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
	 * with NULL: one is open, no memory, the job's request cannot be parsed, or it is placed inside a block. */
	struct keel_trial *(*trial)(struct keel_mod *, struct keel_obj *job);
	/* `running` gives back what it holds. `only`: comma list of resource names (a suspension that keeps
	 * the rest), NULL all. Raises the point trial_vacate. Fails with a negative errno: it keeps all, as each job inside a
	 * block does. */
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
	/* From now on every job is placed so that it does not use then what is promised here. Replaces the block of the same id
	 * and part. Not stored: the caller blocks again in its replay. Fails with a PBSE code or -ENOMEM and *err: the old one
	 * stays. */
	int32_t (*block)(struct keel_mod *, const struct keel_sched_block *, struct keel_err *);
	/* All blocks of this id with a part of `from_part` or above go. */
	void (*unblock)(struct keel_mod *, const char *id, uint32_t from_part);
	/* Looks for a place beside all blocks and running jobs (as their walltimes say), in slices of later turns. `done` is called
	 * once, not before this returns. Fails with a PBSE code and *err when the wish cannot be parsed, or -ENOMEM: `done` is
	 * not called. */
	int32_t (*find)(struct keel_mod *, const struct keel_sched_wish *, struct keel_mod *me, keel_sched_found *done,
			void *arg, struct keel_err *);
	/* The searches of this caller with this argument end, their `done` is not called. */
	void (*find_drop)(struct keel_mod *, struct keel_mod *me, void *arg);
	/* `fn` is called in each cycle before jobs are looked at; the cycle waits until all searches that it, or their `done`,
	 * began are over. One caller; fn NULL takes it back. */
	void (*on_cycle)(struct keel_mod *, struct keel_mod *me, void (*fn)(struct keel_mod *me));
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
#define keel_sched_block(...) KEEL_CALL(sched, block, __VA_ARGS__)
#define keel_sched_unblock(...) KEEL_CALL(sched, unblock, __VA_ARGS__)
#define keel_sched_find(...) KEEL_CALL(sched, find, __VA_ARGS__)
#define keel_sched_find_drop(...) KEEL_CALL(sched, find_drop, __VA_ARGS__)
#define keel_sched_on_cycle(...) KEEL_CALL(sched, on_cycle, __VA_ARGS__)
#define keel_sched_trial_keep(...) KEEL_CALL_PLAIN(sched, trial_keep, __VA_ARGS__)

#endif
