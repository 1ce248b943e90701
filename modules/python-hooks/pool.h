/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.h - what the files about processes of scripts share.
 *
 *   pool.c     calls: they wait, go to a process, are answered; look_for()
 *   process.c  one process: its start, what it says, its alarm, its end
 *   folder.c   its temporary folder, and the configuration of its hook in there
 *   setup.c    what it has to know first
 *   check.c    the one process that compiles scripts
 */
#ifndef PYTHON_HOOKS_POOL_H
#define PYTHON_HOOKS_POOL_H

#include "hooks.h"
#include "keel/service/supervise.h"

#define WAITING_MAX 10000u     /* calls of a hook that have no process */
#define AHEAD 4u	       /* calls that one process has, the running one included */
#define AHEAD_BYTES (1u << 20) /* of their frames */
#define AHEAD_US 5000	       /* calls that take longer are not written ahead */
#define SLOW_MS 100	       /* what was written ahead of a call that takes this long goes to another process */
#define PROCESSES_MAX 64u      /* of a hook, for all users */
#define FAILS_MAX 5u	       /* processes in a row that came to nothing: calls do not wait for the next one */
#define BROKEN_MS 10000	       /* until it is tried again */
#define START_MS 30000	       /* until it is up */
#define LOGS_MAX 10000u	       /* of a call */
#define LOG_BYTES_MAX (4u << 20)
#define QUESTIONS_MAX 1000000u /* of a call */
#define LOOK_US 200	       /* about what a short script takes */
#define BLIND_CALLS 3

struct folder;

/* On a server: one user for all. On moms: "" the daemon's own, or the owner of a job. */
struct process {
	struct process *prev, *next; /* of its pool */
	struct pool *pool;
	enum process_phase {
		PREPARING, /* its folder is made */
		STARTING,
		UP,
		ENDING, /* nothing it says counts */
	} phase;
	bool last_call; /* it ends with the call that runs; until then it is one of the hook's `processes` */
	bool leaves; /* it gets no further call */
	bool reading;
	bool of_mom; /* its events are a mom's */
	char *user;
	struct folder *folder;
	struct keel_supervised *program;
	struct ask *asks; /* the first one runs */
	uint32_t n_asks, ahead_bytes;
	struct keel_timer *timer; /* until it is up; the alarm of the call that runs; idle */
	int64_t began_us, began_ms; /* the call that runs */
	uint32_t logs, log_bytes, questions; /* of that */
	uint64_t served;
};

struct ask {
	struct ask *prev, *next; /* of the pool's that wait, or of the process' */
	struct pool *pool;
	struct process *process; /* NULL: it waits */
	bool of_mom;
	char *user;
	struct pack frame;
	struct run *run; /* NULL: cancelled */
	ask_done *done;
	int64_t number, alarm_ms;
};

struct pool {
	struct pool *prev, *next;
	struct state *st;
	struct hook *hook; /* NULL: it is gone, processes that are busy are not yet */
	char *name;
	struct ask *waiting;
	uint32_t n_waiting, n_processes;
	struct process *processes;
	uint32_t fails;		/* processes in a row that came to nothing */
	int64_t not_before_ms;	/* the next one is not started earlier */
	int64_t broken_until_ms; /* calls are not accepted until then, because ... */
	char why[512];
	struct keel_timer *later;
	int64_t usual_us; /* what a call takes */
};

struct pools {
	struct pool *all;
	struct pack conf;   /* pbs.conf as a map */
	char *dir;	    /* of temporary folders */
	char *program;	    /* keelson-pyhost */
	int64_t number;	    /* last given: of calls, folders */
	int64_t looked_for; /* number of that call; 0: it was answered */
	uint32_t blind;	    /* so many calls are not looked for */
	int64_t ended_us;   /* of the last call; what it was about: */
	char about[280];
	struct checker *checker;
	struct folder *folders;
};

/* pool.c */
void pool_pump(struct pool *pool); /* calls that wait go where they can */
void pool_back(struct process *p, const struct ask *but); /* its calls, but this one (may be NULL), wait again, in front */
void ask_finish(struct ask *a, struct result *result); /* taken out of its list */
void ask_finish_as(struct ask *a, enum how how, const char *text, int64_t us);
void pool_failed(struct pool *pool, const char *why); /* a process came to nothing: the next one comes later, or calls fail */
void pool_end_maybe(struct pool *pool); /* freed when its hook and its processes are gone */

/* process.c */
bool process_start(struct pool *pool, bool of_mom, const char *user); /* false without memory */
void process_take(struct process *p, struct ask *a);
void process_release(struct process *p, struct ask *a); /* the reverse: it is over, or waits again */
void process_leave(struct process *p); /* ends when the call that runs is answered; those behind it wait again */
void process_stop(struct process *p); /* now, without a word to anyone: the daemon ends */
void process_prepared(struct process *p, const char *error); /* its folder is there, or why not */

/* folder.c */
struct folder *folder_make(struct process *p); /* process_prepared() follows. NULL without memory */
const char *folder_path(const struct folder *f);
const char *folder_user(const struct folder *f); /* whose it is */
const char *folder_config(const struct folder *f); /* the path of the configuration there; NULL: there is none */
void folder_remove(struct folder *f); /* with all in it, later. NULL is fine */
int32_t folders_start(struct state *st, struct keel_err *err); /* what a dead daemon left is swept */
void folders_stop(struct state *st);

/* setup.c */
struct setup {
	const char *user, *config; /* may be NULL */
	bool has_script;
};
void setup_pack(struct state *st, const struct hook *h, bool of_mom, const struct setup *of, struct pack *out); /* the map */
void setup_write(const struct process *p, struct pack *out); /* a whole frame */
void setup_path(const struct hook *h, bool of_mom, struct keel_mod *mod, char *buf, uint32_t len); /* of its script, in tracebacks */
int32_t setup_start(struct state *st, struct keel_err *err);
void setup_stop(struct state *st);

/* result.c. False: it is none. */
bool result_read(const struct value *v, struct result *ret, bool *ret_retire);

/* check.c */
void checks_stop(struct state *st);

#endif
