/* SPDX-License-Identifier: Apache-2.0
 *
 * leave.c - host half: this host leaves a job that goes on without it ("task.release"). Its part ends as at the job's end;
 * then the server gets "task.released" with what was used here, which the primary adds up ("task.left"). The record stays
 * until the job is over everywhere.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define DELAY_MS 2000 /* from TERM to KILL: others wait for these vnodes */

void leave_report(struct keel_mod *mod, const struct task *t)
{
	char text[USAGE_ITEMS][48];
	const char *items[USAGE_ITEMS];
	struct keel_out *out = run_message(mod, t->id, t->run);
	char path[4096];

	snprintf(path, sizeof(path), "%s/aux/%s", keel_home(mod), t->id); /* it names this host, which is out */
	unlink(path);
	keel_put_strings(out, "items", items, usage_own(mod, t, text, items));
	keel_link_send(mod, "server", "task.released", out); /* said again behind the next hello */
}

static void nothing_report(struct keel_mod *mod, const char *id, int64_t run)
{
	keel_link_send(mod, "server", "task.released", run_message(mod, id, run));
}

void on_release(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id");
	int64_t run = keel_msg_int(m, "run", -1);
	struct task *t = id ? task_find(mod->state, id) : NULL;

	(void)peer;
	if (t && t->next && t->next->run == run) { /* it has not begun */
		launch_free(t->next);
		t->next = NULL;
		nothing_report(mod, id, run);
		return;
	}
	if (!t || t->run != run) {
		if (id)
			nothing_report(mod, id, run);
		return;
	}
	if (!is_sister(t) || t->discarded)
		return;
	if (!t->leaving && t->state != TASK_ENDED && t->state != TASK_REFUSED)
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "DELETE_JOB2 received");
	t->leaving = true;
	if (t->state == TASK_ENDED || t->state == TASK_REFUSED) {
		leave_report(mod, t);
		return;
	}
	stop_kill(mod, t, DELAY_MS);
}

/* To the primary: a host has left, and used this. */
void on_left(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id"), *host = keel_msg_str(m, "host");
	struct task *t = id ? task_find(mod->state, id) : NULL;
	uint32_t n = 0;
	const char *const *items = keel_msg_strings(m, "items", &n);

	(void)peer;
	if (!t || t->run != keel_msg_int(m, "run", -1) || !items || n > USAGE_ITEMS)
		return;
	if (used_elsewhere(mod, t, host, items, n) == -ENOMEM)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "no memory for what %s has used", host);
}
