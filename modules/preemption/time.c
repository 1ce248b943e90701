/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - how much of its time a job has left.
 *
 * Used walltime is not what its host reported last but what it is now: since its start, less what it
 * was suspended. So a range of preempt_order is never late.
 */
#include "preemption.h"

static int64_t asked(struct keel_mod *mod, struct keel_obj *job, const char *name)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);

	return (int64_t)st->resource->list_number(list, name, 0);
}

static int64_t walltime_used(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	int64_t now = st->core->time(mod), at = st->object->get_int(job, st->a.stopped_at);

	if (!st->object->is_set(job, st->a.stime))
		return 0; /* on its way to its host */
	return (at ? at : now) - st->object->get_int(job, st->a.stime) -
	       st->object->get_int(job, st->a.stopped_for);
}

int32_t time_left(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	int64_t requested = asked(mod, job, "soft_walltime");

	if (requested <= 0)
		requested = asked(mod, job, "walltime");
	if (requested > 0)
		return percent_left(walltime_used(mod, job), requested);
	requested = asked(mod, job, "cput");
	if (requested <= 0)
		return -1;
	return percent_left((int64_t)st->resource->list_number(st->object->get_ptr(job, st->a.used),
							       "cput", 0),
			    requested);
}

const char *letters_for(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return order_letters(&st->order, st->order.n > 1 ? time_left(mod, job) : -1);
}

keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	struct state *st = keel_state(c);

	if (ev->job) {
		st->object->unset(ev->job, st->a.ptime, NULL);
		st->object->unset(ev->job, st->a.stopped_at, NULL);
		st->object->unset(ev->job, st->a.stopped_for, NULL);
	}
	return KEEL_NEXT;
}

keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	struct state *st = keel_state(c);

	if (ev->job) {
		running_left(c->mod, ev->job);
		st->object->set_int(ev->job, st->a.stopped_at, st->core->time(c->mod));
	}
	return KEEL_NEXT;
}

keel_verdict on_resumed(struct keel_call *c, const struct keel_ev_job_resumed *ev)
{
	struct state *st = keel_state(c);
	int64_t at, stopped, now = st->core->time(c->mod);

	if (!ev->job)
		return KEEL_NEXT;
	at = st->object->get_int(ev->job, st->a.stopped_at);
	stopped = st->object->get_int(ev->job, st->a.stopped_for);
	if (at > 0 && at < now && !__builtin_add_overflow(stopped, now - at, &stopped))
		st->object->set_int(ev->job, st->a.stopped_for, stopped);
	st->object->unset(ev->job, st->a.stopped_at, NULL);
	st->object->unset(ev->job, st->a.ptime, NULL);
	return KEEL_NEXT;
}
