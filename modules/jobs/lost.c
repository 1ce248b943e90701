/* SPDX-License-Identifier: Apache-2.0
 *
 * lost.c - the first host of a running job does not answer any more.
 *
 * The job goes on there, perhaps. After node_fail_requeue seconds without a word it is started again
 * somewhere else (or ends, when it may not be rerun); a host that comes back later kills what it has.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#define NO_HOST_STATUS (-20)
#define PATIENCE_MAX (10LL * 365 * 86400) /* s */

static int64_t patience_ms(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	int64_t seconds = st->object->get_int(server, st->server.fail_requeue);

	if (seconds > PATIENCE_MAX)
		seconds = PATIENCE_MAX;
	return seconds < 0 ? 1000 : seconds * 1000;
}

static bool starts_on(struct keel_mod *mod, struct keel_obj *job, const char *vnode)
{
	struct state *st = mod->state;
	const char *exec = job_text(mod, job, st->a.exec_vnode);
	size_t len = strlen(vnode);

	return exec[0] == '(' && strncmp(exec + 1, vnode, len) == 0 && exec[1 + len] &&
	       strchr(":+)", exec[1 + len]);
}

static void give_up(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *job = arg; /* its slot cancels the timer when the job goes */
	struct job *j = job_slot(mod, job);
	const char *exec = job_text(mod, job, st->a.exec_vnode);
	char text[400];

	j->timer = NULL;
	if (!step_is_running(j->step))
		return;
	st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
		      "Job requeued, execution node %.*s down", (int)strcspn(exec + 1, ":+)"), exec + 1);
	st->task->discard(st->task->self, job);
	if (j->ending != ENDING_DELETE && st->object->get_int(job, st->a.rerunable)) {
		job_requeue(mod, job, NO_HOST_STATUS);
		return;
	}
	snprintf(text, sizeof(text), "Job deleted, execution node %.*s down",
		 (int)strcspn(exec + 1, ":+)"), exec + 1);
	job_notice(mod, job, "a", text);
	st->object->set_int(job, st->a.exit_status, NO_HOST_STATUS);
	job_over(mod, job, j->ending == ENDING_DELETE ? STEP_TERMINATED : STEP_FAILED);
}

keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = mod->state;
	int64_t wait = patience_ms(mod);
	struct keel_cursor *walk = wait ? st->object->cursor(mod, "job") : NULL;
	struct keel_obj *job;

	while (walk && (job = st->object->next(walk))) {
		struct job *j = job_slot(mod, job);

		if (step_is_running(j->step) && !j->timer && starts_on(mod, job, ev->id))
			j->timer = st->core->timer(mod, wait, give_up, job);
	}
	if (walk)
		st->object->cursor_close(walk);
	return KEEL_NEXT;
}

/* The host is back: its own report decides now. */
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = mod->state;
	struct keel_cursor *walk;
	struct keel_obj *job;

	if (!(ev->before & KEEL_NODE_DOWN) || (ev->after & KEEL_NODE_DOWN) ||
	    !(walk = st->object->cursor(mod, "job")))
		return KEEL_NEXT;
	while ((job = st->object->next(walk))) {
		struct job *j = job_slot(mod, job);

		if (step_is_running(j->step) && j->timer && starts_on(mod, job, ev->id)) {
			st->core->timer_cancel(j->timer);
			j->timer = NULL;
		}
	}
	st->object->cursor_close(walk);
	return KEEL_NEXT;
}
