/* SPDX-License-Identifier: Apache-2.0
 *
 * resources.c - built-in resources, the site's own, and the languages that name them (Resource_List, select, place,
 * exec_vnode).
 *
 * Contributes the type "resource_list", the class "resource" (the site's definitions, saved in the store) and the
 * service "resource".
 */
#include "resources.h"

#include <string.h>

#include "terms.h"

KEEL_ATTR_OPT(resource, type);
KEEL_ATTR_OPT(resource, flag);

static void define_from(struct keel_mod *mod, struct keel_obj *obj)
{
	struct state *st = mod->state;
	struct definition **slot = keel_slot(mod, obj);
	struct keel_err err;

	if (table_define(st, keel_id(obj), keel_get_str(obj, resource_type),
			 keel_get_str(obj, resource_flag), &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resc", keel_id(obj),
			 "stored definition is not usable: %s", err.text);
	else if (slot)
		*slot = (struct definition *)table_find(st, keel_id(obj));
}

/* Updates the table at once, so that a list parsed later in the same turn sees the new type. */
static void definition_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	(void)attr;
	define_from(mod, obj);
}

/* Stores the letters in the order of listings. */
static void flag_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	const char *given = keel_get_str(obj, attr);
	char text[FLAG_LETTERS + 1];

	if (given && strcmp(flags_in_order(given, text), given) != 0)
		keel_set_str(obj, attr, text);
	define_from(mod, obj);
}

static int32_t check_definition(struct keel_obj *obj, const char *type,
				const char *flag, struct keel_err *err)
{
	struct state scratch = { 0 };
	int32_t code = table_define(&scratch, keel_id(obj), type, flag, err);

	table_free(&scratch);
	return code;
}

/* Checks the type alone; on_management() checks it together with the flags. */
static int32_t check_type(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)op, (void)key, (void)mod;
	if (strcmp(text, "time") == 0) /* only built-in resources have this type */
		return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	return check_definition(obj, text, NULL, err);
}

static int32_t check_flag(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)op, (void)key, (void)mod;
	return check_definition(obj, "long", text, err);
}

static keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	enum { CMD_CREATE = 0, CMD_DELETE = 1 };
	char type[32] = "", flag[FLAG_LETTERS * 4 + 1] = "", ordered[FLAG_LETTERS + 1];
	const char *had_type, *had_flag;
	struct keel_err err = { 0 };
	int32_t code;

	if (strcmp(ev->klass, "resource") != 0 || ev->cmd == CMD_DELETE || !ev->obj)
		return KEEL_NEXT;
	keel_call_get(c, ev->obj, "type", NULL, type, sizeof(type));
	keel_call_get(c, ev->obj, "flag", NULL, flag, sizeof(flag));
	code = check_definition(ev->obj, *type ? type : NULL, flag, &err);
	if (code)
		return keel_reject(c, code, "%s", err.text);
	had_type = keel_get_str(ev->obj, resource_type);
	had_flag = keel_get_str(ev->obj, resource_flag);
	if (ev->cmd == CMD_CREATE || (strcmp(had_type ? had_type : "", type) == 0 &&
				      strcmp(had_flag ? had_flag : "", flags_in_order(flag, ordered)) == 0))
		return KEEL_NEXT;
	return check_idle(c, ev->name, false);
}

static const struct keel_class_def resource_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "resource",
	.doc = "a resource a site has defined",
};

static const struct keel_attr_def attr_type =
	KEEL_ATTR_DEF("resource", "type", "string", .flags = KEEL_ATTR_SAVE | KEEL_ATTR_RESET,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_MANAGERS, .order = 1,
		      .fallback = "string", .check = check_type, .changed = definition_changed,
		      .doc = "what its values are: long, float, size, boolean, string, string_array");
static const struct keel_attr_def attr_flag =
	KEEL_ATTR_DEF("resource", "flag", "string", .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_MANAGERS, .order = 2,
		      .check = check_flag, .changed = flag_changed,
		      .doc = "letters: h host-level, q summed, n or f consumable, i invisible, r read-only, "
			     "m sent to hosts");

static const struct keel_resource *api_find(struct keel_mod *mod, const char *name)
{
	return table_find(mod->state, name);
}

static const struct keel_resource_api service = {
	.size = sizeof(struct keel_resource_api),
	.find = api_find,
	.at = table_at,
	.value_parse = value_parse,
	.value_fini = value_fini,
	.value_text = value_text,
	.list_count = list_count,
	.list_at = list_at,
	.list_get = list_get,
	.list_number = list_number,
	.select_parse = select_parse,
	.select_free = select_free,
	.place_parse = place_parse,
	.exec_parse = exec_parse,
	.exec_free = exec_free,
	.prepare = prepare,
	.charge_list = charge_list,
	.charge_exec = charge_exec,
	.list_add = list_add,
	.list_free = list_free,
	.list_copy = list_copy,
	.list_equal = list_equal,
	.prepare_again = prepare_again,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "resource",
	.table = &service,
	.doc = "definitions, amounts, lists, select and exec_vnode",
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, list_type),	 KEEL_ROW(CLASS, resource_class), KEEL_ROW(ATTR, attr_type),
	KEEL_ROW(ATTR, attr_flag),	 KEEL_ROW(SERVICE, service_def),
#define RES(res_name, ...) KEEL_ROW(TERM, term_##res_name),
#include "builtin.def"
#undef RES
};

static const struct keel_tap taps[] = {
	KEEL_TAP(resource_delete, on_resource_delete),
	KEEL_TAP(management, on_management),
};

/* Slots outlive fini(), which frees the table. */
static void definition_gone(struct keel_mod *mod, void *slot)
{
	struct definition **d = slot;
	struct state *st = mod->state;

	if (*d && st->table)
		(*d)->deleted = true;
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	if (!resource_type || !resource_flag)
		return keel_error(err, -1, "class resource lost its attributes type and flag");
	if (keel_slot_bind(mod, "resource", sizeof(struct definition *), definition_gone))
		return keel_error(err, -1, "cannot attach to class resource");
	return table_fill(st, err) ? -1 : 0;
}

static void fini(struct keel_mod *mod)
{
	table_free(mod->state);
}

KEEL_MODULE(.name = "resources", .version = "1.0", .vendor = "Keelson",
	    .summary = "resources, amounts, and the languages that name them", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .init = init, .fini = fini);
