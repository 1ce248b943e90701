/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.c - what rows of contributions hold. A new kind in keel/contrib.h gets a list and a row here.
 */
#include "modfile/kinds.h"

#include <stddef.h>
#include <string.h>

#include "keel/contrib.h"

/* label, member, form[, bit] */
#define F(type, text, member, kind_of) { text, offsetof(struct type, member), MODFILE_##kind_of, 0 }
#define FLAG(type, text, flag) { text, offsetof(struct type, flags), MODFILE_FLAG, flag }

static const struct modfile_field attr[] = {
	F(keel_attr_def, "class", klass, TEXT),
	F(keel_attr_def, "type", type, TEXT),
	F(keel_attr_def, "read by", read_roles, ROLES),
	F(keel_attr_def, "written by", write_roles, ROLES),
	F(keel_attr_def, "default", fallback, TEXT),
	F(keel_attr_def, "place in listings", order, INT),
	FLAG(keel_attr_def, "kept over a restart", KEEL_ATTR_SAVE),
	FLAG(keel_attr_def, "set at creation only", KEEL_ATTR_CREATE),
	FLAG(keel_attr_def, "unset restores the default", KEEL_ATTR_RESET),
	FLAG(keel_attr_def, "shown when asked for by name", KEEL_ATTR_NO_PRINT),
	FLAG(keel_attr_def, "may be empty", KEEL_ATTR_EMPTY),
	FLAG(keel_attr_def, "of one object alone", KEEL_ATTR_OWN),
	F(keel_attr_def, "values are checked", check, IS_SET),
	F(keel_attr_def, "computed when it is read", derive, IS_SET),
};
static const struct modfile_field klass[] = {
	FLAG(keel_class_def, "kept over a restart", KEEL_CLASS_SAVE),
	F(keel_class_def, "told at", known_point, POINT),
};
static const struct modfile_field type[] = {
	FLAG(keel_type_def, "holds named entries", KEEL_TYPE_KEYED),
	FLAG(keel_type_def, "a number", KEEL_TYPE_INT),
	FLAG(keel_type_def, "a text", KEEL_TYPE_STRING),
};
static const struct modfile_field request[] = {
	F(keel_request_def, "asked by", roles, ROLES),
	F(keel_request_def, "number", number, UINT),
	FLAG(keel_request_def, "changes nothing", KEEL_REQUEST_READ),
	FLAG(keel_request_def, "only waits", KEEL_REQUEST_WAITS),
};
static const struct modfile_field service[] = { F(keel_service_def, "version", version, UINT) };
static const struct modfile_field signal[] = { F(keel_signal_def, "sent by", roles, ROLES) };
static const struct modfile_field job_form[] = { F(keel_job_form_def, "by the attribute", attr, TEXT) };
static const struct modfile_field job_prepare[] = { F(keel_job_prepare_def, "place", place, INT) };
static const struct modfile_field parts[] = { F(keel_parts_def, "class", klass, TEXT) };
static const struct modfile_field node_state[] = {
	F(keel_node_state_def, "bit", bit, UINT),
	F(keel_node_state_def, "place in listings", place, INT),
	F(keel_node_state_def, "no new work", unavailable, UINT),
};
static const struct modfile_field preempt[] = {
	F(keel_preempt_def, "letter", letter, TEXT),
	F(keel_preempt_def, "letter of an answer", outcome, TEXT),
	F(keel_preempt_def, "in messages", words, TEXT),
	FLAG(keel_preempt_def, "the job stays on its vnodes", KEEL_PREEMPT_STAYS),
};
static const struct modfile_field job_key[] = {
	F(keel_job_key_def, "place in the order", place, INT),
	FLAG(keel_job_key_def, "goes before the order of queues", KEEL_JOB_KEY_BEFORE_QUEUES),
	FLAG(keel_job_key_def, "the same for equal jobs", KEEL_JOB_KEY_SHARED),
	FLAG(keel_job_key_def, "changes while a job waits", KEEL_JOB_KEY_MOVES),
};
static const struct modfile_field acct_item[] = {
	F(keel_acct_item_def, "place in the record", place, INT),
	F(keel_acct_item_def, "attribute", attr, TEXT),
	F(keel_acct_item_def, "in records", letters, TEXT),
};
static const struct modfile_field queue_type[] = { F(keel_queue_type_def, "jobs are started", runs, UINT) };
static const struct modfile_field resv_kind[] = {
	F(keel_resv_kind_def, "letter", letter, TEXT),
	F(keel_resv_kind_def, "asked for by", extend, TEXT),
	F(keel_resv_kind_def, "made by", roles, ROLES),
	FLAG(keel_resv_kind_def, "closes vnodes whatever runs there", KEEL_RESV_WHATEVER),
};
static const struct modfile_field resv_substate[] = {
	F(keel_resv_substate_def, "number", number, INT),
	F(keel_resv_substate_def, "code in listings", code, TEXT),
};
static const struct modfile_field managed[] = { F(keel_managed_def, "number of its objects", object, INT) };
static const struct modfile_field loader[] = {
	F(keel_loader_def, "values", choices, TEXT),
	F(keel_loader_def, "further keys in", group, TEXT),
};
static const struct modfile_field scope[] = { F(keel_scope_def, "class", klass, TEXT) };
static const struct modfile_field directive[] = { FLAG(keel_mom_directive_def, "each line counts", KEEL_MOM_DIRECTIVE_MANY) };
static const struct modfile_field term[] = {
	F(keel_term_def, "topic", topic, TEXT),
	F(keel_term_def, "form", form, TEXT),
};

#define KIND(kind_name, word, plural, type, list)                                                       \
	{ kind_name, word, plural, sizeof(struct type), sizeof(list) / sizeof(*list),                   \
	  offsetof(struct type, name), offsetof(struct type, doc), list }
static const struct modfile_kind kinds[] = {
	KIND("ATTR", "attribute", "attributes", keel_attr_def, attr),
	KIND("CLASS", "class", "classes", keel_class_def, klass),
	KIND("TYPE", "type", "types", keel_type_def, type),
	KIND("REQUEST", "request", "requests", keel_request_def, request),
	KIND("SERVICE", "service", "services", keel_service_def, service),
	{ "KIND", "kind", "kinds of rows", sizeof(struct keel_kind_def), 0, offsetof(struct keel_kind_def, name),
	  offsetof(struct keel_kind_def, doc), NULL },
	{ "FILTER", "filter of taps", "filters of taps", sizeof(struct keel_filter_def), 0, offsetof(struct keel_filter_def, name),
	  offsetof(struct keel_filter_def, doc), NULL },
	KIND("SIGNAL", "signal", "signals", keel_signal_def, signal),
	KIND("JOB_FORM", "form of jobs", "forms of jobs", keel_job_form_def, job_form),
	KIND("JOB_PREPARE", "change of requests", "changes of requests", keel_job_prepare_def, job_prepare),
	KIND("PARTS", "list of parts", "lists of parts", keel_parts_def, parts),
	KIND("NODE_STATE", "node state", "node states", keel_node_state_def, node_state),
	KIND("PREEMPT", "way to preempt", "ways to preempt", keel_preempt_def, preempt),
	KIND("JOB_KEY", "key of jobs", "keys of jobs", keel_job_key_def, job_key),
	KIND("ACCT_ITEM", "item of records", "items of records", keel_acct_item_def, acct_item),
	KIND("RESV_KIND", "kind of reservations", "kinds of reservations", keel_resv_kind_def, resv_kind),
	KIND("RESV_SUBSTATE", "substate of reservations", "substates of reservations", keel_resv_substate_def, resv_substate),
	KIND("MANAGED", "class that is managed", "classes that are managed", keel_managed_def, managed),
	{ "LISTED", "class that is listed", "classes that are listed", sizeof(struct keel_listed_def), 0, offsetof(struct keel_listed_def, name),
	  offsetof(struct keel_listed_def, doc), NULL },
	KIND("LOADER", "way to load modules", "ways to load modules", keel_loader_def, loader),
	KIND("SCOPE", "scope", "scopes", keel_scope_def, scope),
	KIND("MOM_DIRECTIVE", "directive", "directives", keel_mom_directive_def, directive),
	{ "RELOAD", "file read again", "files read again", sizeof(struct keel_reload_def), 0, offsetof(struct keel_reload_def, name),
	  offsetof(struct keel_reload_def, doc), NULL },
	{ "HOST_FACT", "fact on hosts", "facts on hosts", sizeof(struct keel_host_fact_def), 0, offsetof(struct keel_host_fact_def, name),
	  offsetof(struct keel_host_fact_def, doc), NULL },
	KIND("TERM", "term", "terms", keel_term_def, term),
	KIND("QUEUE_TYPE", "queue type", "queue types", keel_queue_type_def, queue_type),
};

const struct modfile_kind *modfile_kind(const char *name)
{
	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}
