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

#define DEFAULT "default"
#define DEFAULT_PARTITION "pbs-default"

const struct keel_class_def sched_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "sched",
	.doc = "a scheduler",
};

static bool is_default(struct state *st, const struct keel_obj *obj)
{
	return strcmp(st->object->id(obj), DEFAULT) == 0;
}

static int32_t table_error(struct state *st, int32_t code, struct keel_err *err)
{
	return st->core->error(err, code, "%s", st->core->pbse_text(code));
}

/* ---- checks --------------------------------------------------------------------------------------- */

#define CHECK(name)                                                                                \
	static int32_t name(struct keel_mod *mod, const struct keel_session *session,              \
			    struct keel_obj *obj, int32_t op, const char *key, const char *text,   \
			    struct keel_err *err)

CHECK(check_not_default)
{
	struct state *st = mod->state;

	(void)session, (void)op, (void)key, (void)text;
	return is_default(st, obj) ? table_error(st, PBSE_SCHED_OP_NOT_PERMITTED, err) : 0;
}

/* Does another scheduler have this text as its `attr`? */
static bool is_taken(struct keel_mod *mod, const struct keel_obj *obj, const struct keel_attr *attr,
		     const char *text)
{
	struct state *st = mod->state;
	struct keel_cursor *cursor = st->object->cursor(mod, "sched");
	struct keel_obj *other;
	bool taken = false;

	while (cursor && !taken && (other = st->object->next(cursor))) {
		const char *have = st->object->get_str(other, attr);

		taken = other != obj && have && strcmp(have, text) == 0;
	}
	if (cursor)
		st->object->cursor_close(cursor);
	return taken;
}

/* The scheduler is part of the server's process. */
CHECK(check_user)
{
	struct state *st = mod->state;

	(void)obj, (void)op, (void)key, (void)text;
	return session ? st->core->error(err, PBSE_NOSUP,
					 "sched_user is not obeyed: the scheduler runs in the server, as its user")
		       : 0;
}

CHECK(check_priv)
{
	struct state *st = mod->state;

	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	return is_taken(mod, obj, st->sched.priv, text) ? table_error(st, PBSE_SCHED_PRIV_EXIST, err) : 0;
}

CHECK(check_log)
{
	struct state *st = mod->state;

	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	return is_taken(mod, obj, st->sched.log, text) ? table_error(st, PBSE_SCHED_LOG_EXIST, err) : 0;
}

/* One of the partitions in a comma list of another scheduler. */
static bool partition_taken(struct keel_mod *mod, const struct keel_obj *obj, const char *name,
			    size_t len)
{
	struct state *st = mod->state;
	struct keel_cursor *cursor = st->object->cursor(mod, "sched");
	struct keel_obj *other;
	bool taken = false;
	char text[2048];

	while (cursor && !taken && (other = st->object->next(cursor))) {
		const char *p = text;

		if (other == obj ||
		    st->object->text(other, st->sched.partition, NULL, text, sizeof(text)) <= 0)
			continue;
		while (*p && !taken) {
			size_t n = strcspn(p, ",");

			taken = n == len && memcmp(p, name, n) == 0;
			p += n + (p[n] == ',');
		}
	}
	if (cursor)
		st->object->cursor_close(cursor);
	return taken;
}

CHECK(check_partition)
{
	struct state *st = mod->state;

	if (check_not_default(mod, session, obj, op, key, text, err))
		return err->code;
	while (*text) {
		size_t n = strcspn(text, ",");

		if (n == strlen(DEFAULT_PARTITION) && memcmp(text, DEFAULT_PARTITION, n) == 0)
			return table_error(st, PBSE_DEFAULT_PARTITION, err);
		if (partition_taken(mod, obj, text, n))
			return table_error(st, PBSE_SCHED_PARTITION_ALREADY_EXISTS, err);
		text += n + (text[n] == ',');
	}
	return 0;
}

CHECK(check_fuzzy)
{
	static const char *const words[] = { "off", "low", "med", "medium", "high" };
	struct state *st = mod->state;
	size_t i;

	(void)session, (void)obj, (void)op, (void)key;
	for (i = 0; i < KEEL_COUNT(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return 0;
	return *text && strlen(text) < 9 && strspn(text, "0123456789") == strlen(text)
		       ? 0
		       : table_error(st, PBSE_BADATVAL, err);
}

CHECK(check_throughput)
{
	struct state *st = mod->state;

	(void)session, (void)op, (void)key, (void)text, (void)err;
	st->core->log(mod, KEEL_LOG_ADMIN, "Sched", st->object->id(obj),
		      "'throughput_mode' is being deprecated, it is recommended to use 'job_run_wait'");
	return 0;
}

CHECK(check_run_wait)
{
	static const char *const words[] = { "none", "runjob_hook", "execjob_hook" };
	struct state *st = mod->state;
	size_t i;

	(void)session, (void)obj, (void)op, (void)key;
	for (i = 0; i < KEEL_COUNT(words); i++)
		if (strcmp(text, words[i]) == 0)
			return 0;
	return table_error(st, PBSE_BADATVAL, err);
}

CHECK(check_not_negative)
{
	struct state *st = mod->state;

	(void)session, (void)obj, (void)op, (void)key;
	return *text == '-' ? table_error(st, PBSE_BADATVAL, err) : 0;
}

/* ---- what follows what ------------------------------------------------------------------------------ */

/* A value of default changed: the server's follows. */
static void mirror(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *from,
		   const struct keel_attr *to)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	if (server && to && is_default(st, obj) &&
	    st->object->get_int(server, to) != st->object->get_int(obj, from))
		st->object->set_int(server, to, st->object->get_int(obj, from));
}

/* Unset: the default one starts jobs. */
static void scheduling_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	struct state *st = mod->state;

	if (!st->object->is_set(obj, attr))
		st->object->set_int(obj, attr, is_default(st, obj));
	mirror(mod, obj, attr, st->server.scheduling);
}

static void iteration_changed(struct keel_mod *mod, struct keel_obj *obj,
			      const struct keel_attr *attr)
{
	struct state *st = mod->state;

	mirror(mod, obj, attr, st->server.iteration);
}

static void throughput_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *have = st->object->get_str(obj, st->sched.run_wait), *now;

	if (!st->object->is_set(obj, attr)) {
		if (have && strcmp(have, "none") == 0)
			return;
		st->object->set_int(obj, attr, 1);
	}
	now = st->object->get_int(obj, attr) ? "runjob_hook" : "execjob_hook";
	if (!have || strcmp(have, "none") == 0 || strcmp(have, now) != 0)
		st->object->set_str(obj, st->sched.run_wait, now);
}

static void run_wait_changed(struct keel_mod *mod, struct keel_obj *obj,
			     const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(obj, attr);
	int64_t now = text && strcmp(text, "runjob_hook") == 0;

	if (text && strcmp(text, "none") == 0)
		st->object->unset(obj, st->sched.throughput, NULL); /* it cannot say this */
	else if (text && (!st->object->is_set(obj, st->sched.throughput) ||
			  st->object->get_int(obj, st->sched.throughput) != now))
		st->object->set_int(obj, st->sched.throughput, now);
}

/* Unset: what only the default one has. */
static void partition_changed(struct keel_mod *mod, struct keel_obj *obj, const struct keel_attr *attr)
{
	struct state *st = mod->state;

	if (!st->object->is_set(obj, attr) && is_default(st, obj))
		st->object->set_text(obj, attr, KEEL_SET, NULL, DEFAULT_PARTITION, NULL);
}

static void derive_state(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	struct state *st = mod->state;
	const char *text = !is_default(st, obj) ? "down"
			   : st->phase == RANKING || st->phase == CONSIDERING ? "scheduling"
									      : "idle";

	emit->fn(emit->arg, NULL, text, (uint32_t)strlen(text));
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
	ROW("sched_host", "string", 10, S, MGR, NULL, "host it runs on"),
	ROW("sched_cycle_length", "time", 20, T, OPS, "00:20:00", "longest cycle"),
	ROW("do_not_span_psets", "bool", 30, S, OPS, NULL, "no job over several placement sets"),
	ROW("only_explicit_psets", "bool", 40, S, OPS, NULL, "no set of vnodes without the value"),
	KEEL_ATTR_DEF("sched", "job_sort_formula_threshold", "float", .order = 70, .flags = S,
		      .read_roles = OPS, .write_roles = MGR,
		      .doc = "jobs at or below do not run"),
	ROW("throughput_mode", "bool", 80, S, MGR, "True", "do not wait for each start",
	    .check = check_throughput, .changed = throughput_changed),
	ROW("job_run_wait", "string", 90, T, MGR, "runjob_hook", "none runjob_hook execjob_hook",
	    .check = check_run_wait, .changed = run_wait_changed),
	ROW("opt_backfill_fuzzy", "string", 100, S, MGR, NULL, "off low med medium high, or seconds",
	    .check = check_fuzzy),
	ROW("partition", "string", 110, S, MGR, NULL, "vnodes and queues it serves",
	    .check = check_partition, .changed = partition_changed),
	ROW("sched_priv", "string", 120, S, MGR, NULL, "its directory", .check = check_priv),
	ROW("sched_log", "string", 130, S, MGR, NULL, "directory of its logs",
	    .check = check_log),
	ROW("scheduling", "bool", 140, S, MGR, "False", "start jobs", .changed = scheduling_changed),
	ROW("scheduler_iteration", "long", 150, T, MGR, "600", "seconds between cycles",
	    .check = check_not_negative, .changed = iteration_changed),
	ROW("sched_user", "string", 160, S, MGR, NULL, "refused, nothing reads it",
	    .check = check_user),
	ROW("comment", "string", 165, S, MGR, NULL, "free text"),
	ROW("state", "string", 170, 0, KEEL_NOBODY, NULL, "down idle scheduling",
	    .derive = derive_state),
	ROW("log_events", "long", 220, T, OPS, "767", "mask of log records"),
	ROW("job_sort_formula", "string", 230, S, MGR, NULL, "order of jobs"),
	ROW("server_dyn_res_alarm", "long", 240, T, MGR, "30", "seconds for a script",
	    .check = check_not_negative),
	ROW("attr_update_period", "long", 250, S, MGR, NULL, "seconds between updates of a job",
	    .check = check_not_negative),
};

/* ---- rows of jobs ----------------------------------------------------------------------------------- */

#define JOB(attr_name, type_name, place, readers, writers, words)                                  \
	KEEL_ATTR_DEF("job", attr_name, type_name, .order = (place), .flags = S,                   \
		      .read_roles = (readers), .write_roles = (writers), .doc = (words))
const struct keel_attr_def top_attrs[TOP_ATTRS] = {
	JOB("estimated", "resource_list", 565, KEEL_EVERYBODY, KEEL_NOBODY,
	    "when and where it is planned to start"),
	JOB("topjob", "bool", 566, OPS, KEEL_NOBODY, "its start is planned; nobody may delay it"),
	JOB("topjob_ineligible", "bool", 567, KEEL_EVERYBODY, MGR, "never becomes a top job"),
};

/* ---- objects -------------------------------------------------------------------------------------------- */

void sched_paths(struct keel_mod *mod, struct keel_obj *obj)
{
	struct state *st = mod->state;
	const char *home = st->core->home(mod), *id = st->object->id(obj);
	const char *mark = is_default(st, obj) ? "" : "_", *name = *mark ? id : "";
	char path[1200];

	snprintf(path, sizeof(path), "%s/sched_priv%s%s", home, mark, name);
	st->object->set_str(obj, st->sched.priv, path);
	snprintf(path, sizeof(path), "%s/sched_logs%s%s", home, mark, name);
	st->object->set_str(obj, st->sched.log, path);
}

int32_t sched_start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	struct keel_obj *obj = st->object->find(mod, "sched", DEFAULT);
	bool fresh = !obj;

	if (fresh)
		obj = st->object->draft(mod, "sched", DEFAULT, err);
	if (!obj)
		return -1;
	if (fresh) {
		sched_paths(mod, obj);
		st->object->set_str(obj, st->sched.partition, DEFAULT_PARTITION);
	}
	if (server) {
		st->object->set_int(obj, st->sched.scheduling,
				    st->object->get_int(server, st->server.scheduling));
		st->object->set_int(obj, st->sched.iteration,
				    st->object->get_int(server, st->server.iteration));
	}
	st->object->set_str(obj, st->sched.host, st->core->host_name(mod));
	return fresh ? st->object->publish(obj) : 0;
}
