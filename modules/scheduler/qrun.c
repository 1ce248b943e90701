/* SPDX-License-Identifier: Apache-2.0
 *
 * qrun.c - jobs that an administrator starts now.
 *
 * Each gets a cycle for it alone, also while scheduling is off; one that comes during a cycle waits for its
 * end, and while victims give way for another. Run limits, the order and plans for others do not hold for it,
 * and it may have victims.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qrun_answer(struct keel_mod *mod, struct qrun *q, int32_t code, const char *text)
{
	struct state *st = mod->state;

	if (st->serving == q)
		st->serving = NULL;
	q->done(q->caller, q->arg, code, text);
	free(q->id);
	free(q);
}

void qrun_failed(struct keel_mod *mod, struct qrun *q, int32_t code, const char *text)
{
	char answer[600];

	snprintf(answer, sizeof(answer), "Failed to run: %s (%d)", text ? text : "", (int)code);
	qrun_answer(mod, q, code, answer);
}

void on_run_request(struct keel_mod *mod, struct keel_obj *job, const char *who,
		    struct keel_mod *caller, keel_job_done *done, void *arg)
{
	struct state *st = mod->state;
	struct qrun *q, **at = &st->qruns;

	(void)who;
	keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(job), "Received qrun request");
	q = calloc(1, sizeof(*q));
	if (!q || !(q->id = strdup(keel_id(job)))) {
		free(q);
		done(caller, arg, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	q->caller = caller;
	q->done = done;
	q->arg = arg;
	while (*at)
		at = &(*at)->next;
	*at = q;
	wake(mod, CMD_QRUN);
}

bool qrun_next(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->qruns && !st->asking && !st->asking_over) {
		struct qrun *q = st->qruns;
		struct keel_obj *job = keel_find(mod, "job", q->id);
		struct entry *e = job ? entry_of(mod, job) : NULL;

		st->qruns = q->next;
		q->next = NULL;
		if (!e || e->where == STARTING || keel_job_waiting(job) == 0) {
			qrun_answer(mod, q, job ? PBSE_BADSTATE : PBSE_UNKJOBID, NULL);
			continue;
		}
		entry_group(mod, e);
		if (!e->group) {
			qrun_answer(mod, q, PBSE_RESCUNAV, NULL);
			continue;
		}
		free(st->urgent);
		st->urgent = strdup(q->id);
		st->serving = q;
		e->victims_in = q->back ? st->cycle : 0;
		return true;
	}
	return false;
}

void qruns_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->serving)
		qrun_answer(mod, st->serving, PBSE_NOSCHEDULER, NULL);
	while (st->qruns) {
		struct qrun *q = st->qruns;

		st->qruns = q->next;
		qrun_answer(mod, q, PBSE_NOSCHEDULER, NULL);
	}
}
