/* SPDX-License-Identifier: Apache-2.0
 *
 * leave.c - deletes one victim: signal and grace, the request, then a hold until it is purged.
 */
#include "delete-preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OPT(job, queue);
KEEL_ATTR_OPT(job, euser);
KEEL_ATTR_OPT(job, exec_host);
KEEL_ATTR_OPT(queue, kill_delay);

/* Owned by the hold until it ends, and by the open request or the grace timer until its callback ran. */
struct leaving {
	struct keel_mod *mod; /* this module: callbacks of a hold get the tap's */
	uint32_t owners;
	struct keel_hold *hold;	  /* NULL: it has ended */
	struct keel_timer *grace; /* NULL: not running */
	uint64_t cycle; /* in which it was chosen; 0: outside of cycles */
	int32_t code;
	char text[256];
	char *who;
	char id[];
};

static void drop_owners(struct leaving *l, uint32_t n)
{
	struct state *st = l->mod->state;

	l->owners -= n;
	if (l->owners)
		return;
	st->leaving--;
	free(l->who);
	free(l);
}

static void drop(struct leaving *l)
{
	drop_owners(l, 1);
}

/* The hold has ended: a deletion that was not requested yet is not requested any more. */
static void hold_over(struct leaving *l)
{
	const bool waits = l->grace != NULL; /* the timer is an owner, too */

	l->hold = NULL;
	keel_timer_cancel(l->grace);
	l->grace = NULL;
	drop_owners(l, waits ? 2 : 1);
}

/* The job was purged, or the deletion was refused. */
static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct leaving *l = arg;
	keel_verdict v = KEEL_DONE;

	if (l->code)
		v = keel_reject(c, l->code, l->text[0] ? "%s" : NULL, l->text);
	hold_over(l);
	return v;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)reason;
	hold_over(arg);
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static void delete_replied(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct leaving *l = arg;

	l->code = code;
	snprintf(l->text, sizeof(l->text), "%s", text ? text : "");
	if (code && l->cycle && l->cycle == st->cycle)
		st->in_this_cycle--; /* the job is not deleted */
	if (code && l->hold)
		keel_release(l->hold);
	drop(l);
}

static void delete_request(struct leaving *l, struct keel_obj *job)
{
	keel_job_request_delete(job, l->who, l->mod, delete_replied, l);
}

/* ---- the grace ---------------------------------------------------------------------------------------- */

static void grace_over(struct keel_mod *mod, void *arg)
{
	struct leaving *l = arg;
	struct keel_obj *job = keel_find(mod, "job", l->id);

	l->grace = NULL;
	if (job)
		delete_request(l, job);
	else
		drop(l);
}

static void signalled(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	const struct conf *conf = mod->conf;
	struct leaving *l = arg;
	struct keel_obj *job = keel_find(mod, "job", l->id);

	(void)text;
	if (!code && l->hold)
		l->grace = keel_timer(mod, conf->grace, grace_over, l);
	if (l->grace)
		return;
	if (job && l->hold)
		delete_request(l, job); /* the signal failed, or there is no timer */
	else
		drop(l);
}

static void begin(struct leaving *l, struct keel_obj *job)
{
	const struct conf *conf = l->mod->conf;

	if (!conf->grace_signal || !*conf->grace_signal) {
		delete_request(l, job);
		return;
	}
	keel_job_ask(job, &(struct keel_job_ask){
		.size = sizeof(struct keel_job_ask),
		.verb = "signal",
		.detail = conf->grace_signal,
		.who = l->who,
	}, l->mod, signalled, l);
}

/* ---- a victim ------------------------------------------------------------------------------------------ */

static const char *text_of(struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = keel_get_str(job, attr);

	return text ? text : "";
}

uint32_t delete_room(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t left = conf->max_per_cycle - st->in_this_cycle;

	if (!conf->max_per_cycle || !st->cycle)
		return UINT32_MAX;
	return left > 0 ? (uint32_t)left : 0;
}

bool delete_applies(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;

	return delete_room(mod) && scope_has(st->scope, text_of(job, job_queue), text_of(job, job_euser),
					     text_of(job, job_exec_host));
}

static int64_t timeout_ms(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *queue = keel_find(mod, "queue", text_of(job, job_queue));

	return conf->timeout + (conf->grace_signal && *conf->grace_signal ? conf->grace : 0) +
	       (queue ? 1000 * keel_get_int(queue, queue_kill_delay) : 0);
}

static struct leaving *leaving_new(struct keel_mod *mod, const char *id, const char *who)
{
	struct state *st = mod->state;
	struct leaving *l = calloc(1, sizeof(*l) + strlen(id) + 1);

	if (!l || !(l->who = strdup(who))) {
		free(l);
		return NULL;
	}
	strcpy(l->id, id);
	l->mod = mod;
	l->owners = 2;
	l->cycle = st->cycle;
	st->leaving++;
	return l;
}

keel_verdict delete_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job,
			  const char *who)
{
	struct state *st = mod->state;
	struct leaving *l;
	keel_verdict v;

	if (!delete_applies(mod, job))
		return keel_reject(c, PBSE_NOSUP, "%s",
				   !delete_room(mod) ? "enough jobs were deleted in this cycle"
						       : "such jobs are not deleted");
	l = leaving_new(mod, keel_id(job), who);
	if (!l)
		return keel_fail(c, "out of memory");
	v = keel_hold(c, &(struct keel_hold_opts){
		.size = sizeof(struct keel_hold_opts),
		.why = "a victim of preemption is being deleted",
		.until_point = KEEL_POINT_job_purged,
		.until_id = l->id,
		.timeout_ms = timeout_ms(mod, job),
		.resume = resumed,
		.cancel = cancelled,
		.arg = l,
	}, &l->hold);
	if (v != KEEL_WAIT) {
		l->owners = 1;
		drop(l);
		return v;
	}
	st->in_this_cycle++;
	begin(l, job);
	return KEEL_WAIT;
}
