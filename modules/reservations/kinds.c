/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.c - kinds of reservations, and substates, that other modules bring.
 */
#include "reservations.h"

#include <string.h>

#include "keel/acl.h"

KEEL_ATTR_OF(resv, Reserve_Owner);
KEEL_ATTR_OF(server, flatuid);

/* Advance and standing ones. */
static bool is_ordinary(char letter)
{
	return letter == 'R' || letter == 'S';
}

static const struct keel_row *row_of(const struct state *st, char letter)
{
	for (const struct keel_row *row = st->kinds; row; row = row->next)
		if (((const struct keel_resv_kind_def *)row->def)->letter[0] == letter)
			return row;
	return NULL;
}

/* What it says is complete, and its letter is its own. */
static bool kind_is_good(const struct state *st, const struct keel_resv_kind_def *kind)
{
	const char *letter = kind->letter;

	if (!letter || letter[0] < 'A' || letter[0] > 'Z' || letter[1] || is_ordinary(letter[0]))
		return false;
	return kind->extend && *kind->extend && kind->name && kind->place && !row_of(st, letter[0]);
}

static int32_t kind_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	struct state *st = self->state;

	if (!kind_is_good(st, def))
		return keel_error(err, -EINVAL,
				  "a RESV_KIND row of %s lacks its name, extend or place(), or its letter is not one upper case "
				  "letter of its own", owner->name);
	return keel_row_put(keel_rows_end(&st->kinds), owner, def, err);
}

static void kind_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->kinds, def);
}

static int32_t substate_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_resv_substate_def *row = def;
	struct state *st = self->state;

	if (row->number <= KEEL_RESV_BEING_ALTERED || !row->name)
		return keel_error(err, -EINVAL, "a RESV_SUBSTATE row of %s has no name, or a number that is in use", owner->name);
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
	const struct state *st = mod->state;

	for (const struct keel_row *row = st->kinds; row && extend; row = row->next) {
		const struct keel_resv_kind_def *kind = row->def;

		if (!strstr(extend, kind->extend))
			continue;
		*ret_owner = row->owner;
		return kind;
	}
	return NULL;
}

char kind_letter(struct keel_obj *resv)
{
	return keel_id(resv)[0];
}

const struct keel_resv_kind_def *kind_of(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct keel_row *row = row_of(mod->state, kind_letter(resv));

	return row ? row->def : NULL;
}

/* The stored kind decides, also when its module is gone. */
static bool permits(struct keel_mod *mod, struct keel_obj *resv, const struct keel_session *who)
{
	const struct keel_resv_kind_def *kind = kind_of(mod, resv);
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *owner = keel_get_str(resv, resv_Reserve_Owner);

	if (!is_ordinary(kind_letter(resv)))
		return (who->roles & (kind ? kind->roles : KEEL_OPERATORS)) != 0;
	return (who->roles & KEEL_OPERATORS) ||
	       (owner && keel_acl_is_owner(owner, who->user, who->host, keel_host_name(mod),
					   server && keel_get_int(server, server_flatuid)));
}

int32_t resv_permit(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int number)
{
	const struct keel_session *who = keel_req_session(req);

	if (permits(mod, resv, who))
		return 0;
	keel_log(mod, KEEL_LOG_SECURITY, "Resv", keel_id(resv),
		 "Unauthorized Request, request type: %d, Object: RESCRESV, Name: %s, request from: %s", number, keel_id(resv),
		 who->who);
	return PBSE_PERM;
}
