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

#define DEFAULT "default"

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

	(void)session, (void)op, (void)key;
	if (is_default(st, obj))
		return table_error(st, PBSE_SCHED_OP_NOT_PERMITTED, err);
	if (strcmp(text, "pbs-default") == 0)
		return table_error(st, PBSE_BADATVAL, err);
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

static void scheduling_changed(struct keel_mod *mod, struct keel_obj *obj,
			       const struct keel_attr *attr)
{
	struct state *st = mod->state;

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
	const char *now = st->object->get_int(obj, attr) ? "runjob_hook" : "execjob_hook";
	const char *have = st->object->get_str(obj, st->sched.run_wait);

	if (!have || strcmp(have, "none") == 0 || strcmp(have, now) != 0)
		st->object->set_str(obj, st->sched.run_wait, now);
}

static void run_wait_changed(struct keel_mod *mod, struct keel_obj *obj,
			     const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(obj, attr);
	int64_t now = text && strcmp(text, "runjob_hook") == 0;

	if (text && strcmp(text, "none") != 0 && st->object->get_int(obj, st->sched.throughput) != now)
		st->object->set_int(obj, st->sched.throughput, now);
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
	ROW("throughput_mode", "bool", 80, T, MGR, "True", "do not wait for each start",
	    .changed = throughput_changed),
	ROW("job_run_wait", "string", 90, T, MGR, "runjob_hook", "none runjob_hook execjob_hook",
	    .check = check_run_wait, .changed = run_wait_changed),
	ROW("opt_backfill_fuzzy", "string", 100, S, MGR, NULL, "off low med medium high, or seconds"),
	ROW("partition", "string", 110, S, MGR, NULL, "vnodes and queues it serves",
	    .check = check_not_default),
	ROW("sched_priv", "string", 120, S, MGR, NULL, "its directory", .check = check_not_default),
	ROW("sched_log", "string", 130, S, MGR, NULL, "directory of its logs",
	    .check = check_not_default),
	ROW("scheduling", "bool", 140, T, MGR, "False", "start jobs", .changed = scheduling_changed),
	ROW("scheduler_iteration", "long", 150, T, MGR, "600", "seconds between cycles",
	    .check = check_not_negative, .changed = iteration_changed),
	ROW("sched_user", "string", 160, S, MGR, NULL, "kept for tools"),
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

/* ---- objects -------------------------------------------------------------------------------------------- */

static void set_paths(struct keel_mod *mod, struct keel_obj *obj)
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
		set_paths(mod, obj);
		st->object->set_str(obj, st->sched.partition, "pbs-default");
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

/* After a request of an administrator has been carried out. */
static void settled(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	struct keel_obj *obj = st->object->find(mod, "sched", DEFAULT);
	struct keel_cursor *cursor;

	(void)arg;
	if (server && obj) {
		if (st->object->get_int(obj, st->sched.scheduling) !=
		    st->object->get_int(server, st->server.scheduling))
			st->object->set_int(obj, st->sched.scheduling,
					    st->object->get_int(server, st->server.scheduling));
		if (st->object->get_int(obj, st->sched.iteration) !=
		    st->object->get_int(server, st->server.iteration))
			st->object->set_int(obj, st->sched.iteration,
					    st->object->get_int(server, st->server.iteration));
	}
	cursor = st->object->cursor(mod, "sched");
	while (cursor && (obj = st->object->next(cursor)))
		if (!st->object->is_set(obj, st->sched.priv))
			set_paths(mod, obj);
	if (cursor)
		st->object->cursor_close(cursor);
	st->generation = 0;
	rest_over(mod);
	iteration_start(mod);
	wake(mod, CMD_SWITCHED);
}

keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	enum { CMD_DELETE = 1 };
	struct state *st = keel_state(c);

	if (ev->cmd == CMD_DELETE && strcmp(ev->klass, "sched") == 0 && strcmp(ev->name, DEFAULT) == 0)
		return st->call->reject(c, PBSE_SCHED_NO_DEL, "%s",
					st->core->pbse_text(PBSE_SCHED_NO_DEL));
	st->core->defer(c->mod, settled, NULL);
	return KEEL_NEXT;
}
