/* SPDX-License-Identifier: Apache-2.0
 *
 * sched.c - the class "sched": what administrators see of a scheduler. This module is the one called
 * default; others can be described for schedulers that are modules of their own.
 *
 * `scheduling` and `scheduler_iteration` of default and of the server follow each other.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTRS_OF(sched, sched_priv, sched_log, partition, job_run_wait, throughput_mode, scheduling,
	      scheduler_iteration, sched_host);
KEEL_ATTRS_OF(server, scheduling, scheduler_iteration);

#define DEFAULT "default"
#define DEFAULT_PARTITION "pbs-default"

const struct keel_class_def sched_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "sched",
	.doc = "a scheduler",
};

static bool is_default(const struct keel_obj *obj)
{
	return strcmp(keel_id(obj), DEFAULT) == 0;
}

static int32_t table_error(int32_t code, struct keel_err *err)
{
	return keel_error(err, code, "%s", keel_pbse_text(code));
}

/* ---- checks --------------------------------------------------------------------------------------- */

#define CHECK(name)                                                                                \
	static int32_t name(struct keel_mod *mod, const struct keel_session *session,              \
			    struct keel_obj *obj, int32_t op, const char *key, const char *text,   \
			    struct keel_err *err)

CHECK(check_not_default)
{
	(void)session, (void)op, (void)key, (void)text, (void)mod;
	return is_default(obj) ? table_error(PBSE_SCHED_OP_NOT_PERMITTED, err) : 0;
}

/* Does another scheduler have this text as its `attr`? */
static bool is_taken(struct keel_mod *mod, const struct keel_obj *obj, const struct keel_attr *attr,
		     const char *text)
{
	struct keel_cursor *cursor = keel_cursor(mod, "sched");
	struct keel_obj *other;
	bool taken = false;

	while (cursor && !taken && (other = keel_next(cursor))) {
		const char *have = keel_get_str(other, attr);

		taken = other != obj && have && strcmp(have, text) == 0;
	}
	if (cursor)
		keel_cursor_close(cursor);
	return taken;
}

/* The scheduler is part of the server's process. */
CHECK(check_user)
{
	(void)obj, (void)op, (void)key, (void)text, (void)mod;
	return session ? keel_error(err, PBSE_NOSUP,
				    "sched_user is not obeyed: the scheduler runs in the server, as its user")
		       : 0;
}

CHECK(check_priv)
{
	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	return is_taken(mod, obj, sched_sched_priv, text) ? table_error(PBSE_SCHED_PRIV_EXIST, err) : 0;
}

CHECK(check_log)
{
	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	return is_taken(mod, obj, sched_sched_log, text) ? table_error(PBSE_SCHED_LOG_EXIST, err) : 0;
}

/* One of the partitions in a comma list of another scheduler. */
static bool partition_taken(struct keel_mod *mod, const struct keel_obj *obj, const char *name,
			    size_t len)
{
	struct keel_cursor *cursor = keel_cursor(mod, "sched");
	struct keel_obj *other;
	bool taken = false;
	char text[2048];

	while (cursor && !taken && (other = keel_next(cursor))) {
		const char *p = text;

		if (other == obj ||
		    keel_get_text(other, sched_partition, NULL, text, sizeof(text)) <= 0)
			continue;
		while (*p && !taken) {
			size_t n = strcspn(p, ",");

			taken = n == len && memcmp(p, name, n) == 0;
			p += n + (p[n] == ',');
		}
	}
	if (cursor)
		keel_cursor_close(cursor);
	return taken;
}

CHECK(check_partition)
{
	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	while (*text) {
		size_t n = strcspn(text, ",");

		if (n == strlen(DEFAULT_PARTITION) && memcmp(text, DEFAULT_PARTITION, n) == 0)
			return table_error(PBSE_DEFAULT_PARTITION, err);
		if (partition_taken(mod, obj, text, n))
			return table_error(PBSE_SCHED_PARTITION_ALREADY_EXISTS, err);
		text += n + (text[n] == ',');
	}
	return 0;
}

CHECK(check_fuzzy)
{
	static const char *const words[] = { "off", "low", "med", "medium", "high" };
	size_t i;

	(void)session, (void)obj, (void)op, (void)key, (void)mod;
	for (i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return 0;
	return *text && strlen(text) < 9 && strspn(text, "0123456789") == strlen(text)
		       ? 0
		       : table_error(PBSE_BADATVAL, err);
}

CHECK(check_throughput)
{
	(void)session, (void)op, (void)key, (void)text, (void)err;
	keel_log(mod, KEEL_LOG_ADMIN, "Sched", keel_id(obj),
		 "'throughput_mode' is being deprecated, it is recommended to use 'job_run_wait'");
	return 0;
}

CHECK(check_run_wait)
{
	static const char *const words[] = { "none", "runjob_hook", "execjob_hook" };
	size_t i;

	(void)session, (void)obj, (void)op, (void)key, (void)mod;
	for (i = 0; i < KEEL_COUNT(words); i++)
		if (strcmp(text, words[i]) == 0)
			return 0;
	return table_error(PBSE_BADATVAL, err);
}

CHECK(check_not_negative)
{
	(void)session, (void)obj, (void)op, (void)key, (void)mod;
	return *text == '-' ? table_error(PBSE_BADATVAL, err) : 0;
}

/* ---- what follows what ------------------------------------------------------------------------------ */

/* A value of default changed: the server's follows. */
static void mirror(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *from,
		   const struct keel_attr *to)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	if (server && to && is_default(obj) &&
	    keel_get_int(server, to) != keel_get_int(obj, from))
		keel_set_int(server, to, keel_get_int(obj, from));
}

/* Unset: the default one starts jobs. */
static void scheduling_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	if (!keel_is_set(obj, attr))
		keel_set_int(obj, attr, is_default(obj));
	mirror(mod, obj, attr, server_scheduling);
}

static void iteration_changed(struct keel_mod *mod, struct keel_obj *obj,
			      const struct keel_attr *attr)
{
	mirror(mod, obj, attr, server_scheduler_iteration);
}

static void throughput_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	const char *have = keel_get_str(obj, sched_job_run_wait), *now;

	(void)mod;
	if (!keel_is_set(obj, attr)) {
		if (have && strcmp(have, "none") == 0)
			return;
		keel_set_int(obj, attr, 1);
	}
	now = keel_get_int(obj, attr) ? "runjob_hook" : "execjob_hook";
	if (!have || strcmp(have, "none") == 0 || strcmp(have, now) != 0)
		keel_set_str(obj, sched_job_run_wait, now);
}

static void run_wait_changed(struct keel_mod *mod, struct keel_obj *obj,
			     const struct keel_attr *attr)
{
	const char *text = keel_get_str(obj, attr);
	int64_t now = text && strcmp(text, "runjob_hook") == 0;

	(void)mod;
	if (text && strcmp(text, "none") == 0)
		keel_unset(obj, sched_throughput_mode, NULL); /* it cannot say this */
	else if (text && (!keel_is_set(obj, sched_throughput_mode) ||
			  keel_get_int(obj, sched_throughput_mode) != now))
		keel_set_int(obj, sched_throughput_mode, now);
}

/* Unset: what only the default one has. */
static void partition_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	(void)mod;
	if (!keel_is_set(obj, attr) && is_default(obj))
		keel_set_text(obj, attr, KEEL_SET, NULL, DEFAULT_PARTITION, NULL);
}

static void derive_state(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	struct state *st = mod->state;
	const char *text = !is_default(obj) ? "down"
			   : st->phase == RANKING || st->phase == CONSIDERING ? "scheduling"
									      : "idle";

	keel_emit_text(emit, text);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

#define S KEEL_ATTR_SAVE
#define T (KEEL_ATTR_SAVE | KEEL_ATTR_RESET)
#define ROW(attr_name, type_name, place, flag_bits, writers, value, words, ...)                    \
	KEEL_ATTR_DEF("sched", attr_name, type_name, .order = (place), .flags = (flag_bits),       \
		      .read_roles = KEEL_EVERYBODY, .write_roles = (writers), .fallback = (value), \
		      .doc = (words), ##__VA_ARGS__)
#define OPS KEEL_OPERATORS
#define MGR KEEL_MANAGERS
const struct keel_attr_def sched_attrs[SCHED_ATTRS] = {
	ROW("sched_host", "string", 10, S, MGR, NULL, "the host it runs on: the server's"),
	ROW("sched_cycle_length", "time", 20, T, OPS, "00:20:00",
	    "how long one cycle may consider jobs; then it ends, and another begins"),
	ROW("do_not_span_psets", "bool", 30, S, OPS, NULL, 
	    "whether a job that fits in no placement set waits for ever, instead of spanning several; unset: False"),
	ROW("only_explicit_psets", "bool", 40, S, OPS, NULL, 
	    "whether vnodes without a value of node_group_key are in no placement set; unset: they are one"),
	KEEL_ATTR_DEF("sched", "job_sort_formula_threshold", "float", .order = 70, .flags = S,
		      .read_roles = OPS, .write_roles = MGR,
		      .doc = "jobs whose job_sort_formula gives this or less do not run; unset: all may"),
	ROW("throughput_mode", "bool", 80, S, MGR, "True", 
	    "True: job_run_wait is runjob_hook; False: execjob_hook; the old name of that",
	    .check = check_throughput, .changed = throughput_changed),
	ROW("job_run_wait", "string", 90, T, MGR, "runjob_hook", 
	    "what a cycle waits for after each start: none, runjob_hook (the server's hooks), execjob_hook (the host's)",
	    .check = check_run_wait, .changed = run_wait_changed),
	ROW("opt_backfill_fuzzy", "string", 100, S, MGR, NULL, 
	    "how roughly starts are planned: off, low, med, medium, high, or seconds; unset: off",
	    .check = check_fuzzy),
	ROW("partition", "string", 110, S, MGR, NULL, 
	    "comma list of partitions: vnodes and queues with such a partition are its own",
	    .check = check_partition, .changed = partition_changed),
	ROW("sched_priv", "string", 120, S, MGR, NULL, "directory of its files, such as sched_config",
	    .check = check_priv),
	ROW("sched_log", "string", 130, S, MGR, NULL, "directory of its log files",
	    .check = check_log),
	ROW("scheduling", "bool", 140, S, MGR, "False",
	    "whether it starts jobs; of the default one the same as the server's, and True when unset",
	    .changed = scheduling_changed),
	ROW("scheduler_iteration", "long", 150, T, MGR, "600",
	    "seconds between cycles when nothing happens that begins one; of the default one as the server's",
	    .check = check_not_negative, .changed = iteration_changed),
	ROW("sched_user", "string", 160, S, MGR, NULL, "the user it runs as: refused, it runs in the server",
	    .check = check_user),
	ROW("comment", "string", 165, S, MGR, NULL, "a text of the administrator"),
	ROW("state", "string", 170, 0, KEEL_NOBODY, NULL,
	    "idle, scheduling (a cycle is going on), or down (any but the default one)",
	    .derive = derive_state),
	ROW("log_events", "long", 220, T, OPS, "767",
	    "sum of the kinds of log records; kept for tools: log_events of the server counts"),
	ROW("job_sort_formula", "string", 230, S, MGR, NULL,
	    "jobs with the higher value of this formula go first; of the default one the same as the server's"),
	ROW("server_dyn_res_alarm", "long", 240, T, MGR, "30", "seconds that one program of server_dyn_res may take",
	    .check = check_not_negative),
	ROW("attr_update_period", "long", 250, S, MGR, NULL, 
	    "seconds for which the comment of a waiting job is not written anew; unset: each time it changes",
	    .check = check_not_negative),
};

/* ---- rows of jobs ----------------------------------------------------------------------------------- */

#define JOB(attr_name, type_name, place, readers, writers, words)                                  \
	KEEL_ATTR_DEF("job", attr_name, type_name, .order = (place), .flags = S,                   \
		      .read_roles = (readers), .write_roles = (writers), .doc = (words))
const struct keel_attr_def top_attrs[TOP_ATTRS] = {
	JOB("estimated", "resource_list", 565, KEEL_EVERYBODY, KEEL_NOBODY,
	    "when and on which vnodes it is planned to start"),
	JOB("topjob", "bool", 566, OPS, KEEL_NOBODY, 
	    "whether its start is planned, and no other job may delay it"),
	JOB("topjob_ineligible", "bool", 567, KEEL_EVERYBODY, MGR, "whether it never gets a planned start; unset: False"),
};

/* ---- objects -------------------------------------------------------------------------------------------- */

void sched_paths(struct keel_mod *mod, struct keel_obj *obj)
{
	const char *home = keel_home(mod), *id = keel_id(obj);
	const char *mark = is_default(obj) ? "" : "_", *name = *mark ? id : "";
	char path[1200];

	snprintf(path, sizeof(path), "%s/sched_priv%s%s", home, mark, name);
	keel_set_str(obj, sched_sched_priv, path);
	snprintf(path, sizeof(path), "%s/sched_logs%s%s", home, mark, name);
	keel_set_str(obj, sched_sched_log, path);
}

int32_t sched_start(struct keel_mod *mod, struct keel_err *err)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	struct keel_obj *obj = keel_find(mod, "sched", DEFAULT);
	bool fresh = !obj;

	if (fresh)
		obj = keel_draft(mod, "sched", DEFAULT, err);
	if (!obj)
		return -1;
	if (fresh) {
		sched_paths(mod, obj);
		keel_set_str(obj, sched_partition, DEFAULT_PARTITION);
	}
	if (server) {
		keel_set_int(obj, sched_scheduling,
			     keel_get_int(server, server_scheduling));
		keel_set_int(obj, sched_scheduler_iteration,
			     keel_get_int(server, server_scheduler_iteration));
	}
	keel_set_str(obj, sched_sched_host, keel_host_name(mod));
	return fresh ? keel_publish(obj) : 0;
}
