/* SPDX-License-Identifier: Apache-2.0
 *
 * keys.c - what fairshare says about a job: its place in the order, its numbers, whether it may start.
 *
 * Numbers are those of the cycle's beginning: all jobs of a cycle are compared by the same.
 */
#include "fairshare.h"

#include <stdio.h>

#include "keel/sched_reason.h"

/* Everybody is equal while it is switched off. */
static double order_key(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return st->rules.on ? -(double)share_of(mod, job)->place : 0;
}

static double part_key(struct keel_mod *mod, struct keel_obj *job)
{
	return share_of(mod, job)->part;
}

static double usage_key(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return tree_usage(&st->tree, share_of(mod, job));
}

static double factor_key(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return tree_factor(&st->tree, share_of(mod, job));
}

#define KEY(key_name, key_place, fn, words)                                                        \
	{ .size = sizeof(struct keel_job_key_def), .name = (key_name), .place = (key_place),       \
	  .flags = KEEL_JOB_KEY_SHARED | KEEL_JOB_KEY_MOVES, .value = (fn), .doc = (words) }
const struct keel_job_key_def job_keys[JOB_KEYS] = {
	KEY("fairshare", 40, order_key, "who has used less of his share goes first"),
	KEY("fair_share_perc", 0, part_key, "part of the whole that is the entity's, 0..1"),
	KEY("fairshare_perc", 0, part_key, "another name of fair_share_perc"),
	KEY("fairshare_tree_usage", 0, usage_key, "part of all usage that is the entity's, 0..1"),
	KEY("fairshare_factor", 0, factor_key, "1 nothing used, 0.5 as much as its part, then to 0"),
};

bool over_share(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct share *s = st->rules.on ? share_of(mod, job) : NULL;

	return s && tree_used(&st->tree, s) > s->part;
}

keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev)
{
	struct state *st = keel_state(c);

	if (!st->rules.on || !st->rules.enforce || share_of(c->mod, ev->job)->part > 0)
		return KEEL_NEXT;
	return keel_reject(c, KEEL_WHY_NO_SHARES, "%s", keel_why_text(KEEL_WHY_NO_SHARES));
}

keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct state *st = keel_state(c);
	struct share *s = st->rules.on ? share_of(c->mod, ev->job) : NULL;
	char line[ENTITY_SIZE + 200];

	if (!s)
		return KEEL_NEXT;
	tree_settle(&st->tree);
	snprintf(line, sizeof(line), "fairshare    %s has %.2f%% of the shares and %.2f%% of the usage\n",
		 s->name, 100 * s->part, 100 * tree_used(&st->tree, s));
	keel_append(c, line);
	return KEEL_NEXT;
}
