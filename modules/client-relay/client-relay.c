/* SPDX-License-Identifier: Apache-2.0
 *
 * client-relay.c - descriptor: which side this daemon is.
 */
#include "client-relay.h"

#include <string.h>

KEEL_USE(link);
KEEL_USE(remote);

#define RULE(type, member, ...) KEEL_CONF_RULE(type, struct conf, member, __VA_ARGS__)
static const struct keel_conf_rule rules[] = {
	RULE(LIST, look, .fallback = "*", .doc = "at a server: hosts whose users may use commands at all, by patterns as in a shell"),
	RULE(LIST, submit, .fallback = "*", .doc = "hosts whose users may also change something: submit, alter, delete ..."),
	RULE(LIST, manage, .fallback = "", .doc = "hosts where managers and operators (user@host) have these rights, too"),
	RULE(INT, requests, .fallback = "128", .min = 1, .max = 128, .doc = "of one host that are served at a time; those that "
									    "only wait are not counted"),
};

static const struct keel_request_def others = {
	.size = sizeof(others),
	.name = "*",
	.doc = "what the server serves: carried there",
	.roles = KEEL_EVERYBODY,
	.flags = KEEL_REQUEST_OTHERS | KEEL_REQUEST_READ,
	.handler = host_request,
};

static keel_verdict on_peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct state *s = c->mod->state;

	if (ev->daemon & KEEL_SERVER)
		host_linked(s);
	else if (!(keel_daemon(c->mod) & KEEL_MOM) || strcmp(ev->peer, keel_host_name(c->mod)) != 0)
		server_host_up(s, ev->peer);
	return KEEL_NEXT;
}

static keel_verdict on_peer_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	if (!(ev->daemon & KEEL_SERVER))
		server_host_over(c->mod->state, ev->peer);
	return KEEL_NEXT;
}

static keel_verdict on_server_stop(struct keel_call *c, const struct keel_ev_server_stop *ev)
{
	(void)ev;
	server_bye(c->mod->state);
	return KEEL_NEXT;
}

static const struct keel_contrib contribs[] = { KEEL_ROW(REQUEST, others) };
static const struct keel_tap taps[] = { KEEL_TAP(peer_up, on_peer_up), KEEL_TAP(peer_down, on_peer_down),
					KEEL_TAP(server_stop, on_server_stop) };

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *s = mod->state;
	bool serves = keel_daemon(mod) & KEEL_SERVER;

	s->mod = mod;
	if (keel_link_on(mod, serves ? TO_SERVER : TO_HOST, serves ? KEEL_ANY & ~KEEL_SERVER : KEEL_SERVER,
			 serves ? server_records : host_records) < 0)
		return keel_error(err, -1, "no memory to listen to the other side");
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	return keel_daemon(mod) & KEEL_SERVER ? 0 : host_start(mod->state, err);
}

static void stop(struct keel_mod *mod)
{
	server_stop(mod->state);
	host_stop(mod->state);
}

static void fini(struct keel_mod *mod)
{
	server_fini(mod->state);
}

KEEL_MODULE(.name = "client-relay", .version = "1.0", .vendor = "Keelson", .flags = KEEL_MOD_NO_PROCESS,
	    .summary = "commands on every host, carried to the server", .roles = KEEL_ANY,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .init = init, .start = start, .stop = stop, .fini = fini);
