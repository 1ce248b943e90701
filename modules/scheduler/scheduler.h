/* SPDX-License-Identifier: Apache-2.0
 *
 * scheduler.h - what the files of this module share.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "calendar.h"
#include "heap.h"
#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "pbs_error.h"
#include "place.h"
#include "settings.h"
#include "spans.h"

/* Where the index has a job. */
enum where {
	OUT,       /* not ours: over, unknown */
	GROUPED,   /* waits in its group to be considered */
	PARKED,    /* held, waiting, or touched: these are first in the list */
	RESTING,   /* its start failed: until its timer */
	STARTING,  /* a start is on its way through the taps */
	SUSPENDED, /* by a request: not ours to resume */
	RUNNING,   /* has its vnodes */
};

struct dynres;
struct entry;
struct list {
	struct entry *first, *at; /* at: the next one for a walk over turns of the loop; what is added comes last */
	uint32_t n;
};

#define JOB_KEYS_MAX 8 /* numbers of the order kept per job, and per group */

/* Private memory on each job. */
struct entry {
	struct heap_node heap; /* of its group */
	struct keel_obj *job;  /* NULL: never indexed */
	struct group *group;
	struct list *list;     /* it is on this one */
	struct entry *next, *prev;
	struct keel_timer *timer;
	double key[JOB_KEYS_MAX];
	int64_t arrival, not_before;
	uint32_t commented_at; /* its comment or estimate was changed, seconds since 1970 */
	uint32_t ranked_in, victims_in; /* cycles: ranked; victims were sought */
	uint32_t ends_in; /* calendar that has its end */
	uint32_t found_in; /* search that has collected it */
	uint32_t gave_up; /* st->relevance when victims left in vain: none are sought until it moves */
	struct memory *refused; /* by which hosts, lately; NULL: none */
	struct keel_exec *held; /* what it has of vnodes, once that was asked (blocks.c), while it is where it is */
	uint32_t *held_by_name;
	char *sent_to; /* vnode of a host that has not started it yet; NULL: none */
	uint16_t failures;
	uint8_t where;
	bool aside : 1;   /* refused for itself in this cycle */
	bool vacated : 1; /* in the what-if that is open */
	bool resumes : 1; /* suspended: goes on where it was */
};

/* Where jobs of one request fit: what is found out about one holds for all, of any owner. */
struct shape {
	char *key; /* owned */
	uint32_t refs;
	struct keel_select *select;
	struct keel_place place;
	struct reason reason; /* why not, as of `known_at` */
	uint64_t known_at;    /* st->epoch; 0: not known */
	int64_t known_for;    /* it holds for jobs of this duration, or longer */
	struct memo memo;     /* whether it could ever be */
	UT_hash_handle hh;
};

/* A queue as this cycle sees it. */
struct line {
	char *name; /* owned */
	bool there, started, execution;
	int64_t priority;
	uint32_t rank;     /* order of creation */
	uint32_t groups;   /* that refer to it */
	uint32_t turn;     /* round_robin: how often it was its turn */
	uint32_t top_jobs; /* in this cycle, when it has a depth of its own */
	bool own_depth;
	int64_t depth;
	struct heap order; /* its groups, by_queue and round_robin */
	UT_hash_handle hh; /* by name: each reservation has a queue */
};

/* Jobs that are equal to a scheduler: same queue, wishes, owner, group and project. A job that is to be
 * resumed is a group of its own. */
struct group {
	struct heap_node heap; /* of the groups of this cycle */
	struct heap *in;       /* which one it was put into */
	char *key;             /* owned */
	struct line *line;
	struct shape *shape;   /* NULL: to be resumed */
	const struct ranks *ranks;
	double shared[JOB_KEYS_MAX];
	struct heap jobs;
	struct list fresh, stale, current; /* without a comment of ours, with an old one, with the verdict */
	char *verdict;     /* why they do not start; owned, NULL: not known */
	uint32_t idle;     /* cycles without a job */
	int64_t duration;  /* of each of them, seconds */
	int64_t longest;   /* the same, whatever soft times say */
	bool talking;      /* on the list of groups with comments to write */
	struct group *talk_next, *talk_prev;
	struct group *next, *prev; /* all groups */
	UT_hash_handle hh;	   /* the same by key */
};

/* A start or resume on its way: what it takes is taken in every snapshot until it is decided. */
struct qrun;
struct start {
	struct start *next, *prev;
	char *id, *exec_vnode;
	struct keel_exec *exec;
	bool resume, decided, returned;
	bool gave_way; /* victims did, in its cycle: the answer may come in a later one */
	bool assigned; /* vnodes know of it, only the host has to answer */
	struct qrun *qrun; /* NULL: a cycle's */
};

/* What victims leave behind is kept for one job. */
struct fence {
	char *id;     /* whose; NULL: it is not closed yet */
	char **vnode; /* names; owned, as all of it */
	uint32_t n, room;
};

/* FINDING: places in time, for others; LOOKING: at what was touched; RANKING: each job; ENTERING: groups; PLANNING: a top job;
 * PREEMPTING: victims give way; LINGERING: they do, and there is nothing else to do; AWAITING: a host
 * accepts a job. */
enum phase { IDLE, PLANNED, FINDING, LOOKING, RANKING, ENTERING, CONSIDERING, PLANNING, PREEMPTING,
	     LINGERING, AWAITING };

struct conf {
	const char *const *resources;
	const char *const *job_sort_key;
	int64_t slice;       /* ms */
	int64_t rest;        /* ms */
	int64_t comment_gap; /* ms */
	bool by_queue, round_robin, strict_ordering;
	const char *const *node_sort_key, *const *resource_unset_infinite, *const *server_dyn_res,
		*const *smp_cluster_dist;
	bool refuse_impossible;
};

struct state {
	char who[300]; /* Scheduler@host */

	/* index.c */
	struct group *groups, *group_by_key;
	struct list parked, resting, suspended, aside, running;
	struct shape *shapes; /* by key */
	struct line *lines;

	/* blocks.c */
	struct spans spans;	      /* what is promised of vnodes, and when */
	int64_t spans_at, spans_next; /* the time that the snapshot has followed them to; when one begins or ends next */

	/* config.c, rank.c */
	struct settings *settings; /* of sched_config; NULL: there is none */
	bool non_prime;            /* time of day */
	struct job_key *keys;      /* JOB_KEY rows */
	struct ranks *ranks;
	uint64_t picture;          /* what says how vnodes are looked at */
	bool reorder;              /* the next cycle ranks all jobs */

	/* cycle.c */
	enum phase phase;
	bool again;             /* woken while a cycle runs */
	struct keel_timer *timer, *iteration;
	int64_t not_before;     /* ms: no cycle sooner */
	int64_t worked_us, begun_ms; /* by this cycle so far; its beginning */
	int64_t slice_us;	     /* when this turn of it began */
	uint32_t cycle;
	uint32_t started;
	int32_t command;        /* why the next cycle */
	bool managed_resource;  /* one was about a resource's definition */
	bool managed_more;      /* one was about more than the server: switching is no news */
	int32_t managed;        /* and what an administrator's request makes it */
	uint32_t relevance;     /* moves when something changed that victims may depend on */
	struct group *rank_at;
	uint32_t looks, held;   /* LOOKING: left; found held */
	struct heap first;      /* groups of this cycle that go before all queues */
	struct heap all;        /* the others, unless queues have their turns */
	uint64_t epoch;         /* moves when something came free or changed: verdicts are about one */
	struct qrun *qruns;     /* to be served, oldest first */
	struct qrun *serving;   /* this cycle is for it alone */
	bool for_one;           /* likewise, to its end */
	struct snapshot *snapshot;
	uint64_t generation;    /* of the snapshot; 0: make a new one */
	uint64_t node_shape, pictures; /* what it was made for; how many there were */
	struct dynres *dynres;
	bool unsure;            /* some vnodes of it are to be read again */
	struct start *starts, *due; /* due: one of them, in the next turn */
	char *urgent;           /* the job for which victims were sought goes first; owned */
	bool gave_way;		/* they did */
	struct asking *asking;  /* for victims */
	bool asking_over;       /* the search for the urgent job's victims ended apart from a cycle */
	struct fence fence;     /* for the job whose victims are being chosen */
	struct keel_timer *avoid_timer;
	int64_t avoid_until_ms, forgiven_ms; /* when the last job stops avoiding a host; refusals before are void */
	char *refusal;          /* there are no victims, because its start would be refused so; owned */
	int32_t refusal_code;
	struct keel_trial *trial; /* the open what-if */

	/* await.c */
	char *awaited; /* a job whose host has not reported yet; owned */
	struct keel_timer *await_timer;

	/* topjob.c */
	bool stopped;      /* a job does not fit, and there is no depth for it: strict order */
	uint32_t top_jobs; /* of this cycle, but for queues with a depth of their own */
	struct calendar *calendar; /* of this cycle; NULL: not needed so far */
	uint32_t calendars;        /* opened so far */
	struct plan *plan;
	struct top *tops;

	/* find.c */
	struct find *finds; /* the first one is at work */
	struct keel_timer *find_timer;
	struct snapshot *find_copy; /* for it; the vnodes in its time */
	uint32_t *find_order; /* its vnodes as they are tried; the first `find_filled` were looked at */
	uint32_t find_filled;
	uint32_t searches;
	struct keel_mod *cycle_of; /* on_cycle() */
	void (*on_cycle)(struct keel_mod *me);
	bool finds_asked; /* in this cycle */

	/* room.c */
	struct room *rooms; /* by queue */
	uint64_t rooms_of;  /* st->spans.changes they were found for, and 1 more; 0: none */

	/* comment.c */
	struct group *talk_first;
	struct keel_timer *talk_timer;
};

/* index.c */
void index_fini(struct keel_mod *mod);
struct entry *entry_of(struct keel_mod *mod, struct keel_obj *job); /* NULL without memory: the caller ignores the job */
void entry_fini(struct keel_mod *mod, void *slot);
void list_add(struct list *l, struct entry *e);
void list_drop(struct entry *e);
/* Takes it off its list, group and timer: it is OUT. */
void entry_out(struct entry *e);
/* The next cycle examines it, wherever it is now. */
void entry_touch(struct keel_mod *mod, struct entry *e);
void entry_park(struct keel_mod *mod, struct entry *e);
void entry_suspended(struct keel_mod *mod, struct entry *e);
/* The group of equal jobs, made when it is the first. NULL: its select cannot be parsed, or there is no memory. */
struct group *group_of(struct keel_mod *mod, struct keel_obj *job);

/* duration.c: seconds */
int64_t job_duration(struct keel_obj *job);  /* it may run */
int64_t job_longest(struct keel_obj *job);   /* the same, whatever soft times say: five years without walltime */
int64_t job_left(struct keel_obj *job);      /* of that */
int64_t job_remaining(struct keel_obj *job); /* of that */
int64_t job_end(struct keel_mod *mod, struct keel_obj *job);       /* when, of a running job */
int64_t job_until(struct keel_mod *mod, struct keel_obj *job);     /* the same, at the latest */

/* Not again before `ms` from now. */
void entry_rest(struct keel_mod *mod, struct entry *e);
void rest_over(struct keel_mod *mod); /* for all */
/* Into the group of its wishes. */
void entry_group(struct keel_mod *mod, struct entry *e);
void entry_running(struct keel_mod *mod, struct entry *e);
void group_verdict(struct keel_mod *mod, struct group *g, const char *text);
void group_free(struct keel_mod *mod, struct group *g);
struct entry *group_head(struct group *g); /* NULL: no job */

/* shape.c */
/* The caller gives it back with shape_put(). NULL: it cannot be parsed, or there is no memory. */
struct shape *shape_get(struct keel_mod *mod, const char *key, const char *select,
			const char *place);
void shape_put(struct keel_mod *mod, struct shape *shape);

/* line.c */
void lines_refresh(struct keel_mod *mod);
struct line *line_get(struct keel_mod *mod, const char *queue); /* NULL: no memory */
void lines_free(struct keel_mod *mod);

/* turn.c: whose turn it is */
void turn_add(struct keel_mod *mod, struct group *g);  /* nothing when it has no job, or is there */
void turn_drop(struct group *g);
struct group *turn_next(struct keel_mod *mod);         /* taken out; NULL: none is left */
void turn_clear(struct keel_mod *mod);

/* rank.c: who goes before whom */
extern const struct keel_kind_def job_key_kind;
int32_t rank_init(struct keel_mod *mod); /* fails with -ENOMEM */
void rank_make(struct keel_mod *mod); /* anew, from settings, rows and the formula */
void rank_free(struct keel_mod *mod);
void rank_job(struct keel_mod *mod, struct entry *e);     /* its numbers */
void rank_group(struct keel_mod *mod, struct group *g);   /* those its jobs share */
bool rank_moves(const struct state *st);                  /* numbers change by themselves */
bool entry_before(const struct ranks *o, const struct entry *a, const struct entry *b);
bool group_before(const struct heap_node *a, const struct heap_node *b);
bool goes_first(const struct group *g); /* before all queues */
/* Its formula's value; false: there is no formula. */
bool formula_of(const struct state *st, const struct entry *e, double *ret);
/* Its number in the JOB_KEY row with this place; 0: there is none. */
double rank_key_at(const struct state *st, const struct entry *e, int32_t place);
/* 0; fails with PBSE_BAD_FORMULA (syntax), PBSE_BAD_FORMULA_KW (an unknown name) or PBSE_BAD_FORMULA_TYPE (no number). */
int32_t formula_check(struct keel_mod *mod, const char *text);

/* config.c: configuration and sched_config */
void config_read(struct keel_mod *mod);
bool setting_on(struct keel_mod *mod, enum setting which);
char *setting_dup(struct keel_mod *mod, enum setting which); /* the caller frees it; NULL: it is set nowhere, or no memory */
void prime_set(struct keel_mod *mod, bool prime);

/* snapshot.c */
struct snapshot *snapshot_make(struct keel_mod *mod); /* the caller frees it; NULL without memory */
void snapshot_free(struct snapshot *s);
/* What changes as jobs come and go, of a vnode that is in the snapshot already. */
void vnode_reread(struct keel_mod *mod, struct snapshot *s, struct vnode *v, struct keel_obj *node);

/* refresh.c */
/* The current snapshot, owned by the module, read again where vnodes have changed. NULL without memory. Callers get it anew
 * after anything that may start a job. */
struct snapshot *snapshot_now(struct keel_mod *mod);
/* A start that took of these vnodes failed, or may have: the next snapshot_now() reads them again. */
void snapshot_unsure(struct keel_mod *mod, const char *exec_vnode);

/* blocks.c: what is promised of vnodes */
int32_t block(struct keel_mod *mod, const struct keel_sched_block *from, struct keel_err *err); /* service sched, as the next */
void unblock(struct keel_mod *mod, const char *id, uint32_t from_part);
void blocks_bind(struct keel_mod *mod, struct snapshot *s); /* to a new snapshot, of now */
void blocks_pass(struct keel_mod *mod);	  /* time passes: vnodes of blocks that began or ended are read again */
void blocks_end_moves(struct keel_mod *mod, struct keel_obj *job); /* it may end sooner or later than it would have */
void held_forget(struct entry *e);	  /* it is elsewhere, or has less */

/* totals.c: amounts of the server and of queues, and the job-wide amounts of jobs. */
bool totals_read(struct keel_mod *mod, struct snapshot *s); /* false: no memory, or no server object */
/* The summed resources of a job's Resource_List: the caller frees the array, the values are the job's. */
const struct keel_res_value **whole_of(struct keel_obj *job, uint32_t *ret_n);
/* Is there enough of the job's job-wide amounts (of those names; NULL all)? False with the reason. */
bool totals_fit(const struct snapshot *s, struct keel_obj *job, const char *only,
		struct reason *ret);
/* A job takes (sign 1) of the totals, or gives back (-1); only: comma list of names or NULL. */
void totals_move(struct snapshot *s, struct keel_obj *job, const char *only,
		 int sign);

/* goback.c: a job that goes on where it was */
int32_t share_of(struct keel_obj *job); /* as its place says */
/* An exec_vnode that the caller frees; NULL: it is unset, or cannot be parsed. */
struct keel_exec *exec_of(const char *text);
struct keel_exec *exec_held(struct keel_obj *job); /* what its end frees: also what it gave up and holds still */
struct keel_exec *exec_kept(struct keel_obj *job); /* the same for what a suspended job keeps; its amounts alone count */
/* What its end, or its going, frees for others: not what is a block's. */
struct keel_exec *exec_outside(struct keel_mod *mod, struct keel_obj *job);
/* The same as exec_held() for what a suspended job needs again. */
struct keel_exec *exec_again(struct keel_obj *job);
/* Takes that of the snapshot, of vnodes and totals; false with the reason, nothing taken. */
bool goes_back(struct snapshot *s, struct keel_obj *job,
	       const struct keel_exec *exec, struct reason *ret);
/* The same; nothing stays taken. */
bool could_go_back(struct snapshot *s, struct keel_obj *job,
		   const struct keel_exec *exec, struct reason *ret);
/* Counts it for the limits of these vnodes (sign 1), or not any more (-1). */
void people_move(struct snapshot *s, struct keel_obj *job,
		 const struct keel_exec *exec, int sign);

/* placing.c: how vnodes are ordered and matched, out of the configuration. */
void placing_apply(struct keel_mod *mod, struct snapshot *s);
/* The items of a setting, NULL-terminated; the caller frees them with names_free(). `between`: what may part them. NULL:
 * it has none, or there is no memory. */
char **setting_items(struct keel_mod *mod, enum setting which, const char *between);
void names_free(char **names); /* NULL is fine */

/* dynres.c: amounts of the server that scripts know. */
void dynres_configure(struct keel_mod *mod);
void dynres_free(struct dynres *d);
/* True: their values are fresh, or there are none; false: `then` is called when they are. */
bool dynres_ready(struct keel_mod *mod, keel_fn *then);
const char *dynres_at(const struct state *st, uint32_t i); /* NULL: no more */
/* Borrowed; its amount and text alone count. NULL: not known. */
const struct keel_res_value *dynres_value(const struct state *st, uint32_t i);
/* In the order of the scores that taps give for this job. */
void snapshot_order(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job);

/* cycle.c */
enum { CMD_JOB = 1, CMD_ENDED = 2, CMD_TIME = 3, CMD_SWITCHED = 5, CMD_CONFIGURED = 6,
        CMD_FIRST = 9, CMD_QRUN = 11, CMD_QUEUE = 12 };
/* Something changed (the log shows the number): plans a cycle, soon, if none is planned. */
void wake(struct keel_mod *mod, int32_t command);
bool cycle_runs(const struct state *st);
/* The scripts that the next cycle waits for, if it does, have been replaced. */
void cycle_waits_no_more(struct keel_mod *mod);
void cycle_stop(struct keel_mod *mod);
/* Puts it where its state belongs: its group, the parked, suspended or running list, or OUT. */
void look_at(struct keel_mod *mod, struct entry *e);
/* The victims for st->urgent are decided. */
void cycle_go_on(struct keel_mod *mod);
void iteration_start(struct keel_mod *mod);
bool scheduling_on(struct keel_mod *mod);
int64_t clock_us(struct keel_mod *mod);
bool slice_is_over(struct keel_mod *mod);

/* gate.c */
/* May one more of these equal jobs start, may this one (taps)? False with the reason. */
bool group_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret);
/* When it may be planned to start, not before `at` (taps); 0: never. Without memory, or when a tap waits, `at`. */
int64_t start_when(struct keel_mod *mod, struct keel_obj *job, int64_t at);
bool job_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret);
/* An exec_vnode in the current snapshot, which takes it; the caller frees it. NULL with the reason. */
char *find_place(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		 struct reason *ret);
/* Could it start on empty vnodes and with all totals there? False with the reason, a never. */
bool could_ever_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		    struct reason *ret);
/* Why each vnode does not take it; false without memory. */
bool vnode_words(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
		 struct vnode_words *ret);
/* As find_place(), in this snapshot. */
char *place_on(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret);
/* Likewise; nothing stays taken. */
bool would_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret);

/* victims.c */
enum victims { VICTIMS_NONE, VICTIMS_LEAVING, VICTIMS_GONE };
/* Raises preempt_victims for this job. GONE: they gave way; LEAVING: they will, and the cycle stands still; NONE: there
 * are none, or no memory. */
enum victims victims_ask(struct keel_mod *mod, struct keel_obj *job, const struct reason *r);
/* They are LEAVING: the cycle goes on without the job, behind a fence. False: it has to stand still. */
bool victims_apart(struct keel_mod *mod);
void victims_known(struct keel_mod *mod); /* they are behind the fence */
bool is_asking(const struct state *st, const char *id);
struct qrun *asking_qrun(const struct state *st); /* that the victims are for, apart from a cycle; NULL: none */
void asking_drop(struct keel_mod *mod);

/* fence.c */
bool fence_add(struct keel_mod *mod, const struct keel_exec *exec); /* false: no memory */
bool fence_close(struct keel_mod *mod, const char *id); /* to all but this job; false: there is none */
void fence_apply(struct keel_mod *mod, struct snapshot *s, bool anew); /* to what has been read */
void fence_lift(struct keel_mod *mod, struct snapshot *copy, struct keel_obj *job); /* for it, in a copy */
void fence_drop(struct keel_mod *mod);

/* avoid.c */
void avoid_sent(struct entry *e); /* to its exec_vnode */
void avoid_refused(struct keel_mod *mod, struct entry *of, struct entry *job); /* if it was only sent */
void avoid_forget(struct entry *e);
bool avoids(struct keel_mod *mod, const struct entry *e); /* some host, now? Its verdicts are its own. */
bool avoid_tell(struct keel_mod *mod, const struct entry *e, char *text, size_t size); /* which, how long; false: none */
struct shut {
	uint32_t *node, n;
};
void avoid_shut(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job, struct shut *ret);
void avoid_open(struct snapshot *s, struct shut *shut); /* the exact reverse */

/* whatif.c */
extern const struct keel_sched_api sched_service;
void trial_restart(struct keel_mod *mod);			  /* the snapshot it was made from goes */
void trial_forget(struct keel_mod *mod, struct keel_obj *job); /* there is no such job any more */

/* start.c */
/* Starts or resumes it, in the next turn when this one took long. `qrun`: the request it is for; NULL: a cycle's. Both it
 * and `exec_vnode` are owned by the start from now on. When the start fails the job rests, and qrun gets the error. */
void entry_start(struct keel_mod *mod, struct entry *e, char *exec_vnode, bool resume, struct qrun *qrun);
/* Where it was before: a queued job that keeps its vnodes goes on there or nowhere. The caller frees it; NULL with the
 * reason. */
char *find_own_place(struct keel_mod *mod, struct keel_obj *job, struct reason *ret);
bool resume_job(struct keel_mod *mod, struct entry *e, struct reason *ret); /* false with the reason */
/* Makes the start that was put off to this turn, if there is one. */
void start_due(struct keel_mod *mod);
bool starts_wait(const struct state *st); /* are there some that vnodes do not know of yet? */
void starts_drop(struct keel_mod *mod);

/* consider.c */
/* Considers one job, or one group that cannot start. False: none is left. */
bool consider_next(struct keel_mod *mod);
bool is_at_limit(struct keel_obj *job); /* an array with as many subjobs as may run */
void asides_back(struct keel_mod *mod);

/* await.c */
void await_host(struct keel_mod *mod, const char *id); /* when the settings say so */
void await_heard(struct keel_mod *mod, const char *id);

/* topjob.c */
/* This one does not fit. True: a start is to be planned for it, and it is counted; false: not, and with a depth of 0 all
 * behind it stop. */
bool becomes_top(struct keel_mod *mod, struct group *g, struct entry *e);
/* Would a start now be over before anything planned begins? */
bool delays_no_plan(struct keel_mod *mod, int64_t duration);
/* Holds what is planned, so that a job of this duration fits beside it; the caller ends it with calendar_unhold(). NULL
 * without memory. */
struct holds *plans_hold(struct keel_mod *mod, struct snapshot *s, int64_t duration);
/* The calendar learns that it has begun. */
void plans_note(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, int64_t duration);
bool plan_begin(struct keel_mod *mod, struct entry *e); /* false without memory */
bool plan_step(struct keel_mod *mod);                   /* true: the caller calls it again; false: it is made, or fails */
void plan_drop(struct keel_mod *mod);
void plan_restart(struct keel_mod *mod); /* the snapshot it was made from goes */
void calendar_close(struct keel_mod *mod);
void top_known(struct keel_mod *mod, struct keel_obj *job); /* from an earlier life */
/* It has given way: what others may not delay is planned in the cycle that runs already. */
void top_preempted(struct keel_mod *mod, struct entry *e);
void tops_settle(struct keel_mod *mod); /* those of earlier cycles are none any more */
void tops_free(struct keel_mod *mod);

/* room.c: jobs of a block's queue */
bool has_room(struct keel_mod *mod, const char *queue); /* are its jobs placed inside a block? */
/* Where jobs of this queue are placed: the snapshot of all vnodes, or its block's. NULL with the reason. Callers get it anew after
 * anything that may start a job. */
struct snapshot *ground_of(struct keel_mod *mod, const char *queue, struct reason *ret);
/* The job has been placed there: what it takes in a room is taken of the snapshot of all, too. */
void ground_taken(struct keel_mod *mod, struct keel_obj *job, const struct keel_exec *exec);
void room_started(struct keel_mod *mod, const char *queue, uint64_t before); /* it has what one more start took, since that generation */
void rooms_stale(struct keel_mod *mod); /* what a start took may be free again */
void rooms_empty(struct keel_mod *mod); /* the snapshot of all goes */
void rooms_log(struct keel_mod *mod);	/* blocks without vnodes */
void rooms_free(struct keel_mod *mod);

/* find.c */
int32_t sched_find(struct keel_mod *mod, const struct keel_sched_wish *w, struct keel_mod *me, keel_sched_found *done,
		   void *arg, struct keel_err *err);
void sched_find_drop(struct keel_mod *mod, struct keel_mod *me, void *arg);
void sched_on_cycle(struct keel_mod *mod, struct keel_mod *me, void (*fn)(struct keel_mod *me));
bool finds_step(struct keel_mod *mod); /* one step of the phase FINDING; false: all are over */
void finds_go_on(struct keel_mod *mod); /* those that are left, when no cycle does */
void finds_restart(struct keel_mod *mod); /* the snapshot goes */
void finds_drop(struct keel_mod *mod);

/* qrun.c */
struct qrun {
	char *id; /* owned */
	struct keel_mod *caller; /* of on_run_request(), with its callback */
	keel_job_done *done;
	void *arg;
	bool back; /* its victims are decided */
	struct qrun *next;
};
void on_run_request(struct keel_mod *mod, struct keel_obj *job, const char *who,
		    struct keel_mod *caller, keel_job_done *done, void *arg);
/* The next qrun that waits becomes st->serving; false: there is none. */
bool qrun_next(struct keel_mod *mod);
/* Calls its callback and frees it. */
void qrun_answer(struct keel_mod *mod, struct qrun *q, int32_t code, const char *text);
/* The same with the error of a start, as a sentence. */
void qrun_failed(struct keel_mod *mod, struct qrun *q, int32_t code, const char *text);
void qruns_drop(struct keel_mod *mod);

/* comment.c */
/* Sets the comment, unless it is there already; false: it got another one a moment ago, the caller tries later. */
bool comment(struct keel_mod *mod, struct entry *e, const char *text);
void reason_comment(const struct reason *r, char *buf, size_t len);
void talk(struct keel_mod *mod, struct group *g); /* it has comments to write */
void talk_not(struct keel_mod *mod, struct group *g);
void talk_now(struct keel_mod *mod);

/* impossible.c */
keel_verdict refuse_impossible(struct keel_call *c, const struct keel_ev_job_submit *ev);

struct keel_text;
/* explain_job.c; explain_host.c: of a host, or a vnode. False: there is none of this name. `others`: ids of jobs of other users are shown. */
void explain_line(struct keel_text *out, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void explain_amount_text(const struct keel_resource *res, double n, char *buf, uint32_t len);
bool explain_host(struct keel_mod *mod, const char *name, bool others, struct keel_text *out);
extern const struct keel_request_def explain_request;

/* sched.c */
#define SCHED_ATTRS 20
#define TOP_ATTRS 3
extern const struct keel_attr_def top_attrs[TOP_ATTRS];
extern const struct keel_class_def sched_class;
extern const struct keel_attr_def sched_attrs[SCHED_ATTRS];
int32_t sched_start(struct keel_mod *mod, struct keel_err *err); /* makes the object `default`; fails with an error below 0 */
void sched_paths(struct keel_mod *mod, struct keel_obj *obj);

/* manage.c */
keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev);

#endif
