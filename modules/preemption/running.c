/* SPDX-License-Identifier: Apache-2.0
 *
 * running.c - the running jobs, in crowds that share a level: same queue, user, group, project and account, and
 * the same resources requested (limits are of resources).
 *
 * A search for victims computes the level of a crowd, not of a job; where no crowd is lower, no job is
 * examined. In a crowd the most recently started job is first.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/text.h"

KEEL_ATTRS_OF(job, queue, euser, egroup, project, Account_Name, Resource_List, stime);

struct runner *runner_of(struct keel_mod *mod, struct keel_obj *job)
{
	return keel_slot(mod, job);
}

static void key_of(struct keel_obj *job, struct keel_text *key)
{
	const struct keel_attr *const by[] = { job_queue, job_euser, job_egroup, job_project,
					       job_Account_Name };
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	uint32_t i;

	for (i = 0; i < KEEL_COUNT(by); i++) {
		const char *text = keel_get_str(job, by[i]);

		keel_text_printf(key, "%s\n", text ? text : "");
	}
	for (i = 0; i < keel_resource_list_count(list); i++)
		keel_text_printf(key, "%s,", keel_resource_list_at(list, i)->res->name);
}

static struct crowd *crowd_get(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_text key;
	struct crowd *c = NULL;

	keel_text_init(&key);
	key_of(job, &key);
	for (c = key.failed ? NULL : st->crowds; c && strcmp(c->key, key.data) != 0; c = c->next)
		;
	if (!c && !key.failed) {
		c = calloc(1, sizeof(*c));
		if (c && (c->key = strdup(key.data))) {
			c->next = st->crowds;
			st->crowds = c;
		} else {
			free(c);
			c = NULL;
		}
	}
	keel_text_fini(&key);
	return c;
}

static void insert(struct crowd *c, struct runner *r)
{
	struct runner **at = &c->first, *before = NULL;

	/* Youngest first. */
	while (*at && ((*at)->since != r->since ? (*at)->since > r->since : (*at)->number > r->number)) {
		before = *at;
		at = &(*at)->next;
	}
	r->next = *at;
	r->prev = before;
	if (r->next)
		r->next->prev = r;
	*at = r;
	r->crowd = c;
	c->n++;
}

void runner_out(struct keel_mod *mod, struct runner *r)
{
	struct state *st = mod->state;
	struct crowd *c = r ? r->crowd : NULL; /* no memory: it was never in */
	struct crowd **at;

	if (!c)
		return;
	choose_without(mod, r);
	if (r->prev)
		r->prev->next = r->next;
	else
		c->first = r->next;
	if (r->next)
		r->next->prev = r->prev;
	r->next = r->prev = NULL;
	r->crowd = NULL;
	if (--c->n == 0) {
		at = &st->crowds;
		while (*at != c)
			at = &(*at)->next;
		*at = c->next;
		free(c->key);
		free(c);
	}
}

void runner_fini(struct keel_mod *mod, void *slot)
{
	struct runner *r = slot;

	runner_out(mod, r);
	free(r->why);
	r->why = NULL;
}

/* A job that goes on is as old as when it was started. */
static void runner_in(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct runner *r = runner_of(mod, job);
	struct crowd *c = r && !r->crowd ? crowd_get(mod, job) : NULL;

	if (!c)
		return;
	r->job = job;
	r->since = keel_is_set(job, job_stime) ? keel_get_int(job, job_stime)
							 : keel_time(mod);
	if (!r->number || !keel_is_set(job, job_stime))
		r->number = ++st->last_number;
	insert(c, r);
}

keel_verdict on_placed(struct keel_call *c, const struct keel_ev_job_placed *ev)
{
	struct state *st = keel_state(c);

	if (ev->job)
		runner_in(c->mod, ev->job);
	if (st->last.id && keel_id_is_kin(st->last.id, ev->id)) {
		free(st->last.id);
		st->last.id = NULL;
		victims_clear(&st->last.deleted);
	}
	return KEEL_NEXT;
}

keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	if (ev->job)
		runner_out(c->mod, runner_of(c->mod, ev->job));
	return KEEL_NEXT;
}

keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	if (keel_job_state(ev->job) == 'R' &&
	    !keel_job_is_suspended(ev->job))
		runner_in(c->mod, ev->job);
	return KEEL_NEXT;
}

void levels_compute(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct crowd *c;

	for (c = st->crowds; c; c = c->next) {
		c->level = level_of(mod, c->first->job, 0);
		c->is_over_limit = over_limits(mod, c->first->job, 0) != 0;
	}
}

bool levels_moved(struct keel_mod *mod)
{
	struct state *st = mod->state;
	bool moved = false;
	struct crowd *c;

	for (c = st->prio.asks & (PRIO_QUEUE_SOFT | PRIO_SERVER_SOFT) ? st->crowds : NULL; c; c = c->next) {
		int64_t level = c->is_over_limit ? level_of(mod, c->first->job, 0) : c->level;

		moved |= level != c->level;
		c->level = level;
	}
	return moved;
}
