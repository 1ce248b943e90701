/* SPDX-License-Identifier: Apache-2.0
 *
 * release-restriction.c - which resources a suspended job releases.
 *
 * An administrator names them in the server's restrict_res_to_release_on_suspend; the job keeps the rest. jobs raises
 * the point, stores the answer on the job and charges by it.
 *   suspend_release   answers with the list, if there is one
 *   acct_record       adds what was released to the `z` record
 *   resource_delete   rejected for a resource of the list
 */
#include "release-restriction.h"

#include <string.h>

KEEL_USE(job);
KEEL_USE(resource);

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, names_type),
	KEEL_ROW(ATTR, restriction_row),
	KEEL_ROW(ATTR, released_row),
	KEEL_ROW(ATTR, released_list_row),
};

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
	if (!restriction_has(c->mod, ev->id))
		return KEEL_NEXT;
	return keel_reject(c, PBSE_RESCBUSY, "%s on server", keel_pbse_text(PBSE_RESCBUSY));
}

static const struct keel_tap taps[] = {
	KEEL_TAP(suspend_release, on_release),
	KEEL_TAP(acct_record, on_record),
	/* last: the errors "unknown", "built in" and "in use" come first */
	KEEL_TAP(resource_delete, on_resource_delete, .order = 100, .after = "resources"),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->restriction = keel_attr_find(mod, "server", RESTRICTION);
	return 0;
}

KEEL_MODULE(.name = "release-restriction", .version = "1.0", .vendor = "Keelson",
	    .summary = "which resources a suspended job gives back", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .init = init);
