/* SPDX-License-Identifier: Apache-2.0
 *
 * acl.c - the lists of a queue: who may bring jobs into it. What a list says is decided by keel/acl.h.
 *
 * A list that is enabled and empty denies every user, but one of hosts admits the server's own. Of a
 * user's groups, the first that a list speaks of decides.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#include "keel/acl.h"

KEEL_ATTR_OPT(queue, acl_host_enable);
KEEL_ATTR_OPT(queue, acl_hosts);
KEEL_ATTR_OPT(queue, acl_user_enable);
KEEL_ATTR_OPT(queue, acl_users);
KEEL_ATTR_OPT(queue, acl_group_enable);
KEEL_ATTR_OPT(queue, acl_groups);

static const struct {
	const struct keel_attr *const *enable, *const *list;
	enum { BY_HOST, BY_USER, BY_GROUP } by;
	int32_t code;
} lists[] = {
	{ &queue_acl_host_enable, &queue_acl_hosts, BY_HOST, PBSE_BADHOST },
	{ &queue_acl_user_enable, &queue_acl_users, BY_USER, PBSE_PERM },
	{ &queue_acl_group_enable, &queue_acl_groups, BY_GROUP, PBSE_PERM },
};

static void acl_search(struct keel_obj *obj, const struct keel_attr *list,
		   struct keel_acl *acl)
{
	if (list && keel_is_set(obj, list))
		keel_emit(obj, list, NULL, &(struct keel_emit){ keel_acl_text, acl });
}

bool acl_names(struct keel_obj *obj, const struct keel_attr *list,
	       const char *name, const char *host)
{
	struct keel_acl acl = KEEL_ACL(name, host);

	acl_search(obj, list, &acl);
	return acl.allowed;
}

bool acl_roots(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *list, const struct keel_session *who)
{
	struct keel_acl acl = KEEL_ACL(who->user, who->host);

	acl_search(obj, list, &acl);
	return keel_acl_is_root(&acl, who->host, keel_host_name(mod));
}

static bool allows_groups(struct keel_obj *queue, const struct keel_attr *list,
			  const struct keel_session *who)
{
	const char *at = who->groups ? who->groups : who->group ? who->group : "";
	struct keel_acl acl = KEEL_ACL("", who->host);
	char name[256];

	while (*at) {
		size_t len = strcspn(at, ",");

		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		acl = KEEL_ACL(name, who->host);
		acl_search(queue, list, &acl);
		if (acl.best >= 0)
			break;
		at += len + (at[len] == ',');
	}
	return acl.allowed;
}

int32_t acl_check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue)
{
	for (size_t i = 0; i < KEEL_COUNT(lists); i++) {
		const struct keel_attr *enable = *lists[i].enable, *list = *lists[i].list;
		bool allowed;

		if (!enable || !keel_get_int(queue, enable))
			continue;
		switch (lists[i].by) {
		case BY_HOST: /* without a list, this host */
			allowed = list && keel_is_set(queue, list)
					  ? acl_names(queue, list, NULL, who->host)
					  : strcasecmp(who->host, keel_host_name(mod)) == 0;
			break;
		case BY_USER:
			allowed = acl_names(queue, list, who->user, who->host);
			break;
		default:
			allowed = allows_groups(queue, list, who);
		}
		if (!allowed)
			return lists[i].code;
	}
	return 0;
}
