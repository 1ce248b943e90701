/* SPDX-License-Identifier: Apache-2.0
 *
 * time.c - how much of its time a job has left.
 *
 * Used walltime is not what its host reported last but what it is now: since its start, less what it
 * was suspended. So a range of preempt_order is never late.
 */
#include "preemption.h"

KEEL_ATTRS_OF(job, Resource_List, stopped_at, stime, stopped_for, resources_used, ptime);

static int64_t asked(struct keel_obj *job, const char *name)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);

	return (int64_t)keel_resource_list_number(list, name, 0);
}

int32_t time_left(struct keel_mod *mod, struct keel_obj *job)
{
	int64_t requested = asked(job, "soft_walltime"), at = keel_get_int(job, job_stopped_at), used = 0;

	if (requested <= 0)
		requested = asked(job, "walltime");
	if (keel_is_set(job, job_stime)) /* else it is on its way to its host */
		used = (at ? at : keel_time(mod)) - keel_get_int(job, job_stime) -
		       keel_get_int(job, job_stopped_for);
	if (requested > 0)
		return percent_left(used, requested);
	requested = asked(job, "cput");
	if (requested <= 0)
		return -1;
	return percent_left((int64_t)keel_resource_list_number(keel_get_ptr(job, job_resources_used),
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
	(void)c;
	if (ev->job) {
		keel_unset(ev->job, job_ptime, NULL);
		keel_unset(ev->job, job_stopped_at, NULL);
		keel_unset(ev->job, job_stopped_for, NULL);
	}
	return KEEL_NEXT;
}

keel_verdict on_suspended(struct keel_call *c, const struct keel_ev_job_suspended *ev)
{
	if (ev->job) {
		runner_out(c->mod, runner_of(c->mod, ev->job));
		keel_set_int(ev->job, job_stopped_at, keel_time(c->mod));
	}
	return KEEL_NEXT;
}

keel_verdict on_resumed(struct keel_call *c, const struct keel_ev_job_resumed *ev)
{
	int64_t at, stopped, now = keel_time(c->mod);

	if (!ev->job)
		return KEEL_NEXT;
	at = keel_get_int(ev->job, job_stopped_at);
	stopped = keel_get_int(ev->job, job_stopped_for);
	if (at > 0 && at < now && !__builtin_add_overflow(stopped, now - at, &stopped))
		keel_set_int(ev->job, job_stopped_for, stopped);
	keel_unset(ev->job, job_stopped_at, NULL);
	keel_unset(ev->job, job_ptime, NULL);
	return KEEL_NEXT;
}
