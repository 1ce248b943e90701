/* SPDX-License-Identifier: Apache-2.0
 *
 * scheduler.h - what the files of this module share.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include "heap.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "pbs_error.h"
#include "place.h"

/* Where the index has a job. */
enum where {
	OUT,       /* not ours: running, over, unknown */
	GROUPED,   /* waits in its group to be considered */
	PARKED,    /* held, waiting, or to be looked at anew: the first of the list are */
	RESTING,   /* its start failed: until its timer */
	STARTING,  /* a start is on its way through the taps */
	SUSPENDED, /* may wait to be resumed */
};

struct entry;
struct list {
	struct entry *first, *last;
	uint32_t n;
};

/* Private memory on each job. */
struct entry {
	struct heap_node heap; /* of its group */
	struct keel_obj *job;  /* NULL: never indexed */
	struct group *group;
	struct list *list;     /* it is on this one */
	struct entry *next, *prev;
	struct keel_timer *timer;
	int64_t rank, arrival, not_before;
	int32_t priority;
	uint16_t failures;
	uint8_t where;
	uint32_t ranked_in, asked_in; /* cycles: ranked; somebody was asked to give way */
	bool aside; /* refused for itself in this cycle */
	bool busy;  /* a resume is on its way */
};

/* Jobs that are equal to a scheduler: same queue, select and place. What is found out about one holds
 * for all. */
struct group {
	struct heap_node heap; /* of the groups of this cycle */
	char *key, *queue;     /* owned */
	struct keel_select *select;
	struct keel_place place;
	struct heap jobs;
	struct list fresh, stale, told; /* whose comment says nothing, something old, the verdict */
	char *verdict;     /* why they do not start; owned, NULL: not known */
	uint64_t known_at; /* the generation of vnodes the verdict is about; 0: any cycle anew */
	int64_t queue_priority;
	uint32_t idle;     /* cycles without a job */
	bool talking;      /* on the list of groups with comments to write */
	struct group *talk_next, *talk_prev;
	struct group *next, *prev, *chain; /* all groups; same bucket */
};

/* A start or resume on its way: what it takes is taken in every snapshot until it is decided. */
struct start {
	struct start *next, *prev;
	char *id, *exec_vnode;
	struct keel_exec *exec;
	bool resume, decided, returned;
	bool assigned; /* vnodes know of it, only the host has to answer */
	/* qrun: who asked; NULL: a cycle */
	struct keel_mod *asker;
	keel_job_done *done;
	void *arg;
};

enum phase { IDLE, PLANNED, RANKING, CONSIDERING, PREEMPTING /* victims are giving way */ };

struct conf {
	const char *const *resources;
	int64_t slice;       /* ms */
	int64_t rest;        /* ms */
	int64_t comment_gap; /* ms */
	bool job_priority;
};

struct state {
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_hook_api *hook;
	const struct keel_call_api *call;
	const struct keel_resource_api *resource;
	const struct keel_node_api *node;
	const struct keel_job_api *job;
	const struct keel_request_api *request;
	const struct keel_msg_api *msg;
	struct {
		const struct keel_attr *queue, *user, *user_group, *project, *schedselect, *list, *priority, *arrival, *when, *exec_vnode;
	} a;
	struct {
		const struct keel_attr *priority, *queue;
	} vnode;
	struct {
		const struct keel_attr *priority, *started;
	} queue;
	struct {
		const struct keel_attr *scheduling, *iteration;
	} server;
	struct {
		const struct keel_attr *scheduling, *iteration, *host, *priv, *log, *partition, *run_wait,
			*throughput;
	} sched;
	char who[300]; /* Scheduler@host */

	/* index.c */
	struct group **bucket;
	uint32_t n_bucket, n_group;
	struct group *groups;
	struct list parked, resting, suspended, aside;

	/* cycle.c */
	enum phase phase;
	bool again;             /* woken while a cycle runs */
	struct keel_timer *timer, *iteration;
	int64_t not_before;     /* ms: no cycle sooner */
	int64_t worked_us, begun_us; /* by this cycle so far; its beginning */
	uint32_t cycle;
	uint32_t started;
	int32_t command;        /* why the next cycle */
	struct group *rank_at;
	struct heap order;      /* groups of this cycle */
	struct snapshot *snapshot;
	uint64_t generation;    /* of the snapshot; 0: make a new one */
	struct start *starts;
	char *urgent;           /* victims gave way for this job: look at it first; owned */
	struct asking *asking;  /* for victims */
	struct keel_trial *trial; /* the open what-if */

	/* comment.c */
	struct group *talk_first, *talk_last;
	struct keel_timer *talk_timer;
};

/* index.c */
void index_init(struct keel_mod *mod);
void index_fini(struct keel_mod *mod);
struct entry *entry_of(struct keel_mod *mod, struct keel_obj *job);
void entry_fini(struct keel_mod *mod, void *slot);
void list_add(struct list *l, struct entry *e);
void list_drop(struct entry *e);
/* Off whatever it is on: it is OUT. */
void entry_out(struct keel_mod *mod, struct entry *e);
/* Look at it in the next cycle, whatever it was. */
void entry_touch(struct keel_mod *mod, struct entry *e);
void entry_park(struct keel_mod *mod, struct entry *e);
void entry_suspended(struct keel_mod *mod, struct entry *e);
struct group *group_of(struct keel_mod *mod, struct keel_obj *job); /* NULL: not understood */
/* Not again before `ms` from now. */
void entry_rest(struct keel_mod *mod, struct entry *e);
void rest_over(struct keel_mod *mod); /* for all */
/* Into the group of its wishes. */
void entry_group(struct keel_mod *mod, struct entry *e);
void group_verdict(struct keel_mod *mod, struct group *g, const char *text, uint64_t known_at);
void group_free(struct keel_mod *mod, struct group *g);
struct entry *group_head(struct group *g); /* NULL: no job */
bool group_before(const struct heap_node *a, const struct heap_node *b);

/* snapshot.c */
struct snapshot *snapshot_make(struct keel_mod *mod);
void snapshot_free(struct snapshot *s);
/* In the order of the scores that taps give for this job. */
void snapshot_order(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job);

/* cycle.c */
enum { CMD_JOB = 1, CMD_ENDED = 2, CMD_TIME = 3, CMD_SWITCHED = 5, CMD_CONFIGURED = 6,
        CMD_FIRST = 9 };
/* Something changed (the number is told in the log): a cycle, soon, if none is planned. */
void wake(struct keel_mod *mod, int32_t command);
void cycle_stop(struct keel_mod *mod);
/* The victims for st->urgent are decided. */
void cycle_go_on(struct keel_mod *mod);
void iteration_start(struct keel_mod *mod);
/* The snapshot, made again when something changed behind it; NULL: no memory. */
struct snapshot *snapshot_now(struct keel_mod *mod);
bool scheduling_on(struct keel_mod *mod);
int64_t clock_us(struct keel_mod *mod);

/* gate.c */
/* May one more of these equal jobs start, may this one (taps)? False with the reason. */
bool group_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret);
bool job_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret);
/* Where; NULL with the reason. */
char *find_place(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		 struct reason *ret);
/* In this snapshot; nothing stays taken. */
bool would_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret);

/* victims.c */
enum victims { VICTIMS_NONE, VICTIMS_LEAVING, VICTIMS_GONE };
/* Somebody may give way for this job, now or (LEAVING: the cycle stands still) later. */
enum victims victims_ask(struct keel_mod *mod, struct keel_obj *job, const struct reason *r);

/* whatif.c */
extern const struct keel_sched_api sched_service;

/* start.c */
void start_job(struct keel_mod *mod, struct entry *e, char *exec_vnode /* moved */);
void resume_job(struct keel_mod *mod, struct entry *e);
void on_run_request(struct keel_mod *mod, struct keel_obj *job, const char *who,
		    struct keel_mod *asker, keel_job_done *done, void *arg);
void starts_drop(struct keel_mod *mod);

/* comment.c */
void talk(struct keel_mod *mod, struct group *g); /* it has comments to write */
void talk_not(struct keel_mod *mod, struct group *g);
void talk_now(struct keel_mod *mod);

/* explain_job.c */
extern const struct keel_request_def explain_request;

/* sched.c */
#define SCHED_ATTRS 20
extern const struct keel_class_def sched_class;
extern const struct keel_attr_def sched_attrs[SCHED_ATTRS];
int32_t sched_start(struct keel_mod *mod, struct keel_err *err);
keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev);

#endif
