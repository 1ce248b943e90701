/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.c - the vnodes as plain data for placement.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

#define NOT_FREE (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE)

/* A vnode being read, before columns are known. */
struct reading {
	struct keel_obj *obj;
	const char *host;
	int64_t priority;
	int64_t score;
	uint32_t place, host_number;
};

void snapshot_free(struct snapshot *s)
{
	uint32_t i, k;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < s->node[i].n_other; k++)
			free((char *)s->node[i].other[k].text);
		free(s->node[i].other);
		free(s->node[i].total);
		free((char *)s->node[i].name);
		free((char *)s->node[i].queue);
		free((char *)s->node[i].partition);
		free(s->node[i].via);
		limits_free(s->node[i].limits);
	}
	snapshot_unlink(s);
	pools_free(s->pool, s->n_pool);
	free(s->node);
	free(s->column);
	free(s->by_name);
	free(s);
}

static bool is_counted(const struct keel_resource *res)
{
	return res->type < KEEL_RES_BOOL && (res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST));
}

static int by_priority(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

static int by_host(const void *a, const void *b)
{
	const struct reading *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

static const char *host_of(struct state *st, struct keel_obj *node)
{
	const struct keel_res_value *v =
		st->resource->list_get(st->node->available(st->node->self, node), "host");

	return v && v->text ? v->text : st->object->id(node);
}

static struct reading *read_all(struct keel_mod *mod, uint32_t *ret_n)
{
	struct state *st = mod->state;
	uint32_t room = st->object->count(mod, "node"), n = 0;
	struct reading *r = calloc(room + 1, sizeof(*r));
	struct keel_cursor *cursor = r ? st->object->cursor(mod, "node") : NULL;
	struct keel_obj *obj;

	while (cursor && n < room && (obj = st->object->next(cursor))) {
		r[n].obj = obj;
		r[n].host = host_of(st, obj);
		r[n].priority = st->object->get_int(obj, st->vnode.priority);
		r[n].place = n;
		n++;
	}
	if (cursor)
		st->object->cursor_close(cursor);
	if (r)
		qsort(r, n, sizeof(*r), by_priority);
	*ret_n = n;
	return r;
}

/* Equal host names get equal numbers. */
static bool number_hosts(struct reading *r, uint32_t n, uint32_t *ret_hosts)
{
	struct reading **sorted = calloc(n + 1, sizeof(*sorted));
	uint32_t i, hosts = 0;

	if (!sorted)
		return false;
	for (i = 0; i < n; i++)
		sorted[i] = &r[i];
	qsort(sorted, n, sizeof(*sorted), by_host);
	for (i = 0; i < n; i++) {
		if (i && strcmp(sorted[i - 1]->host, sorted[i]->host) != 0)
			hosts++;
		sorted[i]->host_number = hosts;
	}
	*ret_hosts = n ? hosts + 1 : 0;
	free(sorted);
	return true;
}

static bool columns_find(struct state *st, struct snapshot *s, const struct reading *r, uint32_t n)
{
	uint32_t i, k, c;

	for (i = 0; i < n; i++) {
		const struct keel_reslist *have = st->node->available(st->node->self, r[i].obj);

		for (k = 0; k < st->resource->list_count(have); k++) {
			const struct keel_resource *res = st->resource->list_at(have, k)->res;
			const struct keel_resource **bigger;

			if (!is_counted(res))
				continue;
			for (c = 0; c < s->n_column && s->column[c] != res; c++)
				;
			if (c < s->n_column)
				continue;
			bigger = reallocarray(s->column, s->n_column + 1, sizeof(*bigger));
			if (!bigger)
				return false;
			s->column = bigger;
			s->column[s->n_column++] = res;
		}
	}
	return true;
}

static bool amounts_read(struct state *st, const struct snapshot *s, struct vnode *v,
			 struct keel_obj *obj)
{
	const struct keel_reslist *have = st->node->available(st->node->self, obj);
	const struct keel_reslist *gone = st->node->assigned(st->node->self, obj);
	uint32_t c;

	v->total = calloc(2 * (size_t)s->n_column + 1, sizeof(double));
	if (!v->total)
		return false;
	v->free = v->total + s->n_column;
	for (c = 0; c < s->n_column; c++) {
		v->total[c] = st->resource->list_number(have, s->column[c]->name, 0);
		v->free[c] = v->total[c] - st->resource->list_number(gone, s->column[c]->name, 0);
	}
	return true;
}

static bool others_read(struct state *st, struct vnode *v, struct keel_obj *obj)
{
	const struct keel_reslist *have = st->node->available(st->node->self, obj);
	uint32_t i, n = st->resource->list_count(have);

	v->other = calloc(n + 1, sizeof(*v->other));
	for (i = 0; v->other && i < n; i++) {
		const struct keel_res_value *from = st->resource->list_at(have, i);
		struct keel_res_value *to = &v->other[v->n_other];

		if (is_counted(from->res))
			continue;
		*to = *from;
		if (from->text && !(to->text = strdup(from->text)))
			return false;
		v->n_other++;
	}
	return v->other != NULL;
}

static bool vnode_read(struct state *st, struct snapshot *s, const struct reading *r)
{
	struct vnode *v = &s->node[s->n++];
	const char *queue = st->object->get_str(r->obj, st->vnode.queue);
	int32_t i;

	v->name = strdup(st->object->id(r->obj));
	v->host = r->host_number;
	v->down = st->node->unavailable(st->node->self, r->obj);
	v->usable = !v->down && !(st->node->state(st->node->self, r->obj) & NOT_FREE);
	v->alone = st->node->state(st->node->self, r->obj) & KEEL_NODE_JOB_EXCLUSIVE;
	v->jobs = st->node->jobs_on(st->node->self, r->obj);
	v->in_use = v->jobs > 0;
	for (i = 0; i < 4; i++)
		v->share[i] = (uint8_t)st->node->sharing(st->node->self, r->obj, i);
	v->queue = queue && *queue ? strdup(queue) : NULL;
	return v->name && (!queue || !*queue || v->queue) && amounts_read(st, s, v, r->obj) &&
	       others_read(st, v, r->obj);
}

struct snapshot *snapshot_make(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct snapshot *s = calloc(1, sizeof(*s));
	uint32_t n = 0, i;
	struct reading *r = s ? read_all(mod, &n) : NULL;
	bool ok = r && number_hosts(r, n, &s->n_hosts) && columns_find(st, s, r, n);

	if (ok) {
		s->checked = conf->resources;
		s->node = calloc(n + 1, sizeof(*s->node));
		ok = s->node != NULL;
	}
	for (i = 0; ok && i < n; i++)
		ok = vnode_read(st, s, &r[i]);
	free(r);
	if (!ok) {
		snapshot_free(s);
		return NULL;
	}
	snapshot_link(s);
	snapshot_index(s);
	return s;
}

void snapshot_order(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct keel_obj *node = st->object->find(mod, "node", s->node[i].name);

		s->node[i].score = 0;
		if (node)
			s->node[i].score = st->hook->fold(
				mod, KEEL_POINT_node_score,
				KEEL_EVENT(node_score, .id = s->node[i].name, .node = node, .job = job),
				NULL, 0);
	}
	snapshot_reorder(s);
}
