/* SPDX-License-Identifier: Apache-2.0
 *
 * signals.c - qsig -s admin-suspend, qsig -s admin-resume.
 *
 * jobs runs the steps; the mark is set at job_suspended, before the reply to the requester. A job must be resumed the
 * way it was suspended.
 */
#include "admin-suspend.h"

#include <stdlib.h>
#include <string.h>

struct suspending {
	void *op;
	char job_id[];
};

static void suspended(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct suspending *s = arg;

	if (!code && mark_missing(keel_find(mod, "job", s->job_id)))
		keel_job_signal_done(s->op, PBSE_SYSTEM, MARK_MISSING);
	else
		keel_job_signal_done(s->op, code, text);
	free(s);
}

static void start_suspend(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	const char *id = keel_id(job);
	struct suspending *s = malloc(sizeof(*s) + strlen(id) + 1);

	if (!s) {
		keel_job_signal_done(op, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	s->op = op;
	strcpy(s->job_id, id);
	keel_job_suspend(job, SUSPEND, who, mod, suspended, s);
}

static void resumed(struct keel_mod *mod, void *op, int32_t code, const char *text)
{
	(void)mod;
	keel_job_signal_done(op, code, text);
}

static void start_resume(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	keel_job_resume(job, RESUME, who, mod, resumed, op);
}

const struct keel_signal_def suspend_signal = {
	.size = sizeof(struct keel_signal_def),
	.roles = KEEL_OPERATORS,
	.acts_on = KEEL_SIGNAL_GOING,
	.name = SUSPEND,
	.doc = "suspend a job and put its vnodes into maintenance",
	.start = start_suspend,
};
const struct keel_signal_def resume_signal = {
	.size = sizeof(struct keel_signal_def),
	.roles = KEEL_OPERATORS,
	.acts_on = KEEL_SIGNAL_STOPPED,
	.name = RESUME,
	.doc = "resume an admin-suspended job at once; the last one ends maintenance",
	.start = start_resume,
};

keel_verdict on_signal(struct keel_call *c, const struct keel_ev_job_signal *ev)
{
	bool marked = mark_is_set(ev->job);

	if (strcmp(ev->signal, RESUME) == 0 ? !marked : strcmp(ev->signal, "resume") == 0 && marked)
		return keel_reject(c, PBSE_WRONG_RESUME, NULL);
	return KEEL_NEXT;
}
