/* SPDX-License-Identifier: Apache-2.0
 *
 * jobs.c - batch jobs: what they are (attributes.def), where they are (step.c), the requests about them (one
 * file per verb).
 *
 * Everything that changes a job's state goes through step_to(). Features see the points job_*, and ask
 * for steps through the service "job".
 */
#include "jobs.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

KEEL_ATTRS_OF(server, next_sequence, node_fail_requeue);

KEEL_USE(blob);
KEEL_USE(resource);
KEEL_USE(node);
KEEL_USE(task);
KEEL_USE(acct);
KEEL_USE(queue);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, kill_delay, .fallback = "10s",
		       .max = 3600000, .doc = "from TERM to KILL when a job is deleted, unless its queue says"),
	KEEL_CONF_RULE(SIZE, struct conf, script_max, .fallback = "16mb", .min = 1,
		       .max = 134217728, .doc = "longest job script, unless jobscript_max_size says; never more than 16mb"),
};

static const struct keel_class_def job_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE | KEEL_CLASS_SUFFIX,
	.name = "job",
	.doc = "a batch job",
	.known_point = KEEL_POINT_job_known,
};

/* ---- what jobs mean to queues and the server -------------------------------------------------------- */

static void emit_counts(const struct counts *c, const struct keel_emit *emit)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
			 "Transit:%lld Queued:%lld Held:%lld Waiting:%lld Running:%lld Exiting:%lld "
			 "Begun:%lld ",
			 (long long)c->n[TALLY_TRANSIT], (long long)c->n[TALLY_QUEUED],
			 (long long)c->n[TALLY_HELD], (long long)c->n[TALLY_WAITING],
			 (long long)c->n[TALLY_RUNNING], (long long)c->n[TALLY_EXITING],
			 (long long)c->n[TALLY_BEGUN]);

	emit->fn(emit->arg, NULL, text, (uint32_t)n);
}

static void emit_total(const struct counts *c, const struct keel_emit *emit)
{
	long long total = 0;
	char text[32];
	int i;

	for (i = 0; i < TALLY_COUNT; i++)
		total += c->n[i];
	emit->fn(emit->arg, NULL, text, (uint32_t)snprintf(text, sizeof(text), "%lld", total));
}

static void server_counts(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	struct state *st = mod->state;

	(void)obj;
	emit_counts(&st->counts, emit);
}

static void server_total(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	struct state *st = mod->state;

	(void)obj;
	emit_total(&st->counts, emit);
}

static void queue_counts(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	const struct counts *c = keel_slot(mod, obj);

	if (c)
		emit_counts(c, emit);
}

static void queue_total(struct keel_mod *mod, struct keel_obj *obj, const struct keel_emit *emit)
{
	const struct counts *c = keel_slot(mod, obj);

	if (c)
		emit_total(c, emit);
}

#define ALL .read_roles = KEEL_EVERYBODY
#define MANAGED ALL, .write_roles = KEEL_MANAGERS, .flags = KEEL_ATTR_SAVE
static const struct keel_attr_def other_attrs[] = {
	KEEL_ATTR_DEF("server", "total_jobs", "long", .order = 110, ALL, .derive = server_total,
		      .doc = "how many jobs the server has, those of the history too"),
	KEEL_ATTR_DEF("server", "state_count", "string", .order = 111, ALL, .derive = server_counts,
		      .doc = "how many of its jobs are in each state"),
	KEEL_ATTR_DEF("server", "job_history_enable", "bool", .order = 700, MANAGED,
		      .changed = history_switched, .doc = "whether jobs that are over are kept, for qstat -x; unset: False"),
	KEEL_ATTR_DEF("server", "job_history_duration", "time", .order = 710, MANAGED,
		      .doc = "how long a job that is over is kept; unset: 336 hours"),
	KEEL_ATTR_DEF("server", "jobscript_max_size", "size", .order = 720, MANAGED,
		      .doc = "the longest job script; unset: jobs.script_max of the configuration; never more than 16mb"),
	KEEL_ATTR_DEF("server", "max_job_sequence_id", "long", .order = 900,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_RESET, ALL, .write_roles = KEEL_MANAGERS,
		      .fallback = "9999999", .doc = "the highest number of a job; after it numbers begin again at 0"),
	KEEL_ATTR_DEF("server", "next_sequence", "long", .order = 990, .flags = KEEL_ATTR_SAVE,
		      .doc = "numbers below are used or reserved"),
	KEEL_ATTR_DEF("queue", "total_jobs", "long", .order = 40, ALL, .derive = queue_total,
		      .doc = "how many jobs are in the queue, those of the history too"),
	KEEL_ATTR_DEF("queue", "state_count", "string", .order = 50, ALL, .derive = queue_counts,
		      .doc = "how many of its jobs are in each state"),
};

/* ---- requests ----------------------------------------------------------------------------------------- */

#define REQUEST(request_name, fn, words, ...)                                                      \
	{ .size = sizeof(struct keel_request_def), .roles = KEEL_EVERYBODY, .name = (request_name), \
	  .handler = (fn), .doc = (words), ##__VA_ARGS__ }
static const struct keel_request_def requests[] = {
	REQUEST("submit", on_submit, "queue a new job", .number = 1),
	REQUEST("alter", on_alter, "change attributes of a job", .number = 11),
	REQUEST("hold", on_hold, "set holds", .number = 7),
	REQUEST("release", on_release, "release holds", .number = 13),
	REQUEST("delete", on_delete, "delete a job", .number = REQUEST_DELETE),
	REQUEST("delete_list", on_delete_list, "delete many jobs", .number = REQUEST_DELETE),
	REQUEST("signal", on_signal, "send a signal or a pseudo-signal", .number = 18),
	REQUEST("run", on_run, "start a job now", .number = 15),
	REQUEST("rerun", on_rerun, "put a running job back into its queue", .number = 14),
	REQUEST("locate", on_locate, "which server has this job", .number = 8, .flags = KEEL_REQUEST_READ),
	REQUEST("wait", on_wait, "answered when the job is over", .flags = KEEL_REQUEST_READ | KEEL_REQUEST_WAITS),
	REQUEST("move", on_move, "put a job into another queue", .number = 12),
	REQUEST("message", on_message, "a line for the output of a running job", .number = 10),
	{ .size = sizeof(struct keel_request_def), .roles = KEEL_OPERATORS, .name = "shutdown",
	  .handler = on_shutdown, .doc = "the server ends", .number = 17, .flags = KEEL_REQUEST_READ },
	REQUEST("order", on_order, "exchange the places of two jobs", .number = 50),
};

/* ---- contributions: fixed rows, then one per attribute ------------------------------------------------------ */

#define ATTR_ROW(i) KEEL_ROW(ATTR, other_attrs[i])
#define REQUEST_ROW(i) KEEL_ROW(REQUEST, requests[i])
static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, owner_type),
	KEEL_ROW(TYPE, job_state_type),
	KEEL_ROW(TYPE, holds_type),
	KEEL_ROW(CLASS, job_class),
	KEEL_ROW(CLASS, ended_class),
	KEEL_ROW(ATTR, ended_attrs[0]), KEEL_ROW(ATTR, ended_attrs[1]), KEEL_ROW(ATTR, ended_attrs[2]),
	KEEL_ROW(ATTR, ended_attrs[3]),
	KEEL_ROW(KIND, signal_kind),
	KEEL_ROW(KIND, form_kind),
	KEEL_ROW(KIND, prepare_kind),
	KEEL_ROW(SIGNAL, suspend_signal),
	KEEL_ROW(SIGNAL, resume_signal),
	KEEL_ROW(SERVICE, job_service),
	KEEL_ROW(SCOPE, scope_job_queue), KEEL_ROW(SCOPE, scope_queue),
	KEEL_ROW(SCOPE, scope_user), KEEL_ROW(SCOPE, scope_host),
	ATTR_ROW(0), ATTR_ROW(1), ATTR_ROW(2), ATTR_ROW(3), ATTR_ROW(4), ATTR_ROW(5), ATTR_ROW(6),
	ATTR_ROW(7), ATTR_ROW(8),
	REQUEST_ROW(0), REQUEST_ROW(1), REQUEST_ROW(2), REQUEST_ROW(3), REQUEST_ROW(4),
	REQUEST_ROW(5), REQUEST_ROW(6), REQUEST_ROW(7), REQUEST_ROW(8), REQUEST_ROW(9),
	REQUEST_ROW(10), REQUEST_ROW(11), REQUEST_ROW(12), REQUEST_ROW(13), REQUEST_ROW(14),
#define JOB(member, ...) KEEL_ROW(ATTR, job_attr_##member),
#include "attributes.def"
#undef JOB
};

/* Numbers that were reserved and not used: the next server goes on with them. */
static void sequence_return(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	if (server && st->next_sequence < st->reserved_sequence)
		keel_set_int(server, server_next_sequence, st->next_sequence);
	st->reserved_sequence = st->next_sequence;
}

static keel_verdict on_server_stop(struct keel_call *c, const struct keel_ev_server_stop *ev)
{
	(void)ev;
	sequence_return(c->mod); /* there is a last commit after this, none after stop() */
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_known, on_job_known, .order = -1000),
	KEEL_TAP(job_submit, again_submit, .order = 800),
	KEEL_TAP(job_modify, again_modify, .order = 800),
	KEEL_TAP(job_move, again_move, .order = 800),
	KEEL_TAP(job_modify, on_job_modify, .order = 1000),
	KEEL_TAP(job_move, on_job_move, .order = 1000),
	KEEL_TAP(job_explain, on_job_explain, .order = -1000),
	KEEL_TAP(node_down, on_node_down),
	KEEL_TAP(node_state, on_node_state),
	KEEL_TAP(server_stop, on_server_stop),
};

static const struct keel_task_events events = {
	.size = sizeof(struct keel_task_events),
	.started = task_started,
	.refused = task_refused,
	.used = task_used,
	.ended = task_ended,
	.lost = task_lost,
	.placed = task_placed,
	.released = task_released,
	.pruned = task_pruned,
	.discarded = task_discarded,
	.failed = task_failed,
	.undelivered = task_undelivered,
	.remark = task_remark,
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "job", sizeof(struct job), job_fini) ||
	    keel_slot_bind(mod, "queue", sizeof(struct counts), NULL))
		return keel_error(err, -1, "cannot attach to classes job and queue");
	return keel_task_listen(mod, &events);
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	if (!server)
		return keel_error(err, -1, "there is no server object; is its module enabled?");
	st->next_sequence = st->reserved_sequence = keel_get_int(server, server_next_sequence);
	order_start(mod);
	history_start(mod);
	lost_start(mod);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	sequence_return(mod);
	keel_timer_cancel(st->cleaner);
	st->cleaner = NULL;
	shutdown_drop(mod);
	st->stopping = true;
	waiters_drop(mod);
	delete_lists_drop(mod);
}

static void fini(struct keel_mod *mod)
{
	keel_task_listen(mod, NULL);
}

static const char *const requires_modules[] = { "manager", "queues", NULL };

KEEL_MODULE(.name = "jobs", .version = "1.0", .vendor = "Keelson", .summary = "batch jobs",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init, .start = start, .stop = stop, .fini = fini);
