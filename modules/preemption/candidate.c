/* SPDX-License-Identifier: Apache-2.0
 *
 * candidate.c - which running jobs may be chosen, and in which order.
 *
 * Lowest level first, the most recently started first; for a subjob that is run by name, the others of its array are
 * the last. Looked at are only crowds of a lower level.
 */
#include "preemption.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "relevance.h"

KEEL_ATTRS_OF(job, exec_vnode, Resource_List, queue, euser, egroup, project);

#define BROKEN                                                                                     \
	(KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM | KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN)

static int by_turn(const void *a, const void *b)
{
	const struct runner *x = *(const struct runner *const *)a;
	const struct runner *y = *(const struct runner *const *)b;

	if (x->sibling != y->sibling)
		return x->sibling ? 1 : -1;
	if (x->crowd->level != y->crowd->level)
		return x->crowd->level < y->crowd->level ? -1 : 1;
	if (x->since != y->since)
		return x->since > y->since ? -1 : 1;
	return x->number > y->number ? -1 : x->number < y->number;
}

void candidates_sort(struct runner **list, uint32_t *n)
{
	uint32_t i, kept = 0;

	for (i = 0; i < *n; i++)
		if (list[i])
			list[kept++] = list[i];
	for (i = kept; i < *n; i++)
		list[i] = NULL;
	*n = kept;
	if (kept)
		qsort(list, kept, sizeof(*list), by_turn);
}

/* ---- methods ----------------------------------------------------------------------------------------- */

struct method *first_method(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *letter;
	struct method *m;

	for (letter = letters_for(mod, job); *letter; letter++) {
		m = method_find(st, *letter);
		if (m && (!m->def->room || m->taken < m->def->room(m->owner)) &&
		    m->def->applies(m->owner, job))
			return m;
	}
	return NULL;
}

struct method *first_useful(struct keel_mod *mod, struct keel_obj *job, char **ret_only)
{
	struct method *m = first_method(mod, job);
	char few[256];
	int32_t len;

	*ret_only = NULL; /* it gives everything back */
	if (!m || !(m->def->flags & KEEL_PREEMPT_STAYS))
		return m;
	len = keel_job_release_names(job, few, sizeof(few));
	*ret_only = len < 0 ? NULL : malloc((size_t)len + 1);
	if (!*ret_only)
		return len == -ENODATA ? m : NULL;
	if ((size_t)len < sizeof(few))
		strcpy(*ret_only, few);
	else if (keel_job_release_names(job, *ret_only, (uint32_t)len + 1) != len)
		**ret_only = '\0'; /* not the same any more: nothing is known to come free */
	return m;
}

/* ---- vnodes ------------------------------------------------------------------------------------------- */

struct keel_exec *exec_of(struct keel_obj *job)
{
	const char *text = keel_get_str(job, job_exec_vnode);
	struct keel_exec *exec = NULL;

	if (!text || keel_resource_exec_parse(text, &exec, NULL))
		return NULL;
	return exec;
}

static bool vnodes_are_well(struct keel_mod *mod, const struct keel_exec *exec)
{
	uint32_t i;

	for (i = 0; i < exec->n; i++) {
		struct keel_obj *node = keel_find(mod, "node", exec->part[i].vnode);

		if (!node || (keel_node_state(node) & BROKEN) ||
		    !keel_node_linked(node))
			return false;
	}
	return true;
}

/* `own`: where a suspended job goes on, and nowhere else; NULL: anywhere. */
static bool vnodes_help(struct keel_mod *mod, struct keel_obj *victim, const struct keel_exec *own)
{
	struct keel_exec *exec = exec_of(victim);
	bool help = exec && vnodes_are_well(mod, exec), shared = !own;
	uint32_t i, k;

	for (i = 0; help && own && i < exec->n; i++)
		for (k = 0; !shared && k < own->n; k++)
			shared = strcmp(exec->part[i].vnode, own->part[k].vnode) == 0;
	keel_resource_exec_free(exec);
	return help && shared;
}

/* ---- relevance ------------------------------------------------------------------------------------------ */

static bool same(const struct keel_attr *attr, struct keel_obj *a,
		 struct keel_obj *b)
{
	const char *x = keel_get_str(a, attr), *y = keel_get_str(b, attr);

	return x && y && strcmp(x, y) == 0;
}

/* ---- the list -------------------------------------------------------------------------------------------- */

bool is_candidate(struct keel_mod *mod, const struct wanted *w, struct keel_obj *job, struct runner *r)
{
	const uint32_t bits = w->relevance;
	const struct keel_resource *res;
	struct keel_obj *victim = r->job;
	bool useful;
	char *only;

	r->sibling = w->s->level >= PRIO_HIGHEST && keel_id_is_kin(keel_id(job), keel_id(victim));
	/* It is not ending by itself, and did not refuse before. */
	if (victim == job || r->tried_by == w->s->number || keel_job_state(victim) != 'R')
		return false;
	if (((bits & SAME_QUEUE) && !same(job_queue, job, victim)) ||
	    ((bits & SAME_USER) && !same(job_euser, job, victim)) ||
	    ((bits & SAME_GROUP) && !same(job_egroup, job, victim)) ||
	    ((bits & SAME_PROJECT) && !same(job_project, job, victim)))
		return false;
	/* What is not counted cannot be given back; such a mismatch excludes no victim. */
	res = bits & USES_RESOURCE ? keel_resource_find(w->s->what) : NULL;
	if (res && res->type <= KEEL_RES_TIME && (res->flags & (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)) &&
	    keel_resource_list_number(keel_get_ptr(victim, job_Resource_List), w->s->what, 0) <= 0)
		return false;
	if (!vnodes_help(mod, victim, w->own))
		return false;
	useful = first_useful(mod, victim, &only) != NULL;
	free(only);
	return useful;
}
