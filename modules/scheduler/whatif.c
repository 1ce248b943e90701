/* SPDX-License-Identifier: Apache-2.0
 *
 * whatif.c - the service "sched": would this job start if those jobs were gone?
 *
 * A trial works on a copy of the vnodes. Policy that counts jobs hears of each job that goes and comes
 * back (points trial_vacate, trial_restore). It may last over turns: a job that goes for good is forgotten, and
 * the copy is made anew when its original changes.
 */
#include "scheduler.h"
#include "keel/sized.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, queue);

/* A running job that has given back. */
struct gone {
	struct keel_obj *job;
	struct keel_exec *exec;
	char *only;
	int64_t till; /* when it would have ended */
	int32_t share;
	bool off; /* the copy */
	struct gone *next;
};

struct keel_trial {
	struct keel_mod *mod;
	struct keel_obj *job;
	struct group *group;
	struct keel_exec *own; /* a suspended job's own vnodes */
	struct snapshot *s;
	struct gone *gone;
};

static void trial_free(struct keel_trial *t);

static void gone_move(struct keel_trial *t, struct gone *g, int32_t sign)
{
	g->off = sign < 0;
	(sign < 0 ? place_vacate : place_occupy)(t->s, g->exec, g->share, g->only, g->till);
	totals_move(t->s, g->job, g->only, sign);
	people_move(t->s, g->job, g->exec, sign);
}

/* The vnodes as they are now, without those who have gone; some have in truth by now. False: no memory. */
static bool has_copy(struct keel_trial *t)
{
	struct snapshot *now = t->s || !t->job ? NULL : snapshot_now(t->mod);
	struct gone *g;

	if (t->s || !t->job)
		return t->s && t->job;
	if (!t->own)
		t->group = group_of(t->mod, t->job);
	t->s = now && (t->own || t->group) ? snapshot_copy(now) : NULL;
	if (t->s)
		fence_lift(t->mod, t->s, t->job);
	for (g = t->s ? t->gone : NULL; g; g = g->next) {
		g->off = false;
		if (keel_job_state(g->job) == 'R' && !keel_job_is_suspended(g->job))
			gone_move(t, g, -1);
	}
	return t->s != NULL;
}

void trial_restart(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (!st->trial)
		return;
	snapshot_copy_free(st->trial->s);
	st->trial->s = NULL;
}

static struct keel_trial *trial(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const bool suspended = keel_job_is_suspended(job);
	struct keel_trial *t = st->trial || has_room(mod, keel_get_str(job, job_queue)) ? NULL : calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->mod = mod;
	t->job = job;
	st->trial = t;
	t->own = suspended ? exec_again(job) : NULL;
	if ((t->own || !suspended) && has_copy(t))
		return t;
	trial_free(t);
	return NULL;
}

static struct gone **gone_at(struct keel_trial *t, const struct keel_obj *job)
{
	struct gone **at = &t->gone;

	while (*at && (*at)->job != job)
		at = &(*at)->next;
	return at;
}

static void gone_free(struct gone *g)
{
	if (!g)
		return;
	keel_resource_exec_free(g->exec);
	free(g->only);
	free(g);
}

static int32_t trial_vacate(struct keel_trial *t, struct keel_obj *running, const char *only)
{
	struct entry *e = entry_of(t->mod, running);
	const bool inside = has_room(t->mod, keel_get_str(running, job_queue)); /* its block keeps its vnodes */
	struct gone *g = !e || e->vacated || inside || !has_copy(t) ? NULL : calloc(1, sizeof(*g));

	if (inside)
		return -EINVAL;
	if (!g)
		return e && e->vacated ? -EEXIST : -ENOMEM;
	g->job = running;
	g->share = share_of(running);
	g->exec = exec_outside(t->mod, running);
	g->till = job_until(t->mod, running);
	g->only = only ? strdup(only) : NULL;
	if (!g->exec || (only && !g->only)) {
		gone_free(g);
		return -EINVAL;
	}
	g->next = t->gone;
	t->gone = g;
	e->vacated = true;
	gone_move(t, g, -1);
	keel_note(t->mod, KEEL_POINT_trial_vacate,
		  KEEL_EVENT(trial_vacate, .id = keel_id(running), .job = running));
	return 0;
}

/* The job is where it was; the copy is another matter. */
static void come_back(struct keel_trial *t, struct gone **at)
{
	struct gone *g = *at;

	*at = g->next;
	entry_of(t->mod, g->job)->vacated = false;
	keel_note(t->mod, KEEL_POINT_trial_restore,
		  KEEL_EVENT(trial_restore, .id = keel_id(g->job), .job = g->job));
	gone_free(g);
}

static void trial_restore(struct keel_trial *t, struct keel_obj *running)
{
	struct gone **at = gone_at(t, running);

	if (!*at)
		return;
	if (t->s && (*at)->off)
		gone_move(t, *at, 1);
	come_back(t, at);
}

/* There is no such job any more: it stays away, in this copy and in the next. */
void trial_forget(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct gone **at = st->trial ? gone_at(st->trial, job) : NULL, *g = at ? *at : NULL;

	if (st->trial && st->trial->job == job)
		st->trial->job = NULL;
	if (!g)
		return;
	*at = g->next;
	gone_free(g);
}

static bool asked_for(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const struct qrun *q = st->serving ? st->serving : asking_qrun(st);

	return q && strcmp(q->id, keel_id(job)) == 0;
}

static bool trial_fits(struct keel_trial *t, struct keel_sched_reason *why)
{
	struct reason r = { 0 };
	bool fits = t->job && has_copy(t) &&
		    (asked_for(t->mod, t->job) || group_is_eligible(t->mod, t->job, &r)) &&
		    job_is_eligible(t->mod, t->job, &r) &&
		    (t->own ? could_go_back(t->s, t->job, t->own, &r)
			    : would_fit(t->mod, t->job, t->group, t->s, &r));

	if (why && !fits) {
		struct keel_sched_reason ours = { .size = sizeof(ours), .code = r.code, .never = r.never };

		snprintf(ours.text, sizeof(ours.text), "%.*s", (int)sizeof(ours.text) - 1, r.text);
		snprintf(ours.what, sizeof(ours.what), "%s", r.what);
		keel_sized_give(why, &ours);
	}
	return fits;
}

/* The copy of the vnodes has the job on it then: it is good for nothing else. */
static int32_t trial_keep(struct keel_trial *t)
{
	struct state *st = t->mod->state;
	struct reason unused = { 0 };
	char *place = NULL;
	struct keel_exec *exec = t->own;
	const struct gone *g;
	bool kept;

	if (!has_copy(t))
		return -ENOENT;
	if (!is_asking(st, keel_id(t->job)))
		return -EINVAL;
	if (!exec) {
		place = place_on(t->mod, t->job, t->group, t->s, &unused);
		exec = exec_of(place);
	}
	kept = exec && fence_add(t->mod, exec);
	for (g = t->gone; g && kept; g = g->next)
		kept = fence_add(t->mod, g->exec);
	if (exec != t->own)
		keel_resource_exec_free(exec);
	free(place);
	if (kept)
		victims_known(t->mod);
	return kept ? 0 : -ENOENT;
}

static void trial_free(struct keel_trial *t)
{
	struct state *st = t ? t->mod->state : NULL;

	if (!t)
		return;
	while (t->gone)
		come_back(t, &t->gone);
	st->trial = NULL;
	keel_resource_exec_free(t->own);
	snapshot_copy_free(t->s);
	free(t);
}

static void reconsider(struct keel_mod *mod)
{
	((struct state *)mod->state)->relevance++;
	rest_over(mod);
	wake(mod, CMD_JOB);
}

static int32_t setting(struct keel_mod *mod, const char *name, char *buf, uint32_t len)
{
	int which = setting_of(name);
	char *text = which < 0 ? NULL : setting_dup(mod, (enum setting)which);
	int32_t n = text ? snprintf(buf, len, "%s", text) : -ENOENT;

	free(text);
	return n;
}

const struct keel_sched_api sched_service = {
	.size = sizeof(struct keel_sched_api),
	.trial = trial,
	.trial_vacate = trial_vacate,
	.trial_restore = trial_restore,
	.trial_fits = trial_fits,
	.trial_free = trial_free,
	.trial_keep = trial_keep,
	.reconsider = reconsider,
	.asked_for = asked_for,
	.setting = setting,
	.set_prime = prime_set,
	.find = sched_find,
	.find_drop = sched_find_drop,
	.on_cycle = sched_on_cycle,
	.block = block,
	.unblock = unblock,
};
