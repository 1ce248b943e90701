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

KEEL_ATTRS_OF(server, acl_host_enable, acl_hosts, acl_host_moms_enable, acl_user_enable, acl_users);

static bool listed(struct keel_mod *mod, const struct keel_attr *list, const char *name,
		   const char *host)
{
	struct keel_obj *server = server_object(mod);
	struct keel_acl acl = KEEL_ACL(name, host);

	if (!keel_is_set(server, list))
		return !name && strcasecmp(host, keel_host_name(mod)) == 0;
	keel_emit(server, list, NULL, &(struct keel_emit){ keel_acl_text, &acl });
	return acl.allowed;
}

/* Returns the PBSE code to reject the request with, 0 to accept it. */
static int32_t refusal(struct keel_mod *mod, const struct keel_session *who)
{
	struct keel_obj *server = server_object(mod);

	if (keel_get_int(server, server_acl_host_enable) &&
	    !listed(mod, server_acl_hosts, NULL, who->host) &&
	    !(keel_get_int(server, server_acl_host_moms_enable) && keel_find(mod, "node", who->host)))
		return PBSE_BADHOST;
	if (keel_get_int(server, server_acl_user_enable) &&
	    !listed(mod, server_acl_users, who->user, who->host))
		return PBSE_PERM;
	return 0;
}

keel_verdict on_request_receive(struct keel_call *c, const struct keel_ev_request_receive *ev)
{
	const struct keel_session *who = keel_call_session(c);
	int32_t code;

	if (!who || who->uid == 0 || who->uid == geteuid() || !server_object(c->mod))
		return KEEL_NEXT;
	code = refusal(c->mod, who);
	if (!code)
		return KEEL_NEXT;
	keel_log(c->mod, KEEL_LOG_SECURITY, "Req", ev->name,
		 "Unauthorized Request, request type: %s, Object: Svr, Name: %s, request from: %s",
		 ev->name, keel_server_name(c->mod), ev->who);
	return keel_reject(c, code, NULL);
}
