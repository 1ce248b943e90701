/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c - the kind RELOAD: files of modules that are read again with the configuration.
 *
 * Another image reads them at its start; before that they are read here, so that an error refuses the change.
 */
#include "reload.h"

#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

static int32_t file_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_reload_def *d = def;
	struct state *st = self->state;
	struct file_row *row;

	if (!d->name || !d->read || !d->apply)
		return keel_error(err, -EINVAL, "the RELOAD row of module %s has no name, no read() or no apply()", owner->name);
	row = malloc(sizeof(*row));
	if (!row)
		return keel_error(err, -ENOMEM, "no memory for %s of module %s", d->name, owner->name);
	*row = (struct file_row){ .owner = owner, .def = def };
	LL_APPEND(st->files, row);
	return 0;
}

static void file_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct file_row *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->files, gone, def, def);
	if (gone)
		LL_DELETE(st->files, gone);
	free(gone);
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
	struct file_row *row;
	int32_t ret = 0;

	LL_FOREACH(st->files, row) {
		if (ret == 0)
			ret = row->def->read(row->owner, err);
	}
	return ret;
}

void files_apply(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	struct file_row *row;

	LL_FOREACH(st->files, row)
		row->def->apply(row->owner);
}
