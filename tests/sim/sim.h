/* SPDX-License-Identifier: Apache-2.0
 *
 * sim.h - the simulated world around one real server: time, disk, hosts, links and clients.
 *
 *	       clients (desk.c)
 *	          | frames
 *	   the real kernel and modules      <- turns at virtual times (world.c)
 *	    | rows          | messages
 *	  disk.c          net.c -- host.c (hosts and their tasks)
 *
 * Everything happens in one thread, in an order that the seed alone decides. What is outside of the
 * server survives its crashes.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/api.h"
#include "keel/module.h"
#include "keel/service/carrier.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "main/daemon.h"
#include "random.h"
#include "mock/guest.h"
#include "mock/virtual.h"

#define USERS 6 /* the first is root, a manager */

/* How often something goes wrong, from 0 to 1. */
struct faults {
	double drop;  /* a message is lost with its link */
	double dup;   /* a message comes twice */
	double delay; /* a message is late, by seconds */
	double crash; /* the server loses its power at a commit */
	double mom;   /* a task's start ends the host's daemon, or the host */
	double slow;  /* the disk takes seconds */
};

struct sim_conf {
	uint64_t seed, steps;
	int64_t hosts, vnodes, ncpus; /* vnodes and their cpus per host */
	int64_t job_ms;               /* how long tasks run, on average; 0: for ever */
	struct faults faults;
	double resv;                  /* how often a deed about reservations is added to a step */
	const char *features;         /* comma list, "all" or "none" */
	const char *dir;              /* NULL: a temporary one, removed at the end */
	const char *trace;            /* file; NULL: only the digest is kept */
	const char *set[32];          /* key=value of the server's configuration */
	uint32_t n_set, log_events;
	bool real_clock;              /* code is measured in real time */
	bool quiet;
	const char *inject;           /* what is broken halfway, to see it found; NULL: nothing */
};

struct sim;
struct host;

/* A row of the store. */
struct row {
	char *key; /* class, NUL, id, NUL and, for a blob, its name and NUL */
	size_t key_len;
	void *bytes;
	uint32_t len;
	UT_hash_handle hh; /* in order of creation */
};

/* An answer: code -1 when the connection was lost before it came. `m` NULL then. */
typedef void answer_fn(struct sim *s, void *arg, int32_t code, const struct keel_msg *m);

struct question {
	uint64_t corr;
	int64_t asked_ms;
	uint32_t user;
	char what[96];
	answer_fn *fn;
	void *arg;
	UT_hash_handle hh;
};

/* What waits to enter the server, in order. */
struct inward {
	enum { IN_FRAME, IN_LINKED, IN_LOST, IN_MESSAGE } kind;
	uint32_t user;
	struct host *host;
	uint32_t len;
	struct inward *next;
	char bytes[];
};

struct sim {
	struct sim_conf conf;
	struct chance net, work, tasks, disk, driver, resv;
	struct loop *loop; /* of what happens outside the server */
	struct loop_virtual clock; /* that loops are made with */
	int64_t now_ms;
	/* the server */
	struct options options;
	struct world world;
	struct daemon *server; /* NULL: it is down */
	struct parts *parts;
	struct owner owner;    /* on whose behalf we look into it */
	const struct keel_carry_api *carry;
	const struct keel_object_api *object;
	const struct keel_hook_api *hook;
	const struct keel_job_api *job;
	const struct keel_node_api *node;
	const struct keel_resource_api *resource;
	bool power_cut, calm;  /* calm: no more faults */
	bool has_arrays, deaf; /* deaf: answers are not heard */
	uint32_t crashes, turns, spins;
	int64_t server_ns, stall_ns, worker_ns; /* with a real clock: of all turns, the longest one, a turn's workers */
	struct inward *in_first, *in_last;
	bool in_posted;
	/* the outside */
	struct row *rows;
	struct host *hosts;
	uint32_t n_running; /* tasks in state R */
	struct launched *launched; /* every run that a host has begun */
	uint32_t wires;		   /* between hosts, so far */
	struct client *client[USERS];
	struct question *questions;
	uint64_t corr;
	/* callbacks of the checks */
	void (*after_turn)(struct sim *s);   /* NULL: none */
	void (*server_is_up)(struct sim *s); /* also after a crash */
	bool (*is_stored)(struct sim *s);    /* nothing waits for the disk */
	void (*purged)(struct sim *s, const char *id);
	void *checker;
	/* what went wrong first; "" nothing */
	char wrong[2048];
	/* the record of the run */
	FILE *trace;
	uint64_t digest;
	char *home;
};

/* world.c */
int sim_begin(struct sim *s, const struct sim_conf *conf, char **ret_why);
void sim_end(struct sim *s);
/* Go on until that time, or until something is wrong. */
void sim_run_until(struct sim *s, int64_t ms);
bool sim_run_while(struct sim *s, bool (*more)(struct sim *s), int64_t most_ms); /* false: too long */
void sim_crash(struct sim *s); /* the server, now */
void sim_wrong(struct sim *s, const char *fmt, ...) KEEL_PRINTF(2, 3); /* the first one counts */
void sim_enter(struct sim *s, int kind, uint32_t user, struct host *h, const void *bytes, size_t len);
int64_t sim_cpu_ns(void);
int64_t sim_time(const struct sim *s); /* seconds since 1970 */

/* trace.c: one line of the record */
void trace(struct sim *s, const char *fmt, ...) KEEL_PRINTF(2, 3);

/* setup.c: home directory and configuration. 0 or a malloc'ed reason. */
char *setup(struct sim *s);
void setup_remove(struct sim *s);

/* disk.c */
int disk_offer(struct sim *s, struct keel_err *err);
int64_t disk_work_ms(void *sim);
void disk_fini(struct sim *s);

/* net.c: links between the server and hosts */
struct link {
	bool up;           /* the host thinks so */
	bool server_up;    /* the server was notified of it */
	uint32_t epoch;    /* what was sent in another one is lost */
	int64_t last_ms[2]; /* when the latest message of a direction arrives: they keep their order */
	int64_t backoff_ms;
};
enum { TO_SERVER, TO_HOST };
void net_send(struct host *h, int direction, const void *bytes, size_t len);
int net_offer(struct sim *s, struct keel_err *err); /* messages of the server to its hosts */
void net_break(struct host *h);  /* both will notice */
void net_cut(struct host *h);    /* the host's daemon is gone: it does not dial */
void net_dial(struct host *h, int64_t after_ms);
void net_server_gone(struct sim *s);

/* host.c, task.c */
struct host {
	struct sim *sim;
	char name[32];
	uint32_t number;
	bool alive; /* its daemon runs */
	struct link link;
	struct task *tasks;
	uint64_t order; /* the last one that a primary here has given */
	UT_hash_handle hh;
};
struct task {
	struct host *host;
	struct part *part; /* of a job over several hosts; NULL: this is its one host */
	char *id;
	int64_t run;
	char state; /* B R S E F: begins, runs, is stopped, ended, was refused */
	int32_t status;
	int64_t session, began_ms, stopped_ms, stopped_at_ms;
	int64_t left_ms;     /* of its life, when it runs on; INT64_MAX: for ever */
	int64_t kill_delay;  /* >= 0: to be ended while it begins */
	bool discarded, leaving; /* leaving: the job goes on without this host */
	struct loop_timer *timer;      /* begin, end */
	struct loop_timer *stop_timer; /* a suspension under way */
	int64_t stop_number, heard; /* questions: of that suspension; the last one of a signal */
	int64_t next_run, next_left_ms; /* a later run that waits for the end of this one; 0 none */
	struct part *next_part;
	UT_hash_handle hh;
};
int hosts_make(struct sim *s);
void hosts_free(struct sim *s);
void host_message(struct host *h, const char *bytes, size_t len);
void host_say(struct host *h, struct keel_out *o, const char *name); /* moved */
void host_hello(struct host *h);
void host_restart(struct host *h, bool power); /* its daemon; `power`: the tasks too */
struct host *host_find(struct sim *s, const char *name);
/* task.c */
void task_start(struct host *h, const struct keel_msg *m);
void task_order(struct host *h, const char *name, const struct keel_msg *m);
void task_report(struct task *t);
void tasks_lose(struct host *h, bool power);
bool task_is_alive(const struct task *t);
struct task *task_on(const struct host *h, const char *id); /* NULL: there is none */
void task_vanish(struct task *t);			    /* without a word to any other host */
/* For part.c: the start fails; the program begins; a suspension or resumption of the other hosts has this outcome; all hosts
 * have ended; an end by a signal within `delay_ms`. */
void task_refuse(struct task *t, int32_t status);
void task_run(struct task *t);
void task_acted(struct task *t, const char *name, int64_t number, int32_t code);
void task_over(struct task *t);
void task_kill(struct task *t, int64_t delay_ms, int32_t status);

/* part.c */
struct part *part_make(struct host *h, const struct keel_msg *m); /* NULL: the start message names one host */
bool part_is_sister(const struct task *t);
void part_start(struct task *t); /* its host has a daemon; again when that is back */
void part_stop(struct task *t);	 /* its host has none */
void part_free(struct part *p);
bool part_set_up(struct task *t); /* true: the others are awaited, task_run() or task_refuse() follows */
void part_runs(struct task *t);
void part_refused(struct task *t);
bool part_ends(struct task *t); /* true: the others are awaited, task_over() follows */
bool part_is_ending(const struct task *t);
void part_ended(struct task *t);
bool part_acts(struct task *t, const char *name, int64_t number); /* true: the others are first, task_acted() follows */
bool part_answer(struct task *t, int64_t number, int32_t code);	  /* true: the answer is the primary's */
bool part_is_moving(const struct task *t);
bool part_may_lack(const struct task *t); /* hosts: the job goes on without them */
const char *part_share(const struct task *t);
void part_resize(struct task *t, const struct keel_msg *m);

/* desk.c: requests of users */
extern const char *const user_names[USERS];
void desk_open(struct sim *s);
void desk_close(struct sim *s); /* the server is gone: every question is answered with -1 */
struct keel_out *ask_begin(const char *request);
void ask_attrs(struct keel_out *o);
void ask_attr(struct keel_out *o, const char *name, const char *resource, const char *value, int op);
/* `o` is moved. Without a server fn is called at once with -1. fn may be NULL. */
void ask(struct sim *s, uint32_t user, struct keel_out *o, const char *what, answer_fn *fn, void *arg);
/* Ask and go on until the answer is there. */
int32_t ask_wait(struct sim *s, uint32_t user, struct keel_out *o, const char *what, char *text,
		 size_t size);
/* A qmgr command: cmd and obj as in pbs_ifl.h. */
int32_t ask_manage(struct sim *s, int cmd, int obj, const char *name, const char *attr,
		   const char *resource, const char *value, int op);

#endif
