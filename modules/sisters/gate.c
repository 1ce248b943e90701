/* SPDX-License-Identifier: Apache-2.0
 *
 * gate.c - taps of a primary that wait for its sisters: behind all others, so that what is ordered elsewhere was accepted here.
 *
 * One step at a time; suspensions and signals that come meanwhile wait in order. The end waits for none.
 */
#include "sisters.h"

#include <stdlib.h>
#include <string.h>

static void gate_next(struct job *j);

static void gate_free(struct gate *g)
{
	if (g->job)
		DL_DELETE(g->job->gates, g);
	free(g);
}

static keel_verdict gate_verdict(struct keel_call *c, const struct gate *g)
{
	bool passes = strcmp(g->name, ORDER_PRETERM) == 0 && (g->code == CODE_COMM || g->code == CODE_BADSTATE || g->code < 0);

	return g->code && !passes ? keel_reject(c, g->code, "%s", g->text) : KEEL_NEXT;
}

static keel_verdict gate_resume(struct keel_call *c, void *arg)
{
	struct gate *g = arg;
	keel_verdict v = gate_verdict(c, g);

	gate_free(g);
	return v;
}

/* Its operation was ended: the start was withdrawn, or the daemon ends. */
static void gate_cancel(struct keel_call *c, void *arg, int32_t reason)
{
	struct gate *g = arg;
	struct job *j = g->job;
	bool first = j && j->gates == g && !g->decided;

	(void)c, (void)reason;
	gate_free(g);
	if (first) {
		j->primary.step = STEP_NONE;
		gate_next(j);
	}
}

static void decide(struct gate *g, int32_t code, const char *text)
{
	if (g->decided)
		return;
	g->decided = true;
	g->code = code;
	snprintf(g->text, sizeof(g->text), "%s", text ? text : "");
	if (g->hold)
		keel_release(g->hold);
}

void gate_decide(struct job *j, int32_t code, const char *text)
{
	struct gate *g = j->gates;

	while (g && g->decided)
		g = g->next;
	if (!g)
		return;
	decide(g, code, text);
	gate_next(j);
}

static void gate_begin(struct gate *g)
{
	static const enum limit limits[] = {
		[STEP_JOIN] = LIMIT_JOIN, [STEP_PROLOGUE] = LIMIT_PROLOGUE, [STEP_ACT] = LIMIT_ACT, [STEP_END] = LIMIT_END,
	};
	int64_t ms = limit_ms(g->mod, limits[g->step]);

	if (g->step == STEP_JOIN)
		keel_log(g->mod, KEEL_LOG_DEBUG3, "Job", g->job->id,
			 "job waiting up to %lld secs ($sister_join_job_alarm) for all sister moms to join", (long long)ms / 1000);
	if (g->step == STEP_PROLOGUE)
		keel_log(g->mod, KEEL_LOG_DEBUG3, "Job", g->job->id,
			 "waiting up to %lld secs ($job_launch_delay) for mom hosts status and prologue hooks ack",
			 (long long)ms / 1000);
	primary_step(&g->job->primary, g->step, g->name, ms, keel_now_ms(g->mod));
}

static void gate_next(struct job *j)
{
	struct gate *g = j->gates;

	while (g && g->decided)
		g = g->next;
	if (g && j->primary.step == STEP_NONE)
		gate_begin(g);
}

/* Nothing that waits is of use any more. */
static void gates_end(struct job *j)
{
	struct gate *g;

	DL_FOREACH(j->gates, g)
		decide(g, CODE_BADSTATE, "the job is ending");
	j->primary.step = STEP_NONE;
}

void gates_free(struct job *j)
{
	struct gate *g, *next;

	DL_FOREACH_SAFE(j->gates, g, next) {
		decide(g, STATUS_RETRY, "the job is gone from this host");
		DL_DELETE(j->gates, g);
		g->job = NULL; /* freed by what it holds */
	}
}

/* The words that administrators read of what waits. */
static const char *const why[] = { [STEP_JOIN] = "hosts of the job join it", [STEP_PROLOGUE] = "prologues on hosts of the job",
				   [STEP_ACT] = "the other hosts of the job", [STEP_END] = "hosts of the job end their parts" };

static keel_verdict gate(struct keel_call *c, struct job *j, enum primary_step step, const char *name)
{
	struct gate *g = calloc(1, sizeof(*g));
	keel_verdict v;

	if (!g)
		return keel_fail(c, "no memory for the job's other hosts");
	*g = (struct gate){ .mod = c->mod, .job = j, .step = step };
	snprintf(g->name, sizeof(g->name), "%s", name);
	if (step == STEP_END)
		gates_end(j);
	DL_APPEND(j->gates, g);
	gate_next(j);
	if (g->decided) {
		v = gate_verdict(c, g);
		gate_free(g);
		return v;
	}
	v = keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = why[step],
						   .timeout_ms = INT64_C(86400000), .resume = gate_resume,
						   .cancel = gate_cancel, .arg = g }, &g->hold);
	if (v != KEEL_WAIT)
		gate_free(g);
	return v;
}

/* The job, if this host is its primary. */
static struct job *led(struct keel_mod *mod, const char *id)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct job *j = part ? job_of(mod, part) : NULL;

	return j && j->self == 0 ? j : NULL;
}

/* Before all others: links are made while those have their turn. */
keel_verdict on_arrival(struct keel_call *c, const struct keel_ev_task_begin *ev)
{
	led(c->mod, ev->id);
	return KEEL_NEXT;
}

keel_verdict on_begin(struct keel_call *c, const struct keel_ev_task_begin *ev)
{
	struct job *j = led(c->mod, ev->id);

	return j ? gate(c, j, STEP_JOIN, "join") : KEEL_NEXT;
}

keel_verdict on_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev)
{
	struct job *j = ev->index == 0 ? led(c->mod, ev->id) : NULL;

	return j ? gate(c, j, STEP_PROLOGUE, ORDER_ADMIT) : KEEL_NEXT;
}

static bool has_sisters(const struct job *j)
{
	for (uint32_t i = 1; i < j->n; i++)
		if (j->primary.hosts[i].state == HOST_SILENT || j->primary.hosts[i].state == HOST_JOINED)
			return true;
	return false;
}

keel_verdict on_act(struct keel_call *c, const struct keel_ev_task_act *ev)
{
	struct job *j = led(c->mod, ev->id);

	if (j && strcmp(ev->name, "checkpoint") == 0) /* a restart would have its program alone: no task of another host comes again */
		return has_sisters(j) ? keel_reject(c, PBSE_NOSUP, "a job over several hosts cannot be saved") : KEEL_NEXT;
	if (j && strlen(ev->name) > PRIMARY_NAME_MAX)
		return keel_reject(c, PBSE_UNKSIG, NULL);
	return j ? gate(c, j, STEP_ACT, ev->name) : KEEL_NEXT;
}

/* May it be ended on the other hosts, too? One that does not answer is no reason to keep it; nor is its start waited for, or
 * what waits before it. */
keel_verdict on_preterm(struct keel_call *c, const struct keel_ev_task_preterm *ev)
{
	struct job *j = led(c->mod, ev->id);

	return j && j->primary.running && j->primary.step == STEP_NONE ? gate(c, j, STEP_ACT, ORDER_PRETERM) : KEEL_NEXT;
}

keel_verdict on_epilogue(struct keel_call *c, const struct keel_ev_task_epilogue *ev)
{
	struct job *j = ev->index == 0 ? led(c->mod, ev->id) : NULL;

	return j ? gate(c, j, STEP_END, "end") : KEEL_NEXT;
}
