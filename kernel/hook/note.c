/* SPDX-License-Identifier: Apache-2.0
 *
 * note.c - NOTE points: notify each tap, in order.
 *
 * A note about an object on which an operation is running is queued until that operation has left the
 * stack, so that an operation never sees its object change. Notes raised by queued notes count generations;
 * beyond DEPTH_MAX of them, or of nested operations, they wait for the loop, so that two modules that react to
 * each other cannot stop the daemon.
 *
 * A queued note has a NULL object when the object is gone meanwhile; its id is still there.
 *
 * A replay notifies modules of the objects that exist already: the quiet taps, those of modules that are attached and not
 * started, or only the taps of one module that lost its state.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/quick.h"
#include "object/objects.h"

struct note {
	struct note *prev, *next;
	struct point *point;
	struct copy *copy;
	uint32_t generation;
	bool late; /* waits for the next turn */
	bool runs;
};

/* ---- notifying --------------------------------------------------------------------------------- */
static void note_run(struct hooks *h, struct point *p, const void *event, const struct note *waited)
{
	struct op op;

	if (p->chain != NULL) {
		op_init(&op, h, p, event);
		op.from_queue = waited != NULL;
		op.generation = waited != NULL ? waited->generation :
				h->top != NULL ? h->top->generation : 0;
		op_enter(h, &op);
		op_run(&op);
		op_leave(h, &op);
	}
	if (p->waiters > 0)
		holds_match(h, p, event);
}

/* ---- waiting ------------------------------------------------------------------------------------- */
/* Is an operation running on the object of this event? */
static bool is_running(const struct hooks *h, const struct point *p, const void *event)
{
	const struct keel_obj *obj = event_obj(p, event);
	const char *id = event_id(p, event);

	for (const struct op *op = h->top; op != NULL; op = op->outer) {
		const struct keel_obj *other = event_obj(op->point, op->event);
		const char *other_id = event_id(op->point, op->event);

		if (obj != NULL || other != NULL) {
			if (obj == other)
				return true;
		} else if (id != NULL && other_id != NULL && strcmp(id, other_id) == 0) {
			return true;
		}
	}
	return false;
}

static void note_wait(struct hooks *h, struct point *p, const void *event, bool late)
{
	struct note *n = calloc(1, sizeof(*n));

	if (n == NULL || (n->copy = copy_event(h, p, event)) == NULL) {
		free(n);
		hooks_log(h, KEEL_LOG_ERROR, event_id(p, event),
			  "no memory to keep the event %s; restart the daemon, it replays what exists", p->info->name);
		return;
	}
	n->point = p;
	n->late = late;
	n->generation = late ? 0 : h->top->generation + 1;
	DL_APPEND(h->notes, n);
	h->chores = true;
	if (!late)
		return;
	hooks_log(h, KEEL_LOG_ERROR, event_id(p, event),
		  "%s is raised by events that raise each other, more than %d deep; taps are notified in the next turn",
		  p->info->name, DEPTH_MAX);
	ops_wake(h);
}

static void note_free(struct hooks *h, struct note *n)
{
	DL_DELETE(h->notes, n);
	free(n->copy);
	free(n);
}

void notes_drain(struct hooks *h, bool new_turn)
{
	struct note *n;

	if (new_turn)
		DL_FOREACH(h->notes, n)
			n->late = false;
	n = h->notes;
	while (n != NULL) {
		if (n->late || n->runs || is_running(h, n->point, n->copy->event)) {
			n = n->next;
			continue;
		}
		n->runs = true;
		copy_refresh(h, n->copy);
		note_run(h, n->point, n->copy->event, n);
		note_free(h, n);
		n = h->notes; /* the oldest again: its taps raise others, and may drain the list */
	}
}

void notes_drop(struct hooks *h)
{
	while (h->notes != NULL)
		note_free(h, h->notes);
}

void hooks_note(struct hooks *h, uint32_t point, const void *event)
{
	struct point *p = point < KEEL_POINT_MAX ? &h->point[point] : NULL;
	const struct op *top = h->top;
	union any_event room;

	if (p == NULL || (p->chain == NULL && p->waiters == 0) || p->kind != KEEL_NOTE)
		return;
	event = event_whole(p, event, &room);
	if (top != NULL && (top->depth >= DEPTH_MAX || top->generation >= DEPTH_MAX))
		note_wait(h, p, event, true);
	else if (top != NULL && is_running(h, p, event))
		note_wait(h, p, event, false);
	else
		note_run(h, p, event, NULL);
}

/* ---- replay -------------------------------------------------------------------------------------------------- */
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
	struct op op;

	op_init(&op, h, p, event_whole(p, &event, &room));
	op.replay = 1;
	op_enter(h, &op);
	op_run(&op);
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
