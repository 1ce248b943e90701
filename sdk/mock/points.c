/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - the tables of hook_points.def and hook_fields.h, and events that outlive their call.
 */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* One row more than fields, so that a point without fields has a table. */
#define FIELD(type, member) { #member, KEEL_FIELD_##type, (uint32_t)offsetof(event_type, member) },
#define HOOK(id, name, kind, daemon, doc)                                                          \
	static keel_verdict invoke_##name(const struct tap *t, struct keel_call *c, const void *ev) \
	{                                                                                          \
		return t->fn.name(c, ev);                                                          \
	}                                                                                          \
	static const struct keel_field *fields_##name(uint32_t *ret_n)                             \
	{                                                                                          \
		typedef struct keel_ev_##name event_type;                                          \
		static const struct keel_field rows[] = { KEEL_FIELDS_##name(FIELD){               \
			NULL, 0, sizeof(event_type) } };                                           \
                                                                                                   \
		*ret_n = KEEL_COUNT(rows) - 1;                                                     \
		return rows;                                                                       \
	}
#include "keel/hook_points.def"
#undef HOOK

const struct point_row *map_row(uint32_t id)
{
	static const struct point_row rows[] = {
#define HOOK(id, name, kind, daemon, doc)                                                          \
	[id] = { #name, id, KEEL_##kind, sizeof(struct keel_ev_##name), fields_##name, invoke_##name },
#include "keel/hook_points.def"
#undef HOOK
	};

	return id < KEEL_COUNT(rows) && rows[id].name != NULL ? &rows[id] : NULL;
}

const struct point_row *point_row(struct keel_mock *mock, uint32_t id)
{
	return id < KEEL_POINT_OWN ? map_row(id) : own_row(mock, id);
}

const char *point_name(struct keel_mock *mock, uint32_t id)
{
	const struct point_row *p = point_row(mock, id);

	return p != NULL ? p->name : "?";
}

const struct keel_field *row_fields(const struct point_row *p, uint32_t *ret_n)
{
	return p->fields != NULL ? p->fields(ret_n) : own_fields(p, ret_n);
}

const struct keel_field *point_fields(uint32_t id, uint32_t *ret_n)
{
	*ret_n = 0;
	return map_row(id) != NULL ? map_row(id)->fields(ret_n) : NULL;
}

bool verdict_is_allowed(uint32_t kind, keel_verdict v)
{
	switch (v) {
	case KEEL_NEXT:
	case KEEL_FAIL: return true;
	case KEEL_DONE:
	case KEEL_WAIT: return kind == KEEL_GATE || kind == KEEL_ASK;
	case KEEL_REJECT: return kind == KEEL_GATE;
	}
	return false;
}

/* ---- fields ------------------------------------------------------------------------------------------ */
static const char *str_at(const void *event, uint32_t at)
{
	return *(const char *const *)((const char *)event + at);
}

static struct keel_obj *obj_at(const void *event, uint32_t at)
{
	return *(struct keel_obj *const *)((const char *)event + at);
}

static void obj_put(void *event, uint32_t at, struct keel_obj *o)
{
	memcpy((char *)event + at, &o, sizeof(o));
}

static uint32_t first(const struct point_row *p, uint32_t type)
{
	uint32_t n;
	const struct keel_field *f = row_fields(p, &n);

	for (uint32_t i = 0; i < n; i++)
		if (f[i].type == type)
			return f[i].offset;
	return 0;
}

static bool has(const void *event, uint32_t at)
{
	return at != 0 && event != NULL && *(const uint32_t *)event >= at + sizeof(void *);
}

const char *event_id(const struct point_row *p, const void *event)
{
	uint32_t at = first(p, KEEL_FIELD_STR);

	return has(event, at) ? str_at(event, at) : NULL;
}

struct keel_obj *event_obj(const struct point_row *p, const void *event)
{
	uint32_t at = first(p, KEEL_FIELD_OBJ);

	return has(event, at) ? obj_at(event, at) : NULL;
}

/* ---- as this header's struct ---------------------------------------------------------------------------- */
void event_whole(const struct point_row *p, const void *event, union any_event *ret)
{
	uint32_t size = event != NULL ? *(const uint32_t *)event : 0;

	memset(ret, 0, sizeof(*ret));
	if (event != NULL)
		memcpy(ret, event, size < p->size ? size : p->size);
	ret->size = p->size;
}

void event_for_call(struct keel_mock *mock, const struct point_row *p, const void *event,
		    union any_event *ret)
{
	uint32_t n;
	const struct keel_field *f = row_fields(p, &n);

	event_whole(p, event, ret);
	for (uint32_t i = 0; i < n && mock->strict; i++)
		if (f[i].type == KEEL_FIELD_STR) {
			const char *text = lend(mock, str_at(ret, f[i].offset));

			memcpy((char *)ret + f[i].offset, &text, sizeof(text));
		}
	for (uint32_t i = 0; i < n && mock->strict; i++) {
		struct keel_obj *o = f[i].type == KEEL_FIELD_OBJ ? obj_at(ret, f[i].offset) : NULL;

		if (o != NULL)
			obj_put(ret, f[i].offset, handle_of(o->body));
	}
}

static uint64_t mixed(uint64_t sum, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n-- > 0)
		sum = (sum ^ *at++) * 1099511628211U;
	return sum;
}

/* Texts that are not lent may be gone already, by no fault of the tap. */
uint64_t event_sum(const struct keel_mock *mock, const struct point_row *p, const union any_event *event)
{
	uint64_t sum = mixed(1, event, p->size);
	uint32_t n;
	const struct keel_field *f = row_fields(p, &n);

	for (uint32_t i = 0; i < n; i++) {
		const char *text = f[i].type == KEEL_FIELD_STR ? str_at(event, f[i].offset) : NULL;

		if (text != NULL && keel_mock_was_lent(mock, text))
			sum = mixed(sum, text, strlen(text));
	}
	return sum;
}

/* ---- copies ------------------------------------------------------------------------------------------------ */
static void copy_text(struct copied *c, uint32_t at)
{
	char *text = dup_text(str_at(&c->event, at));

	if (text == NULL)
		return;
	c->text = enlarge(c->text, (c->n_text + 1) * sizeof(*c->text));
	c->text[c->n_text++] = text;
	memcpy((char *)&c->event + at, &text, sizeof(text));
}

static void copy_obj(struct copied *c, uint32_t at)
{
	struct keel_obj *o = obj_at(&c->event, at);

	if (o == NULL || c->n_body == KEEL_COUNT(c->body))
		return;
	c->draft[c->n_body] = o->body->draft;
	c->body[c->n_body++] = o->body;
	obj_put(&c->event, at, o->body->handle);
}

struct copied *event_copy(const struct point_row *p, const void *event)
{
	struct copied *c = make(sizeof(*c));
	uint32_t n;
	const struct keel_field *f = row_fields(p, &n);

	event_whole(p, event, &c->event);
	for (uint32_t i = 0; i < n; i++) {
		if (f[i].type == KEEL_FIELD_STR)
			copy_text(c, f[i].offset);
		else if (f[i].type == KEEL_FIELD_OBJ)
			copy_obj(c, f[i].offset);
	}
	return c;
}

void event_free(struct copied *c)
{
	if (c == NULL)
		return;
	while (c->n_text > 0)
		free(c->text[--c->n_text]);
	free(c->text);
	free(c);
}

bool event_valid(const struct copied *c)
{
	for (uint32_t i = 0; i < c->n_body; i++)
		if (c->body[i]->dead && !c->draft[i])
			return false;
	return true;
}

void event_refresh(struct copied *c, const struct point_row *p)
{
	uint32_t n;
	const struct keel_field *f = row_fields(p, &n);

	for (uint32_t i = 0; i < n; i++)
		if (f[i].type == KEEL_FIELD_OBJ && obj_at(&c->event, f[i].offset) != NULL &&
		    (obj_at(&c->event, f[i].offset)->body->dead ||
		     obj_at(&c->event, f[i].offset)->body->draft))
			obj_put(&c->event, f[i].offset, NULL);
}
