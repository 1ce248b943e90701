/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c - from a decision to a start: service `job` runs or resumes the job; the outcome.
 *
 * entry_start() -> start_begin() -> run() or resume_waiting() of service `job` -> start_decided(). A start that has
 * to wait for a tap stays on the list of starts; what it takes is taken in every snapshot until it is decided,
 * so that no other job gets it.
 */
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTRS_OF(job, exec_vnode, queue);

/* ---- starts ------------------------------------------------------------------------------------------- */

static void start_free(struct start *s)
{
	keel_resource_exec_free(s->exec);
	free(s->id);
	free(s->exec_vnode);
	free(s);
}

static struct start *start_new(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode)
{
	struct state *st = mod->state;
	struct start *s = calloc(1, sizeof(*s));

	if (!s || !(s->id = strdup(keel_id(job))) || !(s->exec_vnode = strdup(exec_vnode))) {
		if (s)
			start_free(s);
		return NULL;
	}
	DL_PREPEND(st->starts, s);
	return s;
}

void starts_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->due = NULL;
	while (st->starts) {
		struct start *s = st->starts;

		DL_DELETE(st->starts, s);
		start_free(s);
	}
}

static void start_failed(struct keel_mod *mod, struct start *s, struct keel_obj *job, int32_t code,
		   const char *text)
{
	struct state *st = mod->state;
	struct entry *e = entry_of(mod, job);
	char words[600];

	snprintf(words, sizeof(words), "Not Running: PBS Error: %s", text);
	keel_log(mod, KEEL_LOG_SCHED, "Job", s->id, "Failed to run: %s (%d)", text, (int)code);
	if (!e)
		return;
	if (s->resume ? !keel_job_is_suspended(job)
		      : keel_job_waiting(job) == 0) {
		if (e->where == STARTING)
			e->where = OUT;
		entry_touch(mod, e);
		return;
	}
	comment(mod, e, words);
	if (s->gave_way) {
		e->gave_up = st->relevance;
		keel_log(mod, KEEL_LOG_DEBUG, "Job", s->id,
			 "Preempted work didn't run job - rerun it");
	}
	entry_rest(mod, e);
}

/* The host was sent the job. An array may have more to start. */
static void start_made(struct keel_mod *mod, struct start *s, struct entry *e, const char *subjob)
{
	struct state *st = mod->state;

	st->started++;
	if (!s->resume)
		keel_log(mod, KEEL_LOG_SCHED, "Job", subjob && *subjob ? subjob : s->id, "Job run");
	if (!s->resume)
		await_host(mod, subjob && *subjob ? subjob : s->id);
	if (!e)
		return;
	e->failures = 0;
	e->gave_up = 0;
	if (e->where != STARTING)
		return;
	e->where = OUT;
	if (keel_job_waiting(e->job)) {
		entry_group(mod, e);
		if (e->group && cycle_runs(st) && !st->serving)
			turn_add(mod, e->group);
	} else if (!s->resume) {
		look_at(mod, e);
	}
}

static void start_decided(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct start *s = arg;
	struct keel_obj *job = keel_find(mod, "job", s->id);
	struct entry *e = job ? entry_of(mod, job) : NULL;

	if (code && (!text || !*text))
		text = keel_pbse_text(code);
	DL_DELETE(st->starts, s);
	s->decided = true;
	if (code && job)
		start_failed(mod, s, job, code, text);
	else if (!code)
		start_made(mod, s, e, text);
	if (s->qrun && code)
		qrun_failed(mod, s->qrun, code, text);
	else if (s->qrun)
		qrun_answer(mod, s->qrun, 0, NULL);
	s->qrun = NULL;
	if (code) {
		/* What a failed start had taken is free again. */
		if (!s->assigned)
			snapshot_unsure(mod, s->exec_vnode);
		rooms_stale(mod);
		st->epoch++;
	}
	if (s->returned) {
		wake(mod, CMD_ENDED);
		start_free(s);
	} else if (!code) {
		s->assigned = true;
	}
}

/* The snapshot has what a start took. It stays current only if it was: in the turn that a start waited, vnodes may have changed. */
static void start_begin(struct keel_mod *mod, struct start *s, struct keel_obj *job)
{
	struct state *st = mod->state;
	uint64_t before = keel_node_generation();
	bool current = st->generation == before + 1;

	if (s->resume)
		keel_job_resume_waiting(job, mod, start_decided, s);
	else
		keel_job_run(job, s->exec_vnode, st->who, mod, start_decided, s);
	s->returned = true;
	if (!s->decided)
		s->assigned = s->resume && keel_node_generation() != before;
	if (s->assigned && current)
		st->generation = keel_node_generation() + 1;
	job = s->assigned ? keel_find(mod, "job", s->id) : NULL;
	if (job)
		room_started(mod, keel_get_str(job, job_queue), before);
	if (s->decided)
		start_free(s);
}

void entry_start(struct keel_mod *mod, struct entry *e, char *exec_vnode, bool resume, struct qrun *qrun)
{
	struct state *st = mod->state;
	struct start *s = start_new(mod, e->job, exec_vnode);

	free(exec_vnode);
	if (!s) {
		st->generation = 0;
		if (qrun)
			qrun_answer(mod, qrun, PBSE_SYSTEM, "System error: out of memory");
		entry_rest(mod, e);
		return;
	}
	s->resume = resume;
	s->qrun = qrun;
	s->gave_way = e->victims_in == st->cycle;
	entry_out(e);
	e->where = STARTING;
	if (slice_is_over(mod))
		st->due = s;
	else
		start_begin(mod, s, e->job);
}

void start_due(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct start *s = st->due;
	struct keel_obj *job = s ? keel_find(mod, "job", s->id) : NULL;

	st->due = NULL;
	if (job) {
		start_begin(mod, s, job);
	} else if (s) {
		start_decided(mod, s, PBSE_UNKJOBID, NULL);
		start_free(s);
	}
}

bool starts_wait(const struct state *st)
{
	const struct start *s = st->starts;

	while (s && s->assigned)
		s = s->next;
	return s != NULL;
}

char *find_own_place(struct keel_mod *mod, struct keel_obj *job, struct reason *ret)
{
	struct snapshot *s = ground_of(mod, keel_get_str(job, job_queue), ret);
	struct keel_exec *exec = s ? exec_again(job) : NULL;
	bool goes = exec && goes_back(s, job, exec, ret);

	if (s && !exec)
		reason_set(ret, "its vnodes are not known");
	if (goes)
		ground_taken(mod, job, exec);
	keel_resource_exec_free(exec);
	return goes ? strdup(keel_get_str(job, job_exec_vnode)) : NULL;
}

bool resume_job(struct keel_mod *mod, struct entry *e, struct reason *ret)
{
	char *exec_vnode = find_own_place(mod, e->job, ret);

	if (exec_vnode)
		entry_start(mod, e, exec_vnode, true, NULL);
	return exec_vnode != NULL;
}
