/* SPDX-License-Identifier: Apache-2.0
 *
 * hooks.h - points, compiled chains, operations and holds, as the rest of the kernel sees them.
 * Modules see keel_hook_api and keel_call_api.
 */
#ifndef KEELSON_HOOKS_H
#define KEELSON_HOOKS_H

#include "conf/conf.h"
#include "keel/api.h"
#include "util/crumb.h"
#include "util/owner.h"
#include "wire/buf.h"

struct hooks;

struct hooks_conf {
	int64_t hold_default_ms;              /* a hold that names no timeout */
	int64_t soft_budget_ms, hard_budget_ms; /* log; strike */
	int64_t strikes;                      /* then the tap is benched */
	int64_t watchdog_ms, watchdog_abort_ms; /* 0: none; kernel/main looks after these two */
};

/* Offers the API groups "hook" and "call". 0 or -errno. */
int hooks_create(struct parts *parts, const struct hooks_conf *conf, struct hooks **ret_hooks);
void hooks_destroy(struct hooks *h);
/* The daemon ends: each parked operation fails now, while its callbacks are still loaded. No hold can be taken
 * afterwards. */
void hooks_stop(struct hooks *h);

/* Check the taps of a module and add them to their chains, all or none. Returns 0, or an error with *err.
 * hooks_detach() withdraws them; as modules go when the kernel ends only, each parked operation fails then, and its holds are
 * cancelled with KEEL_CANCEL_STOPPING. */
int hooks_attach(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		 struct keel_err *err);
void hooks_detach(struct hooks *h, struct owner *owner);
/* The errors of hooks_attach() except for those of order. Changes nothing. */
int hooks_lint(const char *module, const struct keel_tap *taps, uint32_t n, struct keel_err *err);
/* The taps of a module get order, `before` and `after` of the rows with their names; hooks_reorder() makes the chains of
 * all modules' taps that follow from it. After an error some chains may be new: put the places back and call it again. */
void hooks_place(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n);
int hooks_reorder(struct hooks *h, struct keel_err *err);

/* `match` of a module's group: its taps, also those that it adds, are called only for events that pass. n 0: for all.
 * Returns 0, or an error with *err: then nothing has changed. */
int hooks_filter(struct hooks *h, struct owner *owner, const struct keel_match *match, uint32_t n, struct keel_err *err);

/* The taps of a quiet module are called by replay only. It is quiet from hooks_attach() to its start(). */
void hooks_quiet(struct hooks *h, struct owner *owner, bool quiet);

/* What a breadcrumb (util/crumb.h) says; crumb_top: of the call that runs on this thread. False: NULL. Safe in a signal
 * handler of this thread. */
struct hooks_crumb {
	bool is_tap;
	const struct owner *owner;
	const char *name;   /* "module.tap"; of another callback, the module */
	const char *what;   /* the point; "timer" */
	const char *object; /* the id it is about, or NULL */
};
bool hooks_crumb(const struct crumb *c, struct hooks_crumb *ret);

/* Raise a point on behalf of the kernel. */
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
/* Raise the known points for all objects, calling quiet taps only, or only those of `only`. */
struct objects;
void hooks_replay(struct hooks *h, struct objects *objects, const struct owner *only);

/* The client of `req` is gone: the holds of its operations are cancelled. */
void hooks_client_gone(struct hooks *h, struct keel_req *req);
/* The handler of `req` ran since hooks_parked(), and changed nothing. hooks_sole() returns whether it parked one
 * operation, which is parked still, and did nothing else. */
uint32_t hooks_parked(const struct hooks *h);
void hooks_handled(struct hooks *h, const struct keel_req *req, uint32_t parked_before);
bool hooks_sole(const struct hooks *h, const struct keel_req *req);

/* Functions of the group "inspect": keel/inspect.h says what they do. */
void hooks_taps(struct keel_mod *m, void (*fn)(void *arg, const struct keel_about_tap *), void *arg);
void hooks_holds(struct keel_mod *m, void (*fn)(void *arg, const struct keel_about_hold *), void *arg);
int32_t hooks_unbench(struct keel_mod *m, const char *tap, const char *who);
void hooks_reset_times(struct keel_mod *m);
/* The clock tick of the loop, in its signal handler (time.c): finds calls that take too long. Also when the loop sleeps: then
 * none runs. */
void hooks_tick(struct hooks *h, int64_t late_ns, int64_t tick_ns);

#endif
