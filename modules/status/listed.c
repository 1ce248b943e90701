/* SPDX-License-Identifier: Apache-2.0
 *
 * listed.c - classes whose listings another module answers: the kind LISTED.
 */
#include "status.h"

#include <errno.h>
#include <string.h>

static const struct keel_row *row_of(const struct state *st, const char *klass)
{
	const struct keel_row *row = st->listed;

	while (row && strcmp(((const struct keel_listed_def *)row->def)->name, klass) != 0)
		row = row->next;
	return row;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_listed_def *row = def;
	struct state *st = self->state;

	if (!row->name || !row->fn || row_of(st, row->name))
		return keel_error(err, -EINVAL, "a LISTED row of %s lacks its name or fn(), or another module lists that class", owner->name);
	return keel_row_put(keel_rows_end(&st->listed), owner, def, err);
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->listed, def);
}

const struct keel_kind_def listed_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_listed_def),
	.name = "LISTED",
	.doc = "classes whose listings another module answers",
	.add = row_add,
	.remove = row_remove,
};

bool listed_by_owner(struct keel_mod *mod, const char *klass, struct keel_req *req)
{
	const struct keel_row *row = row_of(mod->state, klass);

	if (row)
		((const struct keel_listed_def *)row->def)->fn(row->owner, req);
	return row != NULL;
}
