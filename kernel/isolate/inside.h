/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 *
 *   COMING: started, opens the file -> READY: check(), init() and start() are under way, notes flow
 *   -> UP: start() done, calls flow -> ended
 *
 * A module has one process, or none. A question to it is a `pending`, found by its number; so is a tap's call.
 * A call has holds in the hook engine: one of ours until the verdict is there, those its module took besides.
 */
#ifndef KEELSON_ISOLATE_INSIDE_H
#define KEELSON_ISOLATE_INSIDE_H

#include <sys/types.h>

#include "hook/hooks.h"
#include "isolate/answer.h"
#include "isolate/isolate.h"
#include "isolate/talk.h"
#include "object/objects.h"
#include "loop/loop.h"
#include "util/hash.h"

struct process;

#define CALLS_MAX 1024u                  /* calls of taps that have no verdict yet */
#define RAISED_MAX 1024u                 /* operations a process has raised and that wait */
#define RAISED_DEPTH 16                  /* calls in operations that such calls have raised */
#define NOTES_MAX 65536u                 /* notes sent and not yet told */
#define DEPARTED_MAX 4096u               /* objects kept for them */
#define QUEUE_MAX (8u * 1024u * 1024u)   /* bytes that the process has not read yet */
#define LOOK_NS 40000                    /* about what it takes to wake a processor that sleeps */
#define BLIND_CALLS 15
#define READ_MAX (64u * 1024u)           /* bytes read in one turn */
#define LOGS_BURST 5000u                 /* records that may come at once ... */
#define LOGS_PER_SECOND 1000u            /* ... and how fast that comes back */
#define LOGS_TOLD_MS 1000                /* how often it is told that some were too many */
#define START_DEADLINE_MS 10000          /* for each step until it is up */
#define LOOK_MAX_MS 250                  /* between looks for who is late */
#define LEAVE_DEADLINE_MS 100            /* for stop() and fini() */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MAX_MS 30000
#define GOOD_LIFE_MS 250                 /* who answered a call, or was up for so long, was of use */
#define RESTART_EACH_MS 40               /* one restart in that time is always there ... */
#define RESTARTS_BURST 20                /* ... and so many at once */

enum process_state { PROCESS_COMING, PROCESS_READY, PROCESS_UP };

/* `in` NULL: the process is gone, *why says how it ended. */
struct pending;
typedef void pending_fn(struct process *p, struct pending *q, struct talk_in *in, const char *why);
struct pending {
	uint64_t id;
	uint64_t behind; /* as many notes are told before it */
	pending_fn *fn;
	UT_hash_handle hh; /* of the process, oldest first */
};

/* An object that is gone, as it was, while there are events from before its end to be told. */
struct departed {
	struct departed *prev, *next;
	struct keel_obj *obj; /* owned: a draft */
	char *id; /* owned */
	uint64_t until; /* as many notes are told */
};

struct process {
	struct isolate *iso;
	enum process_state state;
	uint64_t serial;
	pid_t pid;
	int fd; /* -1: it is ended */
	struct loop_watch *watch;
	struct frame_reader in;
	struct buf out;
	size_t out_at; /* bytes of `out` that are sent */
	struct loop_timer *sweep, *ending;
	char lost[256]; /* why it is being given up; "" it is not */
	uint32_t reaps; /* times it was looked for */
	uint32_t users; /* on the stack; it is freed when there are none */
	bool pumping;   /* what it said is being acted on */
	bool of_use;    /* it has answered a call */
	bool mute;      /* it gave no answer when it was to leave */
	int64_t up_ms;

	size_t answers;          /* bytes of them, queued since there was nothing in `out` */
	uint64_t next_id, answered; /* the last question, and the last one that has its answer */
	struct pending *pending;
	struct iso_hold *holds;  /* by number */
	struct iso_raised *raised; /* by number */
	struct walk walk;        /* its last one */
	int64_t late_ms;         /* it has worked for so long at the oldest of what it owes */
	uint32_t notes;          /* sent, not told */
	uint64_t told;           /* notes that it was told */
	struct departed *departed; /* oldest first */
	uint32_t n_departed;
	uint32_t last_tap;       /* number of the tap told last */
};

struct iso_tap {
	struct isolate *iso;
	const char *name;
	uint32_t number, point, kind;
};

/* One tap's part in one operation. Ends when no question and no hold of it is left. */
struct iso_call {
	struct isolate *iso;
	struct process *process; /* that was asked; NULL: none yet, or it ended */
	const struct iso_tap *tap;
	uint64_t number;         /* what the process knows it by */
	uint64_t since;          /* events are remembered from then on */
	struct iso_question *questions;
	struct iso_hold *holds;  /* its module's, open or not yet told */
	uint32_t depth;          /* of calls in operations that calls have raised */
	bool asked;              /* its first question is the tap's own */
	bool over;               /* the tap answered, and not WAIT: holds it took are void */
	/* What find() does not give; whoever raised the event keeps them until the end. */
	struct { struct keel_obj *obj; const char *klass, *id; } draft[4];
	uint32_t n_drafts;
	UT_hash_handle hh;       /* by number */
};

/* A verdict wanted of the process: of the tap, or of a resume(). The operation is held meanwhile. */
struct iso_question {
	struct pending pending;  /* first; id 0: not sent yet, or answered */
	struct process *process; /* that it was sent to, while id is not 0 */
	bool answered, first;
	struct iso_call *call;
	struct keel_hold *hold;
	keel_verdict verdict;
	int32_t code;
	char *text;              /* owned */
	char *message;           /* owned: what was asked, or will be when the process is up */
	size_t len;
	struct iso_question *prev, *next;         /* of the call */
	struct iso_question *all_prev, *all_next; /* of the isolate, oldest first */
};

/* A hold that the module took itself. */
struct iso_hold {
	struct iso_hold *prev, *next; /* of the call */
	struct iso_call *call;
	struct keel_hold *hold;
	int64_t number; /* the process' */
	UT_hash_handle hh;
};

/* An operation that the module raised and that waits, or is being raised. */
struct iso_raised {
	struct process *process; /* NULL: it ended, nobody hears of the outcome */
	int64_t number;          /* the process' */
	uint64_t call;           /* whose drafts its event has; 0: none */
	struct buf *out;          /* for the outcome while raise() runs */
	bool ends;
	UT_hash_handle hh;
};

struct iso_req {
	struct isolate *iso;
	struct process *process; /* that was asked */
	uint64_t number;
	struct keel_req *req;
	UT_hash_handle hh;
};

struct isolate {
	struct parts *parts;
	struct objects_end end;
	struct owner *owner; /* NULL: not loaded */
	char *name, *path, *user;
	struct isolate_limits limits;
	bool prepared; /* it was begun while the daemon serves: nobody waits for it */
	bool serves;   /* its module is started, or comes back: a process that ends is replaced */
	bool left;     /* its module was stopped: when it comes again, its process comes by itself ... */
	bool returns;  /* ... and is not up yet */
	bool benched;  /* ended too often */
	uint32_t blind; /* calls until it is looked again whether an answer comes at once */

	/* what it is: described.c */
	struct keel_module desc;
	char *body; /* its strings */
	uint64_t digest;
	struct keel_conf_rule *rules;
	struct keel_contrib *contribs;
	void *defs;
	struct keel_tap *taps;
	const char **words; /* requires and conflicts */
	struct iso_tap *iso_taps;

	/* its process: process.c, restart.c */
	struct process *now; /* NULL: the next one is on the way, or there is none */
	uint64_t next_serial;
	struct loop_timer *restart; /* when the next process is started */
	int64_t again_ms;    /* when that is */
	int64_t death_ms;    /* of the first one in the window */
	int64_t paid_ms;     /* restarts are paid for up to then */
	int64_t late_us;     /* nobody served since then */
	uint32_t deaths, restarts, backoff_ms;

	/* talk */
	uint64_t next_call;
	uint32_t raising;        /* depth of the operation that is being raised, 0: none is */
	struct iso_call *calls;          /* by number */
	struct iso_question *questions;
	uint32_t n_questions;
	struct iso_req *reqs;
	uint64_t next_req;
	uint32_t n_durables;     /* times it waits for the store */
	uint32_t notes_lost;
	uint32_t logs;           /* how many may come */
	int64_t logs_ms, logs_told_ms;
	uint32_t logs_lost;
	struct buf scratch;       /* a message being built */
	void *conf_values;       /* owned: the values it runs with, as they were sent */
	size_t conf_len;

	uint32_t steps;          /* begun, not answered */
	int step_ret;            /* of the first that failed since it was last asked */
	enum talk_down step_what;
	struct keel_err step_err;

	isolate_done_fn *done;
	void *done_arg;

	const struct keel_call_api *call;
	const struct keel_object_api *object;
	const struct keel_request_api *request;
	const struct keel_hook_api *hook;
};

/* process.c: start, read, write, end. */
int process_start(struct isolate *iso, struct process **ret_process, struct keel_err *err);
/* What iso->scratch holds from `begun` on is one message: written, or queued. scratch ends there again, so
 * that building one message may send others first. `p` NULL is one that is gone. 0, -ENOTCONN, -ENOMEM,
 * -ENOBUFS. */
int process_send(struct isolate *iso, struct process *p, size_t begun);
void process_flush(struct process *p); /* what is queued, as far as it takes it */
void process_pump(struct process *p);  /* read what is there, and act on it */
void process_close(struct process *p); /* kill it, nothing is told; its memory stays */
void process_destroy(struct process *p); /* and its memory, when nobody uses it; NULL is fine */
void process_unuse(struct process *p);
/* Kill it, and wait a moment: its module leaves, perhaps the daemon ends. NULL is fine. */
void process_reap(struct process *p);
/* It cannot be trusted or does not answer. It is ended when nothing of it is on the stack. */
void process_give_up(struct process *p, const char *fmt, ...) KEEL_PRINTF(2, 3);
/* Is there one, and can it be told something? */
static inline bool process_hears(const struct process *p)
{
	return p != NULL && p->fd >= 0 && p->lost[0] == '\0' && p->ending == NULL;
}
static inline bool process_up(const struct process *p)
{
	return process_hears(p) && p->state == PROCESS_UP;
}
/* Read and write until done() or the deadline. 0, -ETIMEDOUT, -ECHILD: it is gone. */
int process_wait(struct process *p, bool (*done)(void *arg), void *arg, int64_t deadline_ms);

/* late.c: who owes an answer for too long. */
void process_owes(struct process *p); /* it is told or asked something more */
void process_paid(struct process *p); /* it has answered something */

/* ask.c: questions about the module's life. */
/* The message in iso->scratch was begun with talk_begin(); sent, and fn called with the answer. */
bool pending_open(struct process *p, struct pending *q, pending_fn *fn); /* numbered, in the table; false: no memory */
struct pending *ask_send(struct process *p, size_t begun, pending_fn *fn, size_t size);
/* It is told something, and owes us that its module has heard it. -ENOTCONN, -ENOMEM: it was not told. */
int ask_heard(struct isolate *iso, struct process *p, size_t begun);
void pending_drop(struct process *p, struct pending *q); /* out of the table, freed */
/* Wait for a step: its code and text. */
int step_of(struct talk_in *in, const char *why, struct keel_err *err);
/* Whoever asks isolate_settled() is told. */
void step_failed(struct isolate *iso, enum talk_down what, int ret, const struct keel_err *err);
/* The functions of the descriptor. */
int32_t life_init(struct keel_mod *m, struct keel_err *err);
int32_t life_start(struct keel_mod *m, struct keel_err *err);
int32_t life_reconf(struct keel_mod *m, const void *now, struct keel_err *err);
int32_t life_busy(struct keel_mod *m, struct keel_err *err);
void life_stop(struct keel_mod *m);
void life_fini(struct keel_mod *m);

/* described.c */
void open_put(const struct isolate *iso, struct buf *m);
int described_take(struct isolate *iso, struct talk_in *in, const char *body, uint32_t len,
		   struct keel_err *err);
void described_fini(struct isolate *iso);

/* heard.c: a frame of the process. */
bool iso_log_may(struct isolate *iso); /* may it cause one more record now? */
void heard(struct process *p, const struct frame *f);

/* tap.c */
keel_verdict tap_proxy(struct keel_call *c, uint32_t point, const void *event, void *arg);
void calls_flush(struct isolate *iso); /* there is a process that is up */
uint32_t calls_fail(struct isolate *iso, const char *why); /* all of them; how many */
const char *calls_tap(const struct process *p); /* name of the tap it is busy with */
struct iso_call *call_find(const struct process *p, uint64_t number);
struct keel_call *call_of(const struct iso_call *c); /* NULL: it is over */
void call_settle(struct iso_call *c); /* it is over, if it has nothing open */
/* The message begun in iso->scratch asks for a verdict, of the process that knows the call or the one that
 * serves. KEEL_FAIL: *call is over, if it has nothing else. */
keel_verdict call_ask(struct iso_call *call, struct keel_call *c, size_t begun);
void iso_release(const struct isolate *iso, struct keel_hold *hold);

/* holds.c */
/* A hold of the module's own. KEEL_WAIT; or a code, and *ret_why. */
int32_t call_hold(struct iso_call *c, struct keel_hold_opts *opts, int64_t number, const char **ret_why);
void iso_holds_end(struct process *p); /* nobody can resume them */
void call_release(struct process *p, int64_t number);

/* raise.c: operations that the module raised */
void iso_raise(struct process *p, const struct iso_call *call, struct raising *r, struct buf *out);
void raised_call_ends(struct process *p, uint64_t call); /* what its events have of it is gone soon */
void raised_end(struct process *p); /* it ended: they do */

/* departed.c: objects that went before the process has heard what happened to them. */
void departed_watch(struct isolate *iso);
void departed_unwatch(struct isolate *iso);
struct keel_obj *departed_find(const struct process *p, const char *klass, const char *id);
void departed_told(struct process *p); /* some more notes were */
void departed_drop(struct process *p);

/* serve.c: what the module asks while it runs. */
void serve(struct process *p, struct talk_in *in, uint64_t corr);

/* request.c */
void request_asked(struct keel_mod *m, struct keel_req *req);
void request_heard(struct process *p, uint32_t what, struct talk_in *in);
struct iso_req *request_find(const struct process *p, uint64_t number);
int request_part(struct isolate *iso, struct iso_req *r, const void *body, uint32_t len);
int request_drained(struct isolate *iso, struct iso_req *r);
void requests_fail(struct process *p, const char *why);

/* restart.c */
void started_up(struct process *p); /* its module is started: it serves */
void come_back(struct isolate *iso); /* its module was stopped, and starts again */
void process_lost(struct process *p, const char *why); /* it ended; it is destroyed, the next one comes */
void process_end(struct isolate *iso, const char *why); /* there will be none; what it owes fails */

void iso_log(const struct isolate *iso, uint32_t event, const char *fmt, ...) KEEL_PRINTF(3, 4);

#endif
