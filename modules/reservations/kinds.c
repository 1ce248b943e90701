/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.c - kinds of reservations, and substates, that other modules bring.
 */
#include "reservations.h"

static int32_t kind_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	struct state *st = self->state;

	return keel_row_put(keel_rows_end(&st->kinds), owner, def, err);
}

static void kind_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->kinds, def);
}

static int32_t substate_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	struct state *st = self->state;

	return keel_row_put(keel_rows_end(&st->substates), owner, def, err);
}

static void substate_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->substates, def);
}

const struct keel_kind_def resv_kind_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_resv_kind_def),
	.name = "RESV_KIND",
	.doc = "a kind of reservation beside advance and standing ones",
	.add = kind_add,
	.remove = kind_remove,
};

const struct keel_kind_def resv_substate_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_resv_substate_def),
	.name = "RESV_SUBSTATE",
	.doc = "a number of reserve_substate for a reservation that has lost vnodes",
	.add = substate_add,
	.remove = substate_remove,
};

const struct keel_resv_kind_def *kind_asked(struct keel_mod *mod, const char *extend, struct keel_mod **ret_owner)
{
	(void)mod, (void)extend, (void)ret_owner;
	return NULL;
}

const struct keel_resv_kind_def *kind_of(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod, (void)resv;
	return NULL;
}

char kind_letter(struct keel_obj *resv)
{
	return keel_id(resv)[0];
}

int32_t resv_permit(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int number)
{
	(void)mod, (void)resv, (void)req, (void)number;
	return 0;
}
