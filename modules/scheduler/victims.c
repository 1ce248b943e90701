/* SPDX-License-Identifier: Apache-2.0
 *
 * victims.c - asking who gives way for a job that does not fit.
 *
 * The point preempt_victims may take its time (jobs that are deleted have to be gone). The cycle stands
 * still meanwhile; then the job is looked at first, on fresh vnodes.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

struct asking {
	bool answered, gave_way;
	bool left; /* the answer comes later */
};

/* "15136 no", or only words. */
static void refusal_keep(struct state *st, const char *text)
{
	char *words;

	free(st->refusal);
	st->refusal_code = (int32_t)strtol(text, &words, 10);
	if (st->refusal_code <= 0)
		st->refusal_code = PBSE_HOOKERROR;
	words += *words == ' ';
	st->refusal = strdup(words);
}

static void answered(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct asking *a = arg;

	a->answered = true;
	a->gave_way = o->verdict == KEEL_DONE;
	st->gave_way = a->gave_way;
	if (a->gave_way && o->text && *o->text)
		refusal_keep(st, o->text);
	if (!a->left)
		return;
	if (st->asking == a) {
		st->asking = NULL;
		cycle_go_on(mod);
	}
	free(a);
}

enum victims victims_ask(struct keel_mod *mod, struct keel_obj *job, const struct reason *r)
{
	struct state *st = mod->state;
	struct asking *a;
	enum victims found = VICTIMS_NONE;

	if (r->never || !st->hook->tapped(mod, KEEL_POINT_preempt_victims))
		return VICTIMS_NONE;
	a = calloc(1, sizeof(*a));
	if (!a)
		return VICTIMS_NONE;
	st->hook->raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_preempt_victims,
		.event = KEEL_EVENT(preempt_victims, .id = st->object->id(job), .job = job,
				    .code = r->code, .reason = r->text, .what = r->what,
				    .qrun = st->serving != NULL),
		.done = answered,
		.arg = a,
	});
	if (!a->answered) {
		a->left = true;
		st->asking = a;
		found = VICTIMS_LEAVING;
	} else {
		found = a->gave_way ? VICTIMS_GONE : VICTIMS_NONE;
		free(a);
	}
	if (found != VICTIMS_NONE) {
		free(st->urgent);
		st->urgent = strdup(st->object->id(job));
	}
	return found;
}
