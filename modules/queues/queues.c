/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.c - class "queue", created and changed through manage requests.
 *
 * Its types are rows of the kind QUEUE_TYPE; Execution is here. A new server gets one such queue, enabled and
 * started.
 */
#include "queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(queue, queue_type, enabled, started);
KEEL_ATTR_OPT(queue, state_count);

struct conf {
	const char *first_queue;
};

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, struct conf, first_queue, .fallback = "workq",
		       .doc = "the queue a fresh server gets; empty: none"),
};

static const struct keel_class_def queue_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "queue",
	.doc = "a queue",
};

static int32_t table_error(int32_t code, struct keel_err *err)
{
	return keel_error(err, code, "%s", keel_pbse_text(code));
}

static int32_t check_type(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)queue, (void)op, (void)key;
	return type_find(mod, text) ? 0 : table_error(PBSE_BADATVAL, err);
}

static int32_t check_priority(struct keel_mod *mod, const struct keel_session *who,
			      struct keel_obj *queue, int32_t op, const char *key, const char *text,
			      struct keel_err *err)
{
	long n = strtol(text, NULL, 10);

	(void)who, (void)queue, (void)op, (void)key, (void)mod;
	return n < -1024 || n > 1023 ? table_error(PBSE_BADATVAL, err) : 0;
}

/* Jobs are not checkpointed periodically. */
static int32_t check_unread(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)queue, (void)op, (void)key, (void)text, (void)mod;
	return who ? keel_error(err, PBSE_NOSUP, "checkpoint_min is not obeyed yet: jobs are saved by qhold and qterm alone") : 0;
}

/* The bound keeps the value in milliseconds from overflowing. */
static int32_t check_seconds(struct keel_mod *mod, const struct keel_session *who,
			     struct keel_obj *queue, int32_t op, const char *key, const char *text,
			     struct keel_err *err)
{
	long long n = strtoll(text, NULL, 10);

	(void)who, (void)queue, (void)op, (void)key, (void)mod;
	return n < 0 || n > INT32_MAX ? table_error(PBSE_BADATVAL, err) : 0;
}

static int32_t check_count(struct keel_mod *mod, const struct keel_session *who,
			   struct keel_obj *queue, int32_t op, const char *key, const char *text,
			   struct keel_err *err)
{
	(void)who, (void)queue, (void)op, (void)key, (void)mod;
	return strtoll(text, NULL, 10) < 0 ? table_error(PBSE_BADATVAL, err) : 0;
}

/* Stores the full name, Execution, where a prefix was given. */
static void type_changed(struct keel_mod *mod, struct keel_obj *queue, const struct keel_attr *attr)
{
	const char *text = keel_get_str(queue, attr);
	const struct keel_queue_type_def *type = text ? type_find(mod, text) : NULL;

	if (type && strcmp(text, type->name) != 0)
		keel_set_str(queue, attr, type->name);
}

#define S KEEL_ATTR_SAVE
#define OPS KEEL_OPERATORS
#define MGR KEEL_MANAGERS
#define NONE KEEL_NOBODY
#define QUEUE(attr, type_name, place, flag_bits, writers, value, words, ...)                       \
	static const struct keel_attr_def attr_##attr = KEEL_ATTR_DEF(                             \
		"queue", #attr, type_name, .order = (place), .flags = (flag_bits),                 \
		.read_roles = KEEL_EVERYBODY, .write_roles = (writers), .fallback = (value),       \
		.doc = (words), ##__VA_ARGS__);
#include "queue.def"
#undef QUEUE

static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, queue_class),
	KEEL_ROW(KIND, type_kind),
	KEEL_ROW(QUEUE_TYPE, execution_type),
	KEEL_ROW(SERVICE, service_def),
#define QUEUE(attr, ...) KEEL_ROW(ATTR, attr_##attr),
#include "queue.def"
#undef QUEUE
};

enum { CMD_DELETE = 1 };

static bool becomes_true(struct keel_call *c, struct keel_obj *queue, const char *attr)
{
	char text[8];

	return keel_call_get(c, queue, attr, NULL, text, sizeof(text)) > 0 && text[0] == 'T';
}

bool queue_has_jobs(struct keel_obj *queue)
{
	char counts[256];
	const char *p;

	if (!queue_state_count || keel_get_text(queue, queue_state_count, NULL, counts, sizeof(counts)) <= 0)
		return false;
	for (p = counts; (p = strchr(p, ':')); p++)
		if (strtoll(p + 1, NULL, 10) > 0)
			return true;
	return false;
}

static keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	const struct keel_queue_type_def *type = NULL;
	const char *have;
	char text[32] = "";

	if (strcmp(ev->klass, "queue") != 0)
		return KEEL_NEXT;
	have = keel_get_str(ev->obj, queue_queue_type);
	if (ev->cmd != CMD_DELETE && keel_call_get(c, ev->obj, "queue_type", NULL, text, sizeof(text)) > 0)
		type = type_find(c->mod, text);
	/* One with jobs is not deleted and gets no other type than it has. */
	if ((ev->cmd == CMD_DELETE || (have && type && strcmp(type->name, have) != 0)) && queue_has_jobs(ev->obj))
		return keel_reject(c, PBSE_OBJBUSY, NULL);
	/* Only a queue with a type is enabled or started; the type may come in the same request. */
	if (ev->cmd == CMD_DELETE || *text)
		return KEEL_NEXT;
	if (becomes_true(c, ev->obj, "enabled"))
		return keel_reject(c, PBSE_QUENOEN, NULL);
	return becomes_true(c, ev->obj, "started") ? keel_reject(c, PBSE_NEEDQUET, NULL) : KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(management, on_management, .order = -1000),
};

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *queue;

	if (keel_count(mod, "queue") || keel_count(mod, "job") || !conf->first_queue ||
	    !*conf->first_queue)
		return 0;
	queue = keel_draft(mod, "queue", conf->first_queue, err);
	if (!queue)
		return -1;
	keel_set_int(queue, queue_enabled, 1);
	keel_set_int(queue, queue_started, 1);
	/* Fails if the type cannot be set: jobs in a queue without a type would never start. */
	if (keel_set_str(queue, queue_queue_type, "Execution") == 0 && keel_publish(queue) == 0)
		return 0;
	keel_destroy(queue);
	return keel_error(err, -1, "no memory for the first queue, %s", conf->first_queue);
}

static const char *const requires_modules[] = { "resources", NULL };

KEEL_MODULE(.name = "queues", .version = "1.0", .vendor = "Keelson",
	    .summary = "queues, and their types", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules, .start = start);
