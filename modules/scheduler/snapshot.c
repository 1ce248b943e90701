/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.c - the vnodes as plain data for placement.
 */
#include "scheduler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(node, Priority, max_running, max_user_run, max_group_run, last_used_time,
	      no_multinode_jobs, queue, partition);
KEEL_ATTRS_OF(job, euser, egroup);

#define NOT_FREE (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE)

/* A vnode being read, before columns are known. */
struct reading {
	struct keel_obj *obj;
	const char *host;
	int64_t priority;
	uint32_t host_number;
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
		free(s->node[i].taker);
		future_put(s->node[i].future);
		limits_free(s->node[i].limits);
	}
	snapshot_unlink(s);
	pools_free(s->pool, s->n_pool);
	free(s->node);
	free(s->column);
	free(s->by_name);
	names_free(s->own_checked);
	names_free(s->own_endless);
	free(s);
}

static bool is_counted(const struct keel_resource *res)
{
	return res->type < KEEL_RES_BOOL && (res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST));
}

static int by_host(const void *a, const void *b)
{
	const struct reading *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

static struct reading *read_all(struct keel_mod *mod, uint32_t *ret_n)
{
	uint32_t room = keel_count(mod, "node"), n = 0;
	struct reading *r = calloc(room + 1, sizeof(*r));
	struct keel_cursor *cursor = r ? keel_cursor(mod, "node") : NULL;
	struct keel_obj *obj;
	const struct keel_res_value *v;

	if (!cursor) {
		free(r);
		return NULL;
	}
	while (n < room && (obj = keel_next(cursor))) {
		v = keel_resource_list_get(keel_node_available(obj), "host");
		r[n].obj = obj;
		r[n].host = v && v->text ? v->text : keel_id(obj);
		r[n].priority = keel_get_int(obj, node_Priority);
		n++;
	}
	keel_cursor_close(cursor);
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

static bool column_add(struct snapshot *s, const struct keel_resource *res)
{
	const struct keel_resource **bigger;
	uint32_t c;

	for (c = 0; c < s->n_column; c++)
		if (s->column[c] == res)
			return true;
	bigger = reallocarray(s->column, s->n_column + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	s->column = bigger;
	s->column[s->n_column++] = res;
	return true;
}

static bool columns_find(struct snapshot *s, const struct reading *r, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		const struct keel_reslist *have = keel_node_available(r[i].obj);

		for (k = 0; k < keel_resource_list_count(have); k++) {
			const struct keel_resource *res = keel_resource_list_at(have, k)->res;

			if (is_counted(res) && !column_add(s, res))
				return false;
		}
	}
	return true;
}

static bool amounts_make(const struct snapshot *s, struct vnode *v,
			 struct keel_obj *obj)
{
	const struct keel_reslist *have = keel_node_available(obj);
	uint32_t c;
	double unset;

	v->total = calloc(2 * (size_t)s->n_column + 1, sizeof(double));
	if (!v->total)
		return false;
	v->free = v->total + s->n_column;
	for (c = 0; c < s->n_column; c++) {
		unset = is_endless(s, s->column[c]) ? HUGE_VAL : 0;
		v->total[c] = keel_resource_list_number(have, s->column[c]->name, unset);
	}
	return true;
}

static bool taker_add(struct vnode *v, uint32_t taker)
{
	uint32_t *bigger;

	if (v->n_taker && v->taker[v->n_taker - 1] == taker)
		return true;
	bigger = reallocarray(v->taker, v->n_taker + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	v->taker = bigger;
	v->taker[v->n_taker++] = taker;
	return true;
}

/* `@other` in place of an amount: the vnode shares that of another. */
static bool shared_read(const struct snapshot *s, struct vnode *v,
			struct keel_obj *obj)
{
	const struct keel_reslist *have = keel_node_available(obj);
	uint32_t i, c;

	for (i = 0; i < keel_resource_list_count(have); i++) {
		const struct keel_res_value *value = keel_resource_list_at(have, i);
		const struct vnode *other;

		if (!value->text || *value->text != '@' || !is_counted(value->res) ||
		    !(other = vnode_named(s, value->text + 1)))
			continue;
		if (!v->via && !(v->via = calloc(s->n_column + 1, sizeof(*v->via))))
			return false;
		for (c = 0; c < s->n_column; c++)
			if (s->column[c] == value->res)
				v->via[c] = (uint32_t)(other - s->node) + 1;
		if (!taker_add(&s->node[other - s->node], (uint32_t)(v - s->node)))
			return false;
	}
	return true;
}

/* ---- who is there ------------------------------------------------------------------------------- */

struct tenants {
	struct keel_mod *mod;
	struct vnode *v;
};

static void tenant_count(void *arg, const char *job_id, bool suspended)
{
	struct tenants *t = arg;
	struct keel_obj *job = suspended ? NULL : keel_find(t->mod, "job", job_id);

	if (job)
		limits_count(t->v->limits, keel_get_str(job, job_euser),
			     keel_get_str(job, job_egroup));
}

static void limits_read(struct keel_mod *mod, struct snapshot *s, struct vnode *v,
			struct keel_obj *node)
{
	struct vnode_limits now = {
		.jobs = (uint32_t)keel_get_int(node, node_max_running),
		.of_user = (uint32_t)keel_get_int(node, node_max_user_run),
		.of_group = (uint32_t)keel_get_int(node, node_max_group_run),
	};
	struct tenants t = { mod, v };

	limits_free(v->limits);
	v->limits = NULL;
	if (!now.jobs && !now.of_user && !now.of_group)
		return;
	v->limits = malloc(sizeof(now));
	if (!v->limits)
		return;
	*v->limits = now;
	s->counts_people |= now.of_user || now.of_group;
	if (now.of_user || now.of_group)
		keel_node_tenants(node, tenant_count, &t);
}

void vnode_reread(struct keel_mod *mod, struct snapshot *s, struct vnode *v, struct keel_obj *node)
{
	const struct keel_reslist *gone = keel_node_assigned(node);
	uint32_t bits = keel_node_state(node), c;

	v->down = keel_node_unavailable(node);
	v->usable = !v->down && !(bits & NOT_FREE) && !v->fenced;
	v->alone = bits & KEEL_NODE_JOB_EXCLUSIVE;
	v->jobs = keel_node_jobs_on(node);
	v->in_use = v->jobs > 0;
	v->last_used = keel_get_int(node, node_last_used_time);
	for (c = 0; c < s->n_column; c++)
		v->free[c] = v->total[c] -
			     keel_resource_list_number(gone, s->column[c]->name, 0);
	limits_read(mod, s, v, node);
}

static bool others_read(struct vnode *v, struct keel_obj *obj)
{
	const struct keel_reslist *have = keel_node_available(obj);
	uint32_t i, n = keel_resource_list_count(have);

	v->other = calloc(n + 1, sizeof(*v->other));
	for (i = 0; v->other && i < n; i++) {
		const struct keel_res_value *from = keel_resource_list_at(have, i);
		struct keel_res_value *to = &v->other[v->n_other];

		if (is_counted(from->res))
			continue;
		*to = *from;
		to->text = NULL;
		if (from->text && !(to->text = strdup(from->text)))
			return false;
		v->n_other++;
	}
	return v->other != NULL;
}

static bool text_read(struct keel_obj *obj, const struct keel_attr *attr,
		      const char **ret)
{
	const char *text = keel_get_str(obj, attr);

	*ret = text && *text ? strdup(text) : NULL;
	return *ret || !text || !*text;
}

static bool vnode_read(struct keel_mod *mod, struct snapshot *s, const struct reading *r)
{
	struct vnode *v = &s->node[s->n++];
	int32_t i;

	v->name = strdup(keel_id(r->obj));
	v->host = r->host_number;
	v->priority = r->priority;
	v->one_host_only = keel_get_int(r->obj, node_no_multinode_jobs);
	for (i = 0; i < 4; i++)
		v->share[i] = (uint8_t)keel_node_sharing(r->obj, i);
	if (!v->name || !text_read(r->obj, node_queue, &v->queue) ||
	    !text_read(r->obj, node_partition, &v->partition) ||
	    !amounts_make(s, v, r->obj) || !others_read(v, r->obj))
		return false;
	vnode_reread(mod, s, v, r->obj);
	return true;
}

struct snapshot *snapshot_make(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct snapshot *s = calloc(1, sizeof(*s));
	uint32_t n = 0, i;
	struct reading *r = s ? read_all(mod, &n) : NULL;
	bool ok = r && number_hosts(r, n, &s->n_hosts) && columns_find(s, r, n);
	const struct keel_resource *res;

	if (ok) {
		placing_apply(mod, s);
		blocks_bind(mod, s);
		s->shape = ++st->pictures;
		s->node = calloc(n + 1, sizeof(*s->node));
		ok = s->node != NULL;
		for (i = 0; ok && s->endless && s->endless[i]; i++) {
			res = keel_resource_find(s->endless[i]);
			ok = !res || !is_counted(res) || column_add(s, res);
		}
		ok = ok && totals_read(mod, s);
	}
	for (i = 0; ok && i < n; i++)
		ok = vnode_read(mod, s, &r[i]);
	if (ok)
		snapshot_index(s);
	for (i = 0; ok && i < n; i++)
		ok = shared_read(s, &s->node[i], r[i].obj);
	for (i = 0; ok && i < n; i++)
		spans_apply(s, i);
	free(r);
	if (!ok) {
		snapshot_free(s);
		return NULL;
	}
	snapshot_link(s);
	if (snapshot_linked(s))
		return s;
	snapshot_free(s);
	return NULL;
}

void snapshot_order(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job)
{
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		struct keel_obj *node = keel_find(mod, "node", s->node[i].name);

		s->node[i].score = 0;
		if (node)
			s->node[i].score = keel_fold(
				mod, KEEL_POINT_node_score,
				KEEL_EVENT(node_score, .id = s->node[i].name, .node = node, .job = job),
				NULL, 0);
	}
	order_make(s);
}
