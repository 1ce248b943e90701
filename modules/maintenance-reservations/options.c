/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - attributes of windows: what is done with jobs at the beginning, and hosts in turn; which of them go together.
 */
#include "maintenance.h"

#include <string.h>

KEEL_ATTRS_OF(resv, maintenance_action, maintenance_rolling, maintenance_health);

#define HEALTH_MAX 1024
#define ROLLING_MAX 1000000

static int32_t check_action(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj, int32_t op,
			    const char *key, const char *text, struct keel_err *err)
{
	(void)mod, (void)who, (void)obj, (void)op, (void)key;
	if (strcmp(text, "suspend") == 0 || strcmp(text, "drain") == 0)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "maintenance_action is suspend or drain");
}

static int32_t check_rolling(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj, int32_t op,
			     const char *key, const char *text, struct keel_err *err)
{
	const size_t n = strspn(text, "0123456789");

	(void)mod, (void)who, (void)obj, (void)op, (void)key;
	if (n > 0 && n <= 6 && !text[n] && strspn(text, "0") != n)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "maintenance_rolling is how many hosts are closed at a time: 1 to %d", ROLLING_MAX - 1);
}

static int32_t check_health(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *obj, int32_t op,
			    const char *key, const char *text, struct keel_err *err)
{
	(void)mod, (void)who, (void)obj, (void)op, (void)key;
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return keel_error(err, PBSE_BADATVAL, "maintenance_health has a control character");
	if (*text == '/' && strlen(text) <= HEALTH_MAX)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "maintenance_health is the absolute path of a program, then words for it; at most %d bytes",
			  HEALTH_MAX);
}

const struct keel_attr_def attr_action =
	KEEL_ATTR_DEF("resv", "maintenance_action", "string", .order = 240, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_OPERATORS | KEEL_MANAGERS, .check = check_action,
		      .doc = "what is done at its begin with jobs on its hosts: suspend, or drain (they are queued again); unset: nothing");
const struct keel_attr_def attr_rolling =
	KEEL_ATTR_DEF("resv", "maintenance_rolling", "long", .order = 241, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_OPERATORS | KEEL_MANAGERS, .check = check_rolling,
		      .doc = "how many of its hosts are closed at a time, the others later; unset: all at once");
const struct keel_attr_def attr_health =
	KEEL_ATTR_DEF("resv", "maintenance_health", "string", .order = 242, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE,
		      .read_roles = KEEL_OPERATORS | KEEL_MANAGERS, .write_roles = KEEL_OPERATORS | KEEL_MANAGERS, .check = check_health,
		      .doc = "program whose exit status 0 says that a host, its last word, is well and may be opened again");
const struct keel_attr_def attr_at =
	KEEL_ATTR_DEF("resv", "maintenance_at", "long", .order = 243, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
		      .doc = "how many of its hosts are done, with maintenance_rolling");
const struct keel_attr_def attr_comment =
	KEEL_ATTR_DEF("resv", "maintenance_comment", "string", .order = 244, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_EVERYBODY, .doc = "which host is not well, and why");
const struct keel_attr_def attr_acted =
	KEEL_ATTR_DEF("resv", "maintenance_acted", "long", .order = 906, .flags = KEEL_ATTR_SAVE,
		      .doc = "1: its action was done with the jobs on its hosts");

static const char *text_in(struct keel_changes *ch, struct keel_obj *draft, const struct keel_attr *attr)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, attr);

	return slot ? slot->p : NULL;
}

int32_t options_check(struct keel_changes *ch, struct keel_obj *draft, struct keel_err *err)
{
	const char *action = text_in(ch, draft, resv_maintenance_action), *health = text_in(ch, draft, resv_maintenance_health);

	if (action && strcmp(action, "suspend") == 0 && !action_can_suspend())
		return keel_error(err, PBSE_NOSUP, "maintenance_action suspend needs the module admin-suspend, which does not run here; "
						   "enable it, or use drain");
	if (health && !rolling_can_look())
		return keel_error(err, PBSE_NOSUP, "maintenance_health needs the module supervise, which does not run here; enable it");
	if (keel_change_slot(ch, draft, resv_maintenance_rolling) && !health)
		return keel_error(err, PBSE_IVALREQ, "hosts in turn (maintenance_rolling) need a program that says when one is well "
						     "(maintenance_health)");
	return 0;
}

uint32_t options_at_a_time(struct keel_changes *ch, struct keel_obj *draft, uint32_t all)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, resv_maintenance_rolling);

	return slot && slot->i > 0 && slot->i < all ? (uint32_t)slot->i : all;
}

/* Others have none of these. */
keel_verdict on_resv_submit(struct keel_call *c, const struct keel_ev_resv_submit *ev)
{
	static const char *const names[] = { "maintenance_action", "maintenance_rolling", "maintenance_health" };
	char text[8];

	if (!ev->resv || keel_resv_kind(ev->resv) == KIND)
		return KEEL_NEXT;
	for (uint32_t i = 0; i < KEEL_COUNT(names); i++)
		if (keel_call_get(c, ev->resv, names[i], NULL, text, sizeof(text)) > 0)
			return keel_reject(c, PBSE_NOSUP, "%s is for maintenance (pbs_rsub --hosts)", names[i]);
	return KEEL_NEXT;
}
