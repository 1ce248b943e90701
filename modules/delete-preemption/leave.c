/* SPDX-License-Identifier: Apache-2.0
 *
 * leave.c - one victim on its way out: asked to end, then waited for until it is gone.
 */
#include "delete-preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Owned by the hold and by the request, each until it has been told. */
struct leaving {
	struct keel_mod *mod; /* this module: a hold's callbacks are called for the tap's */
	uint32_t owners;
	struct keel_hold *hold; /* NULL: it has ended */
	int32_t code;
	char text[256];
};

static void drop(struct leaving *l)
{
	struct state *st = l->mod->state;

	if (--l->owners)
		return;
	st->leaving--;
	free(l);
}

/* It is gone, or was refused. */
static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct leaving *l = arg;
	struct state *st = l->mod->state;
	keel_verdict v = KEEL_DONE;

	l->hold = NULL;
	if (l->code)
		v = st->call->reject(c, l->code, l->text[0] ? "%s" : NULL, l->text);
	drop(l);
	return v;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct leaving *l = arg;

	(void)c, (void)reason;
	l->hold = NULL;
	drop(l);
}

static void asked(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct leaving *l = arg;

	l->code = code;
	snprintf(l->text, sizeof(l->text), "%s", text ? text : "");
	if (code && l->hold)
		st->call->release(l->hold);
	drop(l);
}

bool delete_applies(struct keel_mod *mod, struct keel_obj *job)
{
	(void)mod, (void)job;
	return true;
}

static int64_t patience(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	const char *name = st->object->get_str(job, st->queue);
	struct keel_obj *queue = name ? st->object->find(mod, "queue", name) : NULL;

	return conf->timeout + (queue ? 1000 * st->object->get_int(queue, st->kill_delay) : 0);
}

keel_verdict delete_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job,
			  const char *who)
{
	struct state *st = mod->state;
	struct leaving *l = calloc(1, sizeof(*l));
	keel_verdict v;

	if (!l)
		return st->call->fail(c, "out of memory");
	l->mod = mod;
	l->owners = 2;
	v = st->call->hold(c, &(struct keel_hold_opts){
		.size = sizeof(struct keel_hold_opts),
		.why = "a victim of preemption is being deleted",
		.until_point = KEEL_POINT_job_purged,
		.until_id = st->object->id(job),
		.timeout_ms = patience(mod, job),
		.resume = resumed,
		.cancel = cancelled,
		.arg = l,
	}, &l->hold);
	if (v != KEEL_WAIT) {
		free(l);
		return v;
	}
	st->leaving++;
	st->job->request_delete(st->job->self, job, who, mod, asked, l);
	return KEEL_WAIT;
}
