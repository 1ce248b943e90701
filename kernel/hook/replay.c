/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - notify modules that are being started of the objects that exist already.
 *
 * Calls quiet taps only, those of modules that are attached and not started; or only those of one module that lost
 * its state.
 */
#include "hook/quick.h"
#include "object/objects.h"

struct replay {
	struct hooks *hooks;
	uint32_t wants[KEEL_POINT_MAX]; /* how many taps are called */
};

bool is_replayed(const struct hooks *h, const struct tap *t)
{
	return h->replay_only != NULL ? t->owner == h->replay_only : (t->off & TAP_QUIET) != 0;
}

static uint32_t replay_wants(void *arg, uint32_t point)
{
	const struct replay *r = arg;

	return point < KEEL_POINT_MAX ? r->wants[point] : 0;
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
	op.replay = 1;
	op_enter(h, &op);
	op_run(&op, &out);
	op_leave(h, &op);
}

void hooks_replay(struct hooks *h, struct objects *objects, const struct owner *only)
{
	struct replay r = { .hooks = h };

	h->replay_only = only;
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		const struct point *p = &h->point[i];
		bool is_known = p->kind == KEEL_NOTE && p->event_size >= sizeof(struct known_event) &&
				p->id_at == offsetof(struct known_event, id) &&
				p->obj_at == offsetof(struct known_event, obj);

		for (uint32_t k = 0; is_known && p->chain != NULL && k < p->chain->n; k++)
			r.wants[i] += is_replayed(h, p->chain->tap[k]);
	}
	objects_replay(objects, &(struct objects_listener){ .wants = replay_wants, .known = replay_known, .arg = &r });
	h->replay_only = NULL;
}

int32_t hook_replay(struct keel_mod *m)
{
	const struct parts *p = owner_of(m)->parts;

	if (p->objects != NULL)
		hooks_replay(p->hooks, p->objects, owner_of(m));
	return 0;
}
