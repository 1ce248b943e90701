/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c - the point preempt_victims: a job could not start; who gives way for it?
 *
 *   may it preempt? -> choose -> would it be allowed to start? -> victims give way -> DONE: look again
 *                        ^                                            |
 *                        '------ some did not: without them ----------'    at most 5 rounds
 *
 * Whether the job may start at all (point job_run, asked dry) is settled before anybody is touched. The
 * scheduler's cycle stands still while victims are giving way.
 */
#include "preemption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/setting.h"
#include "relevance.h"

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
	struct state *st = keel_state(c);
	struct runner *r = ev->job ? runner_of(c->mod, ev->job) : NULL;
	char line[400];

	if (r && r->why) {
		snprintf(line, sizeof(line), "preemption: %s\n", r->why);
		st->call->append(c, line);
	}
	return KEEL_NEXT;
}

/* ---- a search ------------------------------------------------------------------------------------------ */

static void search_drop(struct search *s)
{
	if (--s->owners)
		return;
	victims_clear(&s->victims);
	victims_clear(&s->tried);
	free(s->id);
	free(s);
}

static struct search *search_new(struct keel_mod *mod, const struct keel_ev_preempt_victims *ev,
				 int64_t level)
{
	struct search *s = calloc(1, sizeof(*s));

	if (!s || !(s->id = strdup(ev->id))) {
		free(s);
		return NULL;
	}
	s->mod = mod;
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
	struct state *st = keel_state(c);
	keel_verdict v = st->call->hold(c, &(struct keel_hold_opts){
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
	struct state *st = s->mod->state;

	if (s->hold && !s->gone)
		st->call->release(s->hold);
}

/* ---- would it be allowed to start? ------------------------------------------------------------------------ */

static void may_run_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct search *s = arg;

	s->open--;
	s->may_run = code == 0;
	s->refused = code;
	if (s->refused) {
		snprintf(s->refusal, sizeof(s->refusal), "%s",
			 text && *text ? text : st->core->pbse_text(code));
		st->core->log(mod, KEEL_LOG_SCHED, "Job", s->id, "Failed to run: %s (%d)", s->refusal,
			      (int)code);
	}
	wake(s);
	search_drop(s);
}

static keel_verdict refuse(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	struct state *st = keel_state(c);
	char text[300];

	snprintf(text, sizeof(text), "nobody gives way, because its start would be refused: %s",
		 s->refusal);
	explain(c->mod, job, text);
	snprintf(text, sizeof(text), "%d %s", (int)s->refused, s->refusal);
	return end(s, st->call->answer(c, text));
}

/* ---- victims ------------------------------------------------------------------------------------------------ */

static void gave_way(struct keel_mod *mod, const char *id, const char *outcome,
		     const struct keel_preempt_def *by)
{
	struct state *st = mod->state;
	char text[80];

	snprintf(text, sizeof(text), "Job preempted by %s", by ? by->words : "its end");
	st->core->log(mod, KEEL_LOG_SCHED, "Job", id, "%s", text);
	if (strcmp(outcome, "D") == 0)
		victims_add(&st->last.deleted, id);
}

static void victim_done(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
			const struct keel_preempt_def *by)
{
	struct state *st = mod->state;
	struct search *s = arg;

	s->open--;
	if (strcmp(outcome, OUTCOME_FAILED) == 0) {
		s->failed++;
		victims_add(&s->tried, id);
		st->core->log(mod, KEEL_LOG_SCHED, "Job", id, "Job failed to be preempted");
	} else {
		gave_way(mod, id, outcome, by);
	}
	if (s->open == 0)
		wake(s);
	search_drop(s);
}

static void preempt_all(struct keel_mod *mod, struct search *s)
{
	struct victims v = s->victims;
	uint32_t i;

	s->victims = (struct victims){ 0 };
	s->failed = 0;
	s->round++;
	s->open++; /* our own, so that it is not over while we are handing out */
	for (i = 0; i < v.n; i++) {
		s->open++;
		s->owners++;
		preempt(mod, v.id[i], victim_done, s);
	}
	s->open--;
	victims_clear(&v);
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

static keel_verdict nobody(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	explain(c->mod, job, s->round ? "the running jobs that could make room did not give way"
				      : "no running job of a lower level would make room");
	return end(s, KEEL_NEXT);
}

static keel_verdict made_room(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	struct state *st = keel_state(c);

	explain(c->mod, job, NULL);
	free(st->last.id);
	st->last.id = strdup(s->id);
	return end(s, KEEL_DONE);
}

static keel_verdict go(struct keel_call *c, struct search *s, struct keel_obj *job)
{
	struct state *st = keel_state(c);

	for (;;) {
		enum choice choice = choose(c->mod, s, job);

		if (choice == CHOICE_FITS)
			return s->round ? made_room(c, s, job) : end(s, KEEL_DONE);
		if (choice == CHOICE_NOBODY)
			return nobody(c, s, job);
		if (choice == CHOICE_FOR_NOTHING) {
			explain(c->mod, job, "nobody gives way, because it would be over a soft limit and "
					     "have to give way itself");
			return end(s, KEEL_NEXT);
		}
		if (!s->may_run && !s->refused) {
			s->open++;
			s->owners++;
			st->job->may_run(st->job->self, job, st->who, c->mod, may_run_answered, s);
			if (s->open)
				return wait_for(c, s, "asking whether the job may start");
		}
		if (s->refused)
			return refuse(c, s, job);
		preempt_all(c->mod, s);
		if (s->open)
			return wait_for(c, s, "running jobs are giving way");
		if (!s->failed)
			return made_room(c, s, job);
		if (s->round >= ROUNDS)
			break;
	}
	st->core->log(c->mod, KEEL_LOG_DEBUG2, "Job", s->id,
		      "Maximum number of preemption tries exceeded - cannot run job");
	return nobody(c, s, job);
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct state *st = keel_state(c);
	struct search *s = arg;
	struct keel_obj *job = st->object->find(c->mod, "job", s->id);

	s->hold = NULL;
	if (!job)
		return end(s, KEEL_NEXT);
	if (s->refused)
		return refuse(c, s, job);
	if (s->round == 0 || (s->failed && s->round < ROUNDS))
		return go(c, s, job); /* it was only asked, or some did not give way */
	if (!s->failed)
		return made_room(c, s, job);
	st->core->log(c->mod, KEEL_LOG_DEBUG2, "Job", s->id,
		      "Maximum number of preemption tries exceeded - cannot run job");
	return nobody(c, s, job);
}

/* ---- may this job preempt? -------------------------------------------------------------------------------------- */

static bool preemption_on(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;

	return keel_setting_true(st->scheduler, "preemptive_sched", conf->preemptive_sched);
}

static bool anybody_lower(struct keel_mod *mod, int64_t level)
{
	struct state *st = mod->state;
	struct crowd *c;

	levels_compute(mod);
	for (c = st->crowds; c && c->level >= level; c = c->next)
		;
	return c != NULL;
}

static bool wants_aoe(struct state *st, struct keel_obj *job)
{
	const char *select = st->object->get_str(job, st->a.schedselect);

	return st->resource->list_get(st->object->get_ptr(job, st->a.list), "aoe") ||
	       (select && strstr(select, ":aoe="));
}

static int64_t attempts_allowed(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	char number[32];

	if (st->scheduler->setting(st->scheduler->self, "preempt_attempts", number, sizeof(number)) < 0)
		return conf->preempt_attempts;
	return strtoll(number, NULL, 10);
}

static bool too_many(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	int64_t allowed = attempts_allowed(mod);

	if (allowed <= 0 || st->attempts++ < allowed)
		return false;
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", id,
		      "Not attempting to preempt: over max cycle preempt limit");
	return true;
}

static bool forbids_itself(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	char targets[1024];

	if (!targets_of(mod, job, targets, sizeof(targets)) || strcasecmp(targets, "None") != 0)
		return false;
	st->core->log(mod, KEEL_LOG_DEBUG2, "Job", st->object->id(job),
		      "No preemption set specified for the job: Job will not preempt");
	explain(mod, job, "the job asks for none: preempt_targets=None");
	return true;
}

keel_verdict on_victims(struct keel_call *c, const struct keel_ev_preempt_victims *ev)
{
	struct keel_mod *mod = c->mod;
	struct state *st = keel_state(c);
	struct search *s;
	int64_t level;

	if (!ev->job || !st->crowds || !preemption_on(mod))
		return KEEL_NEXT;
	level = ev->qrun ? PRIO_HIGHEST : level_of(mod, ev->job);
	if (!anybody_lower(mod, level) || wants_aoe(st, ev->job)) {
		explain(mod, ev->job, NULL);
		return KEEL_NEXT;
	}
	if (relevance_of((int32_t)ev->code) & HOPELESS) {
		st->core->log(mod, KEEL_LOG_DEBUG, "Job", ev->id,
			      "Preempt: Can not preempt to run job: %s", ev->reason ? ev->reason : "");
		return KEEL_NEXT;
	}
	if (forbids_itself(mod, ev->job) || too_many(mod, ev->id))
		return KEEL_NEXT;
	s = search_new(mod, ev, level);
	return s ? go(c, s, ev->job) : st->call->fail(c, "out of memory");
}

/* ---- cycles -------------------------------------------------------------------------------------------------------- */

static void forget_last(struct state *st)
{
	free(st->last.id);
	st->last.id = NULL;
	victims_clear(&st->last.deleted);
}

keel_verdict on_cycle_begin(struct keel_call *c, const struct keel_ev_cycle_begin *ev)
{
	struct state *st = keel_state(c);

	(void)ev;
	st->attempts = 0;
	forget_last(st);
	return KEEL_NEXT;
}

/* Those that were stopped or queued are jobs like others; the deleted ones are gone for nothing. */
keel_verdict on_cycle_end(struct keel_call *c, const struct keel_ev_cycle_end *ev)
{
	struct state *st = keel_state(c);
	struct keel_obj *job = st->last.id ? st->object->find(c->mod, "job", st->last.id) : NULL;
	uint32_t i;

	(void)ev;
	if (job && st->job->state(st->job->self, job) != 'R')
		for (i = 0; i < st->last.deleted.n; i++)
			st->core->log(c->mod, KEEL_LOG_DEBUG, "Job", st->last.deleted.id[i],
				      "Failed to rerun job: Failed to run: %s (%d)",
				      st->core->pbse_text(PBSE_HISTJOBID), PBSE_HISTJOBID);
	forget_last(st);
	return KEEL_NEXT;
}
