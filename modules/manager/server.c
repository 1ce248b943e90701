/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - the server object: its attributes, and their values on a new server.
 */
#include "manager.h"

#include <stdlib.h>
#include <string.h>

#include "keel/setting.h"
#include "keel/text.h"

KEEL_ATTRS_OF(server, shutdown, scheduling, default_queue);

const struct keel_class_def server_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE | KEEL_CLASS_DAEMON,
	.name = "server",
	.doc = "the server",
};

struct keel_obj *server_object(struct keel_mod *mod)
{
	return keel_find(mod, "server", keel_server_name(mod));
}

static void derive_state(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	(void)mod;
	if (keel_is_set(obj, server_shutdown))
		keel_emit_text(emit, keel_get_str(obj, server_shutdown));
	else
		keel_emit_text(emit, keel_get_int(obj, server_scheduling) ? "Active" : "Idle");
}

static void derive_host(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	(void)obj;
	keel_emit_text(emit, keel_host_name(mod));
}

static void derive_version(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	(void)obj;
	keel_emit_text(emit, keel_version_text(mod));
}

static int32_t check_people(struct keel_mod *mod, const struct keel_session *who,
			    struct keel_obj *obj, int32_t op, const char *key, const char *text,
			    struct keel_err *err)
{
	(void)who, (void)obj, (void)op, (void)key, (void)mod;
	while (*text) {
		size_t len = strcspn(text, ",");

		if (!memchr(text, '@', len))
			return keel_error(err, PBSE_BADHOST, "%s", keel_pbse_text(PBSE_BADHOST));
		text += len + (text[len] == ',');
	}
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the list by name. */
#define PATIENCE_DEFAULT 310 /* of node_fail_requeue */

static void patience_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	long long seconds = keel_get_int(obj, attr);

	if (seconds == PATIENCE_DEFAULT)
		keel_log(mod, KEEL_LOG_ADMIN, "Svr", keel_id(obj), "node_fail_requeue reverting back to default val %lld", seconds);
	else
		keel_log(mod, KEEL_LOG_ADMIN, "Svr", keel_id(obj), "node_fail_requeue value changed to %lld", seconds);
}

static void people_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	char text[8192], *save = NULL, *one, *people[512];
	struct keel_text sorted;
	size_t n = 0, i;

	(void)mod;
	if (keel_get_text(obj, attr, NULL, text, sizeof(text)) >= (int32_t)sizeof(text))
		return;
	for (one = strtok_r(text, ",", &save); one && n < KEEL_COUNT(people);
	     one = strtok_r(NULL, ",", &save))
		people[n++] = one;
	if (one || n < 2)
		return;
	qsort(people, n, sizeof(people[0]), by_text);
	keel_text_init(&sorted);
	for (i = 0; i < n; i++)
		keel_text_printf(&sorted, "%s%s", i ? "," : "", people[i]);
	if (!sorted.failed)
		keel_set_text(obj, attr, KEEL_SET, NULL, sorted.data, NULL);
	keel_text_fini(&sorted);
}

static int32_t check_queue(struct keel_mod *mod, const struct keel_session *who,
			   struct keel_obj *obj, int32_t op, const char *key, const char *text,
			   struct keel_err *err)
{
	(void)who, (void)obj, (void)op, (void)key;
	if (keel_find(mod, "queue", text))
		return 0;
	return keel_error(err, PBSE_UNKQUE, "%s", keel_pbse_text(PBSE_UNKQUE));
}

/* Only requests are refused: a value stored by an older version is loaded. */
static int32_t check_qdel_arguments(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *server,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)server, (void)op, (void)key, (void)text, (void)mod;
	return who ? keel_error(err, PBSE_NOSUP, "default_qdel_arguments is not obeyed: give qdel its options where it is called") : 0;
}

static int32_t check_count(struct keel_mod *mod, const struct keel_session *who,
			   struct keel_obj *obj, int32_t op, const char *key, const char *text,
			   struct keel_err *err)
{
	(void)who, (void)obj, (void)op, (void)key, (void)mod;
	if (strtoll(text, NULL, 10) >= 0)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

#define REQUEUE_TIMEOUT_MAX 10800

static int32_t check_requeue_timeout(struct keel_mod *mod, const struct keel_session *who,
				     struct keel_obj *obj, int32_t op, const char *key, const char *text,
				     struct keel_err *err)
{
	int64_t seconds = keel_setting_seconds(text);

	(void)who, (void)obj, (void)op, (void)key, (void)mod;
	if (seconds >= 1 && seconds <= REQUEUE_TIMEOUT_MAX)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "%s job_requeue_timeout", keel_pbse_text(PBSE_BADATVAL));
}

/* The default of ncpus cannot be removed: it becomes 1 again. */
static void defaults_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	char text[32];

	(void)mod;
	if (keel_get_text(obj, attr, "ncpus", text, sizeof(text)) < 0)
		keel_set_text(obj, attr, KEEL_SET, "ncpus", "1", NULL);
}

#define LOG_EVENTS_DEFAULT 511

/* With the default value, the mask of the daemon's configuration applies. */
static void log_events_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	int64_t mask = keel_get_int(obj, attr);

	keel_log_events(mod, mask == LOG_EVENTS_DEFAULT ? 0 : (uint32_t)mask);
}

#define S KEEL_ATTR_SAVE
#define T KEEL_ATTR_RESET
#define OPS KEEL_OPERATORS
#define MGR KEEL_MANAGERS
#define NONE KEEL_NOBODY
#define SERVER(attr, type_name, place, flag_bits, writers, value, words, ...)                      \
	const struct keel_attr_def server_attr_##attr = KEEL_ATTR_DEF(                             \
		"server", #attr, type_name, .order = (place), .flags = (flag_bits),                \
		.read_roles = KEEL_EVERYBODY, .write_roles = (writers), .fallback = (value),       \
		.doc = (words), ##__VA_ARGS__);
#include "server.def"
#undef SERVER

int32_t server_create(struct keel_mod *mod, struct keel_err *err)
{
	struct keel_obj *server = keel_draft(mod, "server", keel_server_name(mod), err);
	static const char *const ncpus[] = { "resources_default", "default_chunk" };
	const struct keel_attr *attr;
	int32_t failed = 0;

	if (!server)
		return -1;
	for (size_t i = 0; i < KEEL_COUNT(ncpus) && !failed; i++) {
		attr = keel_attr_find(mod, "server", ncpus[i]);
		failed = attr ? keel_set_text(server, attr, KEEL_SET, "ncpus", "1", err)
			      : keel_error(err, -1, "there is no attribute %s of class server", ncpus[i]);
	}
	if (!failed && (keel_set_str(server, server_default_queue, "workq") || keel_publish(server)))
		failed = keel_error(err, -1, "no memory for the server object");
	if (failed)
		keel_destroy(server);
	return failed;
}
