/* SPDX-License-Identifier: Apache-2.0
 *
 * threshold.c - behind the setup: the shepherd has said that account, directories and spool are there. On a primary
 * task_prologue and task_launch follow, then the program. A sister has none: it is ready.
 */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILED_OUTPUT (-2) /* an Exit_status: "See job standard error file" */
#define HOOK_DELETES (-17)
#define LONG_SETUP_MS 1000 /* its walltime begins with its program */

/* The points behind the setup. Its task may go meanwhile: it is found by name. */
struct threshold {
	int64_t run;
	bool launch; /* task_prologue accepted; next is task_launch */
	char id[];
};

void launch_cancel(struct keel_mod *mod, struct task *t, int32_t status, const char *why)
{
	if (!t->why[0]) {
		t->status = status;
		snprintf(t->why, sizeof(t->why), "%s", why && *why ? why : "refused by the host");
	}
	if (!t->cancelled) {
		t->cancelled = true;
		record_note(mod, t, "refused %d %s", (int)t->status, t->why);
	}
	/* It removes what it has set up, and leaves: launch_over(). People look into the output of a job that ends so. */
	talk_say(mod, t, t->status == FAILED_OUTPUT || t->status == HOOK_DELETES ? "fail" : "cancel", -1);
}

void launch_fail_later(struct keel_mod *mod, struct task *t, int32_t status, const char *why)
{
	if (!t->why[0]) {
		t->status = status;
		snprintf(t->why, sizeof(t->why), "%s", why && *why ? why : "a host of the job failed");
	}
	launch_withdraw(mod, t); /* on a worker thread it is found when that is done */
}

void launch_started(struct keel_mod *mod, struct task *t, pid_t session)
{
	bool first = t->state == TASK_BEGIN;

	t->session = session;
	if (!first)
		return;
	if (keel_now_ms(mod) - t->began_ms > LONG_SETUP_MS) {
		t->began_ms = keel_now_ms(mod);
		record_note(mod, t, "began %lld", (long long)keel_time(mod));
		record_note(mod, t, "up %lld", (long long)proc_up_ms());
	}
	t->state = TASK_RUN;
	spec_out_fini(&t->program);
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "Started, pid = %d", (int)t->session);
	task_report(mod, t);
	PART_TELL(mod, started, part_of(t));
	members_begin(mod, t);
	if (t->kill_delay >= 0 && !t->discarded)
		stop_kill(mod, t, t->kill_delay);
}

/* ---- behind the setup -------------------------------------------------------------------------------- */

/* As it is, or as a module wants it. */
static void program_run(struct keel_mod *mod, struct task *t)
{
	int fd = t->program.bytes ? program_file(&t->program) : -1;

	if (t->program.bytes && fd < 0)
		launch_cancel(mod, t, KEEL_TASK_RETRY, "its program cannot be described to its shepherd");
	else
		talk_say(mod, t, "run", fd);
}

static void pass(struct keel_mod *mod, struct task *t)
{
	t->prune_waits = t->prunes > 0;
	if (t->prune_waits)
		return;
	t->passed = true;
	program_run(mod, t);
}

void launch_go_on(struct keel_mod *mod, struct task *t)
{
	if (!t->prune_waits)
		return;
	t->prune_waits = false;
	if (t->why[0])
		launch_cancel(mod, t, t->status, t->why);
	else if (t->discarded || t->kill_delay >= 0)
		launch_cancel(mod, t, KEEL_TASK_RETRY, "the task was withdrawn");
	else
		pass(mod, t);
}

static void threshold_ask(struct keel_mod *mod, struct task *t, struct threshold *h);

static void threshold_done(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct threshold *h = arg;
	struct task *t = task_find(st, h->id);
	bool refused = o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL;

	if (!t || t->run != h->run || t->gate != h || st->stopping) {
		free(h);
		return;
	}
	t->gate = NULL;
	if (t->why[0]) {
		launch_cancel(mod, t, t->status, t->why); /* part_fail() */
	} else if (t->discarded || (refused && t->kill_delay >= 0)) { /* its end was requested while it was held */
		launch_cancel(mod, t, KEEL_TASK_RETRY, "the task was withdrawn");
	} else if (refused) {
		launch_cancel(mod, t, o->code < 0 ? o->code : HOOK_REFUSED, o->text);
	} else if (!h->launch) {
		h->launch = true;
		threshold_ask(mod, t, h);
		return;
	} else {
		pass(mod, t);
	}
	free(h);
}

static void threshold_ask(struct keel_mod *mod, struct task *t, struct threshold *h)
{
	const char *user = t->user ? t->user : "";

	t->gate = h;
	t->prepared = h->launch;
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = h->launch ? KEEL_POINT_task_launch : KEEL_POINT_task_prologue,
		.event = h->launch ? (const void *)KEEL_EVENT(task_launch, .id = t->id, .user = user)
			     : (const void *)KEEL_EVENT(task_prologue, .id = t->id, .user = user, .index = 0),
		.done = threshold_done, .arg = h });
}

static void sister_ready(struct keel_mod *mod, struct task *t)
{
	if (t->state == TASK_BEGIN) {
		t->state = TASK_RUN;
		PART_TELL(mod, ready, part_of(t));
	}
	if (t->end_wanted)
		talk_say(mod, t, "end", -1);
	else if (t->kill_delay >= 0 && !t->discarded)
		stop_kill(mod, t, t->kill_delay);
}

void launch_ready(struct keel_mod *mod, struct task *t)
{
	bool first = !t->ready;
	struct threshold *h;

	t->ready = true;
	if (first && t->makes_dir && t->dir)
		keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "created the job directory %s", t->dir);
	if (is_sister(t)) {
		sister_ready(mod, t);
		return;
	}
	if (t->why[0]) {
		launch_cancel(mod, t, t->status, t->why);
		return;
	}
	if (t->passed || !first) {
		if (t->passed) /* the word was lost with the talk */
			program_run(mod, t);
		return;
	}
	if (t->found) { /* what its points were about is not known any more */
		launch_cancel(mod, t, KEEL_TASK_RETRY, "the daemon was restarted while the task was being started");
		return;
	}
	h = calloc(1, sizeof(*h) + strlen(t->id) + 1);
	if (!h) {
		launch_cancel(mod, t, KEEL_TASK_RETRY, "no memory to start the task");
		return;
	}
	h->run = t->run;
	strcpy(h->id, t->id);
	threshold_ask(mod, t, h);
}
