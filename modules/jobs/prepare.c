/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.c - the kind JOB_PREPARE: modules that change what a job asks for, before defaults and sums are computed.
 */
#include "jobs.h"

#include <stdlib.h>
#include <utlist.h>

struct prepare_row {
	const struct keel_job_prepare_def *def;
	struct keel_mod *owner;
	struct prepare_row *next;
};

static int by_place(const struct prepare_row *a, const struct prepare_row *b)
{
	return a->def->place < b->def->place ? -1 : a->def->place > b->def->place;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_job_prepare_def *prepare = def;
	struct state *st = self->state;
	struct prepare_row *row;

	if (!prepare->name || !prepare->prepare)
		return keel_error(err, -1, "a JOB_PREPARE row of %s has no name or no prepare()", owner->name);
	row = malloc(sizeof(*row));
	if (!row)
		return keel_error(err, -1, "out of memory");
	*row = (struct prepare_row){ .def = prepare, .owner = owner };
	LL_INSERT_INORDER(st->prepares, row, by_place);
	return 0;
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct prepare_row *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->prepares, gone, def, def);
	if (gone)
		LL_DELETE(st->prepares, gone);
	free(gone);
}

const struct keel_kind_def prepare_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_job_prepare_def),
	.name = "JOB_PREPARE",
	.doc = "changes what a job asks for, before defaults and sums",
	.add = row_add,
	.remove = row_remove,
};

int32_t prepare_job(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, bool *changed,
		    struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t code = 0;

	for (const struct prepare_row *row = st->prepares; row && !code; row = row->next)
		code = row->def->prepare(row->owner, ch, job, changed, err);
	return code;
}
