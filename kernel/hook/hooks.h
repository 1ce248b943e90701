/* SPDX-License-Identifier: Apache-2.0
 *
 * hooks.h - points, compiled chains, operations and holds, as the rest of the kernel sees them.
 * Modules see keel_hook_api and keel_call_api.
 */
#ifndef KEELSON_HOOKS_H
#define KEELSON_HOOKS_H

#include "conf/conf.h"
#include "keel/api.h"
#include "util/buf.h"
#include "util/owner.h"

struct hooks;

struct hooks_conf {
	int64_t hold_default_ms;              /* a hold that names no timeout */
	int64_t soft_budget_ms, hard_budget_ms; /* log; strike */
	int64_t strikes;                      /* then the tap is benched */
	int64_t watchdog_ms, watchdog_abort_ms; /* 0: none; kernel/main looks after these two */
};

/* Offers the groups "hook" and "call". */
int hooks_create(struct parts *parts, const struct hooks_conf *conf, struct hooks **ret_hooks);
void hooks_destroy(struct hooks *h);
/* The daemon ends: every operation that waits fails now, while the code that waits is still there, and
 * from now on none can wait. */
void hooks_stop(struct hooks *h);

/* Taps of a module: checked, and live at once; all or none. hooks_detach() withdraws them, and cancels
 * its holds with KEEL_CANCEL_STOPPING. */
int hooks_attach(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		 struct keel_err *err);
void hooks_detach(struct hooks *h, struct owner *owner);
/* What hooks_attach() would refuse a table for, without a point's order. No effect. */
int hooks_lint(const char *module, const struct keel_tap *taps, uint32_t n, struct keel_err *err);
/* Taps of `owner` that it has already get the order, `before` and `after` of the rows of the same name.
 * -ELOOP with *err: they could not be ordered, and nothing changed. */
int hooks_reorder(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		  struct keel_err *err);
/* Would these tables make chains, all together and nobody else? No effect. */
struct hooks_table {
	struct owner *owner;
	const struct keel_tap *taps;
	uint32_t n;
};
int hooks_rehearse(struct hooks *h, const struct hooks_table *tables, uint32_t n, struct keel_err *err);

/* `match` of a site: its taps are called only for objects in these scopes. *ret_scope NULL when n is 0. */
struct scope;
int scope_create(const char *module, const struct conf_match *said, uint32_t n, struct scope **ret_scope,
		 struct keel_err *err);
void scope_destroy(struct scope *s);
/* For the taps that `owner` has and will have. Borrowed until the next call, or their withdrawal. */
void hooks_scope(struct hooks *h, struct owner *owner, struct scope *scope);

/* Has `user` a tap at a point that `of` publishes? */
bool hooks_bound(struct hooks *h, const struct owner *user, const struct owner *of);

/* Only replay reaches the taps of a quiet module: between attaching and its start(). */
void hooks_quiet(struct hooks *h, struct owner *owner, bool quiet);

/* A call of a module outside of its taps, while it runs: in place, on the stack. `what` is a word for people; object may
 * be NULL. Ended on the loop's thread it is held against the module's budget. */
struct hooks_guard {
	struct owner *owner;
	const char *what, *object;
	int64_t begun_ns; /* 0: on a worker thread */
	const struct hooks_guard *outer;
};
void hooks_guard_begin(struct hooks_guard *g, struct owner *owner, const char *what, const char *object);
void hooks_guard_begin_aside(struct hooks_guard *g, struct owner *owner, const char *what); /* on another thread */
void hooks_guard_end(struct hooks_guard *g);

/* Which call of which tap runs on this thread, or of what else of a module; false: none. Safe in a signal handler of this thread. */
struct hooks_crumb {
	const char *tap;    /* "module.tap", or the module */
	const char *point;  /* or what it is called for: "a timer" */
	const char *object; /* the id its event is about, or NULL */
	uint32_t depth;     /* of operations within operations, 1: outermost */
	const void *call;   /* the same call of the same tap as before? both are equal then */
	uint64_t number;
};
bool hooks_crumb(struct hooks_crumb *ret);
/* The taps around it, the nearest one first; how many. */
uint32_t hooks_crumbs_outside(const char **names, uint32_t max);

/* ---- for code that is elsewhere (proxy.c) ---- */
struct hooks_point {
	const char *name;
	uint32_t kind, daemon, event_size;
};
bool hooks_point(uint32_t id, struct hooks_point *ret); /* false: there is none */
const struct keel_field *hooks_fields(uint32_t point, uint32_t *ret_n);
/* Call a handler of the point's type. */
keel_verdict hooks_invoke(uint32_t point, union keel_tap_fn fn, struct keel_call *c, const void *event);
/* The taps of `owner` become calls of `fn`, each with what arg_of() says. */
void hooks_proxy(struct hooks *h, struct owner *owner, keel_any_fn *fn,
		 void *(*arg_of)(void *arg, uint32_t point, const char *tap), void *arg);
/* Its taps are not called any more, under their fail policy. */
void hooks_bench(struct hooks *h, struct owner *owner);
/* From now on events about objects are remembered (the last 4096), until hooks_forget() with what this
 * returned. hooks_told(): was it told since? */
uint64_t hooks_recall(struct hooks *h);
void hooks_forget(struct hooks *h, uint64_t since);
bool hooks_told(const struct hooks *h, uint64_t since, uint32_t point, const char *id);
/* The operation an open or not yet told hold is of. */
struct keel_call *hooks_hold_call(struct keel_hold *hold);
/* End the operations that wait and were raised with this `done` and an argument that is to end: they fail, in a
 * later turn. */
void hooks_raised_end(struct hooks *h, keel_outcome_fn *done, bool (*is_to_end)(const void *arg), int32_t reason);
/* Their requester has his answer: they go on, as nobody's. */
void hooks_requester_left(struct hooks *h, const struct keel_req *req);
/* Why its tap could not take a hold just now. */
const char *hooks_call_why(const struct keel_call *c);

/* The kernel's own raises. */
void hooks_note(struct hooks *h, uint32_t point, const void *event);
int64_t hooks_fold(struct hooks *h, uint32_t point, const void *event, char *buf, uint32_t len);
keel_verdict hooks_raise(struct hooks *h, const struct keel_raise *raise);
bool hooks_tapped(struct hooks *h, uint32_t point);

/* The event of every *_known point. */
struct known_event {
	uint32_t size, reserved;
	const char *id;
	struct keel_obj *obj;
};
/* Tell of all objects that there are: the taps that are quiet, and no others; or those of `only`. -ENOMEM. */
struct objects;
int hooks_replay(struct hooks *h, struct objects *objects, const struct owner *only);

/* A requester went away: cancel the holds of its operations. */
void hooks_client_gone(struct hooks *h, struct keel_req *req);

/* One line per point that exists: name, kind, number of taps, sentence. */
void hooks_describe_points(struct hooks *h, struct buf *out);
/* The compiled chain of a point, one line per tap, for `keelson hooks POINT`. -ENOENT: no such point. */
int hooks_describe(struct hooks *h, const char *point, struct buf *out);
/* Does an operation wait that `owner` raised, or for a hold that a tap of its took? */
bool hooks_waits(struct hooks *h, const struct owner *owner);
/* What the taps of a point (NULL: of all) have cost: names of columns, then a tap a line, whoever took
 * most time first; cells separated by tabs. -ENOENT: no such point; -ENOMEM. */
int hooks_describe_times(struct hooks *h, const char *point, struct buf *out);
/* Operations that wait: one line per hold. */
void hooks_describe_holds(struct hooks *h, struct buf *out);

/* Call a benched tap again; for the log: by whose order. How many taps have that name ("module.tap"), or
 * -ENOENT. */
int hooks_unbench(struct hooks *h, const char *name, const char *who);
/* The clock tick of the loop, in its signal handler (time.c): finds calls that take too long. Also when the loop sleeps: then
 * none runs. */
void hooks_tick(struct hooks *h, int64_t late_ns, int64_t tick_ns);
/* Counts and times begin again; strikes stay. */
void hooks_reset_times(struct hooks *h);

/* How many holds there have been: each that was taken ends once, and is told of its end once. */
struct hooks_counts {
	uint64_t taken, ended, told;
	uint32_t open, parked; /* now: holds, and the operations that wait for them */
};
void hooks_count(struct hooks *h, struct hooks_counts *ret);

/* What the taps of a module, those it has now, have done. Times are estimated from the calls that were
 * timed (time.c). */
struct hooks_usage {
	uint32_t taps, benched, strikes, fails;
	uint64_t calls, time_ns;
};
void hooks_usage(struct hooks *h, const struct owner *owner, struct hooks_usage *ret);

#endif
