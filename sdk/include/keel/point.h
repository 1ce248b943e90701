/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/point.h - raise a point, tap one at run time.
 */
#ifndef KEEL_POINT_H
#define KEEL_POINT_H

#include "keel/api.h"
#include "keel/use.h"

/* GATE and ASK. Returns the verdict, or KEEL_WAIT when done() comes later. `done` runs after the change set was
 * committed. */
static inline keel_verdict keel_raise(struct keel_mod *mod, const struct keel_raise *raise)
{
	return KEEL_MODULE_kernel.hook->raise(mod, raise);
}

/* NOTE. Inside an operation of the same object it is queued and raised after it. */
static inline void keel_note(struct keel_mod *mod, uint32_t point, const void *event)
{
	KEEL_MODULE_kernel.hook->note(mod, point, event);
}

/* FOLD. The sum (OR for client_auth); appended text into buf when not NULL. */
static inline int64_t keel_fold(struct keel_mod *mod, uint32_t point, const void *event, char *buf,
				uint32_t len)
{
	return KEEL_MODULE_kernel.hook->fold(mod, point, event, buf, len);
}

/* Is there a tap? For callers that would have to build an expensive event. */
static inline bool keel_tapped(struct keel_mod *mod, uint32_t point)
{
	return KEEL_MODULE_kernel.hook->tapped(mod, point);
}

/* Tap a point at run time: fn gets the generic event view, whose fields keel_point_about() describes. The tap ends with its
 * module, or by keel_tap_remove(). -EEXIST, -EINVAL with *err. */
static inline int32_t keel_tap_add(struct keel_mod *mod, uint32_t point, const char *name, int32_t order,
				   keel_any_fn *fn, void *arg, struct keel_err *err)
{
	return KEEL_MODULE_kernel.hook->tap_add(mod, point, name, order, fn, arg, err);
}

/* Take such a tap away; unknown names are ignored. */
static inline void keel_tap_remove(struct keel_mod *mod, uint32_t point, const char *name)
{
	KEEL_MODULE_kernel.hook->tap_remove(mod, point, name);
}

/* Holds of an object as users see them ("module: why (12s of 60s)"), like snprintf(). */
static inline int32_t keel_holds_text(struct keel_mod *mod, const char *id, char *buf, uint32_t len)
{
	return KEEL_MODULE_kernel.hook->holds_text(mod, id, buf, len);
}

/* The id of the point of this name; 0: there is none. */
static inline uint32_t keel_point(struct keel_mod *mod, const char *name)
{
	return KEEL_MODULE_kernel.hook->point(mod, name);
}

/* Fill *ret (set its size) with what is known of a point, the fields of its event included. -ENOENT: there is
 * none. */
static inline int32_t keel_point_about(struct keel_mod *mod, uint32_t point, struct keel_about_point *ret)
{
	return KEEL_MODULE_kernel.hook->about(mod, point, ret);
}

/* End the operation that this module raised with this `arg` and that waits: its holds are cancelled
 * (KEEL_CANCEL_OBJECT_GONE), then done() gets a FAIL, in a later turn. -ENOENT: none waits; -ENOTSUP: in a process
 * of its own. */
static inline int32_t keel_end(struct keel_mod *mod, const void *arg)
{
	return KEEL_MODULE_kernel.hook->end(mod, arg);
}

/* Raise the points of the replay (job_known ...) again for this module's taps alone: for a module that has lost what it
 * knew. Fails with -ENOMEM; -ENOTSUP in a process of its own. */
static inline int32_t keel_replay(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.hook->replay(mod);
}

/* None of the module's taps is called any more until a reload: what they guard is decided by their fail policies. */
static inline void keel_bench(struct keel_mod *mod)
{
	KEEL_MODULE_kernel.hook->bench(mod);
}

#endif
