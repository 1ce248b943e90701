/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/call.h - what a tap may do with its operation.
 */
#ifndef KEEL_CALL_H
#define KEEL_CALL_H

#include "keel/api.h"
#include "keel/use.h"

/* GATE: the veto. Returns KEEL_REJECT, so that a refusal is one line. `pbse` is a number of keel/pbse.def, 0 means
 * 15169; fmt NULL: people read the text of that table. */
#define keel_reject(...) (KEEL_MODULE_kernel.call->reject(__VA_ARGS__))

/* The tap fails, for this reason. Returns KEEL_FAIL; its fail policy decides what that means. */
#define keel_fail(...) (KEEL_MODULE_kernel.call->fail(__VA_ARGS__))

/* ASK: the answer. Returns KEEL_DONE. The text is copied. */
static inline keel_verdict keel_answer(struct keel_call *c, const char *text)
{
	return KEEL_MODULE_kernel.call->answer(c, text);
}

/* FOLD: add to the sum (it stops at the ends of an int64_t); at client_auth: unite bits. */
static inline void keel_add(struct keel_call *c, int64_t score)
{
	KEEL_MODULE_kernel.call->add(c, score);
}

/* FOLD: append to the text, behind a blank. Copied. */
static inline void keel_append(struct keel_call *c, const char *text)
{
	KEEL_MODULE_kernel.call->append(c, text);
}

/* GATE: a change that is made when the whole chain accepts, and seen by later taps; text NULL: unset. No
 * permission is asked. 0, or a PBSE code with *err: no such attribute, a bad value. */
static inline int32_t keel_call_set(struct keel_call *c, struct keel_obj *obj, const char *attr,
				    const char *key, const char *text, struct keel_err *err)
{
	return KEEL_MODULE_kernel.call->set(c, obj, attr, key, text, err);
}

/* The value as the operation would make it: like snprintf() into buf; fails with -ENODATA when it has none,
 * -ENOENT when there is no such attribute. */
static inline int32_t keel_call_get(struct keel_call *c, struct keel_obj *obj, const char *attr,
				    const char *key, char *buf, uint32_t len)
{
	return KEEL_MODULE_kernel.call->get(c, obj, attr, key, buf, len);
}

/* The same piece by piece to a function, like keel_emit(); an attribute without a value emits nothing. */
static inline void keel_call_emit(struct keel_call *c, struct keel_obj *obj, const struct keel_attr *attr, const char *key,
				  const struct keel_emit *emit)
{
	KEEL_MODULE_kernel.call->emit(c, obj, attr, key, emit);
}

/* What the operation would change, by its requester and by taps before this one: calls fn for each (object, attribute) once. */
static inline void keel_call_each(struct keel_call *c, void (*fn)(void *arg, struct keel_obj *, const struct keel_attr *), void *arg)
{
	KEEL_MODULE_kernel.call->each(c, fn, arg);
}

/* Wait: GATE and ASK. Returns KEEL_WAIT, which the caller returns; fails with KEEL_FAIL when it cannot be held (no
 * reason given, no memory, the daemon ends). *ret_hold is valid until resume or cancel runs; ret_hold may be NULL. */
static inline keel_verdict keel_hold(struct keel_call *c, const struct keel_hold_opts *opts,
				     struct keel_hold **ret_hold)
{
	return KEEL_MODULE_kernel.call->hold(c, opts, ret_hold);
}

/* End a hold: its resume() runs, on the loop; or its cancel(), where that was decided before (a deadline in the
 * same turn). So what a hold carries is freed in those two alone. Once per hold; not after resume or cancel. */
static inline void keel_release(struct keel_hold *hold)
{
	KEEL_MODULE_kernel.call->release(hold);
}

/* The requester; NULL: the system. Borrowed until the callback returns. */
static inline const struct keel_session *keel_call_session(struct keel_call *c)
{
	return KEEL_MODULE_kernel.call->session(c);
}

/* GATE and ASK: fn is called once when the operation this tap took part in has ended, with how: others behind it
 * may wait, refuse or fail. So what a tap takes as it lets something pass it can give back. When its module goes
 * before, the verdict is KEEL_FAIL. 0, -EINVAL (another kind of point, fn NULL), -ENOMEM: fn is not called.
 * -ENOTSUP in a process of its own. */
static inline int32_t keel_settled(struct keel_call *c, keel_outcome_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.call->settled(c, fn, arg);
}

/* The operation that waits for this hold, for keel_call_set(), keel_call_get(), keel_call_session() and keel_hold()
 * meanwhile. Valid while the hold is. */
static inline struct keel_call *keel_held(struct keel_hold *hold)
{
	return KEEL_MODULE_kernel.call->held(hold);
}

#endif
