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
	static const struct keel_field *fields_##name(void)                                        \
	{                                                                                          \
		typedef struct keel_ev_##name event_type;                                          \
		static const struct keel_field rows[] = { KEEL_FIELDS_##name(FIELD_ROW){           \
			NULL, 0, sizeof(event_type) } };                                           \
                                                                                                   \
		return rows;                                                                       \
	}
#include "keel/hook_points.def"
#undef HOOK

const struct point_info point_infos[KEEL_POINT_MAX] = {
#define HOOK(id, name, kind, daemon, doc)                                                          \
	[id] = { #name, doc, id, KEEL_##kind, sizeof(struct keel_ev_##name), fields_##name, invoke_##name },
#include "keel/hook_points.def"
#undef HOOK
};

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

const char *kind_name(uint32_t kind)
{
	return kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].name ? kinds[kind].name : "?";
}

static uint16_t first_of(const struct point_info *info, uint32_t type)
{
	const struct keel_field *f = info->fields();

	while (f->name != NULL && f->type != type)
		f++;
	return f->name != NULL ? (uint16_t)f->offset : 0;
}

void points_init(struct hooks *h)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		const struct point_info *info = &point_infos[i];

		if (info->name == NULL)
			continue;
		h->point[i] = (struct point){ .info = info, .kind = info->kind, .allowed = kinds[info->kind].allowed,
					      .event_size = info->event_size, .id_at = first_of(info, KEEL_FIELD_STR),
					      .obj_at = first_of(info, KEEL_FIELD_OBJ) };
	}
}

struct point *point_get(struct hooks *h, uint32_t id)
{
	return id < KEEL_POINT_MAX && h->point[id].info != NULL ? &h->point[id] : NULL;
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
