/* SPDX-License-Identifier: Apache-2.0
 *
 * candidate.c - which running jobs may be chosen, and in which order.
 *
 * Lowest level first, the most recently started first. Looked at are only crowds of a lower level.
 */
#include "preemption.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "relevance.h"

#define BROKEN                                                                                     \
	(KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM | KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN)

static int by_level(const void *a, const void *b)
{
	const struct runner *x = *(const struct runner *const *)a;
	const struct runner *y = *(const struct runner *const *)b;

	if (x->crowd->level != y->crowd->level)
		return x->crowd->level < y->crowd->level ? -1 : 1;
	if (x->since != y->since)
		return x->since > y->since ? -1 : 1;
	return x->number > y->number ? -1 : x->number < y->number;
}

/* ---- methods ----------------------------------------------------------------------------------------- */

static bool has_room(const struct method *m)
{
	return !m->def->room || m->taken < m->def->room(m->owner);
}

struct method *first_method(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *letter;
	struct method *m;

	for (letter = letters_for(mod, job); *letter; letter++) {
		m = method_find(st, *letter);
		if (m && has_room(m) && m->def->applies(m->owner, job))
			return m;
	}
	return NULL;
}

struct method *first_useful(struct keel_mod *mod, struct keel_obj *job, char *ret_only)
{
	struct state *st = mod->state;
	struct method *m = first_method(mod, job);
	int32_t len;

	*ret_only = '\0';
	if (!m || !(m->def->flags & KEEL_PREEMPT_STAYS))
		return m;
	len = st->job->release_names(st->job->self, job, ret_only, 256);
	if (len == -ENODATA)
		*ret_only = '\0';
	return len == -ENODATA || (len >= 0 && len < 256) ? m : NULL;
}

/* ---- vnodes ------------------------------------------------------------------------------------------- */

static struct keel_exec *exec_of(struct state *st, struct keel_obj *job)
{
	const char *text = st->object->get_str(job, st->a.exec_vnode);
	struct keel_exec *exec = NULL;

	if (!text || st->resource->exec_parse(st->resource->self, text, &exec, NULL))
		return NULL;
	return exec;
}

static bool shares_vnode(const struct keel_exec *one, const struct keel_exec *other)
{
	uint32_t i, k;

	for (i = 0; i < one->n; i++)
		for (k = 0; k < other->n; k++)
			if (strcmp(one->part[i].vnode, other->part[k].vnode) == 0)
				return true;
	return false;
}

static bool vnodes_are_well(struct keel_mod *mod, const struct keel_exec *exec)
{
	struct state *st = mod->state;
	uint32_t i;

	for (i = 0; i < exec->n; i++) {
		struct keel_obj *node = st->object->find(mod, "node", exec->part[i].vnode);

		if (!node || (st->node->state(st->node->self, node) & BROKEN) ||
		    !st->node->linked(st->node->self, node))
			return false;
	}
	return true;
}

/* `own`: where a suspended job goes on, and nowhere else; NULL: anywhere. */
static bool vnodes_help(struct keel_mod *mod, struct keel_obj *victim, const struct keel_exec *own)
{
	struct state *st = mod->state;
	struct keel_exec *exec = exec_of(st, victim);
	bool help = exec && vnodes_are_well(mod, exec) && (!own || shares_vnode(exec, own));

	st->resource->exec_free(exec);
	return help;
}

/* ---- relevance ------------------------------------------------------------------------------------------ */

static bool same(struct state *st, const struct keel_attr *attr, struct keel_obj *a,
		 struct keel_obj *b)
{
	const char *x = st->object->get_str(a, attr), *y = st->object->get_str(b, attr);

	return x && y && strcmp(x, y) == 0;
}

/* Where nothing is counted nobody can give it back; such a mismatch excludes nobody. */
static bool uses(struct state *st, struct keel_obj *victim, const char *what)
{
	const struct keel_resource *res = st->resource->find(st->resource->self, what);

	if (!res || res->type > KEEL_RES_TIME ||
	    !(res->flags & (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)))
		return true;
	return st->resource->list_number(st->object->get_ptr(victim, st->a.list), what, 0) > 0;
}

static bool is_relevant(struct state *st, const struct search *s, struct keel_obj *job,
			uint32_t bits, struct keel_obj *victim)
{
	return (!(bits & SAME_QUEUE) || same(st, st->a.queue, job, victim)) &&
	       (!(bits & SAME_USER) || same(st, st->a.euser, job, victim)) &&
	       (!(bits & SAME_GROUP) || same(st, st->a.egroup, job, victim)) &&
	       (!(bits & SAME_PROJECT) || same(st, st->a.project, job, victim)) &&
	       (!(bits & USES_RESOURCE) || uses(st, victim, s->what));
}

/* ---- the list -------------------------------------------------------------------------------------------- */

/* It is not ending by itself, and did not refuse before. */
static bool may_be_asked(struct state *st, const struct search *s, struct keel_obj *job, const struct runner *r)
{
	return r->job != job && r->tried_by != s->number && st->job->state(st->job->self, r->job) == 'R';
}

static uint32_t lower(struct state *st, int64_t level)
{
	struct crowd *c;
	uint32_t n = 0;

	for (c = st->crowds; c; c = c->next)
		if (c->level < level)
			n += c->n;
	return n;
}

struct runner **candidates(struct keel_mod *mod, const struct search *s, struct keel_obj *job,
			   uint32_t relevance, uint32_t *ret_n)
{
	struct state *st = mod->state;
	uint32_t room = lower(st, s->level), n = 0;
	struct runner **list = room ? calloc(room, sizeof(struct runner *)) : NULL, *r;
	struct keel_exec *own =
		st->job->is_suspended(st->job->self, job) ? exec_of(st, job) : NULL;
	struct crowd *c;
	char only[256];

	*ret_n = 0;
	for (c = list ? st->crowds : NULL; c; c = c->next)
		for (r = c->level < s->level ? c->first : NULL; r; r = r->next)
			if (may_be_asked(st, s, job, r) && is_relevant(st, s, job, relevance, r->job) &&
			    vnodes_help(mod, r->job, own) &&
			    first_useful(mod, r->job, only))
				list[n++] = r;
	st->resource->exec_free(own);
	if (n)
		qsort(list, n, sizeof(struct runner *), by_level);
	*ret_n = n;
	return list;
}
