/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - accounting records of reservations (spec 11 section 14).
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "keel/text.h"

KEEL_ATTRS_OF(resv, Reserve_Name, Reserve_Owner, Account_Name, queue, ctime, reserve_start, reserve_end, reserve_duration,
	      resv_nodes, Authorized_Users, Authorized_Groups, Authorized_Hosts);
KEEL_ATTRS_OF(resv, Resource_List, interactive, reserve_rrule, reserve_timezone, reserve_count);

#define RECORD(letter, words)                                                                                           \
	{ .size = sizeof(struct keel_term_def), .name = letter, .topic = "record", .form = "reservation", .doc = words }
#define ITEM(item, letters, words)                                                                                      \
	{ .size = sizeof(struct keel_term_def), .name = item, .topic = "item", .form = letters, .doc = words }
const struct keel_term_def record_terms[RECORD_TERMS] = {
	RECORD("U", "it was submitted"),
	RECORD("Y", "it was confirmed: it has vnodes"),
	RECORD("B", "it began"),
	RECORD("k", "its owner deleted it"),
	RECORD("K", "another user, or the server, deleted it"),
	ITEM("Interactive", "U", "seconds that pbs_rsub waits"),
	ITEM("recurrence_rrule", "U", "when it recurs"),
	ITEM("timezone", "U", "the time zone of recurrence_rrule"),
	ITEM("nodes", "YB", "its vnodes and what it has of each"),
	ITEM("count", "Y", "how many occurrences it has"),
	ITEM("owner", "B", "user@host that submitted it"),
	ITEM("name", "B", "its name"),
	ITEM("duration", "B", "its length in seconds"),
	ITEM("Authorized_Users", "B", "users that may submit jobs to it"),
	ITEM("Authorized_Groups", "B", "groups that may submit jobs to it"),
	ITEM("Authorized_Hosts", "B", "hosts that jobs may be submitted from"),
};

static void put(struct keel_mod *mod, struct keel_obj *resv, char letter, struct keel_text *text)
{
	if (text->failed)
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "no memory for its accounting record %c", letter);
	else
		keel_acct_record(letter, keel_id(resv), text->data);
	keel_text_fini(text);
}

/* ` name=value`, in quotes where it has to be. */
static void item(struct keel_text *text, const char *name, const char *value)
{
	char *shown = value ? keel_acct_value(value) : NULL;

	if (shown)
		keel_text_printf(text, "%s%s=%s", text->len ? " " : "", name, shown);
	else if (value)
		text->failed = true;
	free(shown);
}

static void item_number(struct keel_text *text, const char *name, int64_t n)
{
	keel_text_printf(text, " %s=%lld", name, (long long)n);
}

void record_submit(struct keel_mod *mod, struct keel_obj *resv)
{
	const char *zone = keel_get_str(resv, resv_reserve_timezone);
	struct keel_text text;

	keel_text_init(&text);
	keel_text_printf(&text, "requestor=%s", keel_get_str(resv, resv_Reserve_Owner));
	if (keel_is_set(resv, resv_interactive))
		item_number(&text, "Interactive", keel_get_int(resv, resv_interactive));
	if (keel_is_set(resv, resv_reserve_rrule))
		keel_text_printf(&text, " recurrence_rrule=%s timezone=%s", keel_get_str(resv, resv_reserve_rrule),
				 zone ? zone : "");
	put(mod, resv, 'U', &text);
}

void record_confirm(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	const char *nodes = keel_get_str(resv, resv_resv_nodes);
	struct keel_text text;

	keel_text_init(&text);
	keel_text_printf(&text, "requestor=%s start=%lld end=%lld nodes=%s", who,
			 (long long)keel_get_int(resv, resv_reserve_start), (long long)keel_get_int(resv, resv_reserve_end),
			 nodes ? nodes : "");
	if (keel_get_int(resv, resv_reserve_count) > 1)
		item_number(&text, "count", keel_get_int(resv, resv_reserve_count));
	put(mod, resv, 'Y', &text);
}

/* An attribute that is a list, as it is shown. */
static void item_shown(struct keel_text *text, struct keel_obj *resv, const struct keel_attr *attr)
{
	int32_t len = keel_get_text(resv, attr, NULL, NULL, 0);
	char *shown = len > 0 ? malloc((size_t)len + 1) : NULL;

	if (len <= 0)
		return;
	if (shown) {
		keel_get_text(resv, attr, NULL, shown, (uint32_t)len + 1);
		item(text, keel_attr_name(attr), shown);
	} else {
		text->failed = true;
	}
	free(shown);
}

struct resources {
	struct keel_text *text;
	char *place; /* waits for select, which goes first; owned */
};

static void item_resource(struct keel_text *text, const char *key, const char *value)
{
	char *shown = value ? keel_acct_value(value) : NULL;

	if (shown)
		keel_text_printf(text, " Resource_List.%s=%s", key, shown);
	else
		text->failed = true;
	free(shown);
}

static void put_place(struct resources *r)
{
	if (r->place)
		item_resource(r->text, "place", r->place);
	free(r->place);
	r->place = NULL;
}

static void put_resource(void *arg, const char *key, const char *value, uint32_t len)
{
	struct resources *r = arg;
	char *copy = strndup(value, len);

	if (copy && strcmp(key, "place") == 0 && !r->place) {
		r->place = copy;
		return;
	}
	item_resource(r->text, key, copy);
	if (strcmp(key, "select") == 0)
		put_place(r);
	free(copy);
}

/* It ends with a blank, as tools know it. */
void record_begin(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_text text;
	struct resources resources = { .text = &text };

	keel_text_init(&text);
	item(&text, "owner", keel_get_str(resv, resv_Reserve_Owner));
	item(&text, "name", keel_get_str(resv, resv_Reserve_Name));
	item(&text, "account", keel_get_str(resv, resv_Account_Name));
	item(&text, "queue", keel_get_str(resv, resv_queue));
	item_number(&text, "ctime", keel_get_int(resv, resv_ctime));
	item_number(&text, "start", keel_get_int(resv, resv_reserve_start));
	item_number(&text, "end", keel_get_int(resv, resv_reserve_end));
	item_number(&text, "duration", keel_get_int(resv, resv_reserve_duration));
	if (keel_is_set(resv, resv_resv_nodes))
		keel_text_printf(&text, " nodes=%s", keel_get_str(resv, resv_resv_nodes));
	item_shown(&text, resv, resv_Authorized_Users);
	item_shown(&text, resv, resv_Authorized_Groups);
	item_shown(&text, resv, resv_Authorized_Hosts);
	keel_emit(resv, resv_Resource_List, NULL, &(struct keel_emit){ put_resource, &resources });
	put_place(&resources);
	keel_text_str(&text, " ");
	put(mod, resv, 'B', &text);
}

void record_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who)
{
	const char *owner = keel_get_str(resv, resv_Reserve_Owner);
	struct keel_text text;

	keel_text_init(&text);
	keel_text_printf(&text, "requestor=%s", who);
	put(mod, resv, owner && strcmp(owner, who) == 0 ? 'k' : 'K', &text);
}
