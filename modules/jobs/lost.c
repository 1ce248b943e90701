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

KEEL_ATTR_OF(server, node_fail_requeue);
KEEL_ATTRS_OF(job, exec_vnode, Exit_status, Rerunable);

#define NO_HOST_STATUS (-20)
#define PATIENCE_LONGEST (10LL * 365 * 86400) /* s */
#define DIAL_MS 6000 /* a host whose server was away tries every 5 s */

static int64_t patience_ms(struct keel_mod *mod)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	int64_t seconds = keel_get_int(server, server_node_fail_requeue);

	if (seconds > PATIENCE_LONGEST)
		seconds = PATIENCE_LONGEST;
	return seconds < 0 ? 1000 : seconds * 1000;
}

/* The first vnode of exec_vnode: the job is lost with its primary host. */
static void first_vnode(struct keel_obj *job, char *buf, size_t len)
{
	const char *exec = job_text(job, job_exec_vnode);

	exec += *exec == '(';
	snprintf(buf, len, "%.*s", (int)strcspn(exec, ":+)"), exec);
}

static bool starts_on(struct keel_obj *job, const char *vnode)
{
	char first[300];

	first_vnode(job, first, sizeof(first));
	return strcmp(first, vnode) == 0;
}

bool host_is_linked(struct keel_mod *mod, struct keel_obj *job)
{
	struct keel_obj *node;
	char vnode[300];

	first_vnode(job, vnode, sizeof(vnode));
	node = keel_find(mod, "node", vnode);
	return node && keel_node_linked(node);
}

/* The host stayed away for too long. A job that never started is queued again even if it is not rerunable. */
static void give_up(struct keel_mod *mod, void *arg)
{
	struct keel_obj *job = arg; /* its slot cancels the timer when the job goes */
	struct job *j = job_slot(mod, job);
	bool sent = j->step == STEP_SENT;
	struct keel_obj *node;
	const char *host;
	char vnode[300], text[400];

	j->timer = NULL;
	if (!step_is_running(j->step))
		return;
	first_vnode(job, vnode, sizeof(vnode));
	node = keel_find(mod, "node", vnode);
	if (node && !keel_node_lost_at(node))
		return; /* the host is back without this vnode: its report decides */
	host = keel_node_host_of(vnode) ? keel_node_host_of(vnode) : vnode;
	keel_task_discard(job);
	if (j->ending != ENDING_DELETE && (sent || keel_get_int(job, job_Rerunable))) {
		if (sent)
			keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job never started, execution node %s down", host);
		else
			keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Exit_status=%d", NO_HOST_STATUS);
		keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "Job requeued, execution node %s down", host);
		job_requeue(mod, job, NO_HOST_STATUS);
		return;
	}
	snprintf(text, sizeof(text), "Job deleted, execution node %s down", host);
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job), "%s", text);
	job_notice(mod, job, "a", text);
	snprintf(text, sizeof(text), "requestor=Server@%s", keel_host_name(mod));
	if (j->ending != ENDING_DELETE) /* it has one */
		keel_acct_record('D', job_id(mod, job), text);
	keel_set_int(job, job_Exit_status, NO_HOST_STATUS);
	job_over(mod, job, j->ending == ENDING_DELETE ? STEP_TERMINATED : STEP_FAILED);
}

/* Starts the timer that gives up `patience` ms after the loss, but not before `at_least`: hosts dial again after a
 * restart of the server. A clock that was put back does not make that time longer. */
static void count_from(struct keel_mod *mod, struct keel_obj *job, int64_t lost_at, int64_t patience,
		       int64_t at_least)
{
	struct job *j = job_slot(mod, job);
	int64_t gone = (keel_time(mod) - lost_at) * 1000;
	int64_t left = gone > 0 ? patience - gone : patience;

	if (step_is_running(j->step) && !j->timer)
		j->timer = keel_timer(mod, left < at_least ? at_least : left, give_up, job);
}

keel_verdict on_node_down(struct keel_call *c, const struct keel_ev_node_down *ev)
{
	struct keel_mod *mod = c->mod;
	int64_t wait = patience_ms(mod);
	struct keel_cursor *walk = wait ? keel_cursor(mod, "job") : NULL;
	struct keel_obj *job;

	while (walk && (job = keel_next(walk)))
		if (starts_on(job, ev->id))
			count_from(mod, job, keel_node_lost_at(ev->node), wait, 0);
	if (walk)
		keel_cursor_close(walk);
	return KEEL_NEXT;
}

/* Jobs and vnodes are known again: hosts that were away when this module or the server ended. */
void lost_start(struct keel_mod *mod)
{
	int64_t wait = patience_ms(mod);
	struct keel_cursor *walk = wait ? keel_cursor(mod, "job") : NULL;
	struct keel_obj *job, *node;
	char vnode[300];

	while (walk && (job = keel_next(walk))) {
		if (!step_is_running(job_slot(mod, job)->step))
			continue;
		first_vnode(job, vnode, sizeof(vnode));
		node = keel_find(mod, "node", vnode);
		if (node && keel_node_lost_at(node))
			count_from(mod, job, keel_node_lost_at(node), wait, DIAL_MS);
	}
	if (walk)
		keel_cursor_close(walk);
}

/* The host is back: its own report decides now. */
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev)
{
	struct keel_mod *mod = c->mod;
	struct keel_cursor *walk;
	struct keel_obj *job;

	if (!(ev->before & KEEL_NODE_DOWN) || (ev->after & KEEL_NODE_DOWN) ||
	    keel_node_lost_at(ev->node) /* an administrator set the state, no host came */ ||
	    !(walk = keel_cursor(mod, "job")))
		return KEEL_NEXT;
	while ((job = keel_next(walk))) {
		struct job *j = job_slot(mod, job);

		if (step_is_running(j->step) && j->timer && starts_on(job, ev->id)) {
			keel_timer_cancel(j->timer);
			j->timer = NULL;
		}
	}
	keel_cursor_close(walk);
	return KEEL_NEXT;
}
