/* SPDX-License-Identifier: Apache-2.0
 *
 * goback.c - a job that goes on where it was: suspended, or saved by its host.
 *
 * It needs again what it gave back, of its vnodes and of queue and server, and must be within the limits
 * of its vnodes.
 */
#include "scheduler.h"
#include "trial.h"

#include "keel/sched_reason.h"

int32_t share_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct keel_res_value *v =
		st->resource->list_get(st->object->get_ptr(job, st->a.list), "place");
	struct keel_place place = { 0 };

	if (v && v->text)
		st->resource->place_parse(v->text, &place, NULL);
	return place.share;
}

struct keel_exec *exec_of(struct keel_mod *mod, const char *text)
{
	struct state *st = mod->state;
	struct keel_exec *exec = NULL;

	return text && st->resource->exec_parse(st->resource->self, text, &exec, NULL) == 0 ? exec
											    : NULL;
}

struct keel_exec *exec_again(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_exec *exec = exec_of(mod, st->object->get_str(job, st->a.exec_vnode));

	if (exec)
		exec_only(exec, st->job->released(st->job->self, job));
	return exec;
}

void people_move(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job,
		 const struct keel_exec *exec, int sign)
{
	struct state *st = mod->state;

	limits_move(s, exec, st->object->get_str(job, st->p.euser),
		    st->object->get_str(job, st->p.egroup), sign);
}

static bool vnodes_let(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job,
		       const struct keel_exec *exec, struct reason *ret)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);
		int32_t why = v ? limits_say(v, st->object->get_str(job, st->p.euser),
					     st->object->get_str(job, st->p.egroup))
				: 0;

		if (!why)
			continue;
		reason_why(ret, why);
		return false;
	}
	return true;
}

bool goes_back(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job,
	       const struct keel_exec *exec, struct reason *ret)
{
	struct state *st = mod->state;
	const char *only = st->job->released(st->job->self, job);

	if (!totals_fit(mod, s, job, only, ret) || !vnodes_let(mod, s, job, exec, ret) ||
	    !place_again(s, exec, share_of(mod, job), ret))
		return false;
	totals_move(mod, s, job, only, 1);
	people_move(mod, s, job, exec, 1);
	return true;
}

bool could_go_back(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job,
		   const struct keel_exec *exec, struct reason *ret)
{
	struct state *st = mod->state;

	if (!goes_back(mod, s, job, exec, ret))
		return false;
	place_vacate(s, exec, share_of(mod, job), NULL);
	totals_move(mod, s, job, st->job->released(st->job->self, job), -1);
	people_move(mod, s, job, exec, -1);
	return true;
}
