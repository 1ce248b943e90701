/* SPDX-License-Identifier: Apache-2.0
 *
 * vnodes.c - what scripts change of vnodes, on the server: as a manager's request would, so that permissions,
 * checks and taps of the point node_modify hold; state bits by the service node.
 *
 * All changes of one vnode that follow each other are one set: made together, or not at all.
 */
#include "server.h"

#include <stdlib.h>

#include "keel/service/node.h"

/* A script sets and clears these; of others a vnode's state is what it is. A host that is down stays down. */
#define STATE_SETS (KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM | KEEL_NODE_DOWN | KEEL_NODE_SLEEP)
#define STATE_CLEARS (KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM | KEEL_NODE_SLEEP)

struct vnode_work {
	struct state *st;
	const char *who;
	struct keel_obj *node;
	struct keel_changes *set;
	uint32_t n;
	bool has_state;
	uint32_t state;
	int32_t code;
	struct keel_err err;
};

/* Is the text a number of bits, as pbs.ND_OFFLINE is? */
static bool state_bits(const char *text, uint32_t *ret)
{
	char *end;
	const long long bits = text ? strtoll(text, &end, 0) : -1;

	if (!text || end == text || *end || bits < 0 || bits > UINT32_MAX)
		return false;
	*ret = (uint32_t)bits;
	return true;
}

static int32_t vnode_add(struct vnode_work *w, const struct change *change)
{
	const struct keel_attrop op = { .name = change->attr, .key = change->key, .value = change->text,
					.op = change->text ? KEEL_SET : KEEL_UNSET };

	if (!w->set && !(w->set = keel_changes(w->st->mod)))
		return keel_error(&w->err, PBSE_SYSTEM, "System error: out of memory");
	w->n++;
	return keel_change(w->set, &server_manager, w->node, &op, &w->err);
}

static void vnode_take(struct vnode_work *w, const struct change *change)
{
	if (strcmp(change->attr, "state") == 0 && !change->key && state_bits(change->text, &w->state))
		w->has_state = true;
	else if (!w->code)
		w->code = vnode_add(w, change);
}

static void vnode_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	const char *who = arg;

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE)
		keel_log(mod, KEEL_LOG_DEBUG2, "Hook", who, "what it changes of a vnode is refused: %s",
			 outcome->text ? outcome->text : keel_pbse_text(outcome->code));
	free(arg);
}

static void state_make(struct vnode_work *w)
{
	const uint32_t now = keel_node_state(w->node), on = w->state & STATE_SETS & ~now,
		off = now & STATE_CLEARS & ~w->state;

	if (on)
		keel_node_set_state(w->node, on, true);
	if (off)
		keel_node_set_state(w->node, off, false);
}

/* The end of the changes of one vnode. */
static void vnode_make(struct vnode_work *w)
{
	char *who = w->set && !w->code ? strdup(w->who) : NULL;

	if (w->code)
		keel_log(w->st->mod, KEEL_LOG_DEBUG2, "Hook", w->who, "what it changes of vnode %s is refused: %s",
			 keel_id(w->node),
			 w->err.text);
	if (who)
		keel_raise(w->st->mod, &(struct keel_raise){
			.size = sizeof(struct keel_raise),
			.point = KEEL_POINT_node_modify,
			.event = KEEL_EVENT(node_modify, .id = keel_id(w->node), .node = w->node, .who = w->who),
			.changes = w->set,
			.done = vnode_decided,
			.arg = who,
		});
	else
		keel_discard(w->set);
	if (w->has_state && !w->code)
		state_make(w);
}

uint32_t vnodes_change(struct state *st, const char *who, const struct change *changes, uint32_t n)
{
	const char *target = changes[0].target, *vnode = target_vnode(target);
	struct vnode_work w = { .st = st, .who = who };
	uint32_t i = 0;

	if (vnode && keel_has(node))
		w.node = keel_find(st->mod, "node", vnode);
	for (; i < n && strcmp(changes[i].target, target) == 0; i++)
		if (w.node)
			vnode_take(&w, &changes[i]);
	if (w.node)
		vnode_make(&w);
	else if (vnode)
		keel_log(st->mod, KEEL_LOG_DEBUG2, "Hook", who, "it changes vnode %s, which there is not", vnode);
	return i;
}

/* ---- many --------------------------------------------------------------------------------------------------- */
#define SLICE 32 /* vnodes */

struct batch {
	struct batch *prev, *next;
	struct state *st;
	char who[128];
	struct change *changes;
	uint32_t n, at;
};

static void batch_free(struct batch *b)
{
	DL_DELETE(b->st->server->batches, b);
	changes_free(b->changes, b->n);
	free(b);
}

static uint32_t slice(struct state *st, const char *who, const struct change *changes, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t vnodes = 0; vnodes < SLICE && at < n; vnodes++)
		at += vnodes_change(st, who, changes + at, n - at);
	return at;
}

static void batch_due(struct keel_mod *mod, void *arg)
{
	struct batch *b = ((struct state *)mod->state)->server ? ((struct state *)mod->state)->server->batches : NULL;

	while (b && b != arg) /* the daemon is ending, and it is gone */
		b = b->next;
	if (!b)
		return;
	b->at += slice(b->st, b->who, b->changes + b->at, b->n - b->at);
	if (b->at == b->n || keel_defer(mod, batch_due, b))
		batch_free(b);
}

void vnodes_change_all(struct state *st, const char *who, const struct result *result)
{
	const uint32_t at = slice(st, who, result->changes, result->n_changes);
	struct batch *b = at < result->n_changes && st->server ? calloc(1, sizeof(*b)) : NULL;

	if (at == result->n_changes)
		return;
	if (b && (b->changes = changes_move(result->changes + at, result->n_changes - at))) {
		b->st = st;
		b->n = result->n_changes - at;
		snprintf(b->who, sizeof(b->who), "%s", who);
		DL_APPEND(st->server->batches, b);
		if (keel_defer(st->mod, batch_due, b) == 0)
			return;
		batch_free(b);
	} else {
		free(b);
	}
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", who,
		 "no memory for what it changes of vnodes: %u changes are not made", result->n_changes - at);
}

void vnodes_stop(struct state *st)
{
	while (st->server->batches)
		batch_free(st->server->batches);
}
