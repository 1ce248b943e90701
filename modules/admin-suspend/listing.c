/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - the admin-suspended jobs on a vnode.
 *
 * Invariant: a vnode has the maintenance bit exactly while its list is not empty. A job is on the list of every vnode
 * of its exec_vnode, once. Removal searches the lists of the vnodes in maintenance, not exec_vnode, which may have lost
 * vnodes meanwhile.
 */
#include "admin-suspend.h"
#include "keel/text.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, exec_vnode);

static bool insert(struct keel_mod *mod, struct keel_obj *node, const char *job_id, int64_t number)
{
	struct state *st = mod->state;
	struct vnode *v = keel_slot(mod, node);
	struct listed **at, *l;
	bool first;

	for (l = v ? v->jobs : NULL; l; l = l->next)
		if (strcmp(l->id, job_id) == 0)
			return true;
	l = v ? calloc(1, sizeof(*l)) : NULL;
	if (!l || !(l->id = strdup(job_id))) {
		free(l);
		return false;
	}
	l->number = number;
	first = !v->jobs;
	for (at = &v->jobs; *at && (*at)->number <= number; at = &(*at)->next)
		;
	l->next = *at;
	*at = l;
	if (first) {
		v->node = node;
		v->next = st->in_maintenance;
		st->in_maintenance = v;
		keel_node_set_state(node, MAINTENANCE_BIT, true);
	}
	return true;
}

bool listing_add(struct keel_mod *mod, struct keel_obj *job, int64_t number)
{
	const char *text = keel_get_str(job, job_exec_vnode);
	struct keel_exec *exec;
	bool done = true;
	uint32_t i;

	if (!text || keel_resource_exec_parse(text, &exec, NULL))
		return false;
	for (i = 0; i < exec->n && done; i++) {
		struct keel_obj *node = keel_find(mod, "node", exec->part[i].vnode);

		done = !node || insert(mod, node, keel_id(job), number);
	}
	keel_resource_exec_free(exec);
	if (!done)
		listing_remove(mod, keel_id(job));
	return done;
}

/* The states change last: their taps find all lists updated. */
void listing_remove(struct keel_mod *mod, const char *job_id)
{
	struct state *st = mod->state;
	struct vnode **at = &st->in_maintenance, *v, *out = NULL;
	struct listed **in, *gone;

	while ((v = *at)) {
		for (in = &v->jobs; *in && strcmp((*in)->id, job_id) != 0; in = &(*in)->next)
			;
		if ((gone = *in)) {
			*in = gone->next;
			free(gone->id);
			free(gone);
		}
		if (v->jobs) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		v->next = out;
		out = v;
	}
	while ((v = out)) {
		out = v->next;
		v->next = NULL;
		keel_node_set_state(v->node, MAINTENANCE_BIT, false);
	}
}

const struct listed *listing_of(struct keel_mod *mod, struct keel_obj *node)
{
	const struct vnode *v = keel_slot(mod, node);

	return v ? v->jobs : NULL;
}

void derive_maintenance_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	const struct listed *l;
	struct keel_text text;

	keel_text_init(&text);
	for (l = listing_of(mod, node); l; l = l->next)
		keel_text_printf(&text, "%s%s", text.len ? "," : "", l->id);
	if (text.len && !text.failed)
		emit->fn(emit->arg, NULL, text.data, (uint32_t)text.len);
	keel_text_fini(&text);
}

void vnode_fini(struct keel_mod *mod, void *slot)
{
	struct state *st = mod->state;
	struct vnode *v = slot, **at = &st->in_maintenance;
	struct listed *l, *next;

	while (v->jobs && *at && *at != v)
		at = &(*at)->next;
	if (v->jobs && *at)
		*at = v->next;
	for (l = v->jobs; l; l = next) {
		next = l->next;
		free(l->id);
		free(l);
	}
}
