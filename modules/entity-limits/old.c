/* SPDX-License-Identifier: Apache-2.0
 *
 * old.c - limits of the old style (max_user_run ...): the same limits for everybody of a kind, in other
 * words. While one of them is set anywhere, none of the new style may be, and the other way round.
 */
#include "entity-limits.h"

#include <stdio.h>
#include <string.h>

KEEL_ATTR_OPT(queue, max_queuable);

static const struct {
	const char *name;
	enum family family;
	enum kind kind;
	bool of_amounts;
} rows[] = {
#define OLD(name, type, at_server, in_queue, family, kind, amounts, doc) { #name, family, kind, amounts },
#include "old.def"
#undef OLD
};
_Static_assert(KEEL_COUNT(rows) == OLD_LIMITS, "OLD_LIMITS is the number of rows of old.def");

#define ROW(class_name, attr_name, type_name, place, words)                                        \
	KEEL_ATTR_DEF(class_name, attr_name, type_name, .order = (place), .flags = KEEL_ATTR_SAVE, \
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_OPERATORS,                 \
		      .doc = words "; old style, not together with max_run"),
const struct keel_attr_def old_attrs[SCOPES][OLD_LIMITS] = {
	[QUEUE] = {
#define OLD(name, type, at_server, in_queue, family, kind, amounts, doc) ROW("queue", #name, type, in_queue, doc)
#include "old.def"
#undef OLD
	},
	[SERVER] = {
#define OLD(name, type, at_server, in_queue, family, kind, amounts, doc) ROW("server", #name, type, at_server, doc)
#include "old.def"
#undef OLD
	},
};

void old_find(struct keel_mod *mod)
{
	struct state *st = mod->state;

	for (uint32_t i = 0; i < OLD_LIMITS; i++) {
		st->old[QUEUE][i] = keel_attr_find(mod, "queue", rows[i].name);
		st->old[SERVER][i] = keel_attr_find(mod, "server", rows[i].name);
	}
}

bool old_limit(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	       enum kind kind, const struct keel_resource *res, double *ret)
{
	const struct keel_res_value *v;
	const struct keel_attr *attr;

	for (uint32_t i = 0; i < OLD_LIMITS; i++) {
		attr = st->old[scope][i];
		if (rows[i].family != family || rows[i].kind != kind ||
		    rows[i].of_amounts != (res != NULL) || !attr || !keel_is_set(holder, attr))
			continue;
		if (!res) {
			*ret = (double)keel_get_int(holder, attr);
			return true;
		}
		v = keel_resource_list_get(keel_get_ptr(holder, attr), res->name);
		if (v)
			*ret = v->n;
		return v != NULL;
	}
	return false;
}

bool old_has(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	     bool of_amounts)
{
	for (uint32_t i = 0; i < OLD_LIMITS; i++)
		if (rows[i].family == family && rows[i].of_amounts == of_amounts && st->old[scope][i] &&
		    keel_is_set(holder, st->old[scope][i]))
			return true;
	return false;
}

/* ---- one style at a time ------------------------------------------------------------------------------- */

struct styles {
	bool old, new;
};

/* Will it be set, once this request is done? `c` NULL: is it now? */
static bool is_set(struct keel_call *c, struct keel_obj *obj,
		   const struct keel_attr *attr)
{
	char text[8];

	if (!attr)
		return false;
	return c ? keel_call_get(c, obj, keel_attr_name(attr), NULL, text, sizeof(text)) >= 0
		 : keel_is_set(obj, attr);
}

static void look_at(struct state *st, struct keel_call *c, enum scope scope, struct keel_obj *obj,
		    struct styles *ret)
{
	for (uint32_t i = 0; i < OLD_LIMITS && !ret->old; i++)
		ret->old = is_set(c, obj, st->old[scope][i]);
	if (scope == QUEUE && !ret->old)
		ret->old = is_set(c, obj, queue_max_queuable);
	for (uint32_t i = 0; i < FAMILIES && !ret->new; i++)
		ret->new = is_set(c, obj, st->count[scope][i]) ||
			   is_set(c, obj, st->amount[scope][i]);
}

keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	static const char *const classes[SCOPES] = { "queue", "server" };
	struct state *st = keel_state(c);
	struct styles styles = { false, false };
	struct keel_obj *obj;

	if (!ev->obj || (strcmp(ev->klass, "queue") != 0 && strcmp(ev->klass, "server") != 0))
		return KEEL_NEXT;
	for (int scope = 0; scope < SCOPES; scope++) {
		struct keel_cursor *walk = keel_cursor(c->mod, classes[scope]);

		if (!walk)
			return keel_fail(c, "no memory to look for limits of the old style; try again");
		if (strcmp(ev->klass, classes[scope]) == 0)
			look_at(st, c, (enum scope)scope, ev->obj, &styles);
		while ((obj = keel_next(walk)))
			if (obj != ev->obj)
				look_at(st, NULL, (enum scope)scope, obj, &styles);
		keel_cursor_close(walk);
	}
	return styles.old && styles.new ? keel_reject(c, PBSE_MIXENTLIMS, NULL) : KEEL_NEXT;
}
