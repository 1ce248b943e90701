/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/slow.h - a tap that waits for something slow: a file system, a directory service, a library that blocks.
 *
 *	struct look { char user[64]; bool found; };
 *
 *	static void look_up(void *arg) { ... }                                    on a worker thread; sees arg alone
 *	static keel_verdict answer(struct keel_call *c, void *arg) { ... }        on the loop; the verdict of the tap
 *
 *	return keel_hold_work(c, "looking up its user", 10000, look_up, answer, look, free);
 *
 * `arg` is given away, whatever happens: free_arg() is called once, when neither the operation nor the worker needs it
 * any more. answer() is called unless the operation ends before (its deadline, its client gone, its job deleted, the
 * daemon stops); what the worker finds out then is dropped. Header only.
 */
#ifndef KEEL_SLOW_H
#define KEEL_SLOW_H

#include <stdlib.h>
#include <string.h>

#include "keel/call.h"
#include "keel/core.h"

struct keel_slow {
	struct keel_hold *hold; /* NULL: the operation does not wait any more */
	bool works;		/* work() has not come back */
	bool refused;		/* it was not begun */
	void (*work)(void *arg);
	keel_verdict (*answer)(struct keel_call *, void *arg);
	void (*free_arg)(void *arg);
	void *arg;
};

static inline void keel_slow_drop(struct keel_slow *s)
{
	if (s->hold || s->works)
		return;
	if (s->free_arg)
		s->free_arg(s->arg);
	free(s);
}

static inline void keel_slow_work(void *slow)
{
	struct keel_slow *s = (struct keel_slow *)slow;

	s->work(s->arg);
}

static inline void keel_slow_done(struct keel_mod *mod, void *slow)
{
	struct keel_slow *s = (struct keel_slow *)slow;

	(void)mod;
	s->works = false;
	if (s->hold)
		keel_release(s->hold);
	else
		keel_slow_drop(s);
}

static inline keel_verdict keel_slow_resume(struct keel_call *c, void *slow)
{
	struct keel_slow *s = (struct keel_slow *)slow;
	keel_verdict v = s->refused ? keel_fail(c, "no memory for a worker") : s->answer(c, s->arg);

	s->hold = NULL;
	keel_slow_drop(s);
	return v;
}

static inline void keel_slow_cancel(struct keel_call *c, void *slow, int32_t reason)
{
	struct keel_slow *s = (struct keel_slow *)slow;

	(void)c, (void)reason;
	s->hold = NULL;
	keel_slow_drop(s);
}

/* GATE and ASK: the verdict of the tap. KEEL_WAIT, or KEEL_FAIL when it cannot wait. `why` is shown to administrators;
 * timeout_ms 0: as the daemon is configured. free_arg may be NULL. */
static inline keel_verdict keel_hold_work(struct keel_call *c, const char *why, int64_t timeout_ms,
					  void (*work)(void *arg), keel_verdict (*answer)(struct keel_call *, void *arg),
					  void *arg, void (*free_arg)(void *arg))
{
	struct keel_slow *s = (struct keel_slow *)calloc(1, sizeof(*s));
	struct keel_hold_opts opts;
	keel_verdict v;

	if (!s) {
		if (free_arg)
			free_arg(arg);
		return keel_fail(c, "no memory to wait");
	}
	s->work = work;
	s->answer = answer;
	s->free_arg = free_arg;
	s->arg = arg;
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.why = why;
	opts.timeout_ms = timeout_ms;
	opts.resume = keel_slow_resume;
	opts.cancel = keel_slow_cancel;
	opts.arg = s;
	v = keel_hold(c, &opts, &s->hold);
	if (v != KEEL_WAIT) {
		s->hold = NULL;
		keel_slow_drop(s);
		return v;
	}
	s->works = keel_work(c->mod, keel_slow_work, keel_slow_done, s) == 0;
	s->refused = !s->works;
	if (s->refused)
		keel_release(s->hold);
	return KEEL_WAIT;
}

#endif
