/* SPDX-License-Identifier: Apache-2.0
 *
 * attributes.c - the rows of attributes.def as contributions, with their check functions.
 */
#include "jobs.h"
#include "keel/text.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, Hold_Types, run_count, exec_host);

#define MOM_PORT ":15002" /* of a host that has not said another */


static int32_t value_bad(const char *name, struct keel_err *err)
{
	return keel_error(err, PBSE_BADATVAL, "%s %s", keel_pbse_text(PBSE_BADATVAL), name);
}

static int32_t check_priority(struct keel_mod *mod, const struct keel_session *who,
			      struct keel_obj *job, int32_t op, const char *key, const char *text,
			      struct keel_err *err)
{
	long n = strtol(text, NULL, 10);

	(void)who, (void)job, (void)op, (void)key, (void)mod;
	return n < -1024 || n > 1023 ? value_bad("Priority", err) : 0;
}

static int32_t check_name(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	size_t len = strlen(text);

	(void)who, (void)job, (void)op, (void)key, (void)mod;
	if (len > 230)
		return keel_error(err, PBSE_JOBNBIG, "%s Job_Name",
				  keel_pbse_text(PBSE_JOBNBIG));
	if (len == 0 ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.") != len)
		return value_bad("Job_Name", err);
	return 0;
}

/* Each letter that comes or goes must be one the requester may set. */
static int32_t check_holds(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			   int32_t op, const char *key, const char *text, struct keel_err *err)
{
	int32_t bits = holds_parse_shown(text), have = (int32_t)keel_get_int(job, job_Hold_Types);

	(void)op, (void)key, (void)mod;
	if (!who)
		return 0;
	if (bits < 0)
		return value_bad("Hold_Types", err);
	return may_hold(who, (holds_seen(have) ^ bits) & ~HOLDS_UNSEEN)
		       ? 0
		       : keel_error(err, PBSE_PERM, "%s", keel_pbse_text(PBSE_PERM));
}

static int32_t check_run_count(struct keel_mod *mod, const struct keel_session *who,
			       struct keel_obj *job, int32_t op, const char *key, const char *text,
			       struct keel_err *err)
{
	long long n = strtoll(text, NULL, 10);

	(void)op, (void)key, (void)mod;
	if (n < 0)
		return value_bad("run_count", err);
	if (who && !(who->roles & KEEL_OPERATORS) && n < keel_get_int(job, job_run_count))
		return keel_error(err, PBSE_PERM, "%s", keel_pbse_text(PBSE_PERM));
	return 0;
}

/* Text that other programs print or hand to a shell must be one line of printable bytes. */
static bool is_line(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p >= ' ' && *p != 0x7f)
		p++;
	return !*p;
}

static int32_t check_line(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			  int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)who, (void)job, (void)op, (void)key, (void)mod;
	return is_line(text) ? 0 : value_bad("value: control character", err);
}

static int32_t check_project(struct keel_mod *mod, const struct keel_session *who,
			     struct keel_obj *job, int32_t op, const char *key, const char *text,
			     struct keel_err *err)
{
	(void)who, (void)job, (void)op, (void)key, (void)mod;
	return strpbrk(text, "/[]\";:|<>+,?*") || !is_line(text) ? value_bad("project", err) : 0;
}

static int32_t not_yet(struct keel_err *err, const char *what, const char *kind,
		       const char *name)
{
	return keel_error(err, PBSE_NOSUP, "%s (%s %s)", what, kind, name);
}

/* A job that waits for a terminal would run without one. */
static int32_t check_interactive(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
				 int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)job, (void)op, (void)key, (void)mod;
	return who && strcmp(text, "0") != 0 && *text
		       ? not_yet(err, "jobs have no terminal yet", "attribute", "interactive")
		       : 0;
}

/* Amounts that the system computes, and those that a site lets users only see. */
static int32_t check_resources(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job,
			       int32_t op, const char *key, const char *text, struct keel_err *err)
{
	const struct keel_resource *res = who && key ? keel_resource_find(key) : NULL;
	uint32_t closed = KEEL_RES_SYSTEM;

	(void)job, (void)mod;
	if (!res)
		return 0;
	if (!is_line(text))
		return keel_error(err, PBSE_BADATVAL, "%s Resource_List.%s: control character",
				  keel_pbse_text(PBSE_BADATVAL), key);
	if (op != KEEL_UNSET && *text &&
	    (strcmp(key, "min_walltime") == 0 || strcmp(key, "max_walltime") == 0))
		return not_yet(err, "jobs are not shrunk to fit yet: ask for walltime alone", "resource", key);
	if (!(who->roles & KEEL_OPERATORS))
		closed |= KEEL_RES_READONLY | KEEL_RES_INVISIBLE;
	return res->flags & closed ? keel_error(err, PBSE_ATTRRO, "%s Resource_List.%s",
						keel_pbse_text(PBSE_ATTRRO), key)
				   : 0;
}

static void derive_hashname(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	keel_emit_text(emit, job_id(mod, job));
}

static void derive_queue_type(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	struct keel_obj *queue = job_queue(mod, job);

	emit->fn(emit->arg, NULL, queue && !keel_queue_runs(queue) ? "R" : "E", 1);
}

static void derive_waiting(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	char text[512];
	int32_t n = keel_holds_text(mod, job_id(mod, job), text, sizeof(text));

	if (n > 0)
		keel_emit_text(emit, text);
}

/* exec_host with the addresses of its hosts: n1/0*2 is n1:15002/0*2. */
static void derive_exec_host2(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	const char *at = keel_get_str(job, job_exec_host);
	struct keel_text text;
	char host[300];

	(void)mod;
	keel_text_init(&text);
	while (at && *at) {
		size_t name = strcspn(at, "/+"), item = strcspn(at, "+");
		const char *address, *port;

		snprintf(host, sizeof(host), "%.*s", (int)name, at);
		address = keel_can(task, address) ? keel_task_address(host) : NULL;
		port = address ? strrchr(address, ':') : NULL;
		keel_text_printf(&text, "%s%s%s%.*s", text.len ? "+" : "", host, port ? port : MOM_PORT, (int)(item - name),
				 at + name);
		at += item + (at[item] == '+');
	}
	if (text.len && !text.failed)
		emit->fn(emit->arg, NULL, text.data, (uint32_t)text.len);
	keel_text_fini(&text);
}

#define S KEEL_ATTR_SAVE
#define R KEEL_ATTR_FLAG1
#define C KEEL_ATTR_CREATE
#define OWN KEEL_ATTR_OWN
#define ALL KEEL_EVERYBODY
#define OPS KEEL_OPERATORS
#define MGR KEEL_MANAGERS
#define NONE KEEL_NOBODY
#define HID KEEL_UNHIDDEN
#define JOB(member, attr_name, type_name, place, flag_bits, readers, writers, value, words, ...)   \
	const struct keel_attr_def job_attr_##member = KEEL_ATTR_DEF(                              \
		"job", attr_name, type_name, .order = (place), .flags = (flag_bits),               \
		.read_roles = (readers), .write_roles = (writers), .fallback = (value),            \
		.doc = (words), ##__VA_ARGS__);
#include "attributes.def"
#undef JOB

/* Starts are counted: no number is none of them. */
#define NO_RUNS "0"

const char *attribute_emptied(const char *name)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
#define JOB(member, attr_name, type_name, place, flag_bits, readers, writers, value, ...)          \
	{ attr_name, value },
#include "attributes.def"
#undef JOB
	};

	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		if (rows[i].value && strcmp(rows[i].name, name) == 0)
			return rows[i].value;
	return strcmp(name, job_attr_run_count.name) == 0 ? NO_RUNS : NULL;
}
