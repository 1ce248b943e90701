/* SPDX-License-Identifier: Apache-2.0
 *
 * release-restriction.c - which resources a suspended job releases.
 *
 * An administrator names them in the server's restrict_res_to_release_on_suspend; the job keeps the rest. Names must be
 * defined when they are set or added; of those that are not consumable there is nothing to release. jobs raises the
 * point, stores the answer on the job and charges by it.
 *   suspend_release   answers with the list, if there is one
 *   acct_record       adds what was released to the `z` record
 *   resource_delete   rejected for a resource of the list
 */
#include "release-restriction.h"

#include <string.h>

KEEL_USE(job);
KEEL_USE(resource);

/* ---- the list of the server ------------------------------------------------------------------------------ */

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

KEEL_ATTR(list, server, restrict_res_to_release_on_suspend, "resource_names", .order = 800, .flags = KEEL_ATTR_SAVE,
	  .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_MANAGERS, .check = check,
	  .doc = "resources,...: only these come free while a job is suspended; unset: all");

static const char *restriction(struct keel_mod *mod)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return server ? keel_get_str(server, list) : NULL;
}

/* Appends the names a suspension releases, as they are defined. False: there is no restriction. */
static bool restriction_names(struct keel_mod *mod, struct keel_text *ret)
{
	const char *names = restriction(mod);
	const struct keel_resource *res;
	struct name n;

	if (!names)
		return false;
	while ((names = name_next(names, &n)))
		if ((res = resource_named(&n)) && (res->flags & COUNTED) && !names_have(ret->data, res->name))
			keel_text_printf(ret, "%s%s", ret->len ? "," : "", res->name);
	return true;
}

/* ---- taps -------------------------------------------------------------------------------------------------- */

static keel_verdict on_release(struct keel_call *c, const struct keel_ev_suspend_release *ev)
{
	keel_verdict verdict = KEEL_NEXT;
	struct keel_text names;

	(void)ev;
	keel_text_init(&names);
	if (restriction_names(c->mod, &names))
		verdict = names.failed ? keel_fail(c, "out of memory")
				       : keel_answer(c, names.data);
	keel_text_fini(&names);
	return verdict;
}

static const struct keel_term_def record_item = {
	.size = sizeof(struct keel_term_def), .name = "resources_released", .topic = "item", .form = "z",
	.doc = "what came free, vnode by vnode, while restrict_res_to_release_on_suspend is set",
};
static keel_verdict on_record(struct keel_call *c, const struct keel_ev_acct_record *ev)
{
	struct keel_text item;

	if (strcmp(ev->letter, "z") != 0)
		return KEEL_NEXT;
	keel_text_init(&item);
	keel_text_printf(&item, "resources_released=");
	if (keel_job_released(ev->job)) {
		released_of(ev->job, &item);
		if (!item.failed)
			keel_append(c, item.data);
	}
	keel_text_fini(&item);
	return KEEL_NEXT;
}

static keel_verdict on_resource_delete(struct keel_call *c, const struct keel_ev_resource_delete *ev)
{
	const char *names = restriction(c->mod);

	if (!names || !names_have(names, ev->id))
		return KEEL_NEXT;
	return keel_reject(c, PBSE_RESCBUSY, "%s on server", keel_pbse_text(PBSE_RESCBUSY));
}

static const struct keel_tap taps[] = {
	KEEL_TAP(suspend_release, on_release),
	KEEL_TAP(acct_record, on_record),
	/* last: the errors "unknown", "built in" and "in use" come first */
	KEEL_TAP(resource_delete, on_resource_delete, .order = 100, .after = "resources"),
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TERM, record_item), KEEL_ROW(TYPE, names_type), KEEL_ROW(ATTR, list_row), KEEL_ROW(ATTR, released_row), KEEL_ROW(ATTR, released_list_row),
};

KEEL_MODULE(.name = "release-restriction", .version = "1.0", .vendor = "Keelson",
	    .summary = "which resources a suspended job gives back", .roles = KEEL_SERVER, KEEL_CONTRIBS(contribs),
	    KEEL_TAPS(taps));
