/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/task.h - service "task" (offered by executor on a server): work on execution hosts.
 *
 * Every message names the job and its run (the job's run_version): an answer about another run is
 * stale and is dropped here, so listeners are only called for the current one. Messages leave after the
 * changes of the turn are durable. A host that is away gets what it missed when it is back
 * (re-synchronisation): a job that should run there and does not is reported as lost, one that should
 * not is killed.
 */
#ifndef KEEL_SERVICE_TASK_H
#define KEEL_SERVICE_TASK_H

#include "keel/types.h"
#include "keel/use.h"

/* Of the negative system codes of a run, those on which server and host must agree. Others, for a refusal of a module: -1 and -2, a
 * start that fails for good, before and after the files for output are there; -16 and -18 the job is queued again, if it may; -17 and
 * -19 it is deleted; -15, of task_epilogue alone, it is queued again. */
enum keel_task_failure {
	KEEL_TASK_RETRY = -3,	   /* the host, or a limit of its user, lets it not start now: it is queued again */
	KEEL_TASK_BAD_USER = -10,  /* its user is unknown on the host */
	KEEL_TASK_LOST = -14,	   /* a host of it is lost */
	KEEL_TASK_JOIN = -30,	   /* its hosts did not come together */
	KEEL_TASK_BAD_GROUP = -31, /* its user is not in its group any more: it is queued again, and held */
};

/* What hosts report about a job's current run. The keel_mod is the listener's own. */
struct keel_task_events {
	uint32_t size;
	uint32_t reserved;
	/* The first process runs. `session` is its session id. */
	void (*started)(struct keel_mod *, struct keel_obj *job, int64_t session);
	/* Could not be started: `exit_status` is a negative system code, or the PBSE number of a refusal at task_begin. */
	void (*refused)(struct keel_mod *, struct keel_obj *job, int32_t exit_status, const char *why);
	/* resources_used so far, as "name=value" strings ("cput=00:00:03", "mem=1024kb"). */
	void (*used)(struct keel_mod *, struct keel_obj *job, const char *const *items, uint32_t n);
	/* The last process ended, output is in its place, or "Stageout_status=0" is among the items. May come for a job that never `started`. The
	 * listener calls ended_done() once it has recorded the end; the host forgets the job then. */
	void (*ended)(struct keel_mod *, struct keel_obj *job, int32_t exit_status, int64_t session,
		      const char *const *items, uint32_t n);
	/* The host is back and knows nothing of this run. */
	void (*lost)(struct keel_mod *, struct keel_obj *job);
	/* A host has introduced itself: facts as "name=value" ("ncpus=4", "mem=1024kb", "vnodes=...").*/
	void (*host_up)(struct keel_mod *, const char *host, const char *const *facts, uint32_t n);
	/* The link to a host is lost beyond its grace. */
	void (*host_down)(struct keel_mod *, const char *host, const char *why);
	/* The directory the run is in, before started() or ended() when the host knows it. */
	void (*placed)(struct keel_mod *, struct keel_obj *job, const char *dir);
	/* A start there failed for want of means (why), before refused(); NULL: one succeeded. */
	void (*host_start)(struct keel_mod *, const char *host, const char *why);
	/* Why it can take no tasks, by its own check; NULL: it can. */
	void (*host_health)(struct keel_mod *, const char *host, const char *why);
	/* A host that the job gave up (resize()) has ended its part, or never had one. */
	void (*released)(struct keel_mod *, struct keel_obj *job, const char *host);
	/* The primary goes on with these chunks alone, before the program is started. It reports that again until the job's
	 * hosts are as it says: the listener shrinks the job, or ends it. */
	void (*pruned)(struct keel_mod *, struct keel_obj *job, const char *exec_vnode, const char *schedselect);
	/* No host that is there has anything left of a run that was discarded. The job may be gone. */
	void (*discarded)(struct keel_mod *, const char *id);
	/* Before ended(), with a status below 0: what the host said of it, "mem 412864kb exceeded limit 204800kb". */
	void (*failed)(struct keel_mod *, struct keel_obj *job, const char *why);
	/* Before ended(): output that could not be placed, and is kept on its host: why and where in a line, and in lines for a letter. Both are
	 * a host's words: of any length, with any byte. `elsewhere`: only because its place is on another host. */
	void (*undelivered)(struct keel_mod *, struct keel_obj *job, const char *host, const char *why, const char *text, bool elsewhere);
	/* Before ended(): what else went wrong on its host, in a line: a host's words, too. */
	void (*remark)(struct keel_mod *, struct keel_obj *job, const char *text);
};

/* code 0, or the PBSE number of an error with its text (NULL: table text). `me` is the caller's module. */
typedef void keel_task_done(struct keel_mod *me, void *arg, int32_t code, const char *text);

struct keel_task_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	/* The callbacks for reports: until listen(NULL), in fini(). Any number of modules may listen; unused members are
	 * NULL. Fails with -ENOMEM. */
	int32_t (*listen)(struct keel_mod *, struct keel_mod *me, const struct keel_task_events *);
	/* Start the job on the primary host of its exec_host (attributes exec_host, exec_vnode,
	 * run_version are set). Script and attributes are taken from the object. The answer comes as
	 * started() or refused(). Fails with -ENOTCONN when the host is away, -E2BIG when its PBS_NODEFILE would have more
	 * than a million lines, -ENAMETOOLONG when its id is too long for names of files, -ENOMEM. */
	int32_t (*start)(struct keel_mod *, struct keel_obj *job);
	/* Signal name or number, "suspend" or "resume": `done` when the host has acted. `as` is what the
	 * host's log calls it; NULL: name.
	 * Fails with 15013 (unknown), 15016 (wrong state there), 15070 (host away, at once or when the link breaks). */
	void (*signal)(struct keel_mod *, struct keel_obj *job, const char *name, const char *as,
		       struct keel_mod *me, keel_task_done *done, void *arg);
	/* TERM now, KILL after `delay_ms`; the end comes as ended(). Fails with -ENOENT when no
	 * host has the run; a host that is away gets the order when it is back, whatever this returns. */
	int32_t (*kill)(struct keel_mod *, struct keel_obj *job, int64_t delay_ms);
	/* Kill at once and forget: no report comes. Also when the host is away (then on its return). */
	void (*discard)(struct keel_mod *, struct keel_obj *job);
	/* The end is recorded: the host may forget the job. */
	void (*ended_done)(struct keel_mod *, struct keel_obj *job);
	/* The function that returns the host (link peer) of a vnode of exec_vnode, NULL when it is unknown. Set by nodes,
	 * until it takes that back with NULL. */
	void (*set_host_of)(struct keel_mod *, struct keel_mod *me,
			    const char *(*host_of)(struct keel_mod *me, const char *vnode));
	/* Like kill(), but the host may refuse (point task_preterm): `done` when it has decided. Once it has
	 * accepted, the task is ended even when the host goes away meanwhile; when it fails, refused or not reached (15070),
	 * nothing has happened. */
	void (*terminate)(struct keel_mod *, struct keel_obj *job, int64_t delay_ms, struct keel_mod *me,
			  keel_task_done *done, void *arg);
	/* Saves the state of the task with the host's own script, then ends it. Fails with 15029 when there is none, 15041 and
	 * a text when the script failed: the task goes on. */
	void (*checkpoint)(struct keel_mod *, struct keel_obj *job, struct keel_mod *me,
			   keel_task_done *done, void *arg);
	/* Appends a line to what the task wrote so far: `files` is the sum of 1 output, 2 error. Fails with 15016 (no task
	 * there) or 15041 (its file cannot be written). */
	void (*message)(struct keel_mod *, struct keel_obj *job, int32_t files, const char *text,
			struct keel_mod *me, keel_task_done *done, void *arg);
	/* The daemons of all hosts end; tasks go on. */
	void (*stop_hosts)(struct keel_mod *);
	/* This host introduces itself once more: host_up() is called when it has answered. Fails with -ENOTCONN: it is away. */
	int32_t (*describe)(struct keel_mod *, const char *host);
	/* Limits or output paths of a job that runs have changed: its host gets them as they are now, and again
	 * when it was away. */
	void (*modify)(struct keel_mod *, struct keel_obj *job);
	/* The job has fewer vnodes than before: hosts that stay get to know it, those that are out end their part, which is
	 * reported as released(). */
	void (*resize)(struct keel_mod *, struct keel_obj *job);
	/* Where other hosts reach this one, "host:port", borrowed; NULL: it has not said. */
	const char *(*address)(struct keel_mod *, const char *host);
};

KEEL_SERVICE(task);
#define keel_task_listen(...) KEEL_CALL(task, listen, __VA_ARGS__)
#define keel_task_start(...) KEEL_CALL(task, start, __VA_ARGS__)
#define keel_task_signal(...) KEEL_CALL(task, signal, __VA_ARGS__)
#define keel_task_kill(...) KEEL_CALL(task, kill, __VA_ARGS__)
#define keel_task_discard(...) KEEL_CALL(task, discard, __VA_ARGS__)
#define keel_task_ended_done(...) KEEL_CALL(task, ended_done, __VA_ARGS__)
#define keel_task_set_host_of(...) KEEL_CALL(task, set_host_of, __VA_ARGS__)
#define keel_task_terminate(...) KEEL_CALL(task, terminate, __VA_ARGS__)
#define keel_task_checkpoint(...) KEEL_CALL(task, checkpoint, __VA_ARGS__)
#define keel_task_message(...) KEEL_CALL(task, message, __VA_ARGS__)
#define keel_task_stop_hosts() KEEL_CALL0(task, stop_hosts)
#define keel_task_describe(...) KEEL_CALL(task, describe, __VA_ARGS__)
#define keel_task_resize(...) KEEL_CALL(task, resize, __VA_ARGS__)
#define keel_task_address(...) KEEL_CALL(task, address, __VA_ARGS__)
#define keel_task_modify(...) KEEL_CALL(task, modify, __VA_ARGS__)

#endif
