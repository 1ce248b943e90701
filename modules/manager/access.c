/* SPDX-License-Identifier: Apache-2.0
 *
 * access.c - the server's access lists: requests of other clients are rejected.
 *
 * Root and the account the server runs as are always allowed.
 */
#include "manager.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "keel/acl.h"

static bool listed(struct keel_mod *mod, const struct keel_attr *list, const char *name,
		   const char *host)
{
	struct state *st = mod->state;
	struct keel_obj *server = server_object(mod);
	struct keel_acl acl = KEEL_ACL(name, host);

	if (!st->object->is_set(server, list))
		return !name && strcasecmp(host, st->core->host_name(mod)) == 0;
	st->object->emit(server, list, NULL, &(struct keel_emit){ keel_acl_text, &acl });
	return acl.allowed;
}

/* Returns the PBSE code to reject the request with, 0 to accept it. */
static int32_t refusal(struct keel_mod *mod, const struct keel_session *who)
{
	struct state *st = mod->state;
	struct keel_obj *server = server_object(mod);

	if (st->object->get_int(server, st->acl_host_enable) &&
	    !listed(mod, st->acl_hosts, NULL, who->host))
		return PBSE_BADHOST;
	if (st->object->get_int(server, st->acl_user_enable) &&
	    !listed(mod, st->acl_users, who->user, who->host))
		return PBSE_PERM;
	return 0;
}

keel_verdict on_request_receive(struct keel_call *c, const struct keel_ev_request_receive *ev)
{
	struct state *st = keel_state(c);
	const struct keel_session *who = st->call->session(c);
	int32_t code;

	if (!who || who->uid == 0 || who->uid == geteuid() || !server_object(c->mod))
		return KEEL_NEXT;
	code = refusal(c->mod, who);
	if (!code)
		return KEEL_NEXT;
	st->core->log(c->mod, KEEL_LOG_SECURITY, "Req", ev->name,
		      "Unauthorized Request, request type: %s, Object: Svr, Name: %s, request from: %s",
		      ev->name, st->core->server_name(c->mod), ev->who);
	return st->call->reject(c, code, NULL);
}
