/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the kind RELOAD: files of modules that are read again with the configuration.
 *
 * Another image reads them at its start; before that they are read here, so that an error refuses the change.
 */
#include "reload.h"

#include <errno.h>

static int32_t file_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_reload_def *d = def;
	struct state *st = self->state;

	if (!d->name || !d->read || !d->apply)
		return keel_error(err, -EINVAL, "the RELOAD row of module %s has no name, no read() or no apply()", owner->name);
	return keel_row_put(keel_rows_end(&st->files), owner, def, err);
}

static void file_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->files, def);
}

const struct keel_kind_def files_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_reload_def),
	.name = "RELOAD",
	.doc = "a file that is read again with the configuration",
	.add = file_add,
	.remove = file_remove,
};

int32_t files_read(struct keel_mod *mod, struct keel_err *err)
{
	const struct state *st = mod->state;
	int32_t ret = 0;

	for (const struct keel_row *row = st->files; row && ret == 0; row = row->next) {
		const struct keel_reload_def *def = row->def;

		ret = def->read(row->owner, err);
	}
	return ret;
}

void files_apply(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	for (const struct keel_row *row = st->files; row; row = row->next) {
		const struct keel_reload_def *def = row->def;

		def->apply(row->owner);
	}
}
