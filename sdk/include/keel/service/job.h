/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/job.h - service "job" (offered by jobs): states and the steps between them.
 *
 * jobs owns the order of every state change; features tap points (job_suspended ...) and call the steps of
 * this table, they never write job_state or substate themselves.
 */
#ifndef KEEL_SERVICE_JOB_H
#define KEEL_SERVICE_JOB_H

#include "keel/types.h"
#include "keel/use.h"

/* Substates users see in `substate`. */
enum keel_substate {
	KEEL_SUB_QUEUED = 10,
	KEEL_SUB_HELD = 20,
	KEEL_SUB_DEPENDS = 22, /* held until other jobs have done something */
	KEEL_SUB_WAITING = 30,
	KEEL_SUB_SENT = 41,
	KEEL_SUB_RUNNING = 42,
	KEEL_SUB_SUSPENDED = 43,
	KEEL_SUB_SCHED_SUSPENDED = 45, /* waits for the scheduler to resume it */
	KEEL_SUB_EXITING = 50,
	KEEL_SUB_EXITED = 53,
	KEEL_SUB_ABORTING = 54,
	KEEL_SUB_RERUN = 60,
	KEEL_SUB_BEGUN = 70, /* an array of which some subjob has started */
	KEEL_SUB_TERMINATED = 91,
	KEEL_SUB_FINISHED = 92,
	KEEL_SUB_FAILED = 93,
};

enum keel_stage {
	KEEL_STAGE_IN = 15,
	KEEL_STAGE_IN_FAILED = 37,
	KEEL_STAGE_OUT = 51,
	KEEL_STAGE_OUT_FAILED = -51, /* no substate: Stageout_status will be 0 */
};

/* code 0, or the PBSE number of an error; text NULL: table text. Called exactly once. `me` is the caller's module. */
typedef void keel_job_done(struct keel_mod *me, void *arg, int32_t code, const char *text);

/* An act on a job that has a request. */
struct keel_job_ask {
	uint32_t size;
	uint32_t reserved;
	const char *verb;     /* "delete" "signal" "rerun" "run"; of parts, which have new values of their whole: "alter" */
	const char *detail;   /* its words: signal name, "force", "deletehist", location, `attr[.resource],...`; may be NULL */
	const char *who;      /* user@host, for logs and points */
	struct keel_req *req; /* of the requester whose permissions count; NULL: the system */
};

/* What a job that runs is to have from now on: a part of what it has. */
enum keel_shrink_frees {
	KEEL_SHRINK_HOSTS,  /* what is given up is free when its host has no other part of the job, and has ended it */
	KEEL_SHRINK_CHUNKS, /* at once on hosts that stay, else when the host has ended its part */
	KEEL_SHRINK_ALL,    /* at once */
};
struct keel_job_shrink {
	uint32_t size;
	uint32_t frees; /* enum keel_shrink_frees */
	const char *exec_vnode;	 /* chunks of the present one, which may lack vnodes; the first stays the first */
	const char *schedselect; /* a chunk for each of these; it becomes Resource_List.select, too */
	const char *why;	 /* "release": its owner gives up what runs; "prune": before its program is started */
};

struct keel_job_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* The stored letter: T Q H W R E B M F X. A suspended job is R; one that is queued where nothing
	 * is started, in a routing queue, is T. */
	char (*state)(struct keel_mod *, struct keel_obj *job);
	int32_t (*substate)(struct keel_mod *, struct keel_obj *job); /* enum keel_substate */
	/* Do its processes stand still (substate 43 or 45)? */
	bool (*is_suspended)(struct keel_mod *, struct keel_obj *job);

	/* Stop the processes, release resources, then the point job_suspended, then substate 43, all in
	 * one durable turn; `signal` is what the point and the logs name it. Fails with 15016 unless it runs. */
	void (*suspend)(struct keel_mod *, struct keel_obj *job, const char *signal, const char *who,
			struct keel_mod *me, keel_job_done *done, void *arg);
	/* Point job_resume, assign resources again, continue the processes, point job_resumed, substate 42. When any of these
	 * fails the job is as it was. */
	void (*resume)(struct keel_mod *, struct keel_obj *job, const char *signal, const char *who,
		       struct keel_mod *me, keel_job_done *done, void *arg);
	/* The answer of a SIGNAL row's start(). */
	void (*signal_done)(struct keel_mod *, void *op, int32_t code, const char *text);
	/* Start a queued job on these vnodes; `done` when the request is accepted (the host answers
	 * later). Fails with 15016 (not queued), 15044 (resources) or a tap's code and text. */
	void (*run)(struct keel_mod *, struct keel_obj *job, const char *exec_vnode, const char *who,
		    struct keel_mod *me, keel_job_done *done, void *arg);
	/* Resumes a job in substate 45 (schedulers); fails with 15016 in any other, 15060 while the server ends. */
	void (*resume_waiting)(struct keel_mod *, struct keel_obj *job, struct keel_mod *me, keel_job_done *done, void *arg);
	/* Write its comment, as users see it in `qstat -f`; copied. */
	void (*set_comment)(struct keel_mod *, struct keel_obj *job, const char *text);
	/* Called when anything changed that may let a job start (submit, end, release ...). One listener:
	 * the scheduler. */
	void (*on_change)(struct keel_mod *, struct keel_mod *me, void (*fn)(struct keel_mod *me));
	/* Registers the scheduler's function for qrun without -H. fn must call done once. */
	void (*on_run_request)(struct keel_mod *, struct keel_mod *me,
			       void (*fn)(struct keel_mod *me, struct keel_obj *job, const char *who,
					  struct keel_mod *caller, keel_job_done *done, void *arg));
	/* How many starts wait in this job now: a queued job one, an array (state Q or B) those of its
	 * subjobs that wait and may run beside those that run; else 0. It changes with each start: run() of
	 * an array starts its next subjob, an object of its own, and `done` gets that one's id as text.
	 * The point job_waits is raised when there are some again. */
	uint32_t (*waiting)(struct keel_mod *, struct keel_obj *job);

	/* What qdel does, called by a module in the name of `who` (this and the next three), also to an array: the same
	 * points, logs and records. `done` gets 0 when it was accepted; when it fails (15016, 15029, 15038,
	 * 15070 host away, the host's own code) nothing has changed. The end itself is notified by the
	 * point job_purged, a suspension is complete when `done` is called. */
	void (*request_delete)(struct keel_mod *, struct keel_obj *job, const char *who,
			       struct keel_mod *me, keel_job_done *done, void *arg);
	/* What qrerun does: it is ended and queued again. */
	void (*request_rerun)(struct keel_mod *, struct keel_obj *job, const char *who,
			      struct keel_mod *me, keel_job_done *done, void *arg);
	/* What qsig -s suspend does, but into substate 45: the scheduler resumes it. */
	void (*request_suspend)(struct keel_mod *, struct keel_obj *job, const char *who,
				struct keel_mod *me, keel_job_done *done, void *arg);
	/* The host saves the job's state and ends it; it is queued again and goes on there later. */
	void (*request_checkpoint)(struct keel_mod *, struct keel_obj *job, const char *who,
				   struct keel_mod *me, keel_job_done *done, void *arg);
	/* What a suspension would give back now (point suspend_release): its length, the comma list of
	 * resource names in buf, like snprintf(). Fails with -ENODATA (everything), -EAGAIN (a tap waits) or -ENOMEM. */
	int32_t (*release_names)(struct keel_mod *, struct keel_obj *job, char *buf, uint32_t len);
	/* What the suspension of this job gave back, the same for its whole length and over restarts; NULL:
	 * everything, or it is not suspended. Borrowed. */
	const char *(*released)(struct keel_mod *, struct keel_obj *job);
	/* Does what a request would: its checks, points, logs and records, for this one job. `done` gets 0 or the error of the
	 * request. */
	void (*ask)(struct keel_mod *, struct keel_obj *job, const struct keel_job_ask *,
		    struct keel_mod *me, keel_job_done *done, void *arg);
	/* Put a job that has not started into a queue of this server, as qmove does: it must be admitted,
	 * and the point job_move is raised. `who` is for the log; the lists mean the job's owner. Fails with 15016 once it
	 * has started, or the error of the queue or a tap. */
	void (*move)(struct keel_mod *, struct keel_obj *job, struct keel_obj *queue, const char *who,
		     struct keel_mod *me, keel_job_done *done, void *arg);
	/* The queue that `[queue][@server]` means. Fails with 15008 (another server), 15018 (no such queue) or 15037 (no
	 * default queue). */
	int32_t (*destination)(struct keel_mod *, const char *dest, struct keel_obj **ret_queue);
	/* The system ends a job that has not started; `why` is its comment and its accounting record. */
	void (*abort)(struct keel_mod *, struct keel_obj *job, const char *why);
	/* Hold a job that has not started until other jobs have done something (hold s, substate 22), or
	 * let it go. Other holds stay. In a job's submission: Hold_Types += d. */
	void (*depend)(struct keel_mod *, struct keel_obj *job, bool waits);
	/* The number that the next job gets: smaller ones are used, or lost. */
	int64_t (*next_number)(struct keel_mod *);
	/* Would its start be allowed (point start_now, raised dry)? Nothing starts. `done` gets 0 or the refusal. */
	void (*may_run)(struct keel_mod *, struct keel_obj *job, const char *who, struct keel_mod *me,
			keel_job_done *done, void *arg);
	/* How many jobs that wait it stands for: an array its queued subjobs, whatever its run limit and
	 * holds; others 1. */
	uint32_t (*members)(struct keel_mod *, struct keel_obj *job);
	/* May the requester touch it? 0; fails with 15007, or 15139: it is history. `roles`: enum keel_role bits, KEEL_USER
	 * is its owner. */
	int32_t (*permit)(struct keel_mod *, struct keel_obj *job, const struct keel_job_ask *,
			  uint32_t roles);
	/* The SIGNAL row of this name; NULL: it is none. */
	const struct keel_signal_def *(*signal)(struct keel_mod *, const char *name);

	/* For the module that offers a JOB_FORM. */
	void (*adopt)(struct keel_mod *, struct keel_obj *part); /* just published: it is Q */
	void (*back)(struct keel_mod *, struct keel_obj *part);  /* into its whole: back(), destroyed */
	void (*waits)(struct keel_mod *, struct keel_obj *whole); /* more may start now */
	/* Its last part is over, or it is deleted: substate 91, 92 or 93. */
	void (*finish)(struct keel_mod *, struct keel_obj *whole, int32_t substate, int32_t exit_status);
	void (*settle)(struct keel_mod *, struct keel_obj *part); /* X becomes F: its whole is over */
	void (*erase)(struct keel_mod *, struct keel_obj *job);   /* history of it, for ever */

	/* The letter of the job an operand names, also of a subjob that waits in its array, or is over
	 * there, and is no object. '\0': there is none, or it names several. */
	char (*letter)(struct keel_mod *, const char *operand);
	/* The job has fewer vnodes: exec_vnode, exec_host, select, Resource_List, amounts of vnodes, queue and server,
	 * records (u and c, or s), the hosts, and the point job_resized, in this turn. What it was submitted with comes back
	 * when it is queued again. Fails with 15016 (it does not run; "prune": nor was it sent), 15004 (that is not a part of
	 * what it has) or an error of a text, and *err: nothing has changed. */
	int32_t (*shrink)(struct keel_mod *, struct keel_obj *job, const struct keel_job_shrink *, struct keel_err *);
	/* Its files are being copied, or could not be: substate 15 before it runs, 51 after that; or it waits (W, substate 37), once
	 * its start has failed, until Execution_Time, in half an hour where none is set. `stage`: enum keel_stage. */
	void (*stage)(struct keel_mod *, struct keel_obj *job, int32_t stage);
	/* Takes the next number of the sequence that jobs have, for something else with an id of its own. Never given again, also
	 * after kill -9. */
	int64_t (*take_number)(struct keel_mod *);
	/* Put a job that has not ended into another queue of this server without admission, limits or the point job_move, in
	 * whatever state it is: a module that made the queue for it. `who` is for the log; the point job_moved is raised. Fails
	 * with 15016 when it is over. */
	int32_t (*put)(struct keel_mod *, struct keel_obj *job, struct keel_obj *queue, const char *who);
	/* Makes the changes of a set as qalter makes its own: resources of a job that waits are completed, its state, mtime and hosts
	 * follow, and its place among jobs (point job_moved) where it requests something else. The set is moved, also on failure: 15139
	 * (it is history) or an error of its resources, and *err. */
	int32_t (*change)(struct keel_mod *, struct keel_obj *job, struct keel_changes *, struct keel_err *err);
	/* A sentence that the comment gets behind it when the run has ended: what went wrong beside the exit status. It is copied and made
	 * plain; all of a run have 600 bytes. */
	void (*remark)(struct keel_mod *, struct keel_obj *job, const char *text);
};

KEEL_SERVICE(job);
/* Behind a comment that set_comment() was given, on a job that a host could not start, and why. */
#define KEEL_JOB_LAST_TRY "; last try: "

#define keel_job_state(...) KEEL_CALL(job, state, __VA_ARGS__)
#define keel_job_substate(...) KEEL_CALL(job, substate, __VA_ARGS__)
#define keel_job_is_suspended(...) KEEL_CALL(job, is_suspended, __VA_ARGS__)
#define keel_job_suspend(...) KEEL_CALL(job, suspend, __VA_ARGS__)
#define keel_job_resume(...) KEEL_CALL(job, resume, __VA_ARGS__)
#define keel_job_signal_done(...) KEEL_CALL(job, signal_done, __VA_ARGS__)
#define keel_job_run(...) KEEL_CALL(job, run, __VA_ARGS__)
#define keel_job_resume_waiting(...) KEEL_CALL(job, resume_waiting, __VA_ARGS__)
#define keel_job_set_comment(...) KEEL_CALL(job, set_comment, __VA_ARGS__)
#define keel_job_on_change(...) KEEL_CALL(job, on_change, __VA_ARGS__)
#define keel_job_on_run_request(...) KEEL_CALL(job, on_run_request, __VA_ARGS__)
#define keel_job_waiting(...) KEEL_CALL(job, waiting, __VA_ARGS__)
#define keel_job_request_delete(...) KEEL_CALL(job, request_delete, __VA_ARGS__)
#define keel_job_request_rerun(...) KEEL_CALL(job, request_rerun, __VA_ARGS__)
#define keel_job_request_suspend(...) KEEL_CALL(job, request_suspend, __VA_ARGS__)
#define keel_job_request_checkpoint(...) KEEL_CALL(job, request_checkpoint, __VA_ARGS__)
#define keel_job_release_names(...) KEEL_CALL(job, release_names, __VA_ARGS__)
#define keel_job_released(...) KEEL_CALL(job, released, __VA_ARGS__)
#define keel_job_ask(...) KEEL_CALL(job, ask, __VA_ARGS__)
#define keel_job_move(...) KEEL_CALL(job, move, __VA_ARGS__)
#define keel_job_destination(...) KEEL_CALL(job, destination, __VA_ARGS__)
#define keel_job_abort(...) KEEL_CALL(job, abort, __VA_ARGS__)
#define keel_job_depend(...) KEEL_CALL(job, depend, __VA_ARGS__)
#define keel_job_next_number() KEEL_CALL0(job, next_number)
#define keel_job_may_run(...) KEEL_CALL(job, may_run, __VA_ARGS__)
#define keel_job_members(...) KEEL_CALL(job, members, __VA_ARGS__)
#define keel_job_permit(...) KEEL_CALL(job, permit, __VA_ARGS__)
#define keel_job_signal(...) KEEL_CALL(job, signal, __VA_ARGS__)
#define keel_job_adopt(...) KEEL_CALL(job, adopt, __VA_ARGS__)
#define keel_job_back(...) KEEL_CALL(job, back, __VA_ARGS__)
#define keel_job_waits(...) KEEL_CALL(job, waits, __VA_ARGS__)
#define keel_job_finish(...) KEEL_CALL(job, finish, __VA_ARGS__)
#define keel_job_settle(...) KEEL_CALL(job, settle, __VA_ARGS__)
#define keel_job_erase(...) KEEL_CALL(job, erase, __VA_ARGS__)
#define keel_job_shrink(...) KEEL_CALL(job, shrink, __VA_ARGS__)
#define keel_job_stage(...) KEEL_CALL(job, stage, __VA_ARGS__)
#define keel_job_take_number() KEEL_CALL0(job, take_number)
#define keel_job_put(...) KEEL_CALL(job, put, __VA_ARGS__)
#define keel_job_change(...) KEEL_CALL(job, change, __VA_ARGS__)
#define keel_job_remark(...) KEEL_CALL(job, remark, __VA_ARGS__)
#define keel_job_letter(...) KEEL_CALL(job, letter, __VA_ARGS__)

#endif
