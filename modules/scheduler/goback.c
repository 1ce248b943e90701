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

#include <stdio.h>
#include <stdlib.h>

KEEL_ATTRS_OF(job, Resource_List, exec_vnode, euser, egroup, queue);
KEEL_ATTR_OPT(job, exec_vnode_deallocated);

int32_t share_of(struct keel_obj *job)
{
	const struct keel_res_value *v =
		keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "place");
	struct keel_place place = { 0 };

	if (v && v->text)
		keel_resource_place_parse(v->text, &place, NULL);
	return place.share;
}

struct keel_exec *exec_of(const char *text)
{
	struct keel_exec *exec = NULL;

	return text && keel_resource_exec_parse(text, &exec, NULL) == 0 ? exec
											    : NULL;
}

struct keel_exec *exec_held(struct keel_obj *job)
{
	const char *has = keel_get_str(job, job_exec_vnode);
	const char *given_up = job_exec_vnode_deallocated ? keel_get_str(job, job_exec_vnode_deallocated) : NULL;
	struct keel_exec *exec;
	char *text;

	if (!has || !given_up)
		return exec_of(has);
	if (asprintf(&text, "%s+%s", has, given_up) < 0)
		return NULL;
	exec = exec_of(text);
	free(text);
	return exec;
}

struct keel_exec *exec_outside(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_exec *exec = exec_held(job);
	uint32_t i, k;

	for (i = 0; exec && st->spans.n && i < exec->n; i++)
		if (spans_inside(&st->spans, exec->part[i].vnode, keel_get_str(job, job_queue)))
			for (k = 0; k < exec->part[i].n; k++)
				((struct keel_res_value *)exec->part[i].v)[k].n = 0;
	return exec;
}

struct keel_exec *exec_kept(struct keel_obj *job)
{
	const char *released = keel_job_released(job);
	struct keel_exec *exec = exec_held(job);
	uint32_t i, k;

	for (i = 0; exec && i < exec->n; i++)
		for (k = 0; k < exec->part[i].n; k++)
			if (!released || is_listed(released, exec->part[i].v[k].res->name))
				((struct keel_res_value *)exec->part[i].v)[k].n = 0;
	return exec;
}

struct keel_exec *exec_again(struct keel_obj *job)
{
	struct keel_exec *exec = exec_held(job);

	if (exec)
		exec_only(exec, keel_job_released(job));
	return exec;
}

void people_move(struct snapshot *s, struct keel_obj *job,
		 const struct keel_exec *exec, int sign)
{
	limits_move(s, exec, keel_get_str(job, job_euser),
		    keel_get_str(job, job_egroup), sign);
}

static bool vnodes_let(struct snapshot *s, struct keel_obj *job,
		       const struct keel_exec *exec, struct reason *ret)
{
	uint32_t i;

	for (i = 0; i < exec->n; i++) {
		const struct vnode *v = vnode_named(s, exec->part[i].vnode);
		int32_t why = v ? limits_say(v, keel_get_str(job, job_euser),
					     keel_get_str(job, job_egroup))
				: 0;

		if (!why)
			continue;
		reason_why(ret, why);
		return false;
	}
	return true;
}

bool goes_back(struct snapshot *s, struct keel_obj *job,
	       const struct keel_exec *exec, struct reason *ret)
{
	const char *only = keel_job_released(job);

	if (!totals_fit(s, job, only, ret) || !vnodes_let(s, job, exec, ret) ||
	    !place_again(s, exec, share_of(job), s->at + job_left(job), ret))
		return false;
	totals_move(s, job, only, 1);
	people_move(s, job, exec, 1);
	return true;
}

bool could_go_back(struct snapshot *s, struct keel_obj *job,
		   const struct keel_exec *exec, struct reason *ret)
{
	if (!goes_back(s, job, exec, ret))
		return false;
	place_vacate(s, exec, share_of(job), NULL, s->at + job_left(job));
	totals_move(s, job, keel_job_released(job), -1);
	people_move(s, job, exec, -1);
	return true;
}
