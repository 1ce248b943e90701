/* SPDX-License-Identifier: Apache-2.0
 *
 * group.c - cut a plan into groups of modules that know each other, so that requests can be served between
 * one group and the next.
 *
 * Within a group everything happens in one turn of the loop: who leaves and who comes in his place are never
 * both away. Two modules belong together when one follows the other, when they cannot run together, and when
 * one goes for good and a new one comes that stands at the same point: then it may be his successor by
 * another name. Groups of those that only leave come first, for their names become free. Small groups share a
 * turn, and the walk through all objects, as far as such a turn stays short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"
#include "object/objects.h"

#define PER_TURN 250000 /* goings and comings times objects: some 5 ms */

struct item {
	struct module *old, *fresh; /* one of them may be NULL; both the same: it restarts */
	uint32_t root;		    /* the first item of its group */
};

struct cut {
	const struct plan *plan;
	struct item *items;
	uint32_t n;
};

/* ---- items ------------------------------------------------------------------------------------------ */
static bool is_successor(const struct plan *p, const struct module *m)
{
	const struct module *old;

	SET_EACH(&p->all->there, old) {
		if (old->heir == m)
			return true;
	}
	return false;
}

static void items_gather(struct cut *c)
{
	const struct plan *p = c->plan;
	struct module *m;

	SET_EACH(&p->all->there, m) {
		if (!m->leaves && m->fresh == NULL && m->fresh_site == NULL)
			continue;
		c->items[c->n] = (struct item){ m, NULL, c->n };
		if (!m->leaves || m->comes)
			c->items[c->n].fresh = m->heir != NULL ? m->heir : m;
		c->n++;
	}
	for (uint32_t i = 0; i < p->coming.n; i++) {
		if (!is_successor(p, p->coming.at[i])) {
			c->items[c->n] = (struct item){ NULL, p->coming.at[i], c->n };
			c->n++;
		}
	}
}

/* ---- who knows whom --------------------------------------------------------------------------------- */
static bool know(const struct module *a, const struct module *b)
{
	return a != NULL && b != NULL && a != b &&
	       (module_uses(a, b) || module_uses(b, a) || module_conflicts(a, b));
}

static bool share_point(const struct module *a, const struct module *b)
{
	for (uint32_t i = 0; i < a->site->n_taps; i++) {
		for (uint32_t j = 0; j < b->site->n_taps; j++) {
			if (a->site->taps[i].point == b->site->taps[j].point)
				return true;
		}
	}
	return false;
}

static bool may_follow(const struct item *gone, const struct item *fresh)
{
	return gone->fresh == NULL && fresh->old == NULL && share_point(gone->old, fresh->fresh);
}

static bool belong_together(const struct item *a, const struct item *b)
{
	return know(a->old, b->old) || know(a->old, b->fresh) || know(a->fresh, b->old) ||
	       know(a->fresh, b->fresh) || may_follow(a, b) || may_follow(b, a);
}

static void join(struct cut *c, uint32_t a, uint32_t b)
{
	uint32_t from = c->items[a].root > c->items[b].root ? c->items[a].root : c->items[b].root;
	uint32_t to = c->items[a].root < c->items[b].root ? c->items[a].root : c->items[b].root;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->items[i].root == from)
			c->items[i].root = to;
	}
}

static void items_join(struct cut *c)
{
	for (uint32_t a = 0; a < c->n; a++) {
		for (uint32_t b = a + 1; b < c->n; b++) {
			if (c->items[a].root != c->items[b].root &&
			    belong_together(&c->items[a], &c->items[b]))
				join(c, a, b);
		}
	}
}

/* ---- groups ------------------------------------------------------------------------------------------- */
static int group_fill(struct group *g, const struct cut *c, uint32_t root)
{
	int ret = 0;

	for (uint32_t i = 0; i < c->n && ret == 0; i++) {
		const struct item *item = &c->items[i];

		if (item->root != root)
			continue;
		if (item->old != NULL)
			ret = set_add(item->old->leaves ? &g->leave : &g->change, item->old);
	}
	for (uint32_t i = 0; i < c->plan->after.n && ret == 0; i++) { /* in order of needs */
		for (uint32_t j = 0; j < c->n && ret == 0; j++) {
			const struct item *item = &c->items[j];

			if (item->root == root && item->fresh == c->plan->after.at[i] &&
			    (item->old == NULL || item->old->leaves))
				ret = set_add(&g->come, item->fresh);
		}
	}
	return ret;
}

static bool only_leaves(const struct cut *c, uint32_t root)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->items[i].root == root && c->items[i].fresh != NULL)
			return false;
	}
	return true;
}

static int groups_make(const struct cut *c, struct group *groups, uint32_t *ret_n)
{
	int ret = 0;

	*ret_n = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < c->n && ret == 0; i++) {
			if (c->items[i].root == i && only_leaves(c, i) == (pass == 0))
				ret = group_fill(&groups[(*ret_n)++], c, i);
		}
	}
	return ret;
}

/* ---- turns ---------------------------------------------------------------------------------------------- */
static int set_join(struct set *into, struct set *from)
{
	int ret = 0;

	for (uint32_t i = 0; i < from->n && ret == 0; i++)
		ret = set_add(into, from->at[i]);
	set_fini(from);
	return ret;
}

static uint32_t size_of(const struct group *g)
{
	return g->leave.n + g->come.n;
}

/* `most`: modules that leave or come in a turn. */
static int groups_pack(struct group *groups, uint32_t *n, uint32_t most)
{
	uint32_t last = 0;
	int ret = 0;

	for (uint32_t i = 1; i < *n && ret == 0; i++) {
		if (size_of(&groups[last]) + size_of(&groups[i]) > most) {
			groups[++last] = groups[i];
			if (last != i)
				groups[i] = (struct group){ 0 };
			continue;
		}
		ret = set_join(&groups[last].change, &groups[i].change);
		if (ret == 0)
			ret = set_join(&groups[last].leave, &groups[i].leave);
		if (ret == 0)
			ret = set_join(&groups[last].come, &groups[i].come);
	}
	if (ret == 0 && *n > 0)
		*n = last + 1;
	return ret;
}

int plan_groups(const struct plan *p, struct group **ret_groups, uint32_t *ret_n)
{
	struct cut c = { .plan = p };
	struct group *groups;
	uint32_t most = p->all->there.n + p->coming.n + 1;
	int ret = -ENOMEM;

	c.items = calloc(most, sizeof(*c.items));
	groups = calloc(most, sizeof(*groups));
	*ret_n = 0;
	if (c.items != NULL && groups != NULL) {
		items_gather(&c);
		items_join(&c);
		ret = groups_make(&c, groups, ret_n);
	}
	if (ret == 0)
		ret = groups_pack(groups, ret_n, 2 + PER_TURN / (objects_total(p->all->parts->objects) + 1));
	free(c.items);
	if (ret < 0) {
		groups_free(groups, *ret_n);
		*ret_n = 0;
		return ret;
	}
	*ret_groups = groups;
	return 0;
}

void groups_free(struct group *groups, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		set_fini(&groups[i].change);
		set_fini(&groups[i].leave);
		set_fini(&groups[i].come);
	}
	free(groups);
}
