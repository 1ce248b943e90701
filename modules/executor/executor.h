/* SPDX-License-Identifier: Apache-2.0
 *
 * executor.h - what the files of this module share: the server half (entries: runs sent to hosts) and
 * the host half (tasks: runs that are here). In the embedded daemon one process has both.
 */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include <sys/types.h>

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/part.h"
#include "keel/service/task.h"
#include "keel/sized.h"
#include "launch.h"
#include "nursery.h"
#include "part.h"
#include "proc.h"
#include "record.h"
#include "spread.h"

#include <utlist.h>

#define PBSE_UNKSIG 15013
#define PBSE_BADSTATE 15016
#define PBSE_MOMREJECT 15041
#define PBSE_NORELYMOM 15070
#define PBSE_NOSUP 15029
#define PBSE_HOOKERROR 15136
#define PBSE_HOOK_REJECT 15169
#define PBSE_HOOK_REJECT_RERUNJOB 15170
#define PBSE_HOOK_REJECT_DELETEJOB 15171
/* Errors of clients of task management. */
#define TM_ESYSTEM 17000
#define TM_ENOTFOUND 17006
#define TM_ESESSION 17008
#define TM_EOWNER 17010
#define TM_ENOPROC 17011
#define TM_EHOOK 17012

struct conf {
	int64_t kill_delay, usage_interval, answer_within, checkpoint_within, start_limit, deliver_limit;
	int64_t ncpus, mem, vnodes;
	const char *sharing, *shepherd, *tmpdir;
	const char *checkpoint_abort, *restart;
	const char *const *usecp;
	int64_t room, health_interval;
	bool freezer, first_host_only;
};

/* ---- server half ------------------------------------------------------------------------------ */

/* A run of a job that hosts have, or should have. Of these only the primary counts for the server. */
struct entry {
	char *id;
	char **hosts;	  /* owned; in the order of exec_host, the primary first; NULL: not known yet (replayed) */
	uint32_t n_hosts;
	const char *peer; /* the primary, or NULL */
	char **leaving;	  /* owned; hosts that the job gave up and that have not ended their part: resize.c */
	uint32_t n_leaving;
	int64_t run;
	int64_t sent;	      /* the number of its start message to the primary; 0: it was not sent on this link */
	struct sending *sending; /* owned; its start messages are on their way; NULL: all are sent, or it was replayed */
	bool starting;        /* the start waits for the script, or its turn: no order may overtake it */
	bool modified;        /* meanwhile */
	bool started, ended;  /* the listeners were notified */
	bool killing, suspended; /* orders to send again when the host is up */
	bool unsure; /* a late host may have stopped or continued it since */
	int64_t kill_delay;
	UT_hash_handle hh;
};

/* A request to a host whose caller waits for the reply. */
struct question {
	int64_t number;
	char *peer, *id;
	struct keel_mod *me;
	keel_task_done *done; /* the caller's; NULL: it is late, the caller has got its error */
	void *arg;
	struct keel_timer *timer;
	int64_t patience_ms;
	const char *message;
	struct keel_out *out; /* of one that waits for its host to come */
	int8_t wants; /* 1 suspend, -1 resume, 0 else */
	bool ends;    /* accepted, the run is to end, whatever happens to the link */
	int64_t kill_delay;
	UT_hash_handle hh;
};

struct host {
	char *name; /* has introduced itself on this link, or */
	char *address, *key; /* owned; where other hosts reach it; NULL: it has not said */
	bool asked; /* was requested to */
	bool strange; /* it runs jobs of another store: it is none of ours */
	bool receiving; /* a long script is on its way to it: the next one waits */
	struct waiting *waiting;
	UT_hash_handle hh;
};

struct listener {
	struct keel_mod *me;
	struct keel_task_events events;
	struct listener *next;
};

/* A start that waits for hosts to introduce themselves, or to be given up. */
struct start_wait {
	struct keel_hold *hold; /* NULL: released */
	struct start_wait *prev, *next;
	uint32_t n;
	char *peers[]; /* owned: those awaited; the job's id: its last run is not gone yet */
};

struct server {
	struct entry *entries;
	struct question *questions;
	struct start_wait *waits;
	struct going *going; /* going.c */
	struct host *hosts;
	int64_t began_ms;
	int64_t last_question, last_start;
	struct listener *listeners;
	struct keel_mod *host_of_me;
	const char *(*host_of)(struct keel_mod *, const char *vnode);
};

/* ---- host half -------------------------------------------------------------------------------- */

/*   BEGIN -> RUN <-> STOPPED -> ENDED     (RUN -> ENDED too)
 *     '----> REFUSED
 * ENDED and REFUSED stay until the server has recorded them ("task.forget"). */
enum task_state { TASK_BEGIN, TASK_RUN, TASK_STOPPED, TASK_ENDED, TASK_REFUSED, TASK_STATES };

struct usage {
	uint64_t cput_ms, mem_kb, vmem_kb; /* most ever seen */
	uint64_t cpupercent;
	uint64_t last_cput_ms, now_mem_kb;
	int64_t last_at_ms;
};

/* Who waits for the end of an order: a question of the server's, or a module here; neither: nothing does. */
struct answer_to {
	int64_t number;
	struct keel_mod *me;
	keel_part_done *done;
	void *arg;
};

struct task {
	char *id;
	int64_t run;
	enum task_state state;
	struct launch *launch; /* while BEGIN: a gate or a worker has it, the task may not be freed */
	pid_t shepherd, session;
	uint64_t shepherd_start;
	int pidfd, talk; /* talk: -1: its shepherd is not reached at the moment */
	struct keel_watch *watch, *talk_watch; /* of pidfd; of talk */
	struct keel_timer *talk_timer; /* its shepherd is tried again, */
	int64_t talk_wait;	       /* after so long */
	struct errand *errands; /* words that wait for room in talk */
	struct part *part; /* what this host has of the job; NULL only without memory */
	struct member *members; /* tasks beside the program, by number */
	struct spawn *spawns; /* those that are being started */
	size_t spawn_bytes;   /* of those that wait for the shepherd */
	const void *gate; /* the operation that waits there, for keel_end(); NULL none */
	bool makes_dir; /* its shepherd makes `dir` */
	bool ready; /* its shepherd has set it up */
	bool cancelled; /* its shepherd is to start nothing; noted */
	uint32_t prunes; /* decisions about its having fewer hosts that its program waits for; */
	bool prune_waits; /* the gates have let it through, these are missing */
	bool passed; /* its program may be started, */
	struct spec_out program; /* by this description; no bytes: as it is */
	bool found; /* by a daemon that was restarted */
	int32_t refused_code; /* of the module that refused it */
	bool begin_raised; /* task_begin was raised: task_abort must follow a failure */
	bool aborted; /* a sister: the start of the job failed */
	bool over; /* no process is left */
	bool settling, settled; /* task_epilogue is raised; has been */
	bool end_wanted; /* a sister: its shepherd is to end it */
	struct keel_timer *kill_timer, *stop_timer;
	int64_t began_ms, stopped_ms, stopped_at_ms; /* monotonic */
	int64_t next_usage_ms;
	int64_t walltime_limit, cput_limit, ncpus; /* seconds; 0 none */
	struct usage usage;
	int64_t kill_delay; /* >= 0: an end was requested while BEGIN */
	int streams, missed; /* output files to be placed; how many could not be: */
	char *kept_why, *kept_text; /* in a line, as for a letter; NULL: all were */
	char *remark; /* what else went wrong */
	bool kept_elsewhere; /* only because their place is on another host */
	int limit_status;   /* 0, or a system code: of the limit it exceeded, of having been saved */
	char notice[200];   /* how, "": not said */
	int32_t status;
	char why[256];
	bool lacks; /* refused, because this host lacks means */
	bool discarded; /* no report, forgotten at its end */
	bool leaving;	/* the job goes on without this host: leave.c */
	bool found_over; /* it ended while no daemon was running; not reported yet */
	bool prepared;	/* task_launch was raised: task_end must follow */
	struct answer_to stop_to; /* of a suspend under way */
	int64_t heard;	     /* the last signal's question on this link: it is not obeyed twice */
	int64_t stop_deadline_ms, end_deadline_ms;
	int stop_quiet; /* passes that found nothing left to stop */
	char *user;
	char *dir;	     /* where it runs; NULL: not known any more */
	char *output, *error; /* as the job has it; NULL: not known any more */
	bool modified, modifying; /* since its start message; it is being written down */
	char *freezer;       /* its cgroup (group.h); NULL: it has none */
	char *bound;	     /* the one that bounds its memory, perhaps the same; NULL: none does */
	int64_t bound_kb;    /* as wanted; <= 0: it is not to be bounded */
	int kill_rounds;     /* passes of KILL so far */
	bool kill_delivery;  /* its processes were gone when its end was requested: only its output is left */
	bool ending;	     /* TERM or KILL was sent: stopped or not, it may run */
	bool weighing;	     /* weigh.c is at it */
	bool restless;	     /* stopped by us, let go by its user; said once */
	bool followed;	     /* its shepherd was killed, another one is at it */
	struct launch *next; /* a later run that waits for the end of this one */
	UT_hash_handle hh;
};

/* What mom_priv/config says (directives.c); NULL: the configuration counts. */
struct directives {
	char **usecp, *tmpdir, *jobdir_root;
	bool jobdir_shared, no_sister_nodefile;
};

struct mom {
	struct directives said;
	struct task *tasks;
	struct user_entry *users;
	struct keel_timer *tick;
	uint32_t launching, sampling;
	struct reading *reading; /* owned: tasks get it in slices */
	bool looking; /* at stopped tasks (still.c) */
	struct chore *chores; /* in order of their coming */
	struct name *names;   /* of hosts: is it this one? */
	char *jobs_dir, *freezer_dir, *memory_dir;
	struct keel_timer *health_timer;
	int64_t checking_ms; /* since when a check runs; 0: none */
	char sick[256]; /* what it found; "": all well */
	int64_t last_start; /* the number of the last start message on this link; INT64_MAX: not known */
	char store[64]; /* the id of the store whose server had the last task started; "": none has said */
	struct nursery nursery;
	struct part_listener *part_listeners;
	struct shown *shown; /* program.c: what program() has given last */
	char world[PROC_WORLD_SIZE]; /* this boot of this machine, as proc_world() says */
};

struct state {
	struct server server;
	struct mom mom;
	bool started; /* and all other modules with it */
	bool stopping;
};

/* A message about a run, the caller adds to it and sends it. NULL without memory: what fills and sends it takes that. */
static inline struct keel_out *run_message(struct keel_mod *mod, const char *id, int64_t run)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", id);
	keel_put_int(out, "run", run);
	return out;
}

/* directives.c */
extern const struct keel_mom_directive_def usecp_directive, tmpdir_directive, jobdir_root_directive, gen_nodefile_on_sister_mom_directive;
const char *const *directive_usecp(struct keel_mod *mod); /* NULL-terminated, or NULL */
const char *directive_tmpdir(struct keel_mod *mod);
void directives_fini(struct keel_mod *mod);

/* ---- server files ----------------------------------------------------------------------------- */
extern const struct keel_task_api task_api;

/* dispatch.c */
struct entry *entry_find(struct state *st, const char *id); /* NULL: no host has a run of it */
void entry_drop(struct state *st, struct entry *e); /* frees it: the caller's pointer is invalid */
void server_fini(struct keel_mod *mod);
/* The hosts of a job, and their shares of it; the caller calls spread_fini(). Fails as spread_make() does. */
int32_t dispatch_spread(struct keel_mod *mod, struct keel_obj *job, struct spread *ret);
/* The hosts of "(n1:ncpus=2)+(n2...)", without node numbers; the caller calls spread_fini(). Fails with -ENOMEM. */
int32_t dispatch_hosts(struct keel_mod *mod, const char *exec_vnode, struct spread *ret);
/* Gives a run its hosts. Fails with -ENOMEM: it has none. */
void entry_hosts_free(struct entry *e);
int32_t entry_hosts_set(struct entry *e, const struct spread *s, uint32_t n);
bool entry_has(const struct entry *e, const char *peer); /* has this host a part of it? */
/* Like keel_get_text(), but the caller frees it; NULL when it is unset or unknown, or there is no memory. */
char *dispatch_text(struct keel_mod *mod, struct keel_obj *job, const char *name, const char *key);
/* A message to the entry's primary about its run. Fails with -ENOTCONN when the host is unknown, -ENOMEM, or an error of
 * keel_link_send(). */
int32_t order_send(struct keel_mod *mod, const struct entry *e, const char *message, int64_t delay);
/* Its sisters are to end what they have of it, and forget it. One that is away gets that when it is back. */
void others_discard(struct keel_mod *mod, const struct entry *e);
/* resize.c */
void task_resize(struct keel_mod *mod, struct keel_obj *job);
void leaving_free(struct entry *e);
void leaving_forget(struct keel_mod *mod, const struct entry *e);
void leaving_known(struct keel_mod *mod, struct entry *e, struct keel_obj *job, const struct spread *has);
bool leaving_hello(struct keel_mod *mod, struct entry *e, const char *peer, bool has);
/* start.c: what hosts that stay are to know of each other now */
void resize_send(struct keel_mod *mod, const struct entry *e, struct keel_obj *job, struct spread *s, const char *only); /* NULL: all hosts */
void resize_again(struct keel_mod *mod, struct entry *e, const char *peer);
/* Holds a start on hosts whose links are awaited, or that have not introduced themselves on them yet. */
keel_verdict start_wait(struct keel_call *call, const char *id, const struct spread *hosts);
void starts_go_on(struct state *st, const char *awaited); /* a host is there, or down; a job's last run is gone */
/* going.c */
void going_begin(struct keel_mod *mod, const struct entry *e); /* its hosts were ordered to discard it */
void going_down(struct keel_mod *mod, const char *peer);
void going_again(struct keel_mod *mod, const char *peer); /* a host is back: it gets its orders again */
const char *going_peer(struct state *st, const char *id); /* a host that has yet to end the last run; NULL: none has */
void going_fini(struct state *st);
void gone_tell(struct keel_mod *mod, const char *id, int64_t run); /* host half: nothing of this run is left here */

/* question.c */
void question_answer(struct keel_mod *mod, struct question *q, int32_t code, const char *text);
void question_free(struct state *st, struct question *q);
void questions_fail(struct keel_mod *mod, const char *peer); /* all that were sent to a host: 15070 */
void questions_go_on(struct keel_mod *mod, const char *peer); /* those that waited for it */
/* A question about a run to its host; the caller adds to the message in *ret_out and calls question_send(). NULL: `done`
 * has run with the error, 15016 (no host has the run) or 15070 (the host is unknown, or no memory). */
struct question *question_about(struct keel_mod *mod, struct keel_obj *job, const char *name,
				struct keel_out **ret_out, struct keel_mod *me,
				keel_task_done *done, void *arg);
/* Sends it, or keeps it for a host that has not come yet. `done` of its caller gets exactly one answer: the host's, or
 * the error 15070 when the link breaks or the host takes too long. */
void question_send(struct keel_mod *mod, struct question *q, const char *message,
		   struct keel_out *out);

/* report.c */
void report_lost(struct keel_mod *mod, struct entry *e);
#define TELL(mod, member, ...)                                                                     \
	do {                                                                                       \
		const struct state *tell_st = (mod)->state;                                        \
		for (const struct listener *tell_l = tell_st->server.listeners; tell_l;            \
		     tell_l = tell_l->next)                                                        \
			if (tell_l->events.member)                                                 \
				tell_l->events.member(tell_l->me, __VA_ARGS__);                    \
	} while (0)

/* resync.c */
void order_name_send(struct keel_mod *mod, const struct entry *e, const char *name); /* a signal; no answer */
int32_t task_describe(struct keel_mod *mod, const char *host);
void resync_begin(struct keel_mod *mod);                            /* all modules have started */
bool jobs_are_heard(struct keel_mod *mod); /* false: no listener */
void resync_known(struct keel_mod *mod, struct keel_obj *job);      /* replay */
void resync_peer_up(struct keel_mod *mod, const char *peer);
keel_verdict on_job_explain(struct keel_call *c, const struct keel_ev_job_explain *ev); /* resize.c */
keel_verdict on_peer_down(struct keel_call *c, const struct keel_ev_peer_down *ev);
bool host_is_known(struct state *st, const char *peer);
const char *entry_peer(struct keel_mod *mod, struct entry *e); /* the primary; "": not known */
struct host *host_find(struct state *st, const char *peer);
bool host_is_reachable(struct state *st, const char *peer); /* by other hosts */
void host_free(struct keel_mod *mod, struct host *h);

/* Handlers of messages: executor.c has the table. */
typedef void message_fn(struct keel_mod *mod, const char *peer, const struct keel_msg *m);
message_fn on_released, on_pruned, on_discarded, on_release, on_left;
message_fn on_started, on_refused, on_used, on_ended, on_answer, on_unknown, on_health, on_hello, on_got;
message_fn on_start, on_forget, on_who, on_signal, on_kill, on_discard, on_checkpoint, on_message, on_stop, on_modify,
	on_strange, on_prune_done, on_resize;

/* ---- host files ------------------------------------------------------------------------------- */

/* task.c */
struct task *task_find(struct state *st, const char *id); /* NULL: it is not here */
struct task *task_create(struct keel_mod *mod, const char *id, int64_t run); /* NULL without memory, which is logged */
void task_free(struct keel_mod *mod, struct task *t);
void task_refused(struct keel_mod *mod, struct task *t, int32_t status, const char *why);
void task_ended(struct keel_mod *mod, struct task *t, int32_t status);
void task_used(struct keel_mod *mod, const struct task *t);
void task_report(struct keel_mod *mod, struct task *t); /* reports its end to the server, perhaps again */
int64_t task_walltime_ms(struct keel_mod *mod, const struct task *t);
void mom_fini(struct keel_mod *mod);

/* leave.c: this host's part of a job that goes on without it has ended */
void leave_report(struct keel_mod *mod, const struct task *t);

/* store.c: a server with another store than the one whose tasks are here does not end them. */
void store_put(struct keel_mod *mod, struct keel_out *out); /* into what a host gets about a run: which one it is */
bool store_is_strange(struct keel_mod *mod, const char *peer, const struct keel_msg *hello);
void store_take(struct keel_mod *mod, const struct keel_msg *about);
void store_recover(struct keel_mod *mod);

/* host.c */
void host_hello(struct keel_mod *mod);

/* shepherds.c: the daemon's end of its talks with shepherds (talk.h). */
void talk_begin(struct keel_mod *mod, struct task *t); /* t->talk is open */
void talk_find(struct keel_mod *mod, struct task *t); /* after a restart of the daemon */
void talk_end(struct task *t);
void talk_drain(struct keel_mod *mod, struct task *t); /* its last words: its shepherd is gone */
/* A word for the shepherd, with a descriptor that becomes its own, or -1. A shepherd that is not reached gets no words: what
 * it is to do follows from the task when it is there again. */
void talk_say(struct keel_mod *mod, struct task *t, const char *word, int fd);

/* part.c: service part */
extern const struct keel_part_api part_api;
#define PART_TELL(mod, member, ...)                                                                \
	do {                                                                                       \
		const struct state *tell_st = (mod)->state;                                        \
		for (const struct part_listener *tell_l = tell_st->mom.part_listeners, *tell_n; tell_l; tell_l = tell_n) { \
			tell_n = tell_l->next;                                                     \
			if (tell_l->events.member)                                                 \
				tell_l->events.member(tell_l->me, __VA_ARGS__);                    \
		}                                                                                  \
	} while (0)
struct part_listener {
	struct keel_mod *me;
	struct keel_part_events events;
	struct part_listener *next;
};
/* The part as modules see it: state and started are as now. */
const struct keel_part *part_of(const struct task *t);
uint32_t part_index(const struct task *t);
bool is_sister(const struct task *t);
void parts_found(struct keel_mod *mod); /* all modules have started */
/* What another host of the job has used, in all: on a primary, which has it after a restart, too. 0, -ENOMEM; -ENOENT: no
 * such host or task. */
int32_t used_elsewhere(struct keel_mod *mod, struct task *t, const char *host, const char *const *items, uint32_t n);
void part_fini(struct keel_mod *mod);

/* member.c: tasks beside the program */
#define PROGRAM 1u /* its number */
struct member {
	uint32_t number;
	pid_t pid, session;
	uint64_t start;
	bool attached, over; /* over: not reported yet */
	int32_t status;
	int pidfd; /* of an attached one; -1 */
	struct keel_watch *watch;
	struct keel_mod *mod;
	struct task *task;
	UT_hash_handle hh;
};
void member_begun(struct keel_mod *mod, struct task *t, const char *rest); /* what a shepherd says */
void member_failed(struct keel_mod *mod, struct task *t, const char *rest);
void member_done(struct keel_mod *mod, struct task *t, const char *rest);
void members_over(struct keel_mod *mod, struct task *t); /* the part has no process any more */
void members_begin(struct keel_mod *mod, struct task *t); /* its program runs: what that has asked for already is started */
void members_recover(struct keel_mod *mod, struct task *t);
void members_found(struct keel_mod *mod, struct task *t); /* reports the ends that were not */
void members_lost(struct keel_mod *mod, struct task *t); /* its shepherd may have missed what it was to start */
void members_free(struct task *t);
void member_spawn(struct keel_mod *mod, struct task *t, const struct keel_part_task *what, struct answer_to to);
void members_unask(struct task *t, const struct keel_mod *me); /* a module goes: it gets no answers */
struct member *member_find(struct task *t, uint32_t number);
/* To one task and its session; 1 is the program. Returns how many were signalled. */
int member_signal(struct task *t, pid_t session, int signum);
struct member *member_create(struct keel_mod *mod, struct task *t, uint32_t number); /* NULL: no memory */
void member_over(struct keel_mod *mod, struct task *t, struct member *m); /* its end is in the diary; frees it */
uint32_t spawns_count(const struct task *t);
const char *part_hindrance(const struct task *t); /* why it can have no tasks now; NULL: it can */

/* The description of one that is about to be started, which waits for its taps; NULL: there is none. */
struct spec_out *member_description(struct task *t, uint32_t number);

/* program.c: what is about to be started, for modules */
const struct keel_part_task *program_show(struct keel_mod *mod, const char *id, uint32_t number);
int32_t program_set(struct keel_mod *mod, const char *id, uint32_t number, const struct keel_part_task *what);
void shown_fini(struct state *st);
/* A file with a description, for the shepherd; fails with -errno. */
int program_file(const struct spec_out *description);

/* attach.c: processes from outside */
void member_attach(struct keel_mod *mod, struct task *t, uint32_t number, int64_t pid, struct answer_to to);
void attached_watch(struct keel_mod *mod, struct member *m);
/* To a process that was taken in, and what it has started; `which` NULL: to all of them. */
void attached_signal(struct task *t, const struct member *which, int signum);

/* shrink.c: a job with fewer hosts */
int32_t part_prune(struct keel_mod *mod, const char *id, const struct keel_part_host *hosts, uint32_t n, const char *select);
void pruned_report(struct keel_mod *mod, const struct task *t); /* again, while the server has not noted it */

/* epilogue.c */
/* Raises task_epilogue once, then has the output placed; what ended without a daemon goes on with launch_over(). */
void epilogue_begin(struct keel_mod *mod, struct task *t, int32_t status);

/* threshold.c */
#define HOOK_REFUSED -4 /* the exit status of a start that was refused, unless a code below 0 says another */
void launch_ready(struct keel_mod *mod, struct task *t); /* it is set up: prologue, then its program */
void launch_started(struct keel_mod *mod, struct task *t, pid_t session);
/* It is not started: why, and its status. */
void launch_cancel(struct keel_mod *mod, struct task *t, int32_t status, const char *why);
void launch_fail_later(struct keel_mod *mod, struct task *t, int32_t status, const char *why); /* wherever it is */

/* launch.c */
/* Begins what a start message says. A start that fails, here or later, is reported to the server as refused; a message
 * for a run that is here already makes the host report that one again. */
void launch_begin(struct keel_mod *mod, const struct keel_msg *m);
void launch_next(struct keel_mod *mod, struct launch *l); /* `l` is not the caller's any more */
/* A launch with the texts of this host; the caller calls launch_free(). NULL without memory. */
struct launch *launch_bare(struct keel_mod *mod, const char *id, int64_t run);
void launch_go_on(struct keel_mod *mod, struct task *t); /* nothing of `prunes` is missing any more */
void launch_withdraw(struct keel_mod *mod, struct task *t); /* a hold that keeps it at a gate ends */
void launch_over(struct keel_mod *mod, struct task *t); /* its shepherd has ended */
void launch_watch(struct keel_mod *mod, struct task *t); /* its end, by the pidfd */
void users_fini(struct state *st);
/* The path of a program beside the shepherd; the caller frees it. NULL without memory. */
char *launch_program(struct keel_mod *mod, const char *name);

/* names.c: resolves whether hosts in output paths are this one, fills l->output_here and error_here, calls then(). */
void names_settle(struct keel_mod *mod, struct launch *l, void (*then)(struct keel_mod *, void *), void *arg);
void names_fini(struct state *st);

/* stop.c */
void stop_kill(struct keel_mod *mod, struct task *t, int64_t delay_ms);
void stop_discard(struct keel_mod *mod, struct task *t);
/* start.c */
#define SCRIPT_LONG (256u * 1024u) /* bytes */
int32_t task_start(struct keel_mod *mod, struct keel_obj *job);
void sending_drop(struct entry *e);
void scripts_drop(struct keel_mod *mod, struct host *h);

/* modify.c */
void task_modify(struct keel_mod *mod, struct keel_obj *job);
void modify_send(struct keel_mod *mod, const struct entry *e);
void modify_begin(struct keel_mod *mod, struct task *t, const struct launch *l); /* it has its shepherd */
void modify_write(struct keel_mod *mod, struct task *t);

/* message.c */
void task_message(struct keel_mod *mod, struct keel_obj *job, int32_t files, const char *text,
		  struct keel_mod *me, keel_task_done *done, void *arg);
void task_stop_hosts(struct keel_mod *mod);

/* The same for either kind of caller. */
void answer(struct keel_mod *mod, const struct answer_to *to, int32_t code, const char *text);
/* Raises task_act for a numbered question of the server's, and goes on when it is accepted; else the question is answered. */
typedef void act_fn(struct keel_mod *mod, struct task *t, const char *name, struct answer_to to);
void act_ask(struct keel_mod *mod, const struct task *t, const char *name, int64_t number, act_fn *then);
/* "suspend", "resume" of a whole part, or a signal to all of it. */
void stop_act(struct keel_mod *mod, struct task *t, const char *name, struct answer_to to);
/* Replies to a numbered message of the server's: 0, or the error for its caller. Number 0: no caller waits. */
void stop_answer(struct keel_mod *mod, int64_t number, int32_t code, const char *text);
/* The task a message is about; NULL if there is no such run here, and the server is notified. */
struct task *stop_task_of(struct keel_mod *mod, const struct keel_msg *m);

/* checkpoint.c: save and end a task, go on with one that was saved */
/* Makes the site's restart action its program. False: it fails, with the error in l->status and l->why. */
bool checkpoint_restart(struct keel_mod *mod, struct launch *l);

/* usage.c */
#define USAGE_ITEMS 6
void usage_tick(struct keel_mod *mod); /* makes sure that the tick runs while there are tasks */
/* Measures the task now and reports to the server. */
void usage_measure(struct keel_mod *mod, struct task *t);
void usage_fini(struct state *st);
/* It is to end because of a limit: what the log, the job's stderr and the server get to know; NULL: nothing more than the status. */
void limit_exceeded(struct keel_mod *mod, struct task *t, int32_t status, const char *line);
/* "name=value" strings, in the caller's `text`; returns how many. */
uint32_t usage_items(struct keel_mod *mod, const struct task *t, char text[USAGE_ITEMS][48],
		     const char *items[USAGE_ITEMS]);
/* Of this host alone. */
uint32_t usage_own(struct keel_mod *mod, const struct task *t, char text[USAGE_ITEMS][48],
		   const char *items[USAGE_ITEMS]);

/* recover.c */
/* Takes up the tasks that an earlier daemon left. Fails with -errno and *err; a diary that cannot be read loses only its own
 * task. */
int32_t recover(struct keel_mod *mod, struct keel_err *err);
/* Reports the tasks found ended; called once all modules that listen have started. */

/* still.c: what is stopped stays so, where there is no cgroup to hold it. At each tick. */
void still_look(struct keel_mod *mod);

/* health.c: may this host take tasks? */
void health_look(struct keel_mod *mod); /* now, and again and again */
void health_report(struct keel_mod *mod);

/* signals.c: number of a name ("TERM", "SIGTERM", "15"); -1 unknown. */
int signal_number(const char *name);

#endif
