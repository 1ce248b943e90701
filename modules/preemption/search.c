/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c - the point preempt_victims: a job could not start; who gives way for it?
 *
 *   may it preempt? -> choose -> would it be allowed to start? -> victims give way -> DONE: look again
 *                        ^                                            |
 *                        '------ some did not: without them ----------'    at most 5 rounds
 *
 * Whether the job may start at all (point start_now, raised dry) is settled before any job is touched. While
 * victims are giving way the scheduler goes on with other vnodes.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/setting.h"
#include "relevance.h"

KEEL_ATTRS_OF(job, schedselect, Resource_List);

#define ROUNDS 5
#define PATIENCE_MS (86400 * 1000) /* each victim has a deadline of its own */

/* ---- why not, for people ------------------------------------------------------------------------------ */

static void explain(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	struct runner *r = runner_of(mod, job);

	if (!r || (r->why && why && strcmp(r->why, why) == 0))
		return;
	free(r->why);
	r->why = why ? strdup(why) : NULL;
}

keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct runner *r = ev->job ? runner_of(c->mod, ev->job) : NULL;
	char line[400];

	if (r && r->why) {
		snprintf(line, sizeof(line), "preemption: %s\n", r->why);
		keel_append(c, line);
	}
	return KEEL_NEXT;
}

/* ---- a search ------------------------------------------------------------------------------------------ */

static void search_drop(struct search *s)
{
	if (s->gone)
		choose_drop(s->mod, s);
	if (--s->owners)
		return;
	victims_clear(&s->victims);
	free(s->id);
	free(s);
}

static void forget_last(struct state *st)
{
	free(st->last.id);
	st->last.id = NULL;
	victims_clear(&st->last.deleted);
}

static struct search *search_new(struct keel_mod *mod, const struct keel_ev_preempt_victims *ev,
				 int64_t level)
{
	struct search *s = calloc(1, sizeof(*s));

	if (!s || !(s->id = strdup(ev->id))) {
		free(s);
		return NULL;
	}
	forget_last(mod->state);
	s->mod = mod;
	s->number = ++((struct state *)mod->state)->last_search;
	s->owners = 1; /* the operation */
	s->level = level;
	s->code = (int32_t)ev->code;
	snprintf(s->what, sizeof(s->what), "%s", ev->what ? ev->what : "");
	return s;
}

static keel_verdict resumed(struct keel_call *c, void *arg);

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct search *s = arg;

	(void)c, (void)reason;
	s->hold = NULL;
	s->gone = true;
	search_drop(s);
}

static keel_verdict wait_for(struct keel_call *c, struct search *s, const char *why)
{
	keel_verdict v = keel_hold(c, &(struct keel_hold_opts){
		.size = sizeof(struct keel_hold_opts),
		.why = why,
		.timeout_ms = PATIENCE_MS,
		.resume = resumed,
		.cancel = cancelled,
		.arg = s,
	}, &s->hold);

	if (v != KEEL_WAIT) {
		s->gone = true;
		search_drop(s);
	}
	return v;
}

static keel_verdict end(struct search *s, keel_verdict v)
{
	s->gone = true;
	search_drop(s);
	return v;
}

static void wake(struct search *s)
{
	if (s->hold && !s->gone)
		keel_release(s->hold);
}

/* ---- would it be allowed to start? ------------------------------------------------------------------------ */

static void may_run_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct search *s = arg;

	s->open--;
	s->may_run = code == 0;
	s->refused = code;
	if (s->refused) {
		snprintf(s->refusal, sizeof(s->refusal), "%s",
			 text && *text ? text : keel_pbse_text(code));
		keel_log(mod, KEEL_LOG_SCHED, "Job", s->id, "Failed to run: %s (%d)", s->refusal,
			 (int)code);
	}
	wake(s);
	search_drop(s);
}

static keel_verdict refuse(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	char text[300];

	snprintf(text, sizeof(text), "nobody gives way, because its start would be refused: %s",
		 s->refusal);
	explain(c->mod, job, text);
	snprintf(text, sizeof(text), "%d %s", (int)s->refused, s->refusal);
	return end(s, keel_answer(c, text));
}

/* ---- victims ------------------------------------------------------------------------------------------------ */

/* It was thought to leave, and was only stopped: a letter before was refused. */
static bool gave_less(struct keel_mod *mod, const char *id, const struct keel_preempt_def *by)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	const struct method *thought = job ? first_method(mod, job) : NULL;

	return by && thought && (by->flags & KEEL_PREEMPT_STAYS) && !(thought->def->flags & KEEL_PREEMPT_STAYS);
}

static void victim_done(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
			const struct keel_preempt_def *by)
{
	struct state *st = mod->state;
	struct search *s = arg;
	char text[80];
	struct keel_obj *job;
	struct runner *r;

	s->open--;
	if (strcmp(outcome, OUTCOME_FAILED) == 0) {
		s->failed++;
		job = keel_find(mod, "job", id);
		r = job ? runner_of(mod, job) : NULL;
		if (r)
			r->tried_by = s->number;
		keel_log(mod, KEEL_LOG_SCHED, "Job", id, "Job failed to be preempted");
	} else {
		s->gave_way++;
		s->gave_less = s->gave_less || gave_less(mod, id, by);
		snprintf(text, sizeof(text), "Job preempted by %s", by ? by->words : "its end");
		keel_log(mod, KEEL_LOG_SCHED, "Job", id, "%s", text);
		if (strcmp(outcome, "D") == 0)
			victims_add(&st->last.deleted, id);
	}
	if (s->open == 0)
		wake(s);
	search_drop(s);
}

/* For a while in each turn: each of them is an operation. */
static void hand_out(struct keel_mod *mod, void *arg)
{
	struct search *s = arg;
	int64_t until = keel_clock_us(mod) + TURN_US;

	while (s->handed < s->victims.n && !s->gone) {
		s->open++;
		s->owners++;
		preempt(mod, s->victims.id[s->handed++], victim_done, s);
		if (keel_clock_us(mod) >= until && keel_timer(mod, 0, hand_out, s))
			return;
	}
	victims_clear(&s->victims);
	if (--s->open == 0)
		wake(s);
	search_drop(s);
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

/* Victims gave way: the scheduler considers the job again. */
static keel_verdict room_made(struct keel_call *c, struct search *s, struct keel_obj *job, const char *why)
{
	struct state *st = keel_state(c);

	explain(c->mod, job, why);
	free(st->last.id);
	st->last.id = strdup(s->id);
	return end(s, KEEL_DONE);
}

/* There are no victims. The scheduler considers the job once more, finds no place, and raises no search for it until
 * something has changed. */
static keel_verdict victims_none(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	if (s->gave_way)
		return room_made(c, s, job, "running jobs gave way, but not enough came free");
	explain(c->mod, job, s->round ? "the running jobs that could make room did not give way"
				      : "no running job of a lower level would make room");
	return end(s, KEEL_NEXT);
}

static void next_turn(struct keel_mod *mod, void *arg)
{
	struct search *s = arg;

	(void)mod;
	wake(s);
	search_drop(s);
}

static keel_verdict round_begin(struct keel_call *c, struct search *s, struct keel_obj *job, bool *ret_over)
{
	*ret_over = true;
	switch (choose(c->mod, s, job)) {
	case CHOICE_FITS:
		return s->round ? room_made(c, s, job, NULL) : end(s, KEEL_DONE);
	case CHOICE_NONE:
		return victims_none(c, s, job);
	case CHOICE_FOR_NOTHING:
		explain(c->mod, job, "nobody gives way, because it would be over a soft limit and have to "
				     "give way itself");
		return end(s, KEEL_NEXT);
	case CHOICE_LATER:
		/* Without a timer it would be one long turn: no job gives way. */
		s->turns++;
		if (!keel_timer(c->mod, 0, next_turn, s))
			return victims_none(c, s, job);
		s->owners++;
		return wait_for(c, s, "looking for running jobs that could give way");
	case CHOICE_VICTIMS:
		break;
	}
	/* It took a while. */
	if (s->turns && fits_now(job))
		return room_made(c, s, job, NULL);
	if (!s->may_run && !s->refused) {
		s->open++;
		s->owners++;
		keel_job_may_run(job, ((struct state *)keel_state(c))->who, c->mod, may_run_answered, s);
		if (s->open)
			return wait_for(c, s, "asking whether the job may start");
	}
	if (s->refused)
		return refuse(c, s, job);
	s->failed = s->handed = 0;
	s->round++;
	s->open++; /* held by hand_out(), so that the round does not end before its last request */
	s->owners++;
	hand_out(c->mod, s);
	if (s->open)
		return wait_for(c, s, "running jobs are giving way");
	*ret_over = false;
	return KEEL_NEXT;
}

static keel_verdict search_go(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	keel_verdict v;
	bool over;

	for (;;) {
		if (!s->sim && s->round && fits_now(job))
			return room_made(c, s, job, NULL);
		if (s->gave_less)
			return victims_none(c, s, job);
		if (s->round >= ROUNDS) {
			keel_log(c->mod, KEEL_LOG_DEBUG2, "Job", s->id,
				 "Maximum number of preemption tries exceeded - cannot run job");
			return victims_none(c, s, job);
		}
		v = round_begin(c, s, job, &over);
		if (over)
			return v;
	}
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct search *s = arg;
	struct keel_obj *job = keel_find(c->mod, "job", s->id);

	s->hold = NULL;
	/* It may have been deleted, held or started since. */
	if (!job || !(keel_job_waiting(job) > 0 || keel_job_is_suspended(job)))
		return end(s, KEEL_NEXT);
	return s->refused ? refuse(c, s, job) : search_go(c, s, job);
}

/* ---- may this job preempt? -------------------------------------------------------------------------------------- */

static bool too_many(struct keel_mod *mod, const char *id)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	int64_t allowed = conf->preempt_attempts;
	char number[32];

	if (keel_sched_setting("preempt_attempts", number, sizeof(number)) >= 0)
		allowed = strtoll(number, NULL, 10);
	if (allowed <= 0 || st->attempts++ < allowed)
		return false;
	keel_log(mod, KEEL_LOG_DEBUG, "Job", id,
		 "Not attempting to preempt: over max cycle preempt limit");
	return true;
}

static bool forbids_itself(struct keel_mod *mod, struct keel_obj *job)
{
	char targets[1024];

	if (!targets_of(mod, job, targets, sizeof(targets)) || strcasecmp(targets, "None") != 0)
		return false;
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", keel_id(job),
		 "No preemption set specified for the job: Job will not preempt");
	explain(mod, job, "the job asks for none: preempt_targets=None");
	return true;
}

keel_verdict on_victims(struct keel_call *c, const struct keel_ev_preempt_victims *ev)
{
	struct keel_mod *mod = c->mod;
	const struct conf *conf = keel_conf(c);
	struct state *st = keel_state(c);
	const char *select;
	struct crowd *lower;
	struct search *s;
	int64_t level;

	if (!ev->job || !st->crowds || !keel_setting_true("preemptive_sched", conf->preemptive_sched))
		return KEEL_NEXT;
	level = ev->qrun ? PRIO_HIGHEST : level_of(mod, ev->job, 0);
	levels_compute(mod);
	for (lower = st->crowds; lower && lower->level >= level; lower = lower->next)
		;
	select = keel_get_str(ev->job, job_schedselect);
	if (!lower || keel_resource_list_get(keel_get_ptr(ev->job, job_Resource_List), "aoe") ||
	    (select && strstr(select, ":aoe="))) {
		explain(mod, ev->job, NULL);
		return KEEL_NEXT;
	}
	if (relevance_of((int32_t)ev->code) & HOPELESS) {
		keel_log(mod, KEEL_LOG_DEBUG, "Job", ev->id,
			 "Preempt: Can not preempt to run job: %s", ev->reason ? ev->reason : "");
		return KEEL_NEXT;
	}
	if (forbids_itself(mod, ev->job) || too_many(mod, ev->id))
		return KEEL_NEXT;
	s = search_new(mod, ev, level);
	return s ? search_go(c, s, ev->job) : keel_fail(c, "out of memory");
}

/* ---- cycles -------------------------------------------------------------------------------------------------------- */

keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	st->attempts = 0;
	return KEEL_NEXT;
}

/* Those that were stopped or queued are jobs like others; the deleted ones are gone for nothing. */
keel_verdict on_cycle_end(struct keel_call *c, const struct keel_ev_cycle_end *ev)
{
	struct state *st = keel_state(c);
	struct keel_obj *job = st->last.id ? keel_find(c->mod, "job", st->last.id) : NULL;
	uint32_t i;

	(void)ev;
	if (!st->last.id)
		return KEEL_NEXT; /* they may still be giving way */
	if (job && keel_job_state(job) != 'R')
		for (i = 0; i < st->last.deleted.n; i++)
			keel_log(c->mod, KEEL_LOG_DEBUG, "Job", st->last.deleted.id[i],
				 "Failed to rerun job: Failed to run: %s (%d)",
				 keel_pbse_text(PBSE_HISTJOBID), PBSE_HISTJOBID);
	forget_last(st);
	return KEEL_NEXT;
}
