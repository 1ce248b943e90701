/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c - one job is suspended or resumed: qsig -s admin-suspend, qsig -s admin-resume, and the steps of a node's verb.
 *
 * jobs runs the steps; the mark is set at job_suspended, before the reply to the requester. A job must be resumed the
 * way it was suspended.
 */
#include "admin-suspend.h"

#include <stdlib.h>
#include <string.h>

struct step {
	step_done *done;
	void *arg;
	bool suspend;
	char job_id[];
};

static void replied(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct step *s = arg;
	struct keel_obj *job = keel_find(mod, "job", s->job_id);

	if (!code && s->suspend && job && keel_job_is_suspended(job) && !mark_is_set(job)) {
		code = PBSE_SYSTEM;
		text = MARK_MISSING;
	}
	s->done(mod, s->arg, job, s->job_id, code, text);
	free(s);
}

void step(struct keel_mod *mod, struct keel_obj *job, bool suspend, const char *who, step_done *done, void *arg)
{
	const char *id = keel_id(job);
	struct step *s = malloc(sizeof(*s) + strlen(id) + 1);

	if (!s) {
		done(mod, arg, job, id, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	*s = (struct step){ .done = done, .arg = arg, .suspend = suspend };
	strcpy(s->job_id, id);
	if (suspend)
		keel_job_suspend(job, SUSPEND, who, mod, replied, s);
	else
		keel_job_resume(job, RESUME, who, mod, replied, s);
}

static void signal_done(struct keel_mod *mod, void *op, struct keel_obj *job, const char *id, int32_t code, const char *text)
{
	(void)mod, (void)job, (void)id;
	keel_job_signal_done(op, code, text);
}

static void start_suspend(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	step(mod, job, true, who, signal_done, op);
}

static void start_resume(struct keel_mod *mod, struct keel_obj *job, const char *who, void *op)
{
	step(mod, job, false, who, signal_done, op);
}

const struct keel_signal_def suspend_signal = {
	.size = sizeof(struct keel_signal_def), .roles = KEEL_OPERATORS, .acts_on = KEEL_SIGNAL_GOING,
	.name = SUSPEND,
	.doc = "suspend a job and put its vnodes into maintenance",
	.start = start_suspend,
};
const struct keel_signal_def resume_signal = {
	.size = sizeof(struct keel_signal_def), .roles = KEEL_OPERATORS, .acts_on = KEEL_SIGNAL_STOPPED,
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
