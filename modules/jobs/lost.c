/* SPDX-License-Identifier: Apache-2.0
 *
 * lost.c - the first host of a running job does not answer any more.
 *
 * The job goes on there, perhaps. After node_fail_requeue seconds without a word it is started again
 * somewhere else (or ends, when it may not be rerun); a host that comes back later kills what it has. The
 * moment of the loss is kept with the vnode, so that a restart of the server or a reload does not begin anew.
 */
#include "jobs.h"

#include <stdio.h>
#include <string.h>

#define NO_HOST_STATUS (-20)
#define PATIENCE_LONGEST (10LL * 365 * 86400) /* s */
#define DIAL_MS 6000 /* a host whose server was away tries every 5 s */

static int64_t patience_ms(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));
	int64_t seconds = st->object->get_int(server, st->server.fail_requeue);

	if (seconds > PATIENCE_LONGEST)
		seconds = PATIENCE_LONGEST;
	return seconds < 0 ? 1000 : seconds * 1000;
}

/* The first vnode of exec_vnode: the job is lost with its primary host. */
static void first_vnode(struct keel_mod *mod, struct keel_obj *job, char *buf, size_t len)
{
	struct state *st = mod->state;
	const char *exec = job_text(mod, job, st->a.exec_vnode);

	exec += *exec == '(';
	snprintf(buf, len, "%.*s", (int)strcspn(exec, ":+)"), exec);
}

static bool starts_on(struct keel_mod *mod, struct keel_obj *job, const char *vnode)
{
	char first[300];

	first_vnode(mod, job, first, sizeof(first));
	return strcmp(first, vnode) == 0;
}

bool host_is_linked(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_obj *node;
	char vnode[300];

	first_vnode(mod, job, vnode, sizeof(vnode));
	node = st->object->find(mod, "node", vnode);
	return node && st->node->linked(st->node->self, node);
}

static void end_for_good(struct keel_mod *mod, struct keel_obj *job, const char *vnode)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	char text[400];

	snprintf(text, sizeof(text), "Job deleted, execution node %s down", vnode);
	job_notice(mod, job, "a", text);
	st->object->set_int(job, st->a.exit_status, NO_HOST_STATUS);
	job_over(mod, job, j->ending == ENDING_DELETE ? STEP_TERMINATED : STEP_FAILED);
}

/* The host stayed away for too long. A job that never started is queued again even if it is not rerunable. */
static void give_up(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *job = arg; /* its slot cancels the timer when the job goes */
	struct job *j = job_slot(mod, job);
	bool sent = j->step == STEP_SENT;
	struct keel_obj *node;
	char vnode[300];

	j->timer = NULL;
	if (!step_is_running(j->step))
		return;
	first_vnode(mod, job, vnode, sizeof(vnode));
	node = st->object->find(mod, "node", vnode);
	if (node && !st->node->lost_at(st->node->self, node))
		return; /* the host is back without this vnode: its report decides */
	if (sent)
		st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
			      "Job never started, execution node %s down", vnode);
	st->core->log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job requeued, execution node %s down",
		      vnode);
	st->task->discard(st->task->self, job);
	if (j->ending != ENDING_DELETE && (sent || st->object->get_int(job, st->a.rerunable)))
		job_requeue(mod, job, NO_HOST_STATUS);
	else
		end_for_good(mod, job, vnode);
}

/* Starts the timer that gives up `patience` ms after the loss, but not before `at_least`: hosts dial again after a
 * restart of the server. A clock that was put back does not make that time longer. */
static void count_from(struct keel_mod *mod, struct keel_obj *job, int64_t lost_at, int64_t patience,
		       int64_t at_least)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	int64_t gone = (st->core->time(mod) - lost_at) * 1000;
	int64_t left = gone > 0 ? patience - gone : patience;

	if (step_is_running(j->step) && !j->timer)
		j->timer = st->core->timer(mod, left < at_least ? at_least : left, give_up, job);
}

keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = mod->state;
	int64_t wait = patience_ms(mod);
	struct keel_cursor *walk = wait ? st->object->cursor(mod, "job") : NULL;
	struct keel_obj *job;

	while (walk && (job = st->object->next(walk)))
		if (starts_on(mod, job, ev->id))
			count_from(mod, job, st->node->lost_at(st->node->self, ev->node), wait, 0);
	if (walk)
		st->object->cursor_close(walk);
	return KEEL_NEXT;
}

/* Jobs and vnodes are known again: hosts that were away when this module or the server ended. */
void lost_start(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t wait = patience_ms(mod);
	struct keel_cursor *walk = wait ? st->object->cursor(mod, "job") : NULL;
	struct keel_obj *job, *node;
	char vnode[300];

	while (walk && (job = st->object->next(walk))) {
		if (!step_is_running(job_slot(mod, job)->step))
			continue;
		first_vnode(mod, job, vnode, sizeof(vnode));
		node = st->object->find(mod, "node", vnode);
		if (node && st->node->lost_at(st->node->self, node))
			count_from(mod, job, st->node->lost_at(st->node->self, node), wait, DIAL_MS);
	}
	if (walk)
		st->object->cursor_close(walk);
}

/* The host is back: its own report decides now. */
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = mod->state;
	struct keel_cursor *walk;
	struct keel_obj *job;

	if (!(ev->before & KEEL_NODE_DOWN) || (ev->after & KEEL_NODE_DOWN) ||
	    st->node->lost_at(st->node->self, ev->node) /* an administrator set the state, no host came */ ||
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
