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

#define BUCKETS 1024

/* ---- lists ------------------------------------------------------------------------------------------ */

void list_add(struct list *l, struct entry *e)
{
	e->list = l;
	e->next = NULL;
	e->prev = l->last;
	if (l->last)
		l->last->next = e;
	else
		l->first = e;
	l->last = e;
	l->n++;
}

static void list_add_first(struct list *l, struct entry *e)
{
	e->list = l;
	e->prev = NULL;
	e->next = l->first;
	if (l->first)
		l->first->prev = e;
	else
		l->last = e;
	l->first = e;
	l->n++;
}

void list_drop(struct entry *e)
{
	struct list *l = e->list;

	if (!l)
		return;
	if (e->prev)
		e->prev->next = e->next;
	else
		l->first = e->next;
	if (e->next)
		e->next->prev = e->prev;
	else
		l->last = e->prev;
	l->n--;
	e->list = NULL;
	e->next = e->prev = NULL;
}

/* All of `from` behind those of `to`. */
static void list_join(struct list *to, struct list *from)
{
	struct entry *e;

	for (e = from->first; e; e = e->next)
		e->list = to;
	if (!from->first)
		return;
	from->first->prev = to->last;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	to->n += from->n;
	memset(from, 0, sizeof(*from));
}

/* ---- entries ------------------------------------------------------------------------------------------ */

struct entry *entry_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct entry *e = st->object->slot(mod, job);

	if (e)
		e->job = job;
	return e;
}

void entry_out(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	if (e->group)
		heap_remove(&e->group->jobs, &e->heap);
	e->group = NULL;
	list_drop(e);
	st->core->timer_cancel(e->timer);
	e->timer = NULL;
	e->where = OUT;
	e->aside = false;
}

void entry_fini(struct keel_mod *mod, void *slot)
{
	struct entry *e = slot;

	if (e->job)
		entry_out(mod, e);
	e->job = NULL;
}

void entry_touch(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	if (e->where == SUSPENDED || e->where == STARTING)
		return;
	entry_out(mod, e);
	e->where = PARKED;
	list_add_first(&st->parked, e);
}

void entry_suspended(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;

	entry_out(mod, e);
	e->where = SUSPENDED;
	list_add(&st->suspended, e);
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
	struct state *st = mod->state;

	st->core->timer_cancel(e->timer);
	e->timer = st->core->timer(mod, ms, look_again, e);
}

void entry_park(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	int64_t seconds = st->object->get_int(e->job, st->a.when) - st->core->time(mod);

	entry_out(mod, e);
	e->where = PARKED;
	list_add(&st->parked, e);
	if (st->job->state(st->job->self, e->job) == 'W' && seconds >= 0)
		look_again_in(mod, e, (seconds > 3600 ? 3600 : seconds) * 1000 + 50);
}

void entry_rest(struct keel_mod *mod, struct entry *e)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t ms = conf->rest << (e->failures < 5 ? e->failures : 5);

	if (e->failures < 100)
		e->failures++;
	entry_out(mod, e);
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

/* ---- order ------------------------------------------------------------------------------------------------ */

static bool entry_before(const struct entry *a, const struct entry *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->arrival < b->arrival;
}

static bool job_before(const struct heap_node *a, const struct heap_node *b)
{
	return entry_before((const struct entry *)(const void *)a,
			    (const struct entry *)(const void *)b);
}
_Static_assert(offsetof(struct entry, heap) == 0, "a heap_node is its entry");
_Static_assert(offsetof(struct group, heap) == 0, "a heap_node is its group");

struct entry *group_head(struct group *g)
{
	return (struct entry *)(void *)g->jobs.root;
}

bool group_before(const struct heap_node *x, const struct heap_node *y)
{
	struct group *a = (struct group *)(const void *)x, *b = (struct group *)(const void *)y;

	if (a->queue_priority != b->queue_priority)
		return a->queue_priority > b->queue_priority;
	if (!group_head(a) || !group_head(b))
		return group_head(a) != NULL;
	return entry_before(group_head(a), group_head(b));
}

/* ---- groups ------------------------------------------------------------------------------------------------- */

static uint32_t hash(const char *key)
{
	uint32_t h = 2166136261u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 16777619u;
	return h;
}

static void rehash(struct state *st, uint32_t n)
{
	struct group **bigger = calloc(n, sizeof(*bigger)), *g;

	if (!bigger)
		return; /* longer chains, that is all */
	for (g = st->groups; g; g = g->next) {
		struct group **at = &bigger[hash(g->key) % n];

		g->chain = *at;
		*at = g;
	}
	free(st->bucket);
	st->bucket = bigger;
	st->n_bucket = n;
}

static struct group *group_find(struct state *st, const char *key)
{
	struct group *g = st->n_bucket ? st->bucket[hash(key) % st->n_bucket] : NULL;

	while (g && strcmp(g->key, key) != 0)
		g = g->chain;
	return g;
}

static void group_link(struct state *st, struct group *g)
{
	if (++st->n_group > st->n_bucket * 2)
		rehash(st, st->n_bucket ? st->n_bucket * 2 : BUCKETS);
	g->next = st->groups;
	if (st->groups)
		st->groups->prev = g;
	st->groups = g;
	if (st->n_bucket) {
		struct group **at = &st->bucket[hash(g->key) % st->n_bucket];

		g->chain = *at;
		*at = g;
	}
}

static struct group *group_create(struct keel_mod *mod, const char *key, const char *queue,
				  const char *select, const char *place)
{
	struct state *st = mod->state;
	struct group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->jobs.before = job_before;
	g->key = strdup(key);
	g->queue = strdup(queue);
	if (!g->key || !g->queue ||
	    st->resource->select_parse(st->resource->self, select, &g->select, NULL) ||
	    st->resource->place_parse(place, &g->place, NULL)) {
		st->resource->select_free(g->select);
		free(g->key);
		free(g->queue);
		free(g);
		return NULL;
	}
	group_link(st, g);
	return g;
}

void group_free(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;
	struct group **at = st->n_bucket ? &st->bucket[hash(g->key) % st->n_bucket] : NULL;

	while (at && *at && *at != g)
		at = &(*at)->chain;
	if (at && *at)
		*at = g->chain;
	if (g->prev)
		g->prev->next = g->next;
	else
		st->groups = g->next;
	if (g->next)
		g->next->prev = g->prev;
	st->n_group--;
	talk_not(mod, g);
	heap_remove(&st->order, &g->heap);
	st->resource->select_free(g->select);
	free(g->verdict);
	free(g->key);
	free(g->queue);
	free(g);
}

/* Whom limits are about. */
static void add_owner(struct keel_mod *mod, struct keel_obj *job, struct keel_text *key)
{
	struct state *st = mod->state;
	const struct keel_attr *const people[] = { st->a.user, st->a.user_group, st->a.project };

	for (size_t i = 0; i < KEEL_COUNT(people); i++) {
		const char *name = st->object->get_str(job, people[i]);

		keel_text_printf(key, "\n%s", name ? name : "");
	}
}

/* What it takes of queue and server besides its chunks, and may be limited. */
static void add_amounts(struct keel_mod *mod, struct keel_obj *job, struct keel_text *key)
{
	const uint32_t counted = KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST;
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);

	for (uint32_t i = 0; i < st->resource->list_count(list); i++) {
		const struct keel_res_value *v = st->resource->list_at(list, i);

		if (keel_res_is_number(v->res) && (v->res->flags & counted))
			keel_text_printf(key, "\n%s=%.17g", v->res->name, v->n);
	}
}

struct group *group_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *queue = st->object->get_str(job, st->a.queue);
	const char *select = st->object->get_str(job, st->a.schedselect);
	const struct keel_res_value *v =
		st->resource->list_get(st->object->get_ptr(job, st->a.list), "place");
	const char *place = v && v->text ? v->text : "free";
	struct group *g = NULL;
	struct keel_text key;

	if (!queue || !select)
		return NULL;
	keel_text_init(&key);
	keel_text_printf(&key, "%s\n%s\n%s", queue, place, select);
	add_owner(mod, job, &key);
	add_amounts(mod, job, &key);
	if (!key.failed)
		g = group_find(st, key.data);
	if (!key.failed && !g)
		g = group_create(mod, key.data, queue, select, place);
	keel_text_fini(&key);
	return g;
}

void entry_group(struct keel_mod *mod, struct entry *e)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct group *g = group_of(mod, e->job);

	entry_out(mod, e);
	if (!g) { /* not understood, or no memory: held back, looked at when something changes */
		st->core->log(mod, KEEL_LOG_ERROR, "Job", st->object->id(e->job),
			      "its select, place or queue cannot be read; it will not start");
		e->where = PARKED;
		list_add(&st->parked, e);
		return;
	}
	e->arrival = st->object->get_int(e->job, st->a.arrival);
	e->priority = conf->job_priority ? (int32_t)st->object->get_int(e->job, st->a.priority) : 0;
	e->ranked_in = st->cycle;
	e->rank = st->hook->tapped(mod, KEEL_POINT_job_rank)
			  ? st->hook->fold(mod, KEEL_POINT_job_rank,
					   KEEL_EVENT(job_rank, .id = st->object->id(e->job),
						      .job = e->job),
					   NULL, 0)
			  : 0;
	e->group = g;
	e->where = GROUPED;
	g->idle = 0;
	heap_push(&g->jobs, &e->heap);
	list_add(&g->fresh, e);
}

void group_verdict(struct keel_mod *mod, struct group *g, const char *text, uint64_t known_at)
{
	g->known_at = known_at;
	if (!g->verdict || strcmp(g->verdict, text) != 0) {
		free(g->verdict);
		g->verdict = strdup(text);
		list_join(&g->stale, &g->told);
	}
	if (g->verdict)
		talk(mod, g);
}

void index_init(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->order.before = group_before;
	rehash(st, BUCKETS);
}

void index_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->groups) {
		struct group *g = st->groups;
		struct list *const lists[] = { &g->fresh, &g->stale, &g->told };
		size_t i;

		for (i = 0; i < KEEL_COUNT(lists); i++)
			while (lists[i]->first)
				entry_out(mod, lists[i]->first);
		group_free(mod, g);
	}
	free(st->bucket);
	st->bucket = NULL;
	st->n_bucket = 0;
}
