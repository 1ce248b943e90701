/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - which admin-suspended jobs are on a vnode.
 *
 * Invariant: a vnode has the maintenance bit exactly while its list is not empty. A job is on the list
 * of every vnode of its exec_vnode, once. Removal looks at the lists, not at exec_vnode, so that a job
 * that lost vnodes meanwhile leaves nothing behind.
 */
#include "admin-suspend.h"

#include <stdlib.h>
#include <string.h>

static bool is_listed(const struct vnode *v, const char *job_id)
{
	const struct listed *l;

	for (l = v->jobs; l; l = l->next)
		if (strcmp(l->id, job_id) == 0)
			return true;
	return false;
}

static void insert(struct keel_mod *mod, struct keel_obj *node, const char *job_id, int64_t number)
{
	struct state *st = mod->state;
	struct vnode *v = st->object->slot(mod, node);
	struct listed **at, *l;

	if (!v || is_listed(v, job_id) || !(l = calloc(1, sizeof(*l))))
		return;
	l->id = strdup(job_id);
	l->number = number;
	for (at = &v->jobs; *at && (*at)->number <= number; at = &(*at)->next)
		;
	l->next = *at;
	*at = l;
	st->node->set_state(st->node->self, node, MAINTENANCE_BIT, true);
}

void listing_add(struct keel_mod *mod, struct keel_obj *job, int64_t number)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(job, st->exec_vnode);
	struct keel_exec *exec;
	uint32_t i;

	if (!text || st->resource->exec_parse(st->resource->self, text, &exec, NULL))
		return;
	for (i = 0; i < exec->n; i++) {
		struct keel_obj *node = st->object->find(mod, "node", exec->part[i].vnode);

		if (node)
			insert(mod, node, st->object->id(job), number);
	}
	st->resource->exec_free(exec);
}

static void remove_from(struct keel_mod *mod, struct keel_obj *node, const char *job_id)
{
	struct state *st = mod->state;
	struct vnode *v = st->object->slot(mod, node);
	struct listed **at, *gone;

	for (at = v ? &v->jobs : NULL; at && *at; at = &(*at)->next)
		if (strcmp((*at)->id, job_id) == 0)
			break;
	if (!at || !(gone = *at))
		return;
	*at = gone->next;
	free(gone->id);
	free(gone);
	if (!v->jobs)
		st->node->set_state(st->node->self, node, MAINTENANCE_BIT, false);
}

void listing_remove(struct keel_mod *mod, const char *job_id)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "node");
	struct keel_obj *node;

	while (walk && (node = st->object->next(walk)))
		remove_from(mod, node, job_id);
	if (walk)
		st->object->cursor_close(walk);
}

bool listing_is_empty(struct keel_mod *mod, struct keel_obj *node)
{
	struct state *st = mod->state;
	const struct vnode *v = st->object->slot(mod, node);

	return !v || !v->jobs;
}

void derive_maintenance_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	struct state *st = mod->state;
	const struct vnode *v = st->object->slot(mod, node);
	const struct listed *l;
	size_t len = 0;
	char *text, *p;

	for (l = v ? v->jobs : NULL; l; l = l->next)
		len += strlen(l->id) + 1;
	if (len == 0 || !(text = malloc(len)))
		return;
	for (l = v->jobs, p = text; l; l = l->next) {
		p = stpcpy(p, l->id);
		if (l->next)
			*p++ = ',';
	}
	emit->fn(emit->arg, NULL, text, (uint32_t)(p - text));
	free(text);
}

void vnode_fini(struct keel_mod *mod, void *slot)
{
	struct vnode *v = slot;
	struct listed *l, *next;

	(void)mod;
	for (l = v->jobs; l; l = next) {
		next = l->next;
		free(l->id);
		free(l);
	}
}
