/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.c - objects that are listed below another one: the kind PARTS.
 */
#include "status.h"

#include <stdlib.h>
#include <string.h>

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	const struct keel_parts_def *parts = def;
	struct state *st = self->state;
	struct parts_row *bigger;

	if (!parts->klass || !parts->is_part)
		return keel_error(err, -1, "a PARTS row of %s has no class or no is_part()", owner->name);
	if (st->n_parts == st->parts_room) {
		bigger = reallocarray(st->parts, st->parts_room * 2 + 4, sizeof(*bigger));
		if (!bigger)
			return keel_error(err, -1, "out of memory");
		st->parts = bigger;
		st->parts_room = st->parts_room * 2 + 4;
	}
	st->parts[st->n_parts++] = (struct parts_row){ def, owner };
	return 0;
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	uint32_t i;

	(void)owner;
	for (i = 0; i < st->n_parts; i++)
		if (st->parts[i].def == def)
			st->parts[i--] = st->parts[--st->n_parts];
}

const struct keel_kind_def parts_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_parts_def),
	.name = "PARTS",
	.doc = "objects that are listed below another one, or not at all",
	.add = row_add,
	.remove = row_remove,
};

bool parts_is_part(struct listing *l, struct keel_obj *obj)
{
	struct state *st = l->mod->state;
	uint32_t i;

	for (i = 0; i < st->n_parts; i++)
		if (strcmp(st->parts[i].def->klass, l->klass) == 0 &&
		    st->parts[i].def->is_part(st->parts[i].owner, obj))
			return true;
	return false;
}

static bool opened(struct listing *l, const struct parts_row *row, void *walk)
{
	l->parts = walk ? *row : (struct parts_row){ NULL, NULL };
	l->parts_walk = walk;
	return walk != NULL;
}

bool parts_open(struct listing *l, struct keel_obj *whole)
{
	struct state *st = l->mod->state;
	uint32_t i;

	for (i = 0; i < st->n_parts; i++) {
		const struct parts_row *row = &st->parts[i];

		if (strcmp(row->def->klass, l->klass) == 0 &&
		    opened(l, row, row->def->open(row->owner, whole)))
			return true;
	}
	return false;
}

bool parts_open_named(struct listing *l, const char *operand)
{
	struct state *st = l->mod->state;
	uint32_t i;

	for (i = 0; i < st->n_parts; i++) {
		const struct parts_row *row = &st->parts[i];

		if (strcmp(row->def->klass, l->klass) == 0 &&
		    opened(l, row, row->def->open_named(row->owner, operand)))
			return true;
	}
	return false;
}

/* Whose module is gone ends, too. */
struct keel_obj *parts_next(struct listing *l, const char **ret_id)
{
	struct state *st = l->mod->state;
	struct keel_obj *obj = NULL;
	uint32_t i;

	for (i = 0; i < st->n_parts; i++)
		if (st->parts[i].def == l->parts.def)
			obj = l->parts.def->next(l->parts.owner, l->parts_walk, ret_id);
	if (!obj)
		parts_close(l);
	return obj;
}

void parts_close(struct listing *l)
{
	struct state *st = l->mod->state;
	uint32_t i;

	for (i = 0; l->parts_walk && i < st->n_parts; i++)
		if (st->parts[i].def == l->parts.def)
			l->parts.def->close(l->parts.owner, l->parts_walk);
	opened(l, NULL, NULL);
}
