/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.c - service "sched": blocks come and go; who is on a vnode, for what is free there later.
 */
#include "scheduler.h"

#include "keel/sized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, exec_vnode);

/* ---- the snapshot follows ------------------------------------------------------------------------------------- */

static void vnode_doubt(struct vnode *v)
{
	v->unsure = true;
}

/* Its vnodes are read again. */
static void block_doubt(struct state *st, const struct block *b)
{
	uint32_t i;

	for (i = 0; st->snapshot && b->exec && i < b->exec->n; i++) {
		const struct vnode *v = vnode_named(st->snapshot, b->exec->part[i].vnode);

		if (v)
			spans_touch(st->snapshot, (uint32_t)(v - st->snapshot->node), vnode_doubt);
	}
	st->unsure = true;
}

void blocks_pass(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t now = keel_time(mod), before = st->spans_at;
	const struct promiser *p;
	const struct block *b;

	if (now < st->spans_next && now >= before)
		return;
	for (p = st->spans.by_id; p; p = p->hh.next)
		for (b = p->first; b; b = b->next)
			if (now < before || spans_sooner(b, before, INT64_MAX) <= now ||
			    (b->till > before && b->till <= now))
				block_doubt(st, b);
	st->spans_at = now;
	st->spans_next = spans_next(&st->spans, now);
}

/* ---- tenants ------------------------------------------------------------------------------------------------------ */

struct asker {
	struct keel_mod *mod;
	int64_t until;
	void (*fn)(void *to, const struct tenant *t);
	void *to;
};

/* What it has, parsed once while it is where it is; NULL: nothing is known, or no memory. */
static const struct keel_exec *held_of(struct keel_obj *job, struct entry *e, bool suspended)
{
	if (!e->held)
		e->held = suspended ? exec_kept(job) : exec_held(job);
	if (e->held && !e->held_by_name)
		e->held_by_name = exec_by_name(e->held);
	return e->held_by_name ? e->held : NULL;
}

void held_forget(struct entry *e)
{
	keel_resource_exec_free(e->held);
	free(e->held_by_name);
	e->held = NULL;
	e->held_by_name = NULL;
}

static void tenant_give(void *arg, const char *job_id, bool suspended)
{
	struct asker *a = arg;
	struct keel_obj *job = keel_find(a->mod, "job", job_id);
	struct entry *e = job ? entry_of(a->mod, job) : NULL;
	struct tenant t = { .till = e && !suspended ? job_until(a->mod, job) : INT64_MAX };

	if (t.till <= keel_time(a->mod)) /* it is late */
		t.till = keel_time(a->mod) + 1;
	if (!e || (t.till > a->until && a->until < INT64_MAX) || !(t.exec = held_of(job, e, suspended)))
		return;
	t.by_name = e->held_by_name;
	t.queue = keel_get_str(job, job_queue);
	t.share = suspended ? KEEL_SHARE_SHARED : share_of(job);
	a->fn(a->to, &t);
}

static void tenants(void *arg, const char *vnode, int64_t until, void (*fn)(void *to, const struct tenant *), void *to)
{
	struct asker a = { arg, until, fn, to };
	struct keel_obj *node = keel_find(a.mod, "node", vnode);

	if (node)
		keel_node_tenants(node, tenant_give, &a);
}

void blocks_bind(struct keel_mod *mod, struct snapshot *s)
{
	struct state *st = mod->state;

	s->at = keel_time(mod);
	s->spans = &st->spans;
	s->tenants = tenants;
	s->tenants_arg = mod;
}

void blocks_end_moves(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *has = keel_get_str(job, job_exec_vnode);

	if (st->spans.n && has && *has)
		snapshot_unsure(mod, has);
}

/* ---- the service --------------------------------------------------------------------------------------------------- */

int32_t block(struct keel_mod *mod, const struct keel_sched_block *theirs, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_sched_block sized, *from = &sized;
	struct keel_exec *exec = NULL;
	struct block *b, *old;
	int32_t rc;

	KEEL_SIZED(&sized, theirs);
	if (!from->id || !*from->id || from->till <= from->from)
		return keel_error(err, PBSE_BADTSPEC, "a block needs an id, and must end after it begins");
	rc = from->exec_vnode && *from->exec_vnode ? keel_resource_exec_parse(from->exec_vnode, &exec, err) : 0;
	if (rc)
		return rc;
	b = block_make(from, exec, KEEL_USE_resource->exec_free);
	old = b ? spans_get(&st->spans, b->id, b->part) : NULL;
	if (old)
		block_doubt(st, old);
	if (!b || !spans_put(&st->spans, b)) {
		block_put(b);
		return keel_error(err, -ENOMEM, "out of memory");
	}
	block_doubt(st, b);
	st->spans_next = spans_sooner(b, keel_time(mod), st->spans_next);
	return 0;
}

void unblock(struct keel_mod *mod, const char *id, uint32_t from_part)
{
	struct state *st = mod->state;
	struct block *b = spans_at_least(&st->spans, id, from_part);

	if (!b)
		return;
	for (; b; b = spans_at_least(&st->spans, id, from_part)) {
		block_doubt(st, b);
		spans_drop(&st->spans, b);
	}
	st->relevance++;
	wake(mod, CMD_ENDED);
}
