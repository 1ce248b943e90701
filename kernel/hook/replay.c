/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - notify modules that are being started of the objects that exist already.
 *
 * Calls quiet taps only, those of modules that are attached and not started; or only those of one module that lost
 * its state. Their chain is made once per point, so that replay costs the other modules nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "hook/quick.h"
#include "object/objects.h"

struct replay {
	struct hooks *hooks;
	struct chain *chain[KEEL_POINT_MAX]; /* of the taps to call; NULL: none */
};

static bool is_known_point(const struct point *p)
{
	return p->info != NULL && p->chain != NULL && p->kind == KEEL_NOTE &&
	       p->event_size >= sizeof(struct known_event) &&
	       p->id_at == offsetof(struct known_event, id) &&
	       p->obj_at == offsetof(struct known_event, obj);
}

static bool is_replayed(const struct tap *t, const struct owner *only)
{
	return only != NULL ? t->owner == only : (t->off & TAP_QUIET) != 0;
}

/* The taps to call, in order. NULL: none, or an error: *ret_failed. */
static struct chain *replay_chain(const struct chain *all, const struct owner *only, bool *ret_failed)
{
	struct chain *c;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++)
		n += is_replayed(all->tap[i], only);
	if (n == 0)
		return NULL;
	c = calloc(1, sizeof(*c) + n * sizeof(c->tap[0]));
	if (c == NULL) {
		*ret_failed = true;
		return NULL;
	}
	c->refs = 1;
	for (uint32_t i = 0; i < all->n; i++) {
		if (!is_replayed(all->tap[i], only))
			continue;
		all->tap[i]->refs++;
		c->tap[c->n++] = all->tap[i];
	}
	return c;
}

static void replay_close(struct replay *r)
{
	if (r == NULL)
		return;
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++)
		chain_unref(r->chain[i]);
	free(r);
}

static int replay_open(struct hooks *h, const struct owner *only, struct replay **ret_replay)
{
	struct replay *r = calloc(1, sizeof(*r));
	bool failed = r == NULL;

	for (uint32_t i = 0; i < KEEL_POINT_MAX && !failed; i++) {
		if (is_known_point(&h->point[i]))
			r->chain[i] = replay_chain(h->point[i].chain, only, &failed);
	}
	if (failed) {
		replay_close(r);
		return -ENOMEM;
	}
	r->hooks = h;
	*ret_replay = r;
	return 0;
}

static uint32_t replay_wants(void *arg, uint32_t point)
{
	const struct replay *r = arg;

	return point < KEEL_POINT_MAX && r->chain[point] != NULL ? r->chain[point]->n : 0;
}

static void replay_known(void *arg, uint32_t point, const char *id, struct keel_obj *obj)
{
	const struct known_event event = { .size = sizeof(event), .id = id, .obj = obj };
	const struct replay *r = arg;
	struct hooks *h = r->hooks;
	struct point *p = &h->point[point];
	union any_event room;
	struct outcome out;
	struct op op;

	op_init(&op, h, p, event_whole(p, &event, &room));
	op.chain = r->chain[point];
	op.special = OP_REPLAY;
	op_enter(h, &op);
	op_run(&op, &out);
	op_leave(h, &op);
}

int hooks_replay(struct hooks *h, struct objects *objects, const struct owner *only)
{
	struct replay *r;
	int ret = replay_open(h, only, &r);

	if (ret < 0)
		return ret;
	objects_replay(objects, &(struct objects_listener){ .wants = replay_wants, .known = replay_known, .arg = r });
	replay_close(r);
	return 0;
}

int32_t hook_replay(struct keel_mod *m)
{
	const struct parts *p = owner_of(m)->parts;

	return p->objects != NULL ? hooks_replay(p->hooks, p->objects, owner_of(m)) : 0;
}
