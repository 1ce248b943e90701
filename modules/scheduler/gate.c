/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c - questions about a job that are answered at once: policy (taps), then vnodes.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

struct gate {
	bool answered, abandoned, open;
	struct reason reason;
};

static void gate_answer(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct gate *g = arg;

	(void)mod;
	if (g->abandoned) {
		free(g);
		return;
	}
	g->answered = true;
	g->open = o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE;
	if (g->open)
		return;
	reason_set(&g->reason, "%s", o->text && *o->text ? o->text : "refused by policy");
	g->reason.code = o->code;
}

/* A cycle cannot wait: a tap that would is a no for now. */
static bool ask(struct keel_mod *mod, uint32_t point, const void *event, struct reason *ret)
{
	struct state *st = mod->state;
	struct gate *g;
	bool open;

	if (!st->hook->tapped(mod, point))
		return true;
	g = calloc(1, sizeof(*g));
	if (!g)
		return false;
	st->hook->raise(mod, &(struct keel_raise){ .size = sizeof(struct keel_raise),
						   .point = point,
						   .event = event,
						   .done = gate_answer,
						   .arg = g });
	if (!g->answered) {
		g->abandoned = true;
		reason_set(ret, "waiting for a decision");
		return false;
	}
	open = g->open;
	if (!open)
		*ret = g->reason;
	free(g);
	return open;
}

bool group_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret)
{
	struct state *st = mod->state;

	return ask(mod, KEEL_POINT_group_eligible,
		   KEEL_EVENT(group_eligible, .id = st->object->id(job), .job = job), ret);
}

bool job_is_eligible(struct keel_mod *mod, struct keel_obj *job, struct reason *ret)
{
	struct state *st = mod->state;

	return ask(mod, KEEL_POINT_job_eligible,
		   KEEL_EVENT(job_eligible, .id = st->object->id(job), .job = job), ret);
}

struct asked {
	struct keel_mod *mod;
	struct keel_obj *job;
};

static bool vnode_is_eligible(void *arg, const struct vnode *v)
{
	struct asked *a = arg;
	struct state *st = a->mod->state;
	struct keel_obj *node = st->object->find(a->mod, "node", v->name);
	struct reason unused;

	return node && ask(a->mod, KEEL_POINT_node_eligible,
			   KEEL_EVENT(node_eligible, .id = v->name, .node = node, .job = a->job),
			   &unused);
}

/* What to ask of a snapshot for this job; `asked` must live as long. */
static void wish_make(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		      struct asked *asked, struct wish *ret)
{
	struct state *st = mod->state;

	*asked = (struct asked){ mod, job };
	*ret = (struct wish){ .select = g->shape->select, .place = g->shape->place,
				.queue = g->line->name, .arg = asked };
	if (st->hook->tapped(mod, KEEL_POINT_node_eligible))
		ret->eligible = vnode_is_eligible;
}

char *find_place(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
		 struct reason *ret)
{
	struct state *st = mod->state;
	struct snapshot *s = snapshot_now(mod);
	struct asked asked;
	struct wish wish;

	if (!s) {
		reason_set(ret, "out of memory in the scheduler");
		return NULL;
	}
	if (st->hook->tapped(mod, KEEL_POINT_node_score))
		snapshot_order(mod, s, job);
	wish_make(mod, job, g, &asked, &wish);
	return place_job(s, &wish, ret);
}

char *place_on(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret)
{
	struct asked asked;
	struct wish wish;

	wish_make(mod, job, g, &asked, &wish);
	return place_job(s, &wish, ret);
}

bool would_fit(struct keel_mod *mod, struct keel_obj *job, const struct group *g, struct snapshot *s,
	       struct reason *ret)
{
	struct asked asked;
	struct wish wish;

	wish_make(mod, job, g, &asked, &wish);
	return place_fits(s, &wish, ret);
}
