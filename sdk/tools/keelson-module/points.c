/* SPDX-License-Identifier: Apache-2.0
 *
 * points.c - the hook points of this SDK, with the fields of their events.
 */
#include "points.h"

#define FIELD_ROW(type, member) { #member, KEEL_FIELD_##type, (uint32_t)offsetof(event_type, member) },
#define HOOK(id, name, kind, daemon, doc)                                                          \
	static const struct keel_field *fields_##name(void)                                        \
	{                                                                                          \
		typedef struct keel_ev_##name event_type;                                          \
		static const struct keel_field rows[] = {                                          \
			KEEL_FIELDS_##name(FIELD_ROW){ NULL, 0, sizeof(event_type) }               \
		};                                                                                 \
		return rows;                                                                       \
	}
#include "keel/hook_points.def"
#undef HOOK

const struct point *point_at(uint32_t i)
{
	static const struct {
		struct point point;
		const struct keel_field *(*fields)(void);
	} all[] = {
#define HOOK(id, name, kind, daemon, doc)                                                          \
	{ { id, KEEL_##kind, KEEL_##daemon, #name, #kind, doc, sizeof(struct keel_ev_##name), 0, NULL }, \
	  fields_##name },
#include "keel/hook_points.def"
#undef HOOK
	};
	static struct point asked[KEEL_COUNT(all)]; /* with what only a call can say */

	if (i >= KEEL_COUNT(all))
		return NULL;
	asked[i] = all[i].point;
	asked[i].fields = all[i].fields();
	while (asked[i].fields[asked[i].n_fields].name != NULL)
		asked[i].n_fields++;
	return &asked[i];
}

const struct point *point_find(uint32_t id)
{
	const struct point *p;

	for (uint32_t i = 0; (p = point_at(i)) != NULL; i++)
		if (p->id == id)
			return p;
	return NULL;
}
