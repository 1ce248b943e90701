/* SPDX-License-Identifier: Apache-2.0
 *
 * restriction.c - the server's list of resources that a suspended job releases.
 *
 * Names must be defined when they are set or added. Resources that are not consumable may be listed; there is nothing
 * of them to release.
 */
#include "release-restriction.h"

#define COUNTED (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)

static const struct keel_resource *resource_named(const struct name *n)
{
	const struct keel_resource *res;
	uint32_t i;

	for (i = 0; (res = keel_resource_at(i)); i++)
		if (name_is(n, res->name))
			return res;
	return NULL;
}

static int32_t check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj,
		     int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct name n;

	(void)who, (void)obj, (void)key, (void)mod;
	if (op == KEEL_DECR) /* removing an unknown name is no error */
		return 0;
	while ((text = name_next(text, &n)))
		if (!resource_named(&n))
			return keel_error(err, PBSE_UNKRESC, "%s", keel_pbse_text(PBSE_UNKRESC));
	return 0;
}

const struct keel_attr_def restriction_row =
	KEEL_ATTR_DEF("server", RESTRICTION, "resource_names", .order = 800, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_MANAGERS, .check = check,
		      .doc = "only these resources come free when a job is suspended; unset: all");

static const char *restriction(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return server ? keel_get_str(server, st->restriction) : NULL;
}

bool restriction_names(struct keel_mod *mod, struct keel_text *ret)
{
	const char *list = restriction(mod);
	const struct keel_resource *res;
	struct name n;

	if (!list)
		return false;
	while ((list = name_next(list, &n)))
		if ((res = resource_named(&n)) && (res->flags & COUNTED) &&
		    !names_have(ret->data, res->name))
			keel_text_printf(ret, "%s%s", ret->len ? "," : "", res->name);
	return true;
}

bool restriction_has(struct keel_mod *mod, const char *resource)
{
	const char *list = restriction(mod);

	return list && names_have(list, resource);
}
