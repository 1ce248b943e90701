/* SPDX-License-Identifier: Apache-2.0
 *
 * isolation.h - what the files of the daemon's half share.
 *
 * An isolated module has one process, or none at the moment. Messages to it whose answer is outstanding are `owed`, in
 * order; what its process names by a number is in a table of slots, so that a wrong number names nothing.
 */
#ifndef ISOLATION_H
#define ISOLATION_H

#include "keel/keel.h"
#include "keel/service/supervise.h"
#include "talk.h"

#define CALLS_MAX 1024u	      /* calls without a verdict, holds; of each */
#define NOTES_MAX 65536u      /* messages that it has not answered */
#define TEXT_MAX (256u * 1024u)
#define UNREAD_MAX (8u * 1024u * 1024u) /* of answers */
#define START_MS 10000	      /* for each step until it is up */
#define LEAVE_MS 100	      /* for busy(), stop() and fini() */
#define LOOK_US 40	      /* about what it takes to wake a processor that sleeps */
#define BLIND_CALLS 15

struct state {
	struct keel_mod *mod;
};

struct limits {
	int64_t memory, deadline, deaths, within;
	const char *user;
};

/* ---- slots.c: things by number; a number is never given twice, as far as 32 bits go ------------------- */
struct slots {
	struct slot {
		void *thing; /* NULL: free */
		uint32_t life;
	} *at;
	uint32_t n, used;
};
int64_t slot_take(struct slots *s, void *thing); /* fails with 0: no memory, or CALLS_MAX are taken */
void *slot_get(const struct slots *s, int64_t number); /* NULL: the number names nothing */
void slot_free(struct slots *s, int64_t number);

struct isolated;
/* `in` NULL: there will be no answer, as `why` says. */
typedef void owed_fn(struct isolated *iso, void *arg, struct talk_in *in, const char *why);
struct owed {
	struct owed *next;
	owed_fn *fn;
	void *arg;
};

struct iso_tap {
	struct isolated *iso;
	const char *name;
	uint32_t number, kind;
	const struct map_point *point;
};

enum phase {
	DOWN,	 /* no process, or it opens its file */
	READY,	 /* check(), init() and start() are under way, notes flow */
	SERVING, /* calls flow */
};

struct isolated {
	struct state *st;
	struct keel_mod *mod; /* the module, for the daemon */
	char *name, *path, *user;
	struct limits limits;
	struct keel_supervised *process;
	enum phase phase;
	bool started; /* start() was done once: a process that ends is replaced */
	bool leaves;  /* it is being stopped */
	char why[256]; /* how its last process ended */

	/* described.c: what it is */
	struct keel_module desc;
	char *body; /* owned: as it was described; its texts are in there */
	uint32_t body_len;
	struct keel_conf_rule *rules;
	struct keel_contrib *contribs;
	void *defs;
	struct keel_tap *taps;
	struct iso_tap *iso_taps;
	const char **words; /* requires and conflicts */

	struct talk conf, out; /* the values it runs with; the message that is being made */
	struct owed *owed, **owed_end;
	uint32_t n_owed;
	struct slots calls, holds;
	struct question *asked; /* oldest first */
	uint32_t blind;	 /* so many calls are not looked after */
	uint32_t last_tap; /* of the last note */
	uint32_t notes_lost;
	uint32_t unread; /* bytes of answers queued since one was not */
	uint32_t life; /* how many processes it has had */
	bool reading;
	struct { /* the last walk through a class */
		struct keel_cursor *cursor;
		char *klass, *last;
	} walk;
	struct { /* records: how many may come */
		int64_t left, at_ms, told_ms, lost;
	} log;
};

static inline struct isolated *isolated_of(const struct keel_mod *m)
{
	return m->state;
}

/* talking.c: messages to the process. */
struct talk *tell_begin(struct isolated *iso, enum down what, ...); /* with its arguments; an event may follow */
/* Sends it; `fn` is called once. False when it fails: the caller's `fn` is not called. */
bool tell(struct isolated *iso, owed_fn *fn, void *arg);
bool tell_ignored(struct isolated *iso); /* no one waits for its answer */
void owed_forget(struct isolated *iso, const void *arg); /* its answer is ignored */
void owed_fail(struct isolated *iso, const char *why);	/* all of them */
void heard(struct keel_mod *m, void *arg, const void *bytes, uint32_t len); /* a frame of the process */
void bad(struct isolated *iso); /* what it said is no message: it is ended */
bool log_may(struct isolated *iso);
void iso_log(const struct isolated *iso, uint32_t event, const char *fmt, ...) KEEL_PRINTF(3, 4);

/* described.c: fails with *err when the description is not that of a module; the caller calls described_free(). */
int32_t described(struct isolated *iso, struct talk_in *in, struct keel_err *err);
void described_free(struct isolated *iso);

/* life.c: start, end and restart; the functions of the descriptor. They fail, with *err, as the module's own do, and when its
 * process does not answer. */
int32_t life_open(struct isolated *iso, struct keel_err *err);
int32_t life_check(struct isolated *iso, const void *conf, struct keel_err *err);
int32_t life_init(struct keel_mod *m, struct keel_err *err);
int32_t life_start(struct keel_mod *m, struct keel_err *err);
int32_t life_busy(struct keel_mod *m, struct keel_err *err);
void life_stop(struct keel_mod *m);
void life_fini(struct keel_mod *m);
void life_close(struct isolated *iso);

/* tap.c: calls of its taps. */
struct call;
keel_verdict tap_called(struct keel_call *c, uint32_t point, const void *event, void *arg);
struct keel_call *call_of(const struct call *call); /* NULL for NULL */
struct keel_obj *call_draft(const struct call *call, const char *klass, const char *id);
keel_verdict call_hold(struct call *call, struct keel_hold_opts *opts, int64_t *ret_number);
void hold_release(struct isolated *iso, int64_t number);
uint32_t calls_asked(const struct isolated *iso); /* how many verdicts are wanted */
void calls_lose(struct isolated *iso); /* its process ended: what waits fails */
const char *calls_tap(const struct isolated *iso); /* the tap it is busy with */

/* asked.c: the process' calls and notes. One function for each row of talk.def. */
struct asked {
	struct isolated *iso;
	struct call *call; /* within which it asks; NULL: none */
	struct keel_obj *obj; /* what the letters o and a name */
	const struct keel_attr *attr;
	struct talk *out;
};
typedef void asked_fn(struct asked *a, const struct value *v);
#define ASK(name, arguments, answer) void asked_##name(struct asked *a, const struct value *v);
#define TELL(name, arguments) void asked_##name(struct asked *a, const struct value *v);
#include "talk.def"
bool asked_resolve(struct asked *a, const char *letters, const struct value *v);
void walk_end(struct isolated *iso);

#endif
