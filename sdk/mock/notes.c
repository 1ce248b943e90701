/* SPDX-License-Identifier: Apache-2.0
 *
 * notes.c - it happened: told at once, or after the operation on the same object.
 *
 * Notes raised by notes count generations: too many of them, or too deep ones, wait for the next turn.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

static void tell(struct keel_mock *mock, const struct point_row *p, const void *event,
		 const struct note *waited)
{
	struct op *op = op_make(mock, p, event);

	op->is_waited_note = waited != NULL;
	op->generation = waited != NULL ? waited->generation : mock->top != NULL ? mock->top->generation : 0;
	op_enter(op);
	op_walk(op, false, KEEL_NEXT);
	op_leave(op);
	op_free(op);
	holds_match(mock, p, event);
}

static bool is_same(const struct point_row *p, const void *event, const struct op *op)
{
	const struct keel_obj *a = event_obj(p, event), *b = event_obj(op->point, op->event);
	const char *id = event_id(p, event), *other = event_id(op->point, op->event);

	if (a != NULL || b != NULL)
		return keel_mock_same(a, b);
	return id != NULL && other != NULL && strcmp(id, other) == 0;
}

static bool is_running(const struct keel_mock *mock, const struct point_row *p, const void *event)
{
	const struct op *op = mock->top;

	while (op != NULL && !is_same(p, event, op))
		op = op->outer;
	return op != NULL;
}

static void later(struct keel_mock *mock, const struct point_row *p, const void *event, bool late)
{
	struct note *n = make(sizeof(*n));

	n->point = p;
	n->copy = event_copy(p, event);
	n->generation = mock->top->generation + 1;
	if (!late) {
		DL_APPEND(mock->notes, n);
		return;
	}
	host_log(mock, KEEL_LOG_ERROR, "Hook", event_id(p, event),
		 "%s is raised by events that raise each other, more than %d deep; it is told in the next turn",
		 p->name, DEPTH_MAX);
	DL_APPEND(mock->late_notes, n);
	op_ready(mock->top);
	mock->top->ready = false;
}

void note_raise(struct keel_mock *mock, const struct point_row *p, const void *event)
{
	const struct op *top = mock->top;

	if (top == NULL)
		tell(mock, p, event, NULL);
	else if (top->depth >= DEPTH_MAX || top->generation >= DEPTH_MAX)
		later(mock, p, event, true);
	else if (is_running(mock, p, event))
		later(mock, p, event, false);
	else
		tell(mock, p, event, NULL);
}

static void tell_waited(struct keel_mock *mock, struct note *n)
{
	event_refresh(n->copy, n->point);
	tell(mock, n->point, &n->copy->event, n);
	event_free(n->copy);
	free(n);
}

static struct note *due(const struct keel_mock *mock)
{
	struct note *n;

	DL_FOREACH(mock->notes, n)
		if (!is_running(mock, n->point, &n->copy->event))
			break;
	return n;
}

void notes_drain(struct keel_mock *mock)
{
	struct note *n;

	while ((n = due(mock)) != NULL) {
		DL_DELETE(mock->notes, n);
		tell_waited(mock, n);
	}
}

void notes_late(struct keel_mock *mock)
{
	struct note *list = mock->late_notes, *n;

	mock->late_notes = NULL;
	while ((n = list) != NULL) {
		DL_DELETE(list, n);
		n->generation = 0;
		tell_waited(mock, n);
		notes_drain(mock);
	}
}

void notes_drop(struct keel_mock *mock)
{
	struct note *n, *next;

	DL_CONCAT(mock->notes, mock->late_notes);
	DL_FOREACH_SAFE(mock->notes, n, next) {
		event_free(n->copy);
		free(n);
	}
	mock->notes = mock->late_notes = NULL;
}

void notes_forget(struct keel_mock *mock, const struct point_row *p)
{
	struct note *n, *next, **lists[] = { &mock->notes, &mock->late_notes };

	for (size_t i = 0; i < KEEL_COUNT(lists); i++)
		DL_FOREACH_SAFE(*lists[i], n, next) {
			if (n->point != p)
				continue;
			DL_DELETE(*lists[i], n);
			event_free(n->copy);
			free(n);
		}
}

/* ---- replay -------------------------------------------------------------------------------------------- */
struct known_event { /* what every *_known event is */
	uint32_t size, reserved;
	const char *id;
	struct keel_obj *obj;
};

static void known(struct mod *m, const struct klass *c, struct body *b)
{
	const struct known_event event = { .size = sizeof(event), .id = b->id, .obj = b->handle };
	struct op *op = op_make(mock_of(m), map_row(c->def.known_point), &event);

	op->replay = true;
	op->only = m;
	op_enter(op);
	op_walk(op, false, KEEL_NEXT);
	op_leave(op);
	op_free(op);
}

static const struct klass *klass_at(const struct keel_mock *mock, uint32_t place)
{
	const struct klass *c = mock->klasses;

	while (c != NULL && !(c->declared && c->place == place))
		c = c->next;
	return c;
}

void replay(struct mod *m)
{
	struct keel_mock *mock = mock_of(m);

	for (uint32_t place = 0; place < mock->n_declared; place++) {
		const struct klass *c = klass_at(mock, place);
		struct body *next;

		if (c == NULL || map_row(c->def.known_point) == NULL)
			continue;
		for (struct body *b = c->live; b != NULL; b = next) {
			next = b->next;
			known(m, c, b);
		}
	}
}
