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

struct conf {
	const char *first_queue;
};

static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core),
	KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(call, 0, struct state, call),
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

static int32_t table_error(struct keel_mod *mod, int32_t code, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->core->error(err, code, "%s", st->core->pbse_text(code));
}

static int32_t check_type(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)queue, (void)op, (void)key;
	return type_find(mod, text) ? 0 : table_error(mod, PBSE_BADATVAL, err);
}

static int32_t check_priority(struct keel_mod *mod, const struct keel_session *who,
			      struct keel_obj *queue, int32_t op, const char *key, const char *text,
			      struct keel_err *err)
{
	long n = strtol(text, NULL, 10);

	(void)who, (void)queue, (void)op, (void)key;
	return n < -1024 || n > 1023 ? table_error(mod, PBSE_BADATVAL, err) : 0;
}

/* Jobs are not checkpointed periodically. */
static int32_t check_unread(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)queue, (void)op, (void)key, (void)text;
	return who ? st->core->error(err, PBSE_NOSUP, "checkpoint_min is not obeyed yet: jobs are saved by qhold and qterm alone") : 0;
}

/* The bound keeps the value in milliseconds from overflowing. */
static int32_t check_seconds(struct keel_mod *mod, const struct keel_session *who,
			     struct keel_obj *queue, int32_t op, const char *key, const char *text,
			     struct keel_err *err)
{
	long long n = strtoll(text, NULL, 10);

	(void)who, (void)queue, (void)op, (void)key;
	return n < 0 || n > INT32_MAX ? table_error(mod, PBSE_BADATVAL, err) : 0;
}

static int32_t check_count(struct keel_mod *mod, const struct keel_session *who,
			   struct keel_obj *queue, int32_t op, const char *key, const char *text,
			   struct keel_err *err)
{
	(void)who, (void)queue, (void)op, (void)key;
	return strtoll(text, NULL, 10) < 0 ? table_error(mod, PBSE_BADATVAL, err) : 0;
}

/* Stores the full name, Execution, where a prefix was given. */
static void type_changed(struct keel_mod *mod, struct keel_obj *queue, const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(queue, attr);
	const struct keel_queue_type_def *type = text ? type_find(mod, text) : NULL;

	if (type && strcmp(text, type->name) != 0)
		st->object->set_str(queue, attr, type->name);
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
	struct state *st = keel_state(c);
	char text[8];

	return st->call->get(c, queue, attr, NULL, text, sizeof(text)) > 0 && text[0] == 'T';
}

/* Only a queue with a type is enabled or started; the type may come in the same request. */
static keel_verdict check_complete(struct keel_call *c, struct keel_obj *queue)
{
	struct state *st = keel_state(c);
	char type[32];

	if (st->call->get(c, queue, "queue_type", NULL, type, sizeof(type)) > 0)
		return KEEL_NEXT;
	if (becomes_true(c, queue, "enabled"))
		return st->call->reject(c, PBSE_QUENOEN, NULL);
	if (becomes_true(c, queue, "started"))
		return st->call->reject(c, PBSE_NEEDQUET, NULL);
	return KEEL_NEXT;
}

/* Not counting finished jobs kept as history. */
static bool has_jobs(struct keel_mod *mod, struct keel_obj *queue)
{
	struct state *st = mod->state;
	char counts[256];
	const char *p;

	st->total = st->object->attr(mod, "queue", "state_count");
	if (!st->total || st->object->text(queue, st->total, NULL, counts, sizeof(counts)) <= 0)
		return false;
	for (p = counts; (p = strchr(p, ':')); p++)
		if (strtoll(p + 1, NULL, 10) > 0)
			return true;
	return false;
}

/* Does this operation give the queue another type than the one it has? */
static bool type_changes(struct keel_call *c, struct keel_obj *queue)
{
	struct state *st = keel_state(c);
	const char *have = st->object->get_str(queue, st->type);
	char text[32];
	const struct keel_queue_type_def *type;

	if (!have || st->call->get(c, queue, "queue_type", NULL, text, sizeof(text)) <= 0)
		return false;
	type = type_find(c->mod, text);
	return type && strcmp(type->name, have) != 0;
}

static keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	struct state *st = keel_state(c);

	if (strcmp(ev->klass, "queue") != 0)
		return KEEL_NEXT;
	if ((ev->cmd == CMD_DELETE || type_changes(c, ev->obj)) && has_jobs(c->mod, ev->obj))
		return st->call->reject(c, PBSE_OBJBUSY, NULL);
	return ev->cmd == CMD_DELETE ? KEEL_NEXT : check_complete(c, ev->obj);
}

static const struct keel_tap taps[] = {
	KEEL_TAP(management, on_management, .order = -1000),
};

static const struct keel_find wanted[] = {
	KEEL_FIND(struct state, type, "queue", "queue_type"),
	KEEL_FIND(struct state, enabled, "queue", "enabled"),
	KEEL_FIND(struct state, started, "queue", "started"),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	return keel_find_all(mod, st->core, st->object, wanted, KEEL_COUNT(wanted), err);
}

/* Fails if the type cannot be set: jobs in a queue without a type would never start. */
static int32_t first_make(struct keel_mod *mod, const char *name, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_obj *queue = st->object->draft(mod, "queue", name, err);

	if (!queue)
		return -1;
	st->object->set_int(queue, st->enabled, 1);
	st->object->set_int(queue, st->started, 1);
	if (st->object->set_str(queue, st->type, "Execution") == 0 && st->object->publish(queue) == 0)
		return 0;
	st->object->destroy(queue);
	return st->core->error(err, -1, "no memory for the first queue, %s", name);
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;

	if (st->object->count(mod, "queue") || st->object->count(mod, "job") || !conf->first_queue ||
	    !*conf->first_queue)
		return 0;
	return first_make(mod, conf->first_queue, err);
}

static const char *const requires_modules[] = { "resources", NULL };

KEEL_MODULE(.name = "queues", .version = "1.0", .vendor = "Keelson", .summary = "queues, and their types",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state),
	    .conf_size = sizeof(struct conf), .conf = rules, .n_conf = KEEL_COUNT(rules),
	    .needs = needs, .n_needs = KEEL_COUNT(needs), .contribs = contribs,
	    .n_contribs = KEEL_COUNT(contribs), .taps = taps, .n_taps = KEEL_COUNT(taps),
	    .requires_modules = requires_modules, .init = init, .start = start);
