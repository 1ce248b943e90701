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
 * that were withdrawn meanwhile. Chains and taps are counted by those who still look at them.
 */
#ifndef KEELSON_HOOK_INSIDE_H
#define KEELSON_HOOK_INSIDE_H

#include "hook/hooks.h"
#include "loop/loop.h"

#define DEPTH_MAX 16      /* operations within operations, and notes raised by notes */
#define ID_BUCKETS 256    /* power of two */
#define ORDER_LIMIT 1000  /* -1000..1000 */
#define STRIKE_WINDOW_MS (10 * 60 * 1000)
#define SAMPLE_EVERY 64   /* calls per timed call, once a tap is known to be quick */
#define WATCH_CALLS 64    /* calls timed one by one: the first, and after a slow one */
#define HIST_SIZE 48      /* durations by power of two of nanoseconds */

struct op;
struct tap;
struct hold;

/* ---- taps ------------------------------------------------------------------------------------ */
typedef keel_verdict invoke_fn(const struct tap *t, struct keel_call *c, const void *event);

enum tap_off {
	TAP_GONE = 1,    /* withdrawn */
	TAP_BENCHED = 2, /* too slow or broken */
	TAP_QUIET = 4,   /* its module is not started yet: only replay reaches it */
};

struct tap_stat {
	uint32_t hist[HIST_SIZE];
	uint64_t timed, max_ns;
	uint64_t time_ns; /* of all calls, as estimated */
	int64_t strike_since_ms;
	uint32_t strikes, fails;
};

struct tap {
	/* what a call needs */
	invoke_fn *invoke;
	union keel_tap_fn fn;
	keel_any_fn *any; /* of a dynamic tap */
	struct owner *owner;
	uint64_t calls;
	uint32_t off;       /* enum tap_off bits */
	uint32_t countdown; /* calls until the next timed one */
	uint32_t policy;    /* enum keel_tap_flag, exactly one */
	uint32_t point;
	void *arg;
	/* the rest */
	char *name;                 /* "module.tap", owned */
	const char *before, *after; /* the module's, or NULL; not read once TAP_GONE */
	int32_t order;
	uint32_t refs, watch;
	uint32_t every; /* calls for which the next timed one stands */
	struct tap_stat stat;
	struct tap *next; /* of the point, in order of registration */
};

struct chain {
	uint32_t refs, n;
	struct tap *tap[];
};

enum point_combine { COMBINE_SUM, COMBINE_OR };

/* What hook_points.def says about a point; kind 0: there is no such point. */
struct point_info {
	const char *name, *doc;
	uint32_t id, kind, event_size;
	const struct keel_field *(*fields)(uint32_t *ret_n);
	invoke_fn *invoke;
};

struct point {
	uint32_t busy; /* taps in the chain, and waiters */
	uint32_t waiters; /* holds that wait for this point */
	uint32_t kind;
	uint32_t event_size;
	uint16_t id_at, obj_at; /* offsets of the first STR and OBJ field, 0: none */
	uint32_t combine, allowed;
	struct chain *chain; /* NULL: nobody */
	const struct point_info *info;
	struct tap *taps;
};

union any_event {
	uint32_t size;
#define HOOK(id, name, kind, daemon, doc) struct keel_ev_##name name;
#include "keel/hook_points.def"
#undef HOOK
};

extern const struct point_info point_infos[];
extern const uint32_t n_point_infos;
#define VERDICT_BIT(v) (1u << ((v) + 1))
const char *kind_name(uint32_t kind);
void points_init(struct hooks *h);
struct point *point_get(struct hooks *h, uint32_t id); /* NULL: there is none */
/* `event`, or what it is when every field exists: a copy in `room` with zeroes for those the raiser
 * did not know. */
const void *event_whole(const struct point *p, const void *event, union any_event *room);
const struct keel_field *point_fields(uint32_t point, uint32_t *ret_n);
keel_verdict invoke_any(const struct tap *t, struct keel_call *c, const void *event);

/* ---- operations -------------------------------------------------------------------------------- */
struct op {
	struct keel_call pub; /* first: a keel_call is an operation */
	struct hooks *hooks;
	struct point *point;
	struct chain *chain; /* a reference */
	const void *event;
	struct op *outer; /* next on the stack */
	uint32_t at;      /* index into chain */
	uint32_t depth;   /* 1: outermost */
	uint32_t generation; /* of notes raised by notes */
	uint32_t n_open;
	struct hold *holds; /* of the tap being called */
	keel_verdict worst; /* of those told */
	int32_t abort;      /* enum keel_cancel, or 0 */
	bool parked;
	bool closed; /* takes no holds */
	bool gone;   /* the requester went away */
	bool from_queue;
	bool replay; /* quiet taps too, and if `only` is set just its taps */
	bool ready;  /* parked, and a hold has ended */
	const struct owner *only;
	struct keel_changes *changes;
	struct keel_req *req;
	struct owner *raiser; /* NULL: the kernel */
	keel_outcome_fn *done;
	void *arg;
	char *answer;     /* owned; of an ASK */
	int64_t sum;      /* of a FOLD */
	struct buf *text; /* appended by a FOLD, or NULL */
	/* Only while it is parked; not set before. */
	struct copy *copy;
	struct op *prev, *next;      /* all parked ones */
	struct op *twin_prev, *twin; /* of the same bucket */
	struct op *ready_prev, *ready_next;
	struct keel_err err; /* text of a REJECT or FAIL; not cleared, only its first byte */
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
/* Are the objects still those? */
bool copy_valid(struct hooks *h, const struct copy *c);
/* Objects that are gone become NULL. */
void copy_refresh(struct hooks *h, struct copy *c);

static inline const char *event_id(const struct point *p, const void *event)
{
	return p->id_at ? *(const char *const *)((const char *)event + p->id_at) : NULL;
}
static inline struct keel_obj *event_obj(const struct point *p, const void *event)
{
	return p->obj_at ? *(struct keel_obj *const *)((const char *)event + p->obj_at) : NULL;
}

struct outcome {
	keel_verdict verdict;
	int32_t code;
	const struct tap *by;
};

/* operation.c */
void op_init(struct op *op, struct hooks *h, struct point *p, const void *event);
keel_verdict hook_raise(struct keel_mod *m, const struct keel_raise *r);

/* run.c */
keel_verdict op_run(struct op *op, struct outcome *out); /* KEEL_WAIT: holds are open */
/* Like it, `v` being the answer of the tap where it waited. */
keel_verdict op_run_on(struct op *op, keel_verdict v, struct outcome *out);
keel_verdict tap_call(struct op *op, struct tap *t);
void op_enter(struct hooks *h, struct op *op);
void op_leave(struct hooks *h, struct op *op);
void op_finish(struct op *op, const struct outcome *out);
const char *op_label(const struct op *op);

/* time.c */
keel_verdict tap_call_timed(struct op *op, struct tap *t);
uint64_t stat_quantile(const struct tap_stat *s, uint32_t percent);
extern _Thread_local const char *breadcrumb;

/* park.c */
keel_verdict op_park(struct op *op);
void op_ready(struct op *op);
void ops_wake(struct hooks *h); /* ask for hooks_turn() */
void op_abort(struct op *op, int32_t reason);
void ops_leave(struct hooks *h, const struct owner *owner);
void ops_end(struct hooks *h);
keel_verdict op_resolve(struct op *op);
uint32_t id_bucket(const char *id);

/* note.c */
void note_point(struct hooks *h, struct point *p, const void *event);
void notes_drain(struct hooks *h);
void notes_late(struct hooks *h);
void notes_drop(struct hooks *h);

/* hold.c */
struct hold {
	unsigned magic;
	struct hold *prev, *next; /* of the operation */
	struct hold *wait_prev, *wait; /* of the bucket of until_id */
	struct op *op;
	struct tap *tap; /* a reference */
	struct loop_timer *deadline;
	char *why, *until_id;
	uint32_t until_point;
	bool open;
	int32_t reason; /* 0: released */
	int64_t since_ms, timeout_ms;
	keel_verdict (*resume)(struct keel_call *, void *arg);
	void (*cancel)(struct keel_call *, void *arg, int32_t reason);
	void *arg;
};
keel_verdict hold_take(struct keel_call *c, const struct keel_hold_opts *opts,
		       struct keel_hold **ret_hold);
void hold_release(struct keel_hold *pub);
void hold_end(struct hold *hold, int32_t reason);
void hold_free(struct hold *hold);
void holds_end(struct op *op, int32_t reason); /* every open one */
void holds_match(struct hooks *h, const struct point *p, const void *event);
int32_t holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len);

/* chain.c */
int chain_compile(const struct point *p, const struct tap *more, struct chain **ret_chain,
		  struct keel_err *err);
void chain_swap(struct point *p, struct chain *fresh); /* moved */
void chain_unref(struct chain *c);
static inline struct chain *chain_ref(struct chain *c)
{
	c->refs++;
	return c;
}
/* chain_unref() where the last reference is seldom. */
static inline void chain_done(struct chain *c)
{
	if (__builtin_expect(c->refs > 1, 1))
		c->refs--;
	else
		chain_unref(c);
}
void tap_unref(struct tap *t);

/* ---- the engine ----------------------------------------------------------------------------------- */
struct hooks {
	struct point point[KEEL_POINT_MAX];
	struct parts *parts;
	struct hooks_conf conf;
	struct owner self; /* "kernel" */
	struct op *top;    /* innermost running operation */
	struct note *notes, *late_notes;
	struct op *parked, *ready;
	uint32_t n_parked;
	uint64_t holds_taken, holds_ended, holds_told;
	bool stopping; /* no more holds */
	struct loop_timer *wake;
	struct op *by_id[ID_BUCKETS];      /* parked, by the id of their event */
	struct hold *waiting[ID_BUCKETS];  /* by until_id */
	const struct keel_object_api *object;   /* looked up at first use; NULL: none yet */
	const struct keel_request_api *request;
};

static inline struct hooks *hooks_of(struct keel_mod *m)
{
	return owner_of(m)->parts->hooks;
}
const struct keel_object_api *hooks_object(struct hooks *h);
const struct keel_request_api *hooks_request(struct hooks *h);
void hooks_log(struct hooks *h, uint32_t event, const char *object, const char *fmt, ...)
	KEEL_PRINTF(4, 5);

/* attach.c */
int32_t tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err);
void tap_remove(struct keel_mod *m, uint32_t point, const char *name);

/* call.c */
extern const struct keel_call_api call_api;

#endif
