/* SPDX-License-Identifier: Apache-2.0
 *
 * totals.c - amounts of the server and of queues for the snapshot, and the job-wide amounts of jobs.
 *
 * What a script says of a resource now (dynres.c) stands in for the server's value.
 */
#include "scheduler.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

const struct keel_res_value **whole_of(struct keel_mod *mod, struct keel_obj *job, uint32_t *ret_n)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	uint32_t n = st->resource->list_count(list), i;
	const struct keel_res_value **whole = calloc(n + 1, sizeof(*whole));

	*ret_n = 0;
	for (i = 0; whole && i < n; i++)
		whole[(*ret_n)++] = st->resource->list_at(list, i);
	return whole;
}

void totals_move(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job, const char *only,
		 int sign)
{
	struct state *st = mod->state;
	const char *queue = st->object->get_str(job, st->a.queue);
	uint32_t n;
	const struct keel_res_value **whole;

	if (!s->n_pool)
		return;
	whole = whole_of(mod, job, &n);
	if (whole)
		pools_move(s, queue, whole, n, only, sign);
	free(whole);
}

bool totals_fit(struct keel_mod *mod, const struct snapshot *s, struct keel_obj *job, const char *only,
		struct reason *ret)
{
	struct state *st = mod->state;
	struct wish w = { .queue = st->object->get_str(job, st->a.queue) };
	uint32_t n, i;
	const struct keel_res_value **whole = s->n_pool ? whole_of(mod, job, &n) : NULL;
	bool fits;

	if (!whole)
		return true;
	for (i = 0; i < n; i++)
		if (!only || is_listed(only, whole[i]->res->name))
			whole[w.n_whole++] = whole[i];
	w.whole = whole;
	fits = pools_fit(s, &w, ret);
	free(whole);
	return fits;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static struct pool_amount *amount_add(struct pool *p, const struct keel_resource *res)
{
	struct pool_amount *bigger;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->amount[i].res == res)
			return &p->amount[i];
	bigger = reallocarray(p->amount, p->n + 1, sizeof(*bigger));
	if (!bigger)
		return NULL;
	p->amount = bigger;
	p->amount[p->n] = (struct pool_amount){ .res = res };
	return &p->amount[p->n++];
}

static bool value_read(struct state *st, struct pool *p, const struct keel_res_value *v,
		       const struct keel_reslist *gone)
{
	struct pool_amount *a = amount_add(p, v->res);

	if (!a)
		return false;
	a->counted = (v->res->flags & KEEL_RES_SUM) && v->res->type < KEEL_RES_BOOL;
	a->total = a->free = v->n;
	if (a->counted)
		a->free -= st->resource->list_number(gone, v->res->name, 0);
	a->text = v->text ? strdup(v->text) : NULL;
	return a->text || !v->text;
}

static bool pool_read(struct state *st, struct snapshot *s, const char *queue, struct keel_obj *obj,
		      const struct keel_attr *available, const struct keel_attr *assigned)
{
	const struct keel_reslist *have = st->object->get_ptr(obj, available);
	const struct keel_reslist *gone = st->object->get_ptr(obj, assigned);
	uint32_t i, n = st->resource->list_count(have);
	struct pool *bigger = reallocarray(s->pool, s->n_pool + 1, sizeof(*bigger)), *p;

	if (!bigger)
		return false;
	s->pool = bigger;
	p = &s->pool[s->n_pool];
	*p = (struct pool){ .queue = queue ? strdup(queue) : NULL };
	if (queue && !p->queue)
		return false;
	s->n_pool++;
	for (i = 0; i < n; i++)
		if (!value_read(st, p, st->resource->list_at(have, i), gone))
			return false;
	return true;
}

static bool dynamic_read(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; dynres_at(st, i); i++) {
		const struct keel_resource *res =
			st->resource->find(st->resource->self, dynres_at(st, i));
		const struct keel_res_value *v = dynres_value(st, i);
		struct pool_amount *a;

		if (!res || !v)
			continue;
		a = amount_add(&s->pool[s->n_pool - 1], res);
		if (!a)
			return false;
		free(a->text);
		a->text = v->text ? strdup(v->text) : NULL;
		if (v->text && !a->text)
			return false;
		a->total = a->free = v->n;
		a->counted = keel_res_is_number(res);
	}
	return true;
}

static bool queues_read(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "queue");
	struct keel_obj *queue;
	bool ok = true;

	while (walk && ok && (queue = st->object->next(walk)))
		if (st->object->is_set(queue, st->total.of_queue))
			ok = pool_read(st, s, st->object->id(queue), queue, st->total.of_queue,
				       st->total.gone_of_queue);
	if (walk)
		st->object->cursor_close(walk);
	return ok;
}

bool totals_read(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	pools_free(s->pool, s->n_pool);
	s->pool = NULL;
	s->n_pool = 0;
	return queues_read(mod, s) && server &&
	       pool_read(st, s, NULL, server, st->total.of_server, st->total.gone_of_server) &&
	       dynamic_read(mod, s);
}
