/* SPDX-License-Identifier: Apache-2.0
 *
 * signal.c - qsig: pseudo-signals are rows of the kind SIGNAL, the rest goes to the host.
 *
 * Order of checks: the job, permission, state, the point job_signal, then the act.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTR_OF(job, run_version);

struct signal_op {
	struct callback callback;
	char *id, *name, *who;
	int64_t run; /* which run of the job is meant */
	bool waits; /* suspended for a scheduler to resume it */
};

static void op_free(struct signal_op *op)
{
	free(op->id);
	free(op->name);
	free(op->who);
	free(op);
}

/* ---- the kind --------------------------------------------------------------------------------------- */

static struct signal_row *row_find(struct state *st, const char *name)
{
	struct signal_row *row;

	for (row = st->signals; row; row = row->next)
		if (strcmp(row->def->name, name) == 0)
			return row;
	return NULL;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	struct state *st = self->state;
	const struct keel_signal_def *signal = def;
	struct signal_row *row = signal->name ? row_find(st, signal->name) : NULL;

	if (!signal->name || !signal->start)
		return keel_error(err, -1, "a SIGNAL row of %s has no name or no start()", owner->name);
	if (row)
		return keel_error(err, -1, "signal '%s' of %s is already offered by %s",
				  signal->name, owner->name, row->owner->name);
	row = calloc(1, sizeof(*row));
	if (!row)
		return keel_error(err, -1, "out of memory");
	row->def = signal;
	row->owner = owner;
	row->next = st->signals;
	st->signals = row;
	return 0;
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct signal_row *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->signals, gone, def, def);
	if (gone)
		LL_DELETE(st->signals, gone);
	free(gone);
}

const struct keel_signal_def *signal_find(struct keel_mod *mod, const char *name)
{
	const struct signal_row *row = row_find(mod->state, name);

	return row ? row->def : NULL;
}

const struct keel_kind_def signal_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_signal_def),
	.name = "SIGNAL",
	.doc = "a pseudo-signal of qsig",
	.add = row_add,
	.remove = row_remove,
};

/* ---- the answer ---------------------------------------------------------------------------------------- */

void signal_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct signal_op *op = arg;

	(void)mod;
	callback_call(&op->callback, code, text);
	op_free(op);
}

/* ---- suspend and resume by people ----------------------------------------------------------------------- */

static void start_suspend(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	job_suspend(mod, job, "suspend", who, false, mod, signal_done, op);
}

/* A requester's resume only notifies the scheduler, which continues the job when there is room. */
static void start_resume(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	struct job *j = job_slot(mod, job);

	(void)who;
	if (!step_is_suspended(j->step)) {
		signal_done(mod, op, PBSE_BADSTATE, NULL);
		return;
	}
	step_to(mod, job, STEP_SCHED_SUSPENDED);
	scheduler_wake(mod);
	signal_done(mod, op, 0, NULL);
}

const struct keel_signal_def suspend_signal = {
	.size = sizeof(struct keel_signal_def),
	.roles = KEEL_OPERATORS,
	.acts_on = KEEL_SIGNAL_GOING,
	.name = "suspend",
	.doc = "stop the processes, release the resources",
	.start = start_suspend,
};
const struct keel_signal_def resume_signal = {
	.size = sizeof(struct keel_signal_def),
	.roles = KEEL_OPERATORS,
	.acts_on = KEEL_SIGNAL_STOPPED,
	.name = "resume",
	.doc = "let the scheduler continue a suspended job",
	.start = start_resume,
};

/* ---- the request ------------------------------------------------------------------------------------------ */

static void signal_act(struct keel_mod *mod, struct keel_obj *job, struct signal_op *op)
{
	struct state *st = mod->state;
	struct signal_row *row = row_find(st, op->name);

	if (row || op->waits)
		keel_log(mod, KEEL_LOG_ADMIN, "Job", op->id, "%s job by %s", op->name, op->who);
	if (!row || row->def != &resume_signal) /* that is logged when the scheduler sends it */
		keel_log(mod, KEEL_LOG_JOB, "Job", op->id, "job signaled with %s by %s", op->name,
			 op->who);
	if (op->waits) {
		job_suspend(mod, job, "suspend", op->who, true, mod, signal_done, op);
	} else if (row) {
		row->def->start(row->owner, job, op->who, op);
	} else {
		keel_task_signal(job, op->name, NULL, mod, signal_done, op);
	}
}

static void signal_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct signal_op *op = arg;
	struct keel_obj *job = keel_find(mod, "job", op->id);

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE)
		signal_done(mod, op, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	else if (!job || !step_is_running(job_slot(mod, job)->step) ||
		 keel_get_int(job, job_run_version) != op->run)
		signal_done(mod, op, job ? PBSE_BADSTATE : PBSE_UNKJOBID, NULL);
	else
		signal_act(mod, job, op);
}

static struct signal_op *op_new(struct keel_mod *mod, struct keel_obj *job, const char *name,
				const char *who, const struct callback *callback)
{
	struct signal_op *op = calloc(1, sizeof(*op));

	if (op) {
		op->callback = *callback;
		op->run = keel_get_int(job, job_run_version);
	}
	if (op && (op->id = strdup(job_id(mod, job))) && (op->name = strdup(name)) &&
	    (op->who = strdup(who)))
		return op;
	if (op)
		op_free(op);
	callback_call(callback, PBSE_SYSTEM, "System error: out of memory");
	return NULL;
}

static void ask_taps(struct keel_mod *mod, struct keel_obj *job, struct signal_op *op,
		     struct keel_req *req)
{
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_signal,
		.event = KEEL_EVENT(job_signal, .id = op->id, .job = job, .signal = op->name,
			       .who = op->who),
		.req = req,
		.done = signal_decided,
		.arg = op,
	});
}

void signal_one(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_ask *ask,
		const struct callback *callback)
{
	const char *name = ask->detail ? ask->detail : "";
	const struct keel_signal_def *def = signal_find(mod, name);
	struct signal_op *op;
	int32_t code = ask_permit(mod, job, ask,
				  def ? def->roles & ~(uint32_t)KEEL_USER : KEEL_EVERYBODY);

	if (!code && !step_is_running(job_slot(mod, job)->step))
		code = PBSE_BADSTATE;
	if (code)
		callback_call(callback, code, NULL);
	else if ((op = op_new(mod, job, name, ask->who, callback)))
		ask_taps(mod, job, op, ask->req);
}

void on_signal(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id");

	if (id)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "signal job request received");
	ask_request(mod, req, "signal", keel_msg_str(body, "signal"));
}

void job_request_suspend(struct keel_mod *mod, struct keel_obj *job, const char *who,
			 struct keel_mod *me, keel_job_done *done, void *arg)
{
	const struct callback callback = { me, done, arg };
	struct signal_op *op;

	if (!step_is_running(job_slot(mod, job)->step)) {
		callback_call(&callback, PBSE_BADSTATE, NULL);
	} else if ((op = op_new(mod, job, "suspend", who, &callback))) {
		op->waits = true;
		ask_taps(mod, job, op, NULL);
	}
}
