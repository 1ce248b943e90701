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

KEEL_ATTRS_OF(job, Resource_List, queue);
KEEL_ATTRS_OF(queue, resources_available, resources_assigned);
KEEL_ATTRS_OF(server, resources_available, resources_assigned);

const struct keel_res_value **whole_of(struct keel_obj *job, uint32_t *ret_n)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	uint32_t n = keel_resource_list_count(list), i;
	const struct keel_res_value **whole = calloc(n + 1, sizeof(*whole));

	*ret_n = 0;
	for (i = 0; whole && i < n; i++)
		whole[(*ret_n)++] = keel_resource_list_at(list, i);
	return whole;
}

void totals_move(struct snapshot *s, struct keel_obj *job, const char *only,
		 int sign)
{
	const char *queue = keel_get_str(job, job_queue);
	uint32_t n;
	const struct keel_res_value **whole;

	if (!s->n_pool)
		return;
	whole = whole_of(job, &n);
	if (whole)
		pools_move(s, queue, whole, n, only, sign);
	free(whole);
}

bool totals_fit(const struct snapshot *s, struct keel_obj *job, const char *only,
		struct reason *ret)
{
	struct wish w = { .queue = keel_get_str(job, job_queue) };
	uint32_t n, i;
	const struct keel_res_value **whole = s->n_pool ? whole_of(job, &n) : NULL;
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

static bool value_read(struct pool *p, const struct keel_res_value *v,
		       const struct keel_reslist *gone)
{
	struct pool_amount *a = amount_add(p, v->res);

	if (!a)
		return false;
	a->counted = (v->res->flags & KEEL_RES_SUM) && v->res->type < KEEL_RES_BOOL;
	a->total = a->free = v->n;
	if (a->counted)
		a->free -= keel_resource_list_number(gone, v->res->name, 0);
	a->text = v->text ? strdup(v->text) : NULL;
	return a->text || !v->text;
}

static bool pool_read(struct snapshot *s, const char *queue, struct keel_obj *obj,
		      const struct keel_attr *available, const struct keel_attr *assigned)
{
	const struct keel_reslist *have = keel_get_ptr(obj, available);
	const struct keel_reslist *gone = keel_get_ptr(obj, assigned);
	uint32_t i, n = keel_resource_list_count(have);
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
		if (!value_read(p, keel_resource_list_at(have, i), gone))
			return false;
	return true;
}

static bool dynamic_read(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; dynres_at(st, i); i++) {
		const struct keel_resource *res =
			keel_resource_find(dynres_at(st, i));
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
	struct keel_cursor *walk = keel_cursor(mod, "queue");
	struct keel_obj *queue;
	bool ok = true;

	while (walk && ok && (queue = keel_next(walk)))
		if (keel_is_set(queue, queue_resources_available))
			ok = pool_read(s, keel_id(queue), queue, queue_resources_available,
				       queue_resources_assigned);
	if (walk)
		keel_cursor_close(walk);
	return ok;
}

bool totals_read(struct keel_mod *mod, struct snapshot *s)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	pools_free(s->pool, s->n_pool);
	s->pool = NULL;
	s->n_pool = 0;
	return queues_read(mod, s) && server &&
	       pool_read(s, NULL, server, server_resources_available, server_resources_assigned) &&
	       dynamic_read(mod, s);
}
