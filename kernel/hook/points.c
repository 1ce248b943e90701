/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - hook_points.def and hook_fields.h as tables: names, fields, and for each point the one function that
 * calls a tap of its type.
 */
#include <string.h>

#include "hook/inside.h"

#define FIELD_ROW(type, member)                                                                    \
	{ #member, KEEL_FIELD_##type, (uint32_t)offsetof(event_type, member) },

#define HOOK(id, name, kind, daemon, doc)                                                          \
	static keel_verdict invoke_##name(const struct tap *t, struct keel_call *c,                \
					  const void *event)                                       \
	{                                                                                          \
		return t->fn.name(c, event);                                                       \
	}                                                                                          \
	static const struct keel_field *fields_##name(uint32_t *ret_n)                             \
	{                                                                                          \
		typedef struct keel_ev_##name event_type;                                          \
		static const struct keel_field rows[] = { KEEL_FIELDS_##name(FIELD_ROW){           \
			NULL, 0, sizeof(event_type) } };                                           \
                                                                                                   \
		*ret_n = (uint32_t)(sizeof(rows) / sizeof(rows[0])) - 1;                           \
		return rows;                                                                       \
	}
#include "keel/hook_points.def"
#undef HOOK

const struct point_info point_infos[] = {
#define HOOK(id, name, kind, daemon, doc)                                                          \
	{ #name, doc, id, KEEL_##kind, sizeof(struct keel_ev_##name), fields_##name, invoke_##name,  \
	  NULL, NULL, 0 },
#include "keel/hook_points.def"
#undef HOOK
};
const uint32_t n_point_infos = sizeof(point_infos) / sizeof(point_infos[0]);

#define HOOK(id, name, kind, daemon, doc)                                                          \
	_Static_assert((id) > 0 && (id) < KEEL_POINT_OWN, "id of " #name);
#include "keel/hook_points.def"
#undef HOOK

/* The verdicts that a tap may return, by kind. */
static const struct {
	const char *name;
	uint32_t allowed;
} kinds[] = {
	[KEEL_GATE] = { "GATE", VERDICT_BIT(KEEL_NEXT) | VERDICT_BIT(KEEL_DONE) |
					VERDICT_BIT(KEEL_REJECT) | VERDICT_BIT(KEEL_WAIT) |
					VERDICT_BIT(KEEL_FAIL) },
	[KEEL_ASK] = { "ASK", VERDICT_BIT(KEEL_NEXT) | VERDICT_BIT(KEEL_DONE) |
				      VERDICT_BIT(KEEL_WAIT) | VERDICT_BIT(KEEL_FAIL) },
	[KEEL_FOLD] = { "FOLD", VERDICT_BIT(KEEL_NEXT) | VERDICT_BIT(KEEL_FAIL) },
	[KEEL_NOTE] = { "NOTE", VERDICT_BIT(KEEL_NEXT) | VERDICT_BIT(KEEL_FAIL) },
};

const struct point_info *info_of(uint32_t point)
{
	for (uint32_t i = 0; i < n_point_infos; i++) {
		if (point_infos[i].id == point)
			return &point_infos[i];
	}
	return NULL;
}

const char *kind_name(uint32_t kind)
{
	return kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].name ? kinds[kind].name : "?";
}

static uint16_t first_of(const struct point_info *info, uint32_t type)
{
	uint32_t n;
	const struct keel_field *f = info_fields(info, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (f[i].type == type)
			return (uint16_t)f[i].offset;
	}
	return 0;
}

void point_open(struct point *p, const struct point_info *info)
{
	p->info = info;
	p->kind = info->kind;
	p->allowed = kinds[info->kind].allowed;
	p->event_size = info->event_size;
	p->id_at = first_of(info, KEEL_FIELD_STR);
	p->obj_at = first_of(info, KEEL_FIELD_OBJ);
}

void points_init(struct hooks *h)
{
	for (uint32_t i = 0; i < n_point_infos; i++)
		point_open(&h->point[point_infos[i].id], &point_infos[i]);
}

struct point *point_get(struct hooks *h, uint32_t id)
{
	return id < KEEL_POINT_MAX && h->point[id].info ? &h->point[id] : NULL;
}

struct tap *tap_after(const struct hooks *h, const struct tap *t)
{
	if (t != NULL && t->next != NULL)
		return t->next;
	for (uint32_t i = t != NULL ? t->point + 1 : 0; i < KEEL_POINT_MAX; i++) {
		if (h->point[i].taps != NULL)
			return h->point[i].taps;
	}
	return NULL;
}

void taps_mark(struct hooks *h, const struct owner *owner, enum tap_off bit, bool on)
{
	FOR_EACH_TAP(h, t) {
		if (t->owner == owner)
			t->off = on ? t->off | bit : t->off & ~(uint32_t)bit;
	}
}

const void *event_complete(const struct point *p, const void *event, union any_event *room)
{
	memset(room, 0, sizeof(*room));
	if (event)
		memcpy(room, event, *(const uint32_t *)event);
	room->size = p->event_size;
	return room;
}

keel_verdict invoke_any(const struct tap *t, struct keel_call *c, const void *event)
{
	return t->fn.generic(c, t->point, event, t->arg);
}
