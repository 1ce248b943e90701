/* SPDX-License-Identifier: Apache-2.0
 *
 * manager.c - the server side of qmgr: the server object, managers and operators, and the request that creates,
 * deletes and changes objects of every class.
 */
#include "manager.h"

KEEL_USE(resource);

static const struct keel_request_def manage_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "manage",
	.number = 9,
	.doc = "create, delete, set, unset",
	.handler = on_manage,
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, server_class),
	KEEL_ROW(KIND, managed_kind),
	KEEL_ROW(SERVICE, manage_service),
	KEEL_ROW(ATTR, store_id_attr),
	KEEL_ROW(REQUEST, manage_request),
#define SERVER(attr, ...) KEEL_ROW(ATTR, server_attr_##attr),
#include "server.def"
#undef SERVER
};

static const struct keel_tap taps[] = {
	KEEL_TAP(client_auth, on_client_auth),
	KEEL_TAP(request_receive, on_request_receive),
};

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	bool is_new = !server_object(mod);

	if (store_check(mod, is_new, err) || (is_new && server_create(mod, err)))
		return -1;
	store_mark(mod, is_new);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->marker);
	st->marker = NULL;
	pending_forget(st);
}

static const char *const requires_modules[] = { "resources", NULL };

KEEL_MODULE(.name = "manager", .version = "1.0", .vendor = "Keelson",
	    .summary = "the server object and the requests of administrators", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .requires_modules = requires_modules, .start = start, .stop = stop);
