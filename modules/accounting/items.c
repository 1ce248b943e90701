/* SPDX-License-Identifier: Apache-2.0
 *
 * items.c - items of records that other modules have a place for: rows of the kind ACCT_ITEM, low place first.
 */
#include "accounting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_acct_item_def *row = def, *other;
	struct state *st = self->state;
	struct keel_row **at = &st->items;

	if (!row->name || !*row->name || !row->attr)
		return keel_error(err, -EINVAL, "an ACCT_ITEM of %s has no name or no attribute", owner->name);
	for (; *at; at = &(*at)->next) {
		other = (*at)->def;
		if (other->place > row->place)
			break;
	}
	return keel_row_put(at, owner, def, err);
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->items, def);
}

const struct keel_kind_def item_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_acct_item_def),
	.name = "ACCT_ITEM",
	.doc = "an attribute of jobs as an item of records",
	.add = row_add,
	.remove = row_remove,
};

/* A text as it is stored, anything else as it is shown; also what a module derives. */
static void item_add(struct text *t, struct keel_obj *job, const struct keel_attr *attr, const char *name)
{
	const char *value = keel_get_str(job, attr);
	char shown[256], *longer = NULL;
	int32_t len = value ? 0 : keel_get_text(job, attr, NULL, shown, sizeof(shown));

	if (len > 0)
		value = shown;
	if (len >= (int32_t)sizeof(shown)) {
		value = longer = malloc((size_t)len + 1);
		t->broken |= !longer;
		if (longer)
			keel_get_text(job, attr, NULL, longer, (uint32_t)len + 1);
	}
	if (value && *value)
		text_item(t, name, value, false);
	free(longer);
}

void items_add(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job, int32_t from, int32_t before)
{
	struct state *st = mod->state;

	for (const struct keel_row *i = st->items; i; i = i->next) {
		const struct keel_acct_item_def *row = i->def;
		const struct keel_attr *attr;

		if (row->place < from || row->place >= before || (row->letters && !strchr(row->letters, letter)))
			continue;
		attr = keel_attr_find(mod, "job", row->attr);
		if (attr)
			item_add(t, job, attr, row->name);
	}
}

void items_free(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->items)
		keel_row_remove(&st->items, st->items->def);
}
