/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - points, taps, operations and holds; only kernel/hook/ includes it.
 *
 *   hooks -- point (one per row of hook_points.def) -- taps, and the chain compiled from them
 *         -- running operations, innermost first        on the C stack
 *         -- parked operations -- holds                 on the heap
 *         -- notes that wait for the end of an operation on the same object
 *
 * A compiled chain never changes: an operation that began with it goes on with it, without the taps
 * that were withdrawn meanwhile.
 */
#ifndef KEELSON_HOOK_INSIDE_H
#define KEELSON_HOOK_INSIDE_H

#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "loop/loop.h"
#include "util/crumb.h"

#define DEPTH_MAX 16      /* operations within operations, and notes raised by notes */
#define ID_BUCKETS 256    /* power of two */
#define ORDER_LIMIT 1000  /* -1000..1000 */
#define CACHE_LINE 64

struct op;
struct tap;
struct hold;

/* Zeroed memory that shares no cache line; NULL: no memory. */
static inline void *cache_alloc(size_t size)
{
	size_t whole = (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
	void *room = aligned_alloc(CACHE_LINE, whole);

	return room != NULL ? memset(room, 0, whole) : NULL;
}

/* ---- taps ------------------------------------------------------------------------------------ */
typedef keel_verdict invoke_fn(const struct tap *t, struct keel_call *c, const void *event);

enum tap_off {
	TAP_GONE = 1,    /* withdrawn */
	TAP_BENCHED = 2, /* too slow or broken */
	TAP_QUIET = 4,   /* its module is not started yet: only replay reaches it */
	TAP_FILTERED = 8, /* called only for events that pass the filter of its module */
};

/* Rate limit of log records of one kind about a tap: some per minute, the others are counted. */
struct say_limit {
	int64_t since_ms;
	uint32_t said, unsaid;
};
/* Returns whether a record may be logged now; *ret_unsaid: how many were suppressed since the last one. */
bool may_say(struct say_limit *l, int64_t now_ms, uint32_t *ret_unsaid);

/* What the calls of a tap took, extrapolated: a timed call counts for the untimed ones around it, too. */
struct tap_stat {
	uint64_t time_ns;    /* of all calls, from those that were timed */
	uint64_t longest_ns; /* of those that were timed, or were there at a tick */
	int64_t strike_since_ms;
	uint32_t strikes, fails;
	struct say_limit slow, failed;
};

struct place {
	int32_t order;
	const char *before, *after; /* the module's or the site's, or NULL; not read once TAP_GONE */
};

struct tap {
	/* What a call needs: one cache line. */
	invoke_fn *invoke;
	union keel_tap_fn fn;
	struct owner *owner;
	uint32_t off;       /* enum tap_off bits */
	uint32_t countdown; /* calls until the next timed one */
	uint32_t every;     /* calls that the timed one is counted for */
	uint32_t point;
	void *arg; /* of fn.generic */
	uint64_t calls_before; /* the present countdown began */
	char *name; /* "module.tap", owned */
	/* the rest */
	struct place place;
	uint32_t policy; /* enum keel_tap_flag, exactly one */
	struct tap_stat stat;
	struct tap *next; /* of those that are gone */
};
_Static_assert(offsetof(struct tap, place) == CACHE_LINE, "what a call needs is one cache line");

/* The tap that follows `t` among all taps of all points; NULL gives the first one; returns NULL after the last. */
struct tap *tap_after(const struct hooks *h, const struct tap *t);
#define FOR_EACH_TAP(h, t) for (struct tap *t = tap_after((h), NULL); t != NULL; t = tap_after((h), t))
/* Set or clear a bit of `off` for the taps of a module. */
void taps_mark(struct hooks *h, const struct owner *owner, enum tap_off bit, bool on);

static inline uint64_t tap_calls(const struct tap *t)
{
	return t->calls_before + t->every - t->countdown;
}

struct chain {
	uint32_t n;
	struct chain *next; /* of the retired ones */
	struct tap *tap[];
};

/* The row of hook_points.def. */
struct point_info {
	const char *name, *doc;
	uint32_t id, kind, event_size;
	const struct keel_field *(*fields)(void); /* the last one has no name */
	invoke_fn *invoke;
};

struct point {
	_Alignas(CACHE_LINE) struct chain *chain; /* NULL: no taps */
	uint32_t kind;       /* 0: no such point */
	uint32_t event_size;
	uint32_t waiters; /* holds that wait for this point */
	uint16_t id_at, obj_at; /* offsets of the first STR and OBJ field, 0: none */
	uint32_t allowed; /* VERDICT_BITs */
	const struct point_info *info;
};
_Static_assert(sizeof(struct point) == CACHE_LINE, "a point is one cache line");

union any_event {
	uint32_t size;
#define HOOK(id, name, kind, daemon, doc) struct keel_ev_##name name;
#include "keel/hook_points.def"
#undef HOOK
};

extern const struct point_info point_infos[KEEL_POINT_MAX]; /* by id; those without a name are not points */
#define VERDICT_BIT(v) (1u << ((v) + 1))
const char *kind_name(uint32_t kind);
void points_init(struct hooks *h);
struct point *point_get(struct hooks *h, uint32_t id); /* NULL: no such point */
/* A copy of a short event in `room` with zeroes for the fields the raiser did not know. */
const void *event_complete(const struct point *p, const void *event, union any_event *room);
static inline const void *event_whole(const struct point *p, const void *event, union any_event *room)
{
	if (__builtin_expect(event != NULL && *(const uint32_t *)event >= p->event_size, 1))
		return event;
	return event_complete(p, event, room);
}
keel_verdict invoke_any(const struct tap *t, struct keel_call *c, const void *event);

/* ---- operations -------------------------------------------------------------------------------- */
struct op {
	struct keel_call pub; /* first: a keel_call is an operation */
	struct crumb crumb;   /* of the tap that runs: `outer`, and `what` NULL */
	struct hooks *hooks;
	struct point *point;
	struct chain *chain;
	const void *event;
	struct op *outer; /* next on the stack */
	uint32_t depth;   /* 1: outermost */
	uint32_t replay; /* 1: for quiet taps */
	uint32_t at;         /* index into chain */
	uint32_t generation; /* of notes raised by notes */
	struct hold *holds;  /* of the tap being called */
	uint32_t n_open;
	keel_verdict worst; /* of the holds whose callback was called */
	const struct tap *by; /* that decided; set with a verdict that is not KEEL_NEXT */
	int32_t abort;      /* enum keel_cancel, or 0 */
	bool parked;
	bool closed; /* takes no holds */
	bool gone;   /* the requester went away */
	bool sole;   /* parked by the handler of `req`, which did nothing else */
	bool from_queue;
	bool ready;  /* parked, and a hold has ended */
	struct keel_changes *changes;
	struct keel_req *req;
	struct owner *raiser; /* of a GATE or ASK */
	keel_outcome_fn *done;
	void *arg;
	char *answer;     /* owned; of an ASK */
	int64_t sum;      /* of a FOLD */
	struct buf *text; /* appended by a FOLD, or NULL */
	struct settled *settled; /* callbacks for its outcome */
	/* Only while it is parked; not set before. */
	struct copy *copy;
	struct op *prev, *next;      /* all parked ones */
	struct op *twin_prev, *twin; /* of the same bucket */
	struct op *ready_prev, *ready_next;
	/* Text of a REJECT or FAIL; set before each call of a tap, and then only its first byte. */
	struct keel_err err;
};

/* An event that outlives its call. */
struct copy_obj {
	uint32_t at;
	bool draft;
	struct keel_obj *obj;
	const char *klass, *id;
};
struct copy {
	const void *event;
	uint32_t n_objs;
	struct copy_obj objs[]; /* event and strings follow */
};
struct copy *copy_event(struct hooks *h, const struct point *p, const void *event);
/* Returns false when an object of the event is gone. */
bool copy_valid(struct hooks *h, const struct copy *c);
/* Sets the objects that are gone to NULL. */
void copy_refresh(struct hooks *h, struct copy *c);

static inline const char *event_id(const struct point *p, const void *event)
{
	return p->id_at ? *(const char *const *)((const char *)event + p->id_at) : NULL;
}
static inline struct keel_obj *event_obj(const struct point *p, const void *event)
{
	return p->obj_at ? *(struct keel_obj *const *)((const char *)event + p->obj_at) : NULL;
}

static inline struct op *op_of(struct keel_call *c)
{
	return (struct op *)c;
}

/* operation.c */
keel_verdict hook_raise(struct keel_mod *m, const struct keel_raise *r);
keel_verdict op_run(struct op *op); /* returns KEEL_WAIT while holds are open */
/* Continues after a wait; `v` is the verdict of the tap that waited. */
keel_verdict op_run_on(struct op *op, keel_verdict v);
void op_left(struct hooks *h, const struct op *op); /* do the chores */
void op_finish(struct op *op, keel_verdict v);
const char *op_label(const struct op *op);

int32_t call_settled(struct keel_call *c, keel_outcome_fn *fn, void *arg);

/* time.c */
void tap_took(const struct hooks *h, struct tap *t, int64_t begun_ns, uint32_t calls); /* one stands for so many */
keel_verdict tap_invoke_timed(struct op *op, struct tap *t); /* its countdown is over */
void tap_late(struct op *op, struct tap *t); /* crumb_is_late when it returned */
void callback_late(const struct crumb *c);

/* park.c */
keel_verdict op_park(struct op *op);
void op_ready(struct op *op);
void ops_wake(struct hooks *h); /* operations that are ready go on, in a later turn */
void op_abort(struct op *op, int32_t reason);
void ops_end(struct hooks *h);
keel_verdict op_resolve(struct op *op);
int32_t hook_end(struct keel_mod *m, const void *arg);
uint32_t id_bucket(const char *id);

/* note.c */
/* Notifies taps of those that can be now. `new_turn`: from the loop, while no operation is running; also those that were too
 * deep. New ones of that kind wait for the next turn. */
void notes_drain(struct hooks *h, bool new_turn);
void notes_drop(struct hooks *h);
int32_t hook_replay(struct keel_mod *m);
bool is_replayed(const struct hooks *h, const struct tap *t);

/* hold.c */
struct hold {
	struct hold *prev, *next; /* of the operation */
	struct hold *wait_prev, *wait; /* of the bucket of until_id */
	struct op *op;
	struct tap *tap;
	struct loop_timer *deadline;
	struct keel_hold_opts opts; /* `why` and `until_id` are owned */
	bool open;
	int32_t reason; /* 0: released */
	int64_t since_ms;
};
keel_verdict hold_take(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret_hold);
void hold_release(struct keel_hold *pub);
void hold_end(struct hold *hold, int32_t reason);
void hold_free(struct hold *hold);
void holds_end(struct op *op, int32_t reason); /* every open one */
void holds_match(struct hooks *h, const struct point *p, const void *event);
struct keel_call *hold_call(struct keel_hold *hold);
int32_t holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len);

/* filter.c */
int filter_init(struct hooks *h); /* the kind FILTER */
/* Returns whether the event of `op` passes the filter of the tap's module. */
bool filter_passes(const struct op *op, const struct tap *t);

/* chain.c */
int32_t tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err);
void tap_remove(struct keel_mod *m, uint32_t point, const char *name);
void tap_destroy(struct tap *t);
void chains_sweep(struct hooks *h); /* free old chains and taps, unless they may be in use */

/* ---- the engine ----------------------------------------------------------------------------------- */
struct hooks {
	struct point point[KEEL_POINT_MAX];
	struct parts *parts;
	struct hooks_conf conf;
	struct owner self; /* "kernel" */
	struct op *top;    /* innermost running operation */
	bool chores;       /* something is to do when an operation has left the stack: op_left() */
	struct chain *retired;
	struct tap *gone;
	uint32_t reporting; /* outcomes, which name a tap */
	struct say_limit callbacks; /* records about calls that are not a tap's */
	int64_t delay_seen_ns; /* loop_delay_ns() when it was last looked at */
	struct note *notes;
	struct op *parked, *ready;
	struct {
		uint64_t taken, ended, called;
		uint32_t open, parked; /* now: holds, and the operations that wait for them */
	} holds; /* since the start: each that is taken ends once, and its callback is called once */
	bool stopping; /* no more holds */
	struct loop_timer *wake;
	struct op *by_id[ID_BUCKETS];      /* parked, by the id of their event */
	struct hold *waiting[ID_BUCKETS];  /* by until_id */
	const struct keel_filter_def *filter; /* NULL: no module offers one */
	struct owner *filter_owner;
	const struct owner *replay_only; /* NULL: replay is for quiet taps */
	const struct keel_object_api *object;   /* looked up at first use; NULL: none yet */
	const struct keel_request_api *request;
};

static inline struct hooks *hooks_of(struct keel_mod *m)
{
	return owner_of(m)->parts->hooks;
}
const struct keel_object_api *hooks_object(struct hooks *h);
void hooks_log(struct hooks *h, uint32_t event, const char *object, const char *fmt, ...)
	KEEL_PRINTF(4, 5);

/* call.c */
extern const struct keel_call_api call_api;

#endif
