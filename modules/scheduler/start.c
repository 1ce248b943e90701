/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c - from a decision to a start: the request to run or resume, its outcome.
 *
 * A start that has to wait for a tap stays on the list of starts; what it takes is taken in every
 * snapshot until it is decided, so nobody else gets it.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- starts ------------------------------------------------------------------------------------------- */

static void start_free(struct keel_mod *mod, struct start *s)
{
	struct state *st = mod->state;

	st->resource->exec_free(s->exec);
	free(s->id);
	free(s->exec_vnode);
	free(s);
}

static struct start *start_new(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode)
{
	struct state *st = mod->state;
	struct start *s = calloc(1, sizeof(*s));

	if (!s || !(s->id = strdup(st->object->id(job))) || !(s->exec_vnode = strdup(exec_vnode))) {
		if (s)
			start_free(mod, s);
		return NULL;
	}
	s->next = st->starts;
	if (s->next)
		s->next->prev = s;
	st->starts = s;
	return s;
}

static void start_unlink(struct state *st, struct start *s)
{
	if (s->prev)
		s->prev->next = s->next;
	else
		st->starts = s->next;
	if (s->next)
		s->next->prev = s->prev;
	s->next = s->prev = NULL;
}

void starts_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->starts) {
		struct start *s = st->starts;

		start_unlink(st, s);
		start_free(mod, s);
	}
}

static void failed(struct keel_mod *mod, struct start *s, struct keel_obj *job, int32_t code,
		   const char *text)
{
	struct state *st = mod->state;
	struct entry *e = entry_of(mod, job);
	char comment[600];

	snprintf(comment, sizeof(comment), "Not Running: PBS Error: %s", text);
	st->core->log(mod, KEEL_LOG_SCHED, "Job", s->id, "Failed to run: %s (%d)", text, (int)code);
	if (s->resume) {
		const struct conf *conf = mod->conf;

		st->job->set_comment(st->job->self, job, comment);
		if (e)
			e->not_before = clock_us(mod) + conf->rest * 1000;
		return;
	}
	if (st->job->state(st->job->self, job) != 'Q') {
		if (e && e->where == STARTING)
			e->where = OUT;
		if (e)
			entry_touch(mod, e);
		return;
	}
	st->job->set_comment(st->job->self, job, comment);
	if (e)
		entry_rest(mod, e);
}

static void answer_qrun(struct start *s, int32_t code, const char *text)
{
	char answer[600];

	snprintf(answer, sizeof(answer), "Failed to run: %s (%d)", text ? text : "", (int)code);
	s->done(s->asker, s->arg, code, code ? answer : NULL);
}

static void decided(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct start *s = arg;
	struct keel_obj *job = st->object->find(mod, "job", s->id);
	struct entry *e = job ? entry_of(mod, job) : NULL;

	if (code && (!text || !*text))
		text = st->core->pbse_text(code);
	start_unlink(st, s);
	s->decided = true;
	if (e)
		e->busy = false;
	if (code && job) {
		failed(mod, s, job, code, text);
	} else if (!code) {
		st->started++;
		if (!s->resume)
			st->core->log(mod, KEEL_LOG_SCHED, "Job", s->id, "Job run");
		if (e) {
			e->failures = 0;
			entry_out(mod, e);
		}
	}
	if (s->asker)
		answer_qrun(s, code, text);
	if (s->returned) {
		st->generation = 0;
		wake(mod, CMD_ENDED);
		start_free(mod, s);
		return;
	}
	/* The snapshot has what it took; the rest is as before. */
	st->generation = code ? 0 : st->node->generation(st->node->self) + 1;
}

static void start_now(struct keel_mod *mod, struct start *s, struct keel_obj *job)
{
	struct state *st = mod->state;
	uint64_t before = st->node->generation(st->node->self);

	if (s->resume)
		st->job->resume_waiting(st->job->self, job, mod, decided, s);
	else
		st->job->run(st->job->self, job, s->exec_vnode, st->who, mod, decided, s);
	s->returned = true;
	if (s->decided) {
		start_free(mod, s);
	} else if (s->resume && st->node->generation(st->node->self) != before) {
		s->assigned = true;
		st->generation = st->node->generation(st->node->self) + 1;
	}
}

static void run(struct keel_mod *mod, struct entry *e, char *exec_vnode, struct keel_mod *asker,
		keel_job_done *done, void *arg)
{
	struct state *st = mod->state;
	struct start *s = start_new(mod, e->job, exec_vnode);

	free(exec_vnode);
	if (!s) {
		st->generation = 0;
		if (asker)
			done(asker, arg, PBSE_SYSTEM, "System error: out of memory");
		else
			entry_rest(mod, e);
		return;
	}
	s->asker = asker;
	s->done = done;
	s->arg = arg;
	entry_out(mod, e);
	e->where = STARTING;
	start_now(mod, s, e->job);
}

void start_job(struct keel_mod *mod, struct entry *e, char *exec_vnode)
{
	run(mod, e, exec_vnode, NULL, NULL, NULL);
}

void resume_job(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(e->job, st->a.exec_vnode);
	const struct keel_res_value *v =
		st->resource->list_get(st->object->get_ptr(e->job, st->a.list), "place");
	struct snapshot *snapshot = snapshot_now(mod);
	struct keel_place place = { 0 };
	struct keel_exec *exec = NULL;
	struct reason reason = { 0 };
	char comment[REASON_MAX + 32];
	struct start *s;

	if (e->busy || clock_us(mod) < e->not_before || !text || !snapshot ||
	    st->resource->exec_parse(st->resource->self, text, &exec, NULL))
		return;
	if (v && v->text)
		st->resource->place_parse(v->text, &place, NULL);
	exec_only(exec, st->job->released(st->job->self, e->job));
	if (!place_again(snapshot, exec, place.share, &reason)) {
		snprintf(comment, sizeof(comment), "Not Running: %s", reason.text);
		st->job->set_comment(st->job->self, e->job, comment);
	} else if ((s = start_new(mod, e->job, text))) {
		s->resume = true;
		e->busy = true;
		start_now(mod, s, e->job);
	}
	st->resource->exec_free(exec);
}

/* ---- qrun ------------------------------------------------------------------------------------------------ */

void on_run_request(struct keel_mod *mod, struct keel_obj *job, const char *who,
		    struct keel_mod *asker, keel_job_done *done, void *arg)
{
	struct state *st = mod->state;
	struct entry *e = entry_of(mod, job);
	struct reason reason = { 0 };
	char comment[REASON_MAX + 32], *exec_vnode;

	(void)who;
	st->core->log(mod, KEEL_LOG_JOB, "Job", st->object->id(job), "Received qrun request");
	if (!e || e->where == STARTING || st->job->state(st->job->self, job) != 'Q') {
		done(asker, arg, PBSE_BADSTATE, NULL);
		return;
	}
	entry_group(mod, e);
	if (!e->group) {
		done(asker, arg, PBSE_RESCUNAV, NULL);
		return;
	}
	exec_vnode = find_place(mod, job, e->group, &reason);
	if (exec_vnode) {
		run(mod, e, exec_vnode, asker, done, arg);
		return;
	}
	snprintf(comment, sizeof(comment), "%s: %s", reason.never ? "Can Never Run" : "Not Running",
		 reason.text);
	st->job->set_comment(st->job->self, job, comment);
	done(asker, arg, PBSE_RESCUNAV, reason.text);
}
