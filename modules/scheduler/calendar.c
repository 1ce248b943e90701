/* SPDX-License-Identifier: Apache-2.0
 *
 * calendar.c - running jobs that will end, jobs that are planned.
 *
 * A vnode's free amounts only shrink when a planned job begins there. So the least that is free between
 * two moments is the least of: what is free at the first, and what is left ("slack") beside each planned
 * job that begins in between.
 */
#include "calendar.h"
#include "spans.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

void calendar_init(struct calendar *c, int64_t now, int64_t grain,
		   void (*exec_free)(struct keel_exec *))
{
	memset(c, 0, sizeof(*c));
	c->now = now;
	c->grain = grain;
	c->exec_free = exec_free;
}

static void planned_free(struct calendar *c, struct planned *p)
{
	c->exec_free(p->exec);
	if (p->pool)
		pools_free(p->pool, p->n_pool);
	free(p->who);
	free(p->node);
	free(p->slack);
}

void calendar_fini(struct calendar *c)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		block_put(c->list[i].block);
	for (i = 0; i < c->n; i++)
		if (c->list[i].owned) {
			c->exec_free((struct keel_exec *)c->list[i].exec);
			free((char *)c->list[i].who);
		}
	for (i = 0; i < c->n_planned; i++)
		planned_free(c, &c->planned[i]);
	free(c->list);
	free(c->begin);
	free(c->planned);
	memset(c, 0, sizeof(*c));
}

static bool happening_add(struct calendar *c, const struct happening *h)
{
	if (c->n == c->room) {
		uint32_t room = c->room ? c->room * 2 : 64;
		struct happening *bigger = reallocarray(c->list, room, sizeof(*bigger));

		if (!bigger)
			return false;
		c->list = bigger;
		c->room = room;
	}
	c->list[c->n++] = *h;
	c->sorted = false;
	return true;
}

bool calendar_end(struct calendar *c, int64_t at, int64_t till, struct keel_exec *exec, int32_t share,
		  const char *who)
{
	struct happening h = { .at = at > c->now ? at : c->now + 1, .till = till, .exec = exec, .share = share,
			       .who = strdup(who), .owned = true };

	if (h.who && happening_add(c, &h))
		return true;
	free((char *)h.who);
	c->exec_free(exec);
	return false;
}

static bool begin_add(struct calendar *c, int64_t from)
{
	uint32_t room = c->room_begin ? c->room_begin * 2 : 16;
	int64_t *bigger = c->n_begin < c->room_begin ? c->begin : reallocarray(c->begin, room, sizeof(*bigger));

	if (!bigger)
		return false;
	c->room_begin = c->n_begin < c->room_begin ? c->room_begin : room;
	c->begin = bigger;
	c->begin[c->n_begin++] = from;
	c->sorted = false;
	return true;
}

static bool block_happens(struct calendar *c, struct block *b, int64_t at, bool begins)
{
	if (!happening_add(c, &(struct happening){ .at = at, .begins = begins, .block = b }))
		return false;
	b->refs++;
	return true;
}

bool calendar_block(struct calendar *c, struct block *b)
{
	if (b->till <= c->now)
		return true;
	if (b->from > c->now && !(begin_add(c, b->from) && block_happens(c, b, b->from, true)))
		return false;
	return block_happens(c, b, b->till, false);
}

/* ---- planned jobs --------------------------------------------------------------------------------- */

static bool slack_note(struct planned *p, const struct snapshot *after)
{
	uint32_t i, k, at;

	p->node = calloc(p->exec->n + 1, sizeof(*p->node));
	p->slack = calloc((size_t)p->exec->n * after->n_column + 1, sizeof(*p->slack));
	for (i = 0; p->node && p->slack && i < p->exec->n; i++) {
		const struct vnode *v = vnode_named(after, p->exec->part[i].vnode);
		double *slack = p->slack + (size_t)p->n_node * after->n_column;

		for (at = 0; v && at < p->n_node && p->node[at] != v - after->node; at++)
			;
		if (!v || at < p->n_node)
			continue; /* none, or there already */
		for (k = 0; k < after->n_column; k++)
			slack[k] = *amount_at(after, (uint32_t)(v - after->node), k);
		p->node[p->n_node++] = (uint32_t)(v - after->node);
	}
	return p->node && p->slack;
}

static void slack_take(struct planned *p, const struct snapshot *s, uint32_t node,
		       const struct keel_exec *exec, uint32_t part)
{
	uint32_t i, k;

	for (i = 0; i < p->n_node; i++)
		for (k = 0; p->node[i] == node && k < exec->part[part].n; k++) {
			uint32_t column = column_of(s, exec->part[part].v[k].res);

			if (column < s->n_column)
				p->slack[(size_t)i * s->n_column + column] -=
					in_part(&exec->part[part], part, k);
		}
}

/* What begins after `from` has less beside it. */
void calendar_begun(struct calendar *c, const struct snapshot *s, const struct keel_exec *exec,
		    int64_t from, int64_t till, const char *who)
{
	uint32_t i, k;

	for (i = 0; i < c->n_planned; i++) {
		struct snapshot slack = { .pool = c->planned[i].pool, .n_pool = c->planned[i].n_pool };

		if (c->planned[i].from <= from || c->planned[i].from >= till)
			continue;
		if (c->moved)
			c->moved(c->arg, &slack, who, NULL, 1);
		for (k = 0; k < exec->n; k++) {
			const struct vnode *v = vnode_named(s, exec->part[k].vnode);

			if (v)
				slack_take(&c->planned[i], s, (uint32_t)(v - s->node), exec, k);
		}
	}
}

bool calendar_plan(struct calendar *c, int64_t from, int64_t till, int64_t longest, struct keel_exec *exec,
		   int32_t share, const char *who, const struct snapshot *after)
{
	struct planned p = { .from = from, .till = till, .exec = exec, .share = share,
			     .who = strdup(who), .pool = pools_copy(after), .n_pool = after->n_pool };

	calendar_begun(c, after, exec, from, till, who);
	if (c->n_planned == c->room_planned) {
		uint32_t room = c->room_planned ? c->room_planned * 2 : 4;
		struct planned *bigger = reallocarray(c->planned, room, sizeof(*bigger));

		if (bigger) {
			c->planned = bigger;
			c->room_planned = room;
		}
	}
	if (c->n_planned == c->room_planned || !p.who || !p.pool || !slack_note(&p, after) ||
	    !happening_add(c, &(struct happening){ .at = from, .till = from + longest, .exec = exec, .share = share,
						   .who = p.who, .begins = true })) {
		planned_free(c, &p);
		return false;
	}
	c->planned[c->n_planned++] = p;
	happening_add(c, &(struct happening){ .at = till, .till = from + longest, .exec = exec, .share = share,
					      .who = p.who });
	return true;
}

/* ---- holds ----------------------------------------------------------------------------------------------- */

/* What is held of a vnode. */
struct held {
	uint32_t node;
	bool barred;    /* it was open before */
	double *amount; /* per column */
};
struct holds {
	struct held *list;
	uint32_t n, room, n_column;
	double *amounts;
	struct pool *pool; /* what is held of queues and server */
	uint32_t n_pool;
};

bool calendar_crosses(const struct calendar *c, int64_t from, int64_t till)
{
	uint32_t i;

	for (i = 0; i < c->n_planned; i++)
		if (c->planned[i].from > from && c->planned[i].from < till)
			return true;
	return false;
}

/* A vnode whose planned job is exclusive is closed, else it loses what exceeds the slack. */
static void hold_one(struct holds *h, struct snapshot *s, uint32_t node, const double *slack,
		     bool alone)
{
	struct held *one = &h->list[h->n];
	struct vnode *v = &s->node[node];
	uint32_t k;

	one->node = node;
	one->amount = h->amounts + (size_t)h->n * h->n_column;
	one->barred = alone && !v->down;
	h->n++;
	if (one->barred)
		v->down = true;
	for (k = 0; slack && k < h->n_column; k++) {
		double *free_now = amount_at(s, node, k), less = *free_now - slack[k];

		if (!(less > 0)) /* both may be without end */
			continue;
		one->amount[k] = less;
		*free_now -= less;
	}
	v->jobs++; /* no exclusive job may cross it */
	vnode_judge(s, v);
	snapshot_changed(s, node);
}

static uint32_t nodes_of(const struct planned *p, const struct snapshot *s, uint32_t i, bool *ret_alone,
			 const uint32_t **ret_nodes)
{
	const struct vnode *v = &s->node[p->node[i]];
	int32_t kind = v->share[p->share & 3];
	uint32_t n = 0;

	*ret_alone = kind != KEEL_SHARE_SHARED;
	*ret_nodes = kind == KEEL_SHARE_EXCLHOST ? order_of_host(s, v->host, &n) : NULL;
	return n;
}

static void hold_planned(struct holds *h, struct snapshot *s, const struct planned *p)
{
	uint32_t i, k, n;
	const uint32_t *others;
	bool alone;

	for (i = 0; i < p->n_node; i++) {
		n = nodes_of(p, s, i, &alone, &others);
		for (k = 0; k < n; k++)
			if (others[k] != p->node[i] && h->n < h->room)
				hold_one(h, s, others[k], NULL, true);
		if (h->n < h->room)
			hold_one(h, s, p->node[i], p->slack + (size_t)i * h->n_column, alone);
	}
}

/* No more of queues and server than is left beside it. */
static void hold_totals(struct snapshot *s, const struct planned *p)
{
	uint32_t i, j, k;

	for (i = 0; i < s->n_pool; i++) {
		const struct pool *slack = NULL;
		const char *queue = s->pool[i].queue;

		for (j = 0; j < p->n_pool && !slack; j++)
			if ((!queue && !p->pool[j].queue) ||
			    (queue && p->pool[j].queue && strcmp(queue, p->pool[j].queue) == 0))
				slack = &p->pool[j];
		for (k = 0; slack && k < s->pool[i].n && k < slack->n; k++)
			if (slack->amount[k].res == s->pool[i].amount[k].res &&
			    slack->amount[k].free < s->pool[i].amount[k].free)
				s->pool[i].amount[k].free = slack->amount[k].free;
	}
}

static void holds_free(struct holds *h)
{
	if (h->pool)
		pools_free(h->pool, h->n_pool);
	free(h->list);
	free(h->amounts);
	free(h);
}

struct holds *calendar_hold(const struct calendar *c, struct snapshot *s, int64_t from, int64_t till)
{
	struct holds *h = calloc(1, sizeof(*h));
	const uint32_t *others;
	uint32_t i, m, k;
	bool alone;

	if (!h)
		return NULL;
	h->n_column = s->n_column;
	for (i = 0; i < c->n_planned; i++)
		for (k = 0; c->planned[i].from > from && c->planned[i].from < till && k < c->planned[i].n_node; k++)
			h->room += 1 + nodes_of(&c->planned[i], s, k, &alone, &others);
	h->list = calloc(h->room + 1, sizeof(*h->list));
	h->amounts = calloc((size_t)h->room * h->n_column + 1, sizeof(*h->amounts));
	h->pool = pools_copy(s);
	h->n_pool = s->n_pool;
	if (!h->list || !h->amounts || !h->pool) {
		holds_free(h);
		return NULL;
	}
	for (i = 0; i < c->n_planned; i++)
		if (c->planned[i].from > from && c->planned[i].from < till) {
			hold_planned(h, s, &c->planned[i]);
			hold_totals(s, &c->planned[i]);
		}
	/* What is held of each amount, by what there was before. */
	for (m = 0; m < h->n_pool; m++)
		for (k = 0; k < h->pool[m].n; k++)
			h->pool[m].amount[k].free -= s->pool[m].amount[k].free;
	return h;
}

void calendar_unhold(struct snapshot *s, struct holds *h)
{
	uint32_t k, i, m;

	if (!h)
		return;
	while (h->n > 0) {
		struct held *one = &h->list[--h->n];
		struct vnode *v = &s->node[one->node];

		for (k = 0; k < h->n_column; k++)
			*amount_at(s, one->node, k) += one->amount[k];
		if (one->barred)
			v->down = false;
		v->jobs -= v->jobs > 0;
		vnode_judge(s, v);
		snapshot_changed(s, one->node);
	}
	for (i = 0; i < s->n_pool && i < h->n_pool; i++)
		for (m = 0; m < s->pool[i].n && m < h->pool[i].n; m++)
			s->pool[i].amount[m].free += h->pool[i].amount[m].free;
	holds_free(h);
}
