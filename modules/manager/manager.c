/* SPDX-License-Identifier: Apache-2.0
 *
 * manager.c - the server side of qmgr: the server object, managers and operators, and the request that creates,
 * deletes and changes objects of every class.
 */
#include "manager.h"

static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core), KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(hook, 0, struct state, hook), KEEL_NEED(call, 0, struct state, call),
	KEEL_NEED(msg, 0, struct state, msg),	KEEL_NEED(request, 0, struct state, request),
	KEEL_NEED(resource, 0, struct state, resource),
};

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

#define FIND(member) KEEL_FIND(struct state, member, "server", #member)
static const struct keel_find wanted[] = {
	FIND(scheduling),      FIND(managers),	FIND(operators), FIND(acl_host_enable), FIND(acl_hosts),
	FIND(acl_user_enable), FIND(acl_users), FIND(shutdown),	 FIND(default_queue),
	FIND(store_id),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return keel_find_all(mod, st->core, st->object, wanted, KEEL_COUNT(wanted), err);
}

/* A store has one server object: fails if it has another name than this server. */
static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = server_object(mod) ? NULL : st->object->cursor(mod, "server");
	struct keel_obj *other = walk ? st->object->next(walk) : NULL;
	bool is_new;

	if (other)
		st->core->error(err, -1, "the store is that of server \"%s\", this one is called \"%s\": say "
				"server_name = \"%s\" in keelson.conf, or PBS_SERVER in pbs.conf",
				st->object->id(other), st->core->server_name(mod), st->object->id(other));
	if (walk)
		st->object->cursor_close(walk);
	if (other)
		return -1;
	is_new = !server_object(mod);
	if (store_check(mod, is_new, err) || (is_new && server_create(mod, err)))
		return -1;
	store_mark(mod, is_new);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->core->timer_cancel(st->marker);
	st->marker = NULL;
}

static const char *const requires_modules[] = { "resources", NULL };

KEEL_MODULE(.name = "manager", .version = "1.0", .vendor = "Keelson",
	    .summary = "the server object and the requests of administrators",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), .needs = needs,
	    .n_needs = KEEL_COUNT(needs), .contribs = contribs, .n_contribs = KEEL_COUNT(contribs),
	    .taps = taps, .n_taps = KEEL_COUNT(taps), .requires_modules = requires_modules,
	    .init = init, .start = start, .stop = stop);
