/* SPDX-License-Identifier: Apache-2.0
 *
 * wish.c - what a submission says, in the order of spec 11 section 2.4: attributes, times, the rule, its owner, who else may use it.
 *
 * Each step returns 0, or a PBSE code with *err; all write to the change set alone.
 */
#include "reservations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/acl.h"

KEEL_ATTRS_OF(server, acl_roots, acl_resv_user_enable, acl_resv_users, acl_resv_group_enable, acl_resv_groups);
KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_duration, reserve_rrule, reserve_timezone, reserve_count, reserve_index,
	      reserve_standing, reserve_standing_duration, Resource_List, Authorized_Users, qmove, reserve_job);
KEEL_ATTRS_OF(resv, User_List, group_list, egroup);

bool wish_has(const struct wish *wish, const char *attr)
{
	for (uint32_t i = 0; i < wish->n; i++)
		if (strcasecmp(wish->attrs[i].name, attr) == 0 && wish->attrs[i].value && *wish->attrs[i].value)
			return true;
	return false;
}

static int32_t put_attributes(const struct wish *wish, struct keel_changes *ch, struct keel_obj *draft, struct keel_err *err)
{
	int32_t code = 0;

	for (uint32_t i = 0; i < wish->n && !code; i++) {
		struct keel_attrop op = wish->attrs[i];

		op.op = KEEL_SET;
		code = keel_change(ch, wish->who, draft, &op, err);
	}
	return code;
}

/* ---- times ------------------------------------------------------------------------------------------------------------ */

static int32_t put_number(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr, const char *key,
			  int64_t n, struct keel_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	return keel_change_text(ch, draft, attr, KEEL_SET, key, text, err);
}

/* 0: not given; one that is given as 0 is no time. */
static int32_t get_time(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr, int64_t *ret)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, attr);

	*ret = slot ? slot->i : 0;
	return slot && slot->i <= 0 ? PBSE_BADTSPEC : 0;
}

/* The duration, or, where there is none, the walltime. */
static int32_t get_duration(struct keel_changes *ch, struct keel_obj *draft, int64_t *ret)
{
	const union keel_slot *list = keel_change_slot(ch, draft, resv_Resource_List);
	const struct keel_res_value *walltime;
	int32_t code = get_time(ch, draft, resv_reserve_duration, ret);

	walltime = list ? keel_resource_list_get(list->p, "walltime") : NULL;
	if (code || *ret || !walltime)
		return code;
	if (!(walltime->n >= 1 && walltime->n <= (double)TIME_LIMIT))
		return PBSE_BADTSPEC;
	*ret = (int64_t)walltime->n;
	return 0;
}

int32_t wish_put_times(struct keel_changes *ch, struct keel_obj *draft, const struct times *t, struct keel_err *err)
{
	int32_t code;

	if ((code = put_number(ch, draft, resv_reserve_start, NULL, t->start, err)) ||
	    (code = put_number(ch, draft, resv_reserve_end, NULL, t->end, err)) ||
	    (code = put_number(ch, draft, resv_reserve_duration, NULL, t->duration, err)))
		return code;
	return put_number(ch, draft, resv_Resource_List, "walltime", t->duration, err);
}

/* Those made from a job have its times, which were written before. */
static bool is_specific(struct keel_changes *ch, struct keel_obj *draft)
{
	return keel_change_slot(ch, draft, resv_qmove) || keel_change_slot(ch, draft, resv_reserve_job);
}

static int32_t complete_times(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, struct times *t,
			      struct keel_err *err)
{
	int32_t code;

	if ((code = get_time(ch, draft, resv_reserve_start, &t->start)) ||
	    (code = get_time(ch, draft, resv_reserve_end, &t->end)) || (code = get_duration(ch, draft, &t->duration)))
		return fails(err, code);
	if (is_specific(ch, draft))
		code = t->start && t->end && t->duration ? 0 : PBSE_BADTSPEC;
	else
		code = times_complete(t, keel_time(mod));
	return code ? fails(err, code) : wish_put_times(ch, draft, t, err);
}

/* ---- the rule ----------------------------------------------------------------------------------------------------------- */

static const char *text_of(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, attr);

	return slot ? slot->p : NULL;
}

/* It begins when its first occurrence does. */
static int32_t put_occurrences(struct keel_changes *ch, struct keel_obj *draft, const struct times *t, int64_t first,
			       uint32_t n, struct keel_err *err)
{
	struct times soonest = { first, first + t->duration, t->duration };
	int32_t code = wish_put_times(ch, draft, &soonest, err);

	if (code || (code = put_number(ch, draft, resv_reserve_count, NULL, n, err)))
		return code;
	if (n == 1) { /* the rule has said all */
		code = keel_change_text(ch, draft, resv_reserve_rrule, KEEL_UNSET, NULL, "", err);
		return code ? code : keel_change_text(ch, draft, resv_reserve_timezone, KEEL_UNSET, NULL, "", err);
	}
	if ((code = put_number(ch, draft, resv_reserve_index, NULL, 1, err)) ||
	    (code = put_number(ch, draft, resv_reserve_standing, NULL, t->start, err)))
		return code;
	return put_number(ch, draft, resv_reserve_standing_duration, NULL, t->duration, err);
}

static int32_t apply_rule(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, const struct times *t,
			  struct keel_err *err)
{
	const struct conf *conf = mod->conf;
	const char *rule = text_of(ch, draft, resv_reserve_rrule), *zone = text_of(ch, draft, resv_reserve_timezone);
	int64_t *begins = NULL;
	uint32_t n = 0;
	int32_t code;

	if (!rule)
		return 0;
	if (!zone)
		return fails(err, PBSE_BAD_ICAL_TZ);
	code = occurrences_of(rule, zone, t->start, t->duration, (uint32_t)conf->standing_max, &begins, &n);
	if (!code && (!n || begins[n - 1] > TIME_LIMIT - t->duration))
		code = PBSE_BADTSPEC;
	code = code ? fails(err, code) : put_occurrences(ch, draft, t, begins[0], n, err);
	free(begins);
	return code;
}

/* ---- people ---------------------------------------------------------------------------------------------------------------- */

static bool lists(struct keel_obj *server, const struct keel_attr *list, const char *name, const char *host, bool *ret_speaks)
{
	struct keel_acl acl = KEEL_ACL(name, host);

	if (keel_is_set(server, list))
		keel_emit(server, list, NULL, &(struct keel_emit){ keel_acl_text, &acl });
	*ret_speaks = acl.best >= 0;
	return acl.allowed;
}

static bool lists_root(struct keel_mod *mod, struct keel_obj *server, const struct keel_session *who)
{
	struct keel_acl acl = KEEL_ACL(who->user, who->host);

	if (keel_is_set(server, server_acl_roots))
		keel_emit(server, server_acl_roots, NULL, &(struct keel_emit){ keel_acl_text, &acl });
	return keel_acl_is_root(&acl, who->host, keel_host_name(mod));
}

/* Of the requester's groups, the first that the list speaks of decides. */
static bool lists_groups(struct keel_obj *server, const struct keel_session *who)
{
	const char *at = who->groups ? who->groups : who->group ? who->group : "";
	bool allowed = false, speaks = false;
	char name[256];

	for (; *at && !speaks; at += strcspn(at, ","), at += *at == ',') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ","), at);
		allowed = lists(server, server_acl_resv_groups, name, who->host, &speaks);
	}
	return allowed;
}

static int32_t check_owner(struct keel_mod *mod, const struct keel_session *who, struct keel_err *err)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	bool speaks;

	if ((who->uid == 0 || strcmp(who->user, "root") == 0) && !lists_root(mod, server, who))
		return fails(err, PBSE_R_UID);
	if (keel_get_int(server, server_acl_resv_group_enable) && !lists_groups(server, who))
		return fails(err, PBSE_RESVAUTH_G);
	if (keel_get_int(server, server_acl_resv_user_enable) &&
	    !lists(server, server_acl_resv_users, who->user, who->host, &speaks))
		return fails(err, PBSE_RESVAUTH_U);
	return 0;
}

static bool has_word(const char *list, const char *word)
{
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (strlen(word) == len && memcmp(list, word, len) == 0)
			return true;
	}
	return false;
}

/* The entry of a list that counts here, without its host: the one for `host`, else the one for every host. NULL: there is none. */
static char *entry_for(const char *list, const char *host)
{
	const char *best = NULL;
	bool exact = false;

	for (const char *at = list; *at && !exact;) {
		size_t len = strcspn(at, ","), name = strcspn(at, "@,");

		exact = name < len && strlen(host) == len - name - 1 && strncasecmp(at + name + 1, host, len - name - 1) == 0;
		if (exact || name == len || (len - name == 2 && at[name + 1] == '*'))
			best = at;
		at += len + (at[len] == ',');
	}
	return best ? strndup(best, strcspn(best, "@,")) : NULL;
}

static bool is_of(const struct keel_session *who, const char *group)
{
	return (who->group && strcmp(who->group, group) == 0) || (who->groups && has_word(who->groups, group));
}

/* A reservation is its owner's and of a group of its owner's: User_List and group_list may name nothing else here. */
static int32_t check_entries(const struct wish *wish, struct keel_changes *ch, struct keel_obj *draft, struct keel_err *err)
{
	const char *users = text_of(ch, draft, resv_User_List), *groups = text_of(ch, draft, resv_group_list);
	char *user = users && *users ? entry_for(users, wish->who->host) : NULL;
	char *group = groups ? entry_for(groups, wish->who->host) : NULL;
	int32_t code = 0;

	if (users && *users && (!user || strcmp(user, wish->who->user) != 0))
		code = fails(err, PBSE_R_UID);
	else if (group && !is_of(wish->who, group))
		code = fails(err, PBSE_R_GID);
	else if (group)
		code = keel_change_text(ch, draft, resv_egroup, KEEL_SET, NULL, group, err);
	free(group);
	free(user);
	return code;
}

/* The owner may use it, whoever else is named. */
static int32_t add_owner(const struct wish *wish, struct keel_changes *ch, struct keel_obj *draft, struct keel_err *err)
{
	int32_t len = keel_change_peek(ch, draft, resv_Authorized_Users, NULL, NULL, 0), code;
	char *list = len > 0 ? malloc((size_t)len + 1) : NULL, *all = NULL;

	if (len <= 0)
		return keel_change_text(ch, draft, resv_Authorized_Users, KEEL_SET, NULL, wish->who->who, err);
	if (list)
		keel_change_peek(ch, draft, resv_Authorized_Users, NULL, list, (uint32_t)len + 1);
	if (list && has_word(list, wish->who->who))
		code = 0;
	else if (!list || asprintf(&all, "%s,%s", list, wish->who->who) < 0)
		code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	else
		code = keel_change_text(ch, draft, resv_Authorized_Users, KEEL_SET, NULL, all, err);
	free(all);
	free(list);
	return code;
}

int32_t wish_apply(struct keel_mod *mod, const struct wish *wish, struct keel_changes *ch, struct keel_obj *draft,
		   struct keel_err *err)
{
	struct times t = { 0 };
	int32_t code;

	if ((code = put_attributes(wish, ch, draft, err)) || (code = specific_prepare(mod, ch, draft, wish, err)) ||
	    (code = complete_times(mod, ch, draft, &t, err)) || (code = apply_rule(mod, ch, draft, &t, err)) ||
	    (code = check_owner(mod, wish->who, err)) || (code = check_entries(wish, ch, draft, err)))
		return code;
	return add_owner(wish, ch, draft, err);
}
