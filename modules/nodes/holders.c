/* SPDX-License-Identifier: Apache-2.0
 *
 * holders.c - amounts that are kept for the jobs inside something, such as a reservation that has begun.
 *
 *	resources_assigned of a vnode = what its jobs use + of each holder there what it holds and its jobs do not use
 *
 * A vnode without holds has none of this: what its jobs use is resources_assigned itself. A hold is on its vnode while it
 * has or uses something there.
 */
#include "nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(node, resources_assigned);

/* ---- holders and holds ----------------------------------------------------------------------------------- */

struct holder *holder_join(struct holder *h)
{
	if (h)
		h->refs++;
	return h;
}

void holder_leave(struct keel_mod *mod, struct holder *h)
{
	struct state *st = mod->state;

	if (!h || --h->refs)
		return;
	HASH_DEL(st->holders, h);
	free(h);
}

/* Counted for the caller; NULL without memory. */
static struct holder *holder_get(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	const size_t len = strlen(id);
	struct holder *h;

	HASH_FIND(hh, st->holders, id, len, h);
	if (h)
		return holder_join(h);
	h = calloc(1, sizeof(*h) + len + 1);
	if (!h)
		return NULL;
	memcpy(h->id, id, len);
	HASH_ADD_KEYPTR(hh, st->holders, h->id, len, h);
	if (!h->hh.tbl) { /* no memory for it */
		free(h);
		return NULL;
	}
	return holder_join(h);
}

static struct hold *hold_find(const struct vnode *v, const struct holder *of)
{
	struct hold *h = of ? v->holds : NULL;

	while (h && h->of != of)
		h = h->on_vnode;
	return h;
}

/* What jobs use, apart from resources_assigned from now on. Fails with -1 without memory. */
static int32_t used_begin(const struct spot *at)
{
	const struct keel_reslist *now = keel_get_ptr(at->node, node_resources_assigned);
	struct keel_reslist *copy = NULL;

	for (uint32_t i = 0; i < keel_resource_list_count(now); i++) {
		const struct keel_res_value *v = keel_resource_list_at(now, i);

		if (keel_res_is_number(v->res) && keel_resource_list_add(&copy, v, v->n)) {
			keel_resource_list_free(copy);
			return -1;
		}
	}
	at->vnode->used = copy;
	return 0;
}

/* NULL without memory. */
static struct hold *hold_get(const struct spot *at, struct holder *of)
{
	struct hold *h = hold_find(at->vnode, of);

	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h || (!at->vnode->holds && used_begin(at))) {
		free(h);
		return NULL;
	}
	h->of = holder_join(of);
	h->node = at->node;
	h->on_vnode = at->vnode->holds;
	at->vnode->holds = h;
	h->later = of->holds;
	if (of->holds)
		of->holds->sooner = h;
	of->holds = h;
	return h;
}

static void used_end(struct vnode *v)
{
	keel_resource_list_free(v->used);
	v->used = NULL;
}

static void hold_free(struct keel_mod *mod, struct hold *h)
{
	if (h->later)
		h->later->sooner = h->sooner;
	if (h->sooner)
		h->sooner->later = h->later;
	else
		h->of->holds = h->later;
	holder_leave(mod, h->of);
	keel_resource_list_free(h->held);
	keel_resource_list_free(h->inside);
	keel_resource_list_free(h->next);
	free(h);
}

static bool is_nothing(const struct keel_reslist *list)
{
	for (uint32_t i = 0; i < keel_resource_list_count(list); i++)
		if (keel_resource_list_at(list, i)->n > 0)
			return false;
	return true;
}

/* It goes when it neither holds nor uses anything. */
static void hold_tidy(struct keel_mod *mod, struct vnode *v, struct hold *h)
{
	struct hold **at = &v->holds;

	if (!h || h->held || h->next || !is_nothing(h->inside))
		return;
	while (*at != h)
		at = &(*at)->on_vnode;
	*at = h->on_vnode;
	hold_free(mod, h);
	if (!v->holds)
		used_end(v);
}

void holds_drop(struct keel_mod *mod, struct vnode *v)
{
	struct hold *h, *next;

	for (h = v->holds; h; h = next) {
		next = h->on_vnode;
		hold_free(mod, h);
	}
	v->holds = NULL;
	used_end(v);
}

/* ---- amounts ------------------------------------------------------------------------------------------------ */

/* resources_assigned of one resource follows from what is used and held. */
static void assigned_follow(struct vnode *v, struct keel_obj *node, const struct keel_res_value *of)
{
	const char *name = of->res->name;
	double want = keel_resource_list_number(v->used, name, 0), more;
	struct keel_res_value by = { .res = of->res, .unit = of->unit };
	const struct keel_exec_part part = { keel_id(node), 0, 1, &by };

	for (const struct hold *h = v->holds; h; h = h->on_vnode)
		if ((more = keel_resource_list_number(h->held, name, 0) - keel_resource_list_number(h->inside, name, 0)) > 0)
			want += more;
	by.n = want - keel_resource_list_number(keel_get_ptr(node, node_resources_assigned), name, 0);
	if (by.n != 0) {
		const int32_t sign = by.n < 0 ? -1 : 1;

		by.n = fabs(by.n);
		keel_resource_charge_exec(node, node_resources_assigned, &(struct keel_exec){ 1, 1, &part }, part.vnode, sign,
					  NULL);
	}
}

static bool is_named(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (size_t item; *list; list += item + (list[item] == ',')) {
		item = strcspn(list, ",");
		if (item == len && memcmp(list, name, len) == 0)
			return true;
	}
	return false;
}

/* Is it counted on a vnode? *ret is the amount as it is charged: sizes in whole kb. */
static bool is_charged(const struct keel_res_value *v, bool first, const char *only, struct keel_res_value *ret)
{
	const uint32_t counted = KEEL_RES_EACH | (first ? KEEL_RES_FIRST : 0);

	if (!(v->res->flags & counted) || !keel_res_is_number(v->res) || (only && !is_named(only, v->res->name)))
		return false;
	*ret = *v;
	if (v->res->type == KEEL_RES_SIZE) {
		ret->n = ceil(v->n / 1024) * 1024;
		ret->unit = 1;
	}
	return true;
}

void held_charge(struct keel_mod *mod, const struct spot *at, const struct keel_exec_part *part, bool first,
		 struct holder *holder, int32_t sign, const char *only)
{
	struct vnode *v = at->vnode;
	struct hold *h = hold_find(v, holder);
	struct keel_res_value one;

	for (uint32_t k = 0; k < part->n; k++) {
		if (!is_charged(&part->v[k], first, only, &one))
			continue;
		/* holders_prepare() has made the names */
		keel_resource_list_add(&v->used, &one, sign * one.n);
		if (h)
			keel_resource_list_add(&h->inside, &one, sign * one.n);
		assigned_follow(v, at->node, &one);
	}
	if (sign < 0)
		hold_tidy(mod, v, h);
}

static int32_t part_prepare(const struct spot *at, const struct keel_exec_part *part, bool first, struct holder *holder)
{
	struct hold *h = holder ? hold_get(at, holder) : NULL;
	struct keel_res_value one;

	if (holder && !h)
		return -1;
	for (uint32_t k = 0; at->vnode->holds && k < part->n; k++)
		if (is_charged(&part->v[k], first, NULL, &one) &&
		    (keel_resource_list_add(&at->vnode->used, &one, 0) || (h && keel_resource_list_add(&h->inside, &one, 0))))
			return -1;
	return 0;
}

int32_t holders_prepare(struct keel_mod *mod, const struct parts *whole, struct holder *holder)
{
	struct state *st = mod->state;
	struct parts *shared;
	const struct parts *p;
	int32_t failed = 0;

	if (!st->holders)
		return 0;
	shared = parts_charged(mod, whole);
	p = shared ? shared : whole;
	for (uint32_t i = 0; !failed && i < p->n; i++)
		if (p->at[i].vnode)
			failed = part_prepare(&p->at[i], &p->part[i], i == 0, holder);
	for (uint32_t i = 0; failed && i < p->n; i++)
		if (p->at[i].vnode)
			hold_tidy(mod, p->at[i].vnode, hold_find(p->at[i].vnode, holder));
	free(shared);
	return failed;
}

/* ---- hold() ---------------------------------------------------------------------------------------------------- */

/* Into `next` of its holds. Fails with -1 without memory. */
static int32_t next_fill(struct keel_mod *mod, struct holder *holder, const struct parts *whole)
{
	struct parts *shared = parts_charged(mod, whole);
	const struct parts *p = shared ? shared : whole;
	struct keel_res_value one;
	int32_t failed = 0;

	for (uint32_t i = 0; !failed && i < p->n; i++) {
		const struct keel_exec_part *part = &p->part[i];
		struct hold *h = p->at[i].vnode ? hold_get(&p->at[i], holder) : NULL;

		failed = p->at[i].vnode && !h ? -1 : 0;
		for (uint32_t k = 0; h && !failed && k < part->n; k++)
			if (is_charged(&part->v[k], i == 0, NULL, &one))
				failed = keel_resource_list_add(&h->next, &one, one.n);
	}
	free(shared);
	return failed ? -1 : 0;
}

static void follow_all(struct vnode *v, struct keel_obj *node, const struct keel_reslist *list)
{
	for (uint32_t i = 0; i < keel_resource_list_count(list); i++)
		assigned_follow(v, node, keel_resource_list_at(list, i));
}

/* It has `next` from now on. */
static void hold_become(struct keel_mod *mod, struct hold *h)
{
	struct vnode *v = keel_slot(mod, h->node);
	struct keel_reslist *before = h->held;

	if (!before && !h->next)
		return;
	h->held = h->next;
	h->next = NULL;
	follow_all(v, h->node, before);
	follow_all(v, h->node, h->held);
	keel_resource_list_free(before);
	node_touch(mod, h->node);
}

/* Each of its holds becomes what it is about to be; `keep`: stays what it is. */
static void holds_settle(struct keel_mod *mod, struct holder *holder, bool keep)
{
	struct hold *h, *later;

	for (h = holder->holds; h; h = later) {
		struct vnode *v = keel_slot(mod, h->node);

		later = h->later;
		if (!keep)
			hold_become(mod, h);
		keel_resource_list_free(h->next);
		h->next = NULL;
		hold_tidy(mod, v, h);
	}
}

int32_t node_hold(struct keel_mod *mod, const char *id, const char *exec_vnode, struct keel_err *err)
{
	struct keel_exec *exec = NULL;
	struct parts p = { 0 };
	struct holder *holder;
	int32_t code = 0;

	if (exec_vnode && *exec_vnode && !(code = keel_resource_exec_parse(exec_vnode, &exec, err)))
		code = parts_find(mod, exec, &p, err);
	holder = code ? NULL : holder_get(mod, id);
	if (!code && (!holder || next_fill(mod, holder, &p)))
		code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (holder)
		holds_settle(mod, holder, code != 0);
	holder_leave(mod, holder);
	free(p.at);
	keel_resource_exec_free(exec);
	return code;
}

/* ---- jobs ---------------------------------------------------------------------------------------------------------- */

void node_on_holder(struct keel_mod *mod, struct keel_mod *me, const char *(*fn)(struct keel_mod *, const char *))
{
	struct state *st = mod->state;

	st->lodger = me;
	st->lodging = fn;
}

void tenant_lodge(struct keel_mod *mod, struct tenant *t, struct holder *h)
{
	struct holder *before = t->holder;

	t->holder = holder_join(h);
	holder_leave(mod, before);
}

static const struct tenant *tenant_first(const struct parts *p, const char *job_id)
{
	const struct tenant *t;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->at[i].vnode && (t = *tenant_at(p->at[i].vnode, job_id)))
			return t;
	return NULL;
}

struct holder *holder_known(const struct parts *p, const char *job_id)
{
	const struct tenant *t = tenant_first(p, job_id);

	return t ? t->holder : NULL;
}

/* As on_holder() says. */
static int32_t holder_asked(struct keel_mod *mod, const char *job_id, struct holder **ret)
{
	struct state *st = mod->state;
	const char *id = st->lodging ? st->lodging(st->lodger, job_id) : NULL;

	*ret = id && *id ? holder_get(mod, id) : NULL;
	return id && *id && !*ret ? -1 : 0;
}

int32_t holder_of(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder **ret)
{
	const struct tenant *t = tenant_first(p, job_id);

	if (!t)
		return holder_asked(mod, job_id, ret);
	*ret = holder_join(t->holder);
	return 0;
}

/* What it has is taken from one holder and charged to the other; `back`: what its suspension gave back, NULL nothing. */
static void lodge_elsewhere(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder *to,
			    const char *back)
{
	struct holder *from = holder_join(holder_known(p, job_id));
	struct tenant *t;

	if (back) /* first, because amounts do not go below 0 */
		parts_charge(mod, p, from, 1, back);
	parts_charge(mod, p, from, -1, NULL);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->at[i].vnode && (t = *tenant_at(p->at[i].vnode, job_id)))
			tenant_lodge(mod, t, to);
	parts_guests(mod, p, job_id, to, 0, GUESTS_FOLLOW);
	parts_charge(mod, p, to, 1, NULL);
	if (back)
		parts_charge(mod, p, to, -1, back);
	holder_leave(mod, from);
}

static int32_t lodge(struct keel_mod *mod, const struct parts *p, const char *job_id)
{
	const struct tenant *t = tenant_first(p, job_id);
	struct holder *to = NULL;
	int32_t failed;

	if (!t)
		return 0;
	failed = holder_asked(mod, job_id, &to);
	if (!failed && to != t->holder && !(failed = holders_prepare(mod, p, to)))
		lodge_elsewhere(mod, p, job_id, to, t->given_back);
	holder_leave(mod, to);
	return failed;
}

int32_t node_lodge(struct keel_mod *mod, const char *job_id, const char *exec_vnode, struct keel_err *err)
{
	struct keel_exec *exec = NULL;
	struct parts p = { 0 };
	int32_t code = keel_resource_exec_parse(exec_vnode, &exec, err);

	if (!code)
		code = parts_find(mod, exec, &p, err);
	if (!code && lodge(mod, &p, job_id))
		code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	free(p.at);
	keel_resource_exec_free(exec);
	return code;
}

/* ---- what is used ------------------------------------------------------------------------------------------------------ */

const struct keel_reslist *node_used(struct keel_mod *mod, struct keel_obj *node)
{
	const struct vnode *v = keel_slot(mod, node);

	return v && v->holds ? v->used : keel_get_ptr(node, node_resources_assigned);
}

const struct keel_reslist *node_used_inside(struct keel_mod *mod, struct keel_obj *node, const char *id,
					    uint32_t *ret_jobs, bool *ret_alone)
{
	const struct vnode *v = keel_slot(mod, node);
	struct state *st = mod->state;
	const struct hold *h;
	struct holder *holder;
	uint32_t jobs = 0;
	bool alone = false;

	HASH_FIND(hh, st->holders, id, strlen(id), holder);
	for (const struct tenant *t = v && holder ? v->tenants : NULL; t; t = t->next) {
		const bool there = t->holder == holder && !t->given_back;

		jobs += there && !t->guest;
		alone |= there && t->exclusive;
	}
	if (ret_jobs)
		*ret_jobs = jobs;
	if (ret_alone)
		*ret_alone = alone;
	h = v ? hold_find(v, holder) : NULL;
	return h ? h->inside : NULL;
}
