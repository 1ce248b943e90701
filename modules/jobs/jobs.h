/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.h - what the files of this module share.
 */
#ifndef JOBS_H
#define JOBS_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/service/acct.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/queue.h"
#include "keel/service/resource.h"
#include "keel/service/task.h"
#include "keel/sized.h"
#include "pbs_error.h"

#define SUSPENDED_BIT 0x100 /* of job_state's value: shown as S */
#define RUNS_MAX 20         /* more starts than this: system hold */

/* Where a job is; step.c has the one table of letters and substates. */
enum step {
	STEP_NEW, /* a draft */
	STEP_QUEUED,
	STEP_ROUTING, /* queued where nothing is started: it waits to be moved */
	STEP_HELD,
	STEP_DEPENDING, /* held for what other jobs do */
	STEP_WAITING,
	STEP_STAGE_FAILED, /* waits likewise: its files could not be staged in */
	STEP_BEGUN, /* an array of which some subjob has started */
	STEP_SENT,
	STEP_RUNNING,
	STEP_SUSPENDED,
	STEP_SCHED_SUSPENDED,
	STEP_RERUNNING,
	STEP_STAGING_OUT, /* shown as E: its program is over, its host copies files */
	STEP_EXITING,
	STEP_EXITED, /* its host's report is not waited for */
	STEP_TERMINATED,
	STEP_FINISHED,
	STEP_FAILED,
	STEP_EXPIRED_TERMINATED, /* subjobs that are over, of an array that is not */
	STEP_EXPIRED_FINISHED,
	STEP_EXPIRED_FAILED,
	STEP_COUNT,
};

/* How many jobs are in each state, of the server and of each queue. */
enum tally { TALLY_TRANSIT, TALLY_QUEUED, TALLY_HELD, TALLY_WAITING, TALLY_RUNNING, TALLY_EXITING,
	     TALLY_BEGUN, TALLY_HISTORY, TALLY_COUNT };
struct counts {
	int64_t n[TALLY_COUNT];
};

/* What a job occupies: suspended, some of it or nothing. */
enum occupies { OCCUPIES_NOTHING, OCCUPIES_REST, OCCUPIES_ALL };
/* What an id says: 12.svr, 12[].svr, 12[3].svr. */
enum role { ROLE_PLAIN, ROLE_WHOLE, ROLE_PART };

enum ending { ENDING_NONE, ENDING_DELETE, ENDING_RERUN, ENDING_CHECKPOINT };

/* A keel_job_done and its arguments: called exactly once, with 0 or the error. */
struct callback {
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
};

/* Private memory on each job. */
struct job {
	uint8_t step;     /* enum step */
	uint8_t ending;   /* enum ending: what its end will mean */
	uint8_t occupies;  /* enum occupies: of its vnodes, queue and server */
	bool forced;      /* queued again by force: its hosts have not said that the last run is gone */
	bool busy;        /* a suspend or resume is on its way to the host */
	bool stage_failed; /* its start fails because its files are not there */
	bool unheld;      /* qrun decides: its user's hold does not count meanwhile */
	uint32_t edits;   /* how often it was altered, moved, started or ended: edits.c */
	struct keel_timer *timer; /* pending: Execution_Time; running: its host is away */
	struct waiter *waiters;   /* requests answered when it is over: wait.c */
	struct callback *rerun; /* when it is queued again */
	struct keel_timer *rerun_timer; /* when `rerun` fails because it takes too long */
	struct callback *run;   /* when the host has started it */
};

struct signal_row {
	const struct keel_signal_def *def;
	struct keel_mod *owner;
	struct signal_row *next;
};

struct conf {
	int64_t kill_delay; /* ms */
	int64_t script_max; /* bytes */
};

#define ENDED_ATTRS 4 /* rows of wait.c */

struct state {
	struct signal_row *signals;
	struct again *again; /* change sets of operations that wait, by key */
	uint32_t again_last;
	struct keel_row *prepares; /* of keel_job_prepare_def, low place first */
	const struct keel_job_form_def *form; /* NULL: there are no arrays */
	struct keel_mod *form_owner;
	struct counts counts;
	int64_t suspended; /* among those that run */
	bool counting;    /* jobs are known again: what queues and server had is forgotten */
	bool stopping; /* stop() was called: no request waits any more */
	char failed_id[300], failed[200]; /* of the job whose end is reported next: what its host says */
	bool terminating; /* qterm: ends when nothing runs */
	char terminating_by[300];
	struct keel_timer *terminator;
	struct keel_cursor *ending_walk;
	int64_t ending_next; /* when to walk again; 0: no job is to be ended */
	uint32_t ending_left; /* jobs that the walk found and that are waited for */
	int64_t last_rank; /* of the job known last, at start */
	bool ranks_mixed;  /* some were not in order of creation */
	int64_t next_sequence, reserved_sequence; /* numbers below reserved are durably ours */
	struct keel_timer *cleaner;
	struct delete_list *deleting;
	struct keel_mod *listener;
	void (*changed)(struct keel_mod *);
	struct keel_mod *runner;
	void (*run_request)(struct keel_mod *, struct keel_obj *, const char *, struct keel_mod *,
			    keel_job_done *, void *);
};

/* attributes.c */
#define JOB(member, ...) extern const struct keel_attr_def job_attr_##member;
#include "attributes.def"
#undef JOB
/* Fills the handles st->a. Fails with -1 and *err when an attribute is missing. */
/* The value of an attribute of this name that a request empties; NULL: unset. */
const char *attribute_emptied(const char *name);

/* prepare.c */
extern const struct keel_kind_def prepare_kind;
/* The JOB_PREPARE rows of all modules, on a job whose Resource_List is not complete. *changed = true: it is another one now.
 * 0; fails with a PBSE code and *err; the caller discards the set. */
int32_t prepare_job(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, bool *changed,
		    struct keel_err *err);

/* types.c */
extern const struct keel_type_def owner_type, job_state_type, holds_type;
/* DEPENDS and SAVING (its host saves it) are shown as a system hold, and are released with it. */
enum hold_bit { HOLD_SYSTEM = 1, HOLD_OTHER = 2, HOLD_USER = 4, HOLD_PASSWORD = 8,
		HOLD_DEPENDS = 16, HOLD_SAVING = 32, HOLDS_UNSEEN = HOLD_DEPENDS | HOLD_SAVING };
int32_t holds_seen(int32_t bits); /* as listings show them */
/* The bits of stored letters; fails with -1 on a bad letter. */
int32_t holds_parse(const char *letters);
/* The same for letters of a request: s is every hold that is shown so. Fails with -1 on a bad letter, and on d, which is
 * not a requester's. */
int32_t holds_parse_shown(const char *letters);
void holds_text(int32_t bits, char buf[8]);

/* explain.c */
keel_verdict on_job_explain(struct keel_call *c, const struct keel_ev_job_explain *ev);
/* Records for it: who set holds, or released them; who suspended it. */
void held_note(struct keel_mod *mod, struct keel_obj *job, int32_t bits, bool set, const char *who);
void stopped_note(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who);

/* step.c */
/* NULL only when there was no memory for it: the caller fails in job_known, every later caller has it. */
struct job *job_slot(struct keel_mod *mod, struct keel_obj *job);
char step_letter(enum step step);
int32_t step_substate(enum step step);
/* The step that stored values mean; for values of no row one that the letter allows. */
enum step step_of(char letter, bool suspended, int64_t substate);
/* The one door for state changes: attributes, counters, mtime, log, point job_step. It cannot fail: the caller has
 * checked that the step is allowed. */
void step_to(struct keel_mod *mod, struct keel_obj *job, enum step step);
/* Logs a change of substates that come one after the other, first to last. */
void step_log(struct keel_mod *mod, struct keel_obj *job, char letter, int first, int last);
bool step_is_suspended(enum step step);
bool step_is_running(enum step step); /* a host has it: letter R, or it stages out */
bool step_is_over(enum step step);    /* history */
bool step_is_expired(enum step step); /* X */
bool step_is_pending(enum step step); /* Q H W */
bool step_is_open(enum step step);    /* Q H W B: starts may wait in it */
/* Puts a pending job into Q, H, W or B, as holds, Execution_Time and its queue say. The caller has checked that it is
 * open. */
void step_evaluate(struct keel_mod *mod, struct keel_obj *job);
void job_stage(struct keel_mod *mod, struct keel_obj *job, int32_t stage); /* enum keel_stage: see keel/service/job.h */
void counts_add(struct keel_mod *mod, struct keel_obj *job, enum step step, int sign);
void log_dequeuing(struct keel_mod *mod, struct keel_obj *job, char letter);
/* Takes it out of its queue and destroys it: the caller's pointer is invalid afterwards. */
void job_leave(struct keel_mod *mod, struct keel_obj *job);
/* NULL: the queue is gone. */
void step_notify(struct keel_mod *mod, struct keel_obj *job); /* point job_step */
void scheduler_wake(struct keel_mod *mod); /* calls the listener of on_change, if there is one */
void job_fini(struct keel_mod *mod, void *slot);

/* find.c */
/* The job an operand names: `12`, `12.svr`, history too; NULL when there is none. */
struct keel_obj *job_find(struct keel_mod *mod, const char *operand);
struct keel_obj *find_by_operand(struct keel_mod *mod, const char *klass, const char *operand);
/* The job that the request's argument `id` names. NULL: the error has been sent as reply (15001 unknown, 15139 history,
 * 15007 not permitted, 15004 a subjob) and the caller must not use the request again. */
struct keel_obj *job_for(struct keel_mod *mod, struct keel_req *req, uint32_t roles);
/* The same for the argument `key`. */
struct keel_obj *job_named(struct keel_mod *mod, struct keel_req *req, const char *key,
			   uint32_t roles);
/* The running job or subjob that `id` names. NULL: the error has been sent, 15016 when it does not run. */
struct keel_obj *job_running_for(struct keel_mod *mod, struct keel_req *req);
/* The letter of what an operand names, also of a part that is no object; '\0': there is none, or several. */
char job_letter(struct keel_mod *mod, const char *operand);
bool is_owner(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job);
bool is_owner_named(struct keel_mod *mod, const struct keel_session *who, const char *owner);

/* ask.c */
void callback_call(const struct callback *callback, int32_t code, const char *text);
struct callback *callback_keep(const struct callback *callback); /* a copy of the caller's; NULL without memory */
void callback_end(struct callback **kept, int32_t code, const char *text); /* run and freed; *kept may be NULL */
/* May the requester act on this job? 0; fails with 15007 (and logs it) or 15139 (it is history). */
int32_t ask_permit(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
		   uint32_t roles);
/* Runs the verb's act. The callback is called once, perhaps before this returns: 0, an error of the act, or 15004 for an
 * unknown verb. */
void ask_job(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
	     const struct callback *callback);
/* The same for what an operand names, jobs or parts of arrays; fails with 15001 when it names nothing. */
void ask_operand(struct keel_mod *mod, const char *operand, const struct keel_job_ask *ask,
		 const struct callback *callback);
/* The same for a request: the callback sends its reply. */
/* The keel_job_done of a request that is answered when the act is over. */
void reply_later(struct keel_mod *mod, void *req, int32_t code, const char *text);
void ask_request(struct keel_mod *mod, struct keel_req *req, const char *verb, const char *detail);
/* The act on one job. It checks permission and state itself; the callback gets 0 or the error, exactly once. */
#define ONE(name)                                                                                  \
	void name##_one(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask, \
			const struct callback *callback)
ONE(delete);
ONE(signal);
ONE(rerun);
ONE(run);
ONE(alter); /* of a part, which has new values of its whole */
#undef ONE

/* service.c */
extern const struct keel_service_def job_service;

/* form.c: wholes and parts (arrays and subjobs) */
extern const struct keel_kind_def form_kind;
enum role job_role(struct keel_mod *mod, struct keel_obj *job);
/* Output_Path and Error_Path that `ch` leaves unset get their default. Returns 0, or fails as change_text() does. */
int32_t job_default_paths(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job,
			  const char *host, int64_t sequence, struct keel_err *err);
struct keel_obj *whole_of(struct keel_mod *mod, const char *part_id); /* NULL: it is gone, or this is no part */
bool form_has(struct keel_mod *mod, const char *operand); /* does it name something in a whole? */
char form_letter(struct keel_mod *mod, const char *operand); /* '\0': it names no part, or several */
/* Acts on what the operand names in a whole. False: it names nothing there, and the callback is left to the caller. */
bool form_ask(struct keel_mod *mod, const char *operand, const struct keel_job_ask *ask,
	      const struct callback *callback);
uint32_t job_waiting(struct keel_mod *mod, struct keel_obj *job); /* how many starts of it are possible now */
uint32_t job_members(struct keel_mod *mod, struct keel_obj *job); /* all that wait */
void whole_waits(struct keel_mod *mod, struct keel_obj *whole);   /* more may start: point job_waits */
/* A new object for the next part to start. NULL with *err: 15016 when none may start, or an error of the form. The
 * caller starts it, or gives it back with part_back(). */
struct keel_obj *part_next(struct keel_mod *mod, struct keel_obj *whole, struct keel_err *err);
void part_adopt(struct keel_mod *mod, struct keel_obj *part);   /* a new object: it is queued */
void part_started(struct keel_mod *mod, struct keel_obj *part); /* its whole begins, if it has not */
/* The part waits in its whole again; the object is destroyed, the caller's pointer is invalid afterwards. */
void part_back(struct keel_mod *mod, struct keel_obj *part);
/* The form is notified; `kept`: the caller keeps the object as history. */
void part_over(struct keel_mod *mod, struct keel_obj *part, enum step step, bool kept);
void whole_finish(struct keel_mod *mod, struct keel_obj *whole, int32_t substate, int32_t exit_status);
void part_settle(struct keel_mod *mod, struct keel_obj *part);
void job_erase(struct keel_mod *mod, struct keel_obj *job);

/* acl.c */
/* Do the queue's lists admit this user? 0; fails with 15008 (hosts) or 15007 (users, groups). */
int32_t acl_check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue);
/* Does the list name this root? Without a host it is that of the server's host. */
bool acl_roots(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *list, const struct keel_session *who);
/* Does the list admit this name? */
bool acl_names(struct keel_obj *obj, const struct keel_attr *list,
	       const char *name, const char *host);

/* group.c: which group a job runs as */
typedef void group_done(struct keel_mod *mod, void *arg, int32_t code, const char *group);
/* The value of group_list that is meant for this host, if the request sets it; "" is the user's own group. */
bool group_wanted(struct keel_mod *mod, struct keel_req *req, char *buf, size_t size);
/* Is `user` a member of `group` now? The callback gets 0 and the group's name, or fails with PBSE_BADGRP; without memory
 * or worker it runs at once with the error PBSE_SYSTEM, else after the caller has returned. */
void group_ask(struct keel_mod *mod, const char *user, const char *group, group_done *done, void *arg);

/* admit.c */
/* May a job of this owner come into the queue? `routed`: from a queue that starts nothing. 0; fails with 15021 (not
 * enabled), 15022 (from routing queues alone) or an error of acl_check(), and *err. */
int32_t admit(struct keel_mod *mod, struct keel_obj *queue, const struct keel_session *owner,
	      bool routed, struct keel_err *err);
/* The job's owner as a session; the texts are owned by the job and `asker` (the requester; NULL: a module calls). */
void admit_owner(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *asker,
		 struct keel_session *ret);

/* move.c */
void on_move(struct keel_mod *mod, struct keel_req *req);
/* Moves a job that has not started. `done` is called once: 0, or the error of move_prepare(), of a tap of job_move, or
 * 15001, 15018, 15016 for what changed while the taps waited. */
void job_move(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who,
	      struct keel_mod *me, keel_job_done *done, void *arg);
/* Puts a job that is not over into another queue, whatever its state is and without any check. Returns 0, or 15016. */
int32_t job_put(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who);
/* The queue that `[queue][@server]` means. Returns 0; fails with 15008 (another server), 15018 (no such queue) or 15037
 * (no default queue). */
int32_t destination_find(struct keel_mod *mod, const char *dest, struct keel_obj **ret_queue);

/* message.c */
void on_message(struct keel_mod *mod, struct keel_req *req);

/* shutdown.c */
void on_shutdown(struct keel_mod *mod, struct keel_req *req);
bool shutting_down(const struct state *st); /* nothing starts any more */
void shutdown_drop(struct keel_mod *mod);

/* order.c */
void on_order(struct keel_mod *mod, struct keel_req *req);
void order_known(struct keel_mod *mod, struct keel_obj *job);
void order_start(struct keel_mod *mod);

/* again.c */
#define AGAIN_KEY 304
/* The set is complete for the job in this queue; a tap that changes either makes it be completed again. The key is a draft's id, or
 * what edits_expect() writes. Fails with 15010 and *err. */
int32_t again_expect(struct keel_mod *mod, const char *key, struct keel_changes *set, struct keel_obj *job, const char *queue,
		     struct keel_err *err);
/* Where a move goes at last; NULL: there is none of this key. Borrowed until again_over(). */
const char *again_queue(struct keel_mod *mod, const char *key);
/* The operation is over. A key that is not there is no error. */
void again_over(struct keel_mod *mod, const char *key);
keel_verdict again_submit(struct keel_call *c, const struct keel_ev_job_submit *ev);
keel_verdict again_modify(struct keel_call *c, const struct keel_ev_job_modify *ev);
keel_verdict again_move(struct keel_call *c, const struct keel_ev_job_move *ev);

/* edits.c */
void edits_count(struct keel_mod *mod, struct keel_obj *job);
/* Marks a change set as made, and complete, for the job as it is now, in this queue; `key` for again_over(). Fails with a PBSE code and
 * *err; the caller discards the set. */
int32_t edits_expect(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, const char *queue, char key[AGAIN_KEY],
		     struct keel_err *err);
void edits_key(int64_t mark, char key[AGAIN_KEY]);
keel_verdict edits_judge(struct keel_call *c, struct keel_obj *job); /* a tap's: refuses a set that is stale */
bool edits_stale(const struct keel_outcome *outcome); /* refused as stale: the raiser prepares it again */
keel_verdict on_job_modify(struct keel_call *c, const struct keel_ev_job_modify *ev);
keel_verdict on_job_move(struct keel_call *c, const struct keel_ev_job_move *ev);

/* modify.c */
int32_t job_change(struct keel_mod *mod, struct keel_obj *job, struct keel_changes *ch, struct keel_err *err);
void job_depend(struct keel_mod *mod, struct keel_obj *job, bool waits);
bool may_hold(const struct keel_session *who, int32_t bits); /* do the requester's roles allow these letters? */

/* abort.c */
void job_notice(struct keel_mod *mod, struct keel_obj *job, const char *letter, const char *text);
/* Ends a job that has not started; for any other the caller's wish is ignored. */
void job_abort(struct keel_mod *mod, struct keel_obj *job, const char *why);

/* submit.c */
/* A number, again from 0 behind `last` (0: 9999999). Returns whether a block of them was reserved: it is to be stored. */
bool sequence_take(struct state *st, int64_t last, int64_t *ret);
int64_t sequence_next(struct keel_mod *mod); /* the next number: never given again, also after kill -9 */

/* submit.c, modify.c, delete.c, signal.c, suspend.c, run.c, end.c, rerun.c, wait.c: handlers, each of which sends its
 * reply once, at once or when what it waits for has happened */
void on_submit(struct keel_mod *mod, struct keel_req *req);
void on_alter(struct keel_mod *mod, struct keel_req *req);
void on_hold(struct keel_mod *mod, struct keel_req *req);
void on_release(struct keel_mod *mod, struct keel_req *req);
void on_delete(struct keel_mod *mod, struct keel_req *req);
#define REQUEST_DELETE 6 /* its number in log records */
void on_delete_list(struct keel_mod *mod, struct keel_req *req);
void delete_lists_drop(struct keel_mod *mod);
void on_signal(struct keel_mod *mod, struct keel_req *req);
void on_run(struct keel_mod *mod, struct keel_req *req);
void on_rerun(struct keel_mod *mod, struct keel_req *req);
void on_locate(struct keel_mod *mod, struct keel_req *req);
void on_wait(struct keel_mod *mod, struct keel_req *req);

/* signal.c */
extern const struct keel_kind_def signal_kind;
extern const struct keel_signal_def suspend_signal, resume_signal;
const struct keel_signal_def *signal_find(struct keel_mod *mod, const char *name); /* NULL: a signal of the host's */
/* Ends the operation that start() of a SIGNAL row got; the caller must not use `op` again. */
void signal_done(struct keel_mod *mod, void *op, int32_t code, const char *text);

/* suspend.c: `done` is called once, with 0 when the whole step is made. It fails with 15016 in another state (and busy or
 * ending), 15001 when the run ended meanwhile, 15060 while the server ends, 15010 without memory, or the host's error. */
void job_suspend(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who, bool waits,
		 struct keel_mod *me, keel_job_done *done, void *arg);
void job_resume(struct keel_mod *mod, struct keel_obj *job, const char *signal, const char *who,
		struct keel_mod *me, keel_job_done *done, void *arg);
void job_resume_waiting(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me,
			keel_job_done *done, void *arg);

/* Acts that modules start in the name of `who`, with the same points, logs and records as requests: delete.c, rerun.c,
 * signal.c, checkpoint.c. `done` is called once, with 0 when the act was accepted, or the error of the request. */
void job_request_delete(struct keel_mod *mod, struct keel_obj *job, const char *who,
			struct keel_mod *me, keel_job_done *done, void *arg);
void job_request_rerun(struct keel_mod *mod, struct keel_obj *job, const char *who,
		       struct keel_mod *me, keel_job_done *done, void *arg);
void job_request_suspend(struct keel_mod *mod, struct keel_obj *job, const char *who,
			 struct keel_mod *me, keel_job_done *done, void *arg);
void job_request_checkpoint(struct keel_mod *mod, struct keel_obj *job, const char *who,
			    struct keel_mod *me, keel_job_done *done, void *arg);
/* job_request_checkpoint() for a job that the caller has held itself. */
void job_save(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me, keel_job_done *done,
	      void *arg);
#define SAVED_STATUS (-12)
void job_saved(struct keel_mod *mod, struct keel_obj *job);   /* its end will be that of a saved job */
void saving_over(struct keel_obj *job); /* its host does not save it any more */

/* delete.c: ms from TERM to KILL */
int64_t job_kill_delay(struct keel_mod *mod, struct keel_obj *job);

/* occupy.c */
/* Takes all vnodes and charges queue and server; a suspended job takes again what it gave back. exec_host gets the slots
 * it has now: those from before may be another job's. Returns 0, or fails with an error of service `node` and *err:
 * nothing is taken. */
int32_t job_occupy(struct keel_mod *mod, struct keel_obj *job, struct keel_err *err);
/* The same after a restart, on the slots that `exec_host` names; NULL: on any. Fails with the same errors. */
int32_t job_occupy_again(struct keel_mod *mod, struct keel_obj *job, const char *exec_host, struct keel_err *err);
/* Gives back all that it still has. */
void job_vacate(struct keel_mod *mod, struct keel_obj *job, bool ended);
/* A job that has all keeps what is not in `names` (comma list); NULL: keeps nothing. */
void job_release(struct keel_mod *mod, struct keel_obj *job, const char *names);

/* Adds (1) or subtracts (-1) what the job has to queue and server; `only`: comma list of resources, NULL all. */
void job_charge(struct keel_mod *mod, struct keel_obj *job, int32_t sign, const char *only);
/* The same of what it holds in its state: all, the rest that a suspension left, or nothing. */
void job_recharge(struct keel_mod *mod, struct keel_obj *job, int32_t sign);
/* exec_vnode, and what the job has given up that is not free yet; the caller frees it. NULL without memory. */
char *job_vnodes(struct keel_obj *job);
int32_t job_share(struct keel_obj *job); /* enum keel_place_share of its place */

/* shrink.c */
/* Takes vnodes from a job that runs, as keel/service/job.h says. */
int32_t job_shrink(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_shrink *theirs, struct keel_err *err);
void task_released(struct keel_mod *mod, struct keel_obj *job, const char *host);
void task_pruned(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, const char *schedselect);
/* It is queued again: with the select and the amounts that it was submitted with. */
void shrink_undo(struct keel_obj *job);
/* Has this run fewer vnodes than it was given? */
bool shrunk(struct keel_obj *job);

/* release.c: what a suspension gives back */
/* Raises the point suspend_release. The callback gets a comma list, or NULL: everything, also when a tap fails or there
 * is no memory, which is logged. */
typedef void release_done(struct keel_mod *mod, void *arg, const char *names);
void release_ask(struct keel_mod *mod, struct keel_obj *job, release_done *done, void *arg);
/* Gives back what the answer names, and stores it on the job; everything when storing it fails. */
void release_apply(struct keel_mod *mod, struct keel_obj *job, const char *names);
/* A suspended job that is to die takes everything again: its processes run on until they are killed. */
void release_undo(struct keel_mod *mod, struct keel_obj *job);
/* What a suspension would give back now, as snprintf() returns it. Fails with -ENODATA (everything), -EAGAIN (a tap
 * waits) or -ENOMEM. */
int32_t release_names(struct keel_mod *mod, struct keel_obj *job, char *buf, uint32_t len);
const char *released(struct keel_mod *mod, struct keel_obj *job); /* what it gave back; NULL: everything */

/* run.c */
/* Starts a queued job, or the next subjob of an array, on these vnodes. `done` is called once, when the host has been sent
 * the job, with 0 (and a subjob's id); it fails with 15016 (state), the refusal of a tap of start_now, an error of
 * job_occupy(), 15044 (it cannot run there), 15070 (its host is away), 15060 (the server ends), 15010 (no memory). */
void job_run(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, const char *who,
	     struct keel_mod *me, keel_job_done *done, void *arg);
/* Would the taps of start_now allow a start? `done` gets 0 or the refusal; nothing starts. */
void job_may_run(struct keel_mod *mod, struct keel_obj *job, const char *who, struct keel_mod *me,
		 keel_job_done *done, void *arg);
void task_placed(struct keel_mod *mod, struct keel_obj *job, const char *dir);
void task_started(struct keel_mod *mod, struct keel_obj *job, int64_t session);
void task_refused(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, const char *why);
void job_begin(struct keel_mod *mod, struct keel_obj *job, int64_t session);
/* The record S, or T: with its first process, or before it is pruned. */
void job_record_start(struct keel_mod *mod, struct keel_obj *job);
void comment_started(struct keel_mod *mod, struct keel_obj *job, const char *words);

/* end.c */
void task_used(struct keel_mod *mod, struct keel_obj *job, const char *const *items, uint32_t n);
void task_ended(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status, int64_t session,
		const char *const *items, uint32_t n);
void task_lost(struct keel_mod *mod, struct keel_obj *job);
/* ` and terminated by who` behind the comment, once. */
void comment_ended_by(struct keel_obj *job, const char *who);
/* What the comment has behind it when the run has ended; plain, and not longer than some lines. */
void remark_put(struct keel_mod *mod, struct keel_obj *job, const char *text);
void task_remark(struct keel_mod *mod, struct keel_obj *job, const char *text);
void task_undelivered(struct keel_mod *mod, struct keel_obj *job, const char *host, const char *why, const char *text, bool elsewhere);
/* The job is over: records, points, history or gone. `exit_status` is already set when it ran. */
void job_over(struct keel_mod *mod, struct keel_obj *job, enum step step);
/* Discards a job that may be running, as `qdel -Wforce` does, whether its host is up or not. */
void job_discard(struct keel_mod *mod, struct keel_obj *job, bool ran);

/* rerun.c */
/* Calls the callback of a rerun that waits, if there is one. */
void rerun_answer(struct job *j, int32_t code);
void job_requeue(struct keel_mod *mod, struct keel_obj *job, int32_t exit_status);
void task_discarded(struct keel_mod *mod, const char *id);
void task_failed(struct keel_mod *mod, struct keel_obj *job, const char *why); /* task_ended() follows */

/* outcome.c: what a negative exit status means */
enum outcome { OUTCOME_ENDS, OUTCOME_QUEUED };
enum outcome outcome_of(struct keel_obj *job, int32_t status);
/* Its line, and its mail, with `why` behind what the status says where there is one (NULL: none). */
void outcome_log(struct keel_mod *mod, struct keel_obj *job, int32_t status, const char *why);
/* It is queued again: holds it when the status says so. Returns whether it did; the comment is `why`, where the status has
 * none of its own. */
bool outcome_hold(struct keel_mod *mod, struct keel_obj *job, int32_t status, const char *why);

/* history.c */
bool history_on(struct keel_mod *mod);
void history_start(struct keel_mod *mod);
void history_switched(struct keel_mod *mod, struct keel_obj *server, const struct keel_attr *attr);

/* lost.c */
void lost_start(struct keel_mod *mod);
bool host_is_linked(struct keel_mod *mod, struct keel_obj *job); /* its primary host */
keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev);
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev);

/* wait.c */
/* Replies to all requests that wait for the job; `step` is how it ends. */
void waiters_answer(struct keel_mod *mod, struct keel_obj *job, enum step step);
void waiters_refuse(struct job *j, int32_t code, const char *why);
void waiters_drop(struct keel_mod *mod);
/* Ends of jobs with `block` that leave no history, for clients that connect again. */
extern const struct keel_class_def ended_class;
extern const struct keel_attr_def ended_attrs[ENDED_ATTRS];
void ended_keep(struct keel_mod *mod, struct keel_obj *job, enum step step);
void ended_clean(struct keel_mod *mod);

/* replay.c */
keel_verdict on_job_known(struct keel_call *c, const struct keel_ev_job_known *ev);

/* Short forms. */
const char *job_text(struct keel_obj *job, const struct keel_attr *attr);
const char *job_id(struct keel_mod *mod, struct keel_obj *job);
struct keel_obj *job_queue(struct keel_mod *mod, struct keel_obj *job);

/* scopes.c */
extern const struct keel_scope_def scope_job_queue, scope_queue, scope_user, scope_host;

#endif
