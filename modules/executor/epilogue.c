/* SPDX-License-Identifier: Apache-2.0
 *
 * epilogue.c - between the last process of a part and its end: task_epilogue, which other hosts of the job, or programs of
 * the site, may make take its time. Then the shepherd places the output, and leaves.
 *
 * Where a shepherd has gone on without a daemon, the point is raised late: before the end is reported. Once, unless the
 * daemon is killed meanwhile.
 */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

/* Ends that a refusal may ask for: it is queued again; for a hook it is so, or deleted. */
static bool is_end(int32_t code)
{
	return code == -15 || code == -18 || code == -19;
}

/* A task may go while its point is held: it is found by name. */
struct settling {
	int64_t run;
	bool held; /* a tap has begun something; else it may be raised once more */
	char id[];
};

static void settled(struct keel_mod *mod, struct task *t, bool note)
{
	t->settling = false;
	t->settled = true;
	if (note && !t->discarded)
		record_note(mod, t, "settled");
	if (t->pidfd < 0)
		launch_over(mod, t); /* its shepherd has left */
	else
		talk_say(mod, t, "place", -1); /* one that is not reached says "over" again */
}

static void settle(struct keel_mod *mod, void *arg, const struct keel_outcome *o)
{
	struct state *st = mod->state;
	struct settling *s = arg;
	struct task *t = task_find(st, s->id);

	if (t && t->run == s->run && t->settling && !st->stopping) {
		t->gate = NULL;
		if (o->verdict == KEEL_REJECT || o->verdict == KEEL_FAIL)
			keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "after its end: %s", o->text ? o->text : "refused");
		if (o->verdict == KEEL_REJECT && is_end(o->code) && !t->limit_status) {
			t->limit_status = o->code;
			record_note(mod, t, "limit %d", (int)o->code);
		}
		settled(mod, t, s->held || o->verdict != KEEL_NEXT);
	}
	free(s);
}

static void clock_stop(struct keel_mod *mod, struct task *t)
{
	if (!t->stopped_at_ms)
		t->stopped_at_ms = keel_now_ms(mod);
}

void epilogue_begin(struct keel_mod *mod, struct task *t, int32_t status)
{
	struct settling *s;
	keel_verdict v;

	if (!t->over) {
		t->over = true;
		clock_stop(mod, t);
		bound_look(mod, t);
		members_over(mod, t);
	}
	if (t->settling)
		return;
	s = t->discarded || t->settled || t->aborted ? NULL : calloc(1, sizeof(*s) + strlen(t->id) + 1);
	t->settling = true;
	if (!s) {
		settled(mod, t, true);
		return;
	}
	s->run = t->run;
	strcpy(s->id, t->id);
	t->gate = s;
	v = keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_task_epilogue,
		.event = KEEL_EVENT(task_epilogue, .id = t->id, .index = part_index(t),
				    .exit_status = t->limit_status ? t->limit_status : status),
		.done = settle, .arg = s });
	if (v == KEEL_WAIT)
		s->held = true;
}
