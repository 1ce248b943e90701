/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/alarm.h - a timer in a module's own state: set, ended and run in any order.
 *
 *	struct state { struct keel_alarm retry; };
 *
 *	keel_alarm_set(mod, &st->retry, 5000, on_retry, NULL);    also when it is set already: from now on
 *	keel_alarm_end(&st->retry);                               in stop(); also when it is not set
 *
 * It is not set any more when its function runs, which may set it again. The struct stays where it is while it is set;
 * zeroes: not set. Header only.
 */
#ifndef KEEL_ALARM_H
#define KEEL_ALARM_H

#include <errno.h>

#include "keel/core.h"

struct keel_alarm {
	struct keel_timer *timer; /* NULL: not set */
	keel_fn *fn;
	void *arg;
};

static inline bool keel_alarm_is_set(const struct keel_alarm *a)
{
	return a->timer != NULL;
}

static inline void keel_alarm_end(struct keel_alarm *a)
{
	if (a->timer)
		keel_timer_cancel(a->timer);
	a->timer = NULL;
}

static inline void keel_alarm_fired(struct keel_mod *mod, void *alarm)
{
	struct keel_alarm *a = (struct keel_alarm *)alarm;

	a->timer = NULL;
	a->fn(mod, a->arg);
}

/* 0, or -ENOMEM: it is not set. */
static inline int32_t keel_alarm_set(struct keel_mod *mod, struct keel_alarm *a, int64_t after_ms, keel_fn *fn,
				     void *arg)
{
	keel_alarm_end(a);
	a->fn = fn;
	a->arg = arg;
	a->timer = keel_timer(mod, after_ms, keel_alarm_fired, a);
	return a->timer ? 0 : -ENOMEM;
}

#endif
