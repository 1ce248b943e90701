/* SPDX-License-Identifier: Apache-2.0
 *
 * index.c - the jobs a scheduler has to do with, kept up to date as they come and go.
 *
 *   touched -> PARKED (first) -> GROUPED -> STARTING -> OUT
 *                  ^   held: PARKED (last)      |
 *                  +------ RESTING <------------+  refused
 *
 * A cycle never scans all jobs. Those in state Q are in a group; whatever may have changed a job puts it
 * at the front of the parked list, where the next cycle looks.
 */
#include "scheduler.h"

#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTRS_OF(job, Execution_Time, Resource_List, queue, schedselect, euser, egroup, project,
	      Account_Name, queue_rank);

/* ---- lists ------------------------------------------------------------------------------------------ */

void list_add(struct list *l, struct entry *e)
{
	e->list = l;
	DL_APPEND(l->first, e);
	if (!l->at)
		l->at = e;
	l->n++;
}

void list_drop(struct entry *e)
{
	struct list *l = e->list;

	if (!l)
		return;
	if (l->at == e)
		l->at = e->next;
	DL_DELETE(l->first, e);
	l->n--;
	e->list = NULL;
	e->next = e->prev = NULL;
}

/* ---- entries ------------------------------------------------------------------------------------------ */

/* `job` NULL: an event that came after its object was gone; so is the entry. */
struct entry *entry_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct entry *e = job ? keel_slot(mod, job) : NULL;

	if (e)
		e->job = job;
	return e;
}

void entry_out(struct entry *e)
{
	if (e->group && e->heap.in)
		heap_remove(&e->group->jobs, &e->heap);
	e->group = NULL;
	list_drop(e);
	keel_timer_cancel(e->timer);
	e->timer = NULL;
	e->where = OUT;
	e->aside = false;
	held_forget(e);
}

void entry_fini(struct keel_mod *mod, void *slot)
{
	struct entry *e = slot;

	if (e->job) {
		trial_forget(mod, e->job);
		entry_out(e);
	}
	avoid_forget(e);
	e->job = NULL;
}

void entry_touch(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	if (e->where == SUSPENDED || e->where == STARTING || e->where == RUNNING)
		return;
	entry_out(e);
	e->where = PARKED;
	e->list = &st->parked;
	DL_PREPEND(st->parked.first, e);
	st->parked.n++;
}

void entry_suspended(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	entry_out(e);
	e->where = SUSPENDED;
	list_add(&st->suspended, e);
}

void entry_running(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	entry_out(e);
	e->where = RUNNING;
	e->ends_in = st->calendar ? st->calendars : 0; /* who starts it has noted it */
	list_add(&st->running, e);
}

static void look_again(struct keel_mod *mod, void *arg)
{
	struct entry *e = arg; /* its slot cancels the timer when the job goes */

	e->timer = NULL;
	entry_touch(mod, e);
	wake(mod, CMD_JOB);
}

static void look_again_in(struct keel_mod *mod, struct entry *e, int64_t ms)
{
	keel_timer_cancel(e->timer);
	e->timer = keel_timer(mod, ms, look_again, e);
}

void entry_park(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	int64_t seconds = keel_get_int(e->job, job_Execution_Time) - keel_time(mod);

	entry_out(e);
	e->where = PARKED;
	list_add(&st->parked, e);
	if (keel_job_state(e->job) == 'W' && seconds >= 0)
		look_again_in(mod, e, (seconds > 3600 ? 3600 : seconds) * 1000 + 50);
}

void entry_rest(struct keel_mod *mod, struct entry *e)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t ms = conf->rest << (e->failures < 5 ? e->failures : 5);

	if (e->failures < 100)
		e->failures++;
	entry_out(e);
	e->where = RESTING;
	list_add(&st->resting, e);
	look_again_in(mod, e, ms);
}

void rest_over(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->resting.first)
		entry_touch(mod, st->resting.first);
}

_Static_assert(offsetof(struct entry, heap) == 0, "a heap_node is its entry");
_Static_assert(offsetof(struct group, heap) == 0, "a heap_node is its group");

static bool job_before(const struct heap_node *x, const struct heap_node *y)
{
	const struct entry *a = (const void *)x, *b = (const void *)y;

	return entry_before(a->group->ranks, a, b);
}

struct entry *group_head(struct group *g)
{
	return (struct entry *)(void *)g->jobs.root;
}

/* ---- groups ------------------------------------------------------------------------------------------------- */

static struct group *group_create(struct keel_mod *mod, const char *key, struct line *line,
				  struct shape *shape)
{
	struct state *st = mod->state;
	struct group *g = calloc(1, sizeof(*g));

	if (!g || !(g->key = strdup(key))) {
		free(g);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, st->group_by_key, g->key, strlen(g->key), g);
	if (!g->hh.tbl) { /* no memory for it */
		free(g->key);
		free(g);
		return NULL;
	}
	g->jobs.before = job_before;
	g->ranks = st->ranks;
	g->line = line;
	g->shape = shape;
	line->groups++;
	DL_PREPEND(st->groups, g);
	return g;
}

void group_free(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;

	HASH_DELETE(hh, st->group_by_key, g);
	if (st->rank_at == g)
		st->rank_at = g->next;
	DL_DELETE(st->groups, g);
	talk_not(mod, g);
	turn_drop(g);
	shape_put(mod, g->shape);
	g->line->groups--;
	free(g->verdict);
	free(g->key);
	free(g);
}

/* Times say nothing about where a job fits. */
static void list_write(const struct keel_reslist *list, bool times,
		       struct keel_text *out)
{
	uint32_t i, n = keel_resource_list_count(list);
	char text[512];

	for (i = 0; i < n; i++) {
		const struct keel_res_value *v = keel_resource_list_at(list, i);

		if ((v->res->type == KEEL_RES_TIME) != times || strcmp(v->res->name, "select") == 0)
			continue;
		if (v->text)
			keel_text_printf(out, "\n%s=%s", v->res->name, v->text);
		else if (keel_resource_value_text(v, true, text, sizeof(text)) > 0)
			keel_text_printf(out, "\n%s=%s", v->res->name, text);
	}
}

static const char *text_of(struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = attr ? keel_get_str(job, attr) : NULL;

	return text ? text : "";
}

static struct group *group_new(struct keel_mod *mod, struct keel_obj *job, const char *shape_key,
			       const char *key)
{
	const struct keel_res_value *v =
		keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "place");
	struct line *line = line_get(mod, text_of(job, job_queue));
	struct shape *shape = line ? shape_get(mod, shape_key, text_of(job, job_schedselect),
					       v && v->text ? v->text : "free")
				   : NULL;
	struct group *g = shape ? group_create(mod, key, line, shape) : NULL;

	if (!g) {
		shape_put(mod, shape);
		return NULL;
	}
	g->duration = job_duration(job);
	g->longest = job_longest(job);
	return g;
}

struct group *group_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *queue = keel_get_str(job, job_queue);
	const char *select = keel_get_str(job, job_schedselect);
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	struct keel_text key;
	struct group *g = NULL;
	char *shape_key;

	if (!queue || !select)
		return NULL;
	keel_text_init(&key);
	keel_text_printf(&key, "%s\n%s", queue, select);
	list_write(list, false, &key);
	shape_key = key.failed ? NULL : strdup(key.data);
	list_write(list, true, &key);
	keel_text_printf(&key, "\n%s\n%s\n%s\n%s", text_of(job, job_euser),
			 text_of(job, job_egroup), text_of(job, job_project),
			 text_of(job, job_Account_Name));
	if (shape_key && !key.failed) {
		HASH_FIND_STR(st->group_by_key, key.data, g);
		if (!g)
			g = group_new(mod, job, shape_key, key.data);
	}
	free(shape_key);
	keel_text_fini(&key);
	return g;
}

/* A suspended job is alone: only its own vnodes count. */
static struct group *group_alone(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct line *line = line_get(mod, text_of(job, job_queue));
	struct group *g = NULL;
	char *key;

	if (!line || asprintf(&key, "\001%s", keel_id(job)) < 0)
		return NULL;
	HASH_FIND_STR(st->group_by_key, key, g);
	if (!g)
		g = group_create(mod, key, line, NULL);
	free(key);
	return g;
}

void entry_group(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	struct group *g;

	e->resumes = keel_job_is_suspended(e->job);
	g = e->resumes ? group_alone(mod, e->job) : group_of(mod, e->job);
	entry_out(e);
	if (!g) { /* not understood, or no memory: held back, looked at when something changes */
		keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(e->job),
			 "its select, place or queue cannot be read; it will not start");
		e->where = PARKED;
		list_add(&st->parked, e);
		return;
	}
	e->arrival = keel_get_int(e->job, job_queue_rank);
	e->ranked_in = st->cycle;
	e->group = g;
	e->where = GROUPED;
	g->idle = 0;
	rank_job(mod, e);
	heap_push(&g->jobs, &e->heap);
	list_add(&g->fresh, e);
}

void group_verdict(struct keel_mod *mod, struct group *g, const char *text)
{
	struct entry *e;

	if (!g->verdict || strcmp(g->verdict, text) != 0) {
		free(g->verdict);
		g->verdict = strdup(text);
		for (e = g->current.first; e; e = e->next)
			e->list = &g->stale;
		DL_CONCAT(g->stale.first, g->current.first);
		g->stale.n += g->current.n;
		g->current = (struct list){ 0 };
	}
	if (g->verdict)
		talk(mod, g);
}

void index_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->groups) {
		struct group *g = st->groups;
		struct list *const lists[] = { &g->fresh, &g->stale, &g->current };
		size_t i;

		while (st->aside.first)
			entry_out(st->aside.first);
		for (i = 0; i < KEEL_COUNT(lists); i++)
			while (lists[i]->first)
				entry_out(lists[i]->first);
		group_free(mod, g);
	}
	lines_free(mod);
}
