/* SPDX-License-Identifier: Apache-2.0
 *
 * methods.c - S, C and R: suspend, checkpoint, requeue.
 *
 * Each calls a step of service `job` and waits for its end with a hold: a suspension is complete when its
 * callback runs, the other two when the job occupies nothing any more.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, Resource_List, Checkpoint);
KEEL_ATTR_OF(queue, kill_delay);

/* Owned by the hold and by the request, each until its callback has run. */
struct wait {
	uint32_t owners;
	struct keel_hold *hold; /* NULL: it has ended */
	int32_t code;
	char text[256];
};

static void wait_drop(struct wait *w)
{
	if (--w->owners == 0)
		free(w);
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct wait *w = arg;
	keel_verdict v = KEEL_DONE;

	w->hold = NULL;
	if (w->code)
		v = keel_reject(c, w->code, w->text[0] ? "%s" : NULL, w->text);
	wait_drop(w);
	return v;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct wait *w = arg;

	(void)c, (void)reason;
	w->hold = NULL;
	wait_drop(w);
}

static void answered(struct wait *w, int32_t code, const char *text,
		     bool complete)
{
	w->code = code;
	snprintf(w->text, sizeof(w->text), "%s", text ? text : "");
	if (w->hold && (code || complete))
		keel_release(w->hold);
	wait_drop(w);
}

/* Refused: that ends the wait. Accepted: the end of the run does. */
static void accepted(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod;
	answered(arg, code, text, false);
}

static void completed(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod;
	answered(arg, code, text, true);
}

/* The hold of a method, or NULL with the verdict. */
static struct wait *wait_begin(struct keel_call *c, struct keel_obj *job, const char *why,
			       bool until_gone, keel_verdict *ret)
{
	const struct conf *conf = keel_conf(c);
	const char *queue_name = keel_get_str(job, job_queue);
	struct keel_obj *queue = queue_name ? keel_find(c->mod, "queue", queue_name) : NULL;
	int64_t patience = conf->timeout;
	struct wait *w = calloc(1, sizeof(*w));

	if (queue)
		patience += 1000 * keel_get_int(queue, queue_kill_delay);
	if (!w) {
		*ret = keel_fail(c, "out of memory");
		return NULL;
	}
	w->owners = 2;
	*ret = keel_hold(c, &(struct keel_hold_opts){
		.size = sizeof(struct keel_hold_opts),
		.why = why,
		.until_point = until_gone ? KEEL_POINT_job_purged : 0,
		.until_id = until_gone ? keel_id(job) : NULL,
		.timeout_ms = patience,
		.resume = resumed,
		.cancel = cancelled,
		.arg = w,
	}, &w->hold);
	if (*ret == KEEL_WAIT)
		return w;
	free(w);
	return NULL;
}

/* ---- S ---------------------------------------------------------------------------------------------- */

static bool has_eoe(struct keel_obj *job)
{
	return keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "eoe") != NULL;
}

static bool suspend_applies(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod;
	return !has_eoe(job);
}

static keel_verdict suspend_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job,
				  const char *who)
{
	keel_verdict v;
	struct wait *w = wait_begin(c, job, "a victim of preemption is being suspended", false, &v);

	if (w)
		keel_job_request_suspend(job, who, mod, completed, w);
	return v;
}

/* ---- C ---------------------------------------------------------------------------------------------- */

static bool checkpoint_applies(struct keel_mod *mod, struct keel_obj *job)
{
	const char *when = keel_get_str(job, job_Checkpoint);

	(void)mod;
	return !has_eoe(job) && !(when && strcmp(when, "n") == 0);
}

static keel_verdict checkpoint_start(struct keel_mod *mod, struct keel_call *c,
				     struct keel_obj *job, const char *who)
{
	keel_verdict v;
	struct wait *w = wait_begin(c, job, "a victim of preemption is being checkpointed", true, &v);

	if (w)
		keel_job_request_checkpoint(job, who, mod, accepted, w);
	return v;
}

/* ---- R ---------------------------------------------------------------------------------------------- */

/* A job that may not be rerun is chosen all the same, and the rerun fails: `keelson explain` shows the error. */
static bool requeue_applies(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod, (void)job;
	return true;
}

static keel_verdict requeue_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job,
				  const char *who)
{
	keel_verdict v;
	struct wait *w = wait_begin(c, job, "a victim of preemption is being requeued", true, &v);

	if (w)
		keel_job_request_rerun(job, who, mod, accepted, w);
	return v;
}

#define METHOD(method_letter, letter_told, method_name, method_words, verb, ...)                   \
	{                                                                                          \
		.size = sizeof(struct keel_preempt_def), .letter = method_letter,                  \
		.outcome = letter_told, .name = method_name, .words = method_words,                \
		.applies = verb##_applies, .start = verb##_start, __VA_ARGS__                      \
	}
const struct keel_preempt_def suspend_method =
	METHOD("S", "S", "suspend", "suspension", suspend, .flags = KEEL_PREEMPT_STAYS,
	       .doc = "stopped, to go on where it is");
const struct keel_preempt_def checkpoint_method =
	METHOD("C", "C", "checkpoint", "checkpointing", checkpoint,
	       .doc = "saved by its host and queued, to go on there");
const struct keel_preempt_def requeue_method =
	METHOD("R", "Q", "requeue", "requeuing", requeue,
	       .doc = "ended and queued, to start again");
