/* SPDX-License-Identifier: Apache-2.0
 *
 * fence.c - what victims leave behind is kept for the job they give way for.
 *
 * Meanwhile no other job is placed on their vnodes or on those that the job would use, and the job's job-wide
 * amounts are taken of queue and server. A what-if of that job itself ignores the fence.
 */
#include "scheduler.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

bool fence_add(struct keel_mod *mod, const struct keel_exec *exec)
{
	struct state *st = mod->state;
	struct fence *f = &st->fence;
	uint32_t i;

	for (i = 0; exec && i < exec->n; i++) {
		if (f->n == f->room) {
			uint32_t room = f->room ? 2 * f->room : 16;
			char **bigger = reallocarray(f->vnode, room, sizeof(*bigger));

			if (!bigger)
				return false;
			f->vnode = bigger;
			f->room = room;
		}
		if (!(f->vnode[f->n] = strdup(exec->part[i].vnode)))
			return false;
		f->n++;
	}
	return true;
}

/* Its vnodes are read again, which finds them closed, or open. */
static void fence_mark(struct keel_mod *mod, bool closed)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; st->snapshot && i < st->fence.n; i++) {
		struct vnode *v = vnode_named(st->snapshot, st->fence.vnode[i]);

		if (v) {
			v->fenced = closed;
			v->unsure = true;
		}
	}
	st->unsure = true;
}

bool fence_close(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;

	if (!st->fence.n)
		return false;
	if (!st->fence.id && !(st->fence.id = strdup(id)))
		return false;
	fence_mark(mod, true);
	return true;
}

void fence_apply(struct keel_mod *mod, struct snapshot *s, bool anew)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->fence.id ? keel_find(mod, "job", st->fence.id) : NULL;
	uint32_t i;

	for (i = 0; st->fence.id && anew && i < st->fence.n; i++) {
		struct vnode *v = vnode_named(s, st->fence.vnode[i]);

		if (v) {
			v->fenced = true;
			v->usable = false;
			snapshot_changed(s, (uint32_t)(v - s->node));
		}
	}
	if (job)
		totals_move(s, job, keel_job_released(job), 1);
}

void fence_lift(struct keel_mod *mod, struct snapshot *copy, struct keel_obj *job)
{
	struct state *st = mod->state;
	uint32_t i;

	if (!st->fence.id || strcmp(st->fence.id, keel_id(job)) != 0)
		return;
	for (i = 0; i < st->fence.n; i++) {
		struct vnode *v = vnode_named(copy, st->fence.vnode[i]);

		if (v && v->fenced) {
			v->fenced = false;
			vnode_judge(copy, v);
			snapshot_changed(copy, (uint32_t)(v - copy->node));
		}
	}
	totals_move(copy, job, keel_job_released(job), -1);
}

void fence_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct fence *f = &st->fence;

	if (f->id)
		fence_mark(mod, false);
	while (f->n)
		free(f->vnode[--f->n]);
	free(f->vnode);
	free(f->id);
	*f = (struct fence){ 0 };
}
