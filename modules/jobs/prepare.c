/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.c - the kind JOB_PREPARE: modules that change what a job asks for, before defaults and sums are computed.
 */
#include "jobs.h"

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_job_prepare_def *prepare = def, *other;
	struct state *st = self->state;
	struct keel_row **at = &st->prepares;

	if (!prepare->name || !prepare->prepare)
		return keel_error(err, -1, "a JOB_PREPARE row of %s has no name or no prepare()", owner->name);
	for (; *at; at = &(*at)->next) {
		other = (*at)->def;
		if (other->place > prepare->place)
			break;
	}
	return keel_row_put(at, owner, def, err);
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->prepares, def);
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

	for (const struct keel_row *row = st->prepares; row && !code; row = row->next) {
		const struct keel_job_prepare_def *def = row->def;

		code = def->prepare(row->owner, ch, job, changed, err);
	}
	return code;
}
