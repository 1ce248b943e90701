/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c - a time of a reservation is over.
 *
 *	the last one	5 -> 7 (9): queue closed, all jobs deleted, record K -> gone with the last job
 *	another one	5 -> 9: running jobs deleted, queued ones kept -> 6 -> 2 or 10 with its next time
 *	unconfirmed	1 -> gone
 *
 * Jobs are deleted in slices (a sweep through all jobs of the server), and once more after ROUND_MS: by force then, where their
 * host answers. What happens next follows from the notes about its jobs, job_left().
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <utlist.h>

#include "keel/jobid.h"

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_index, reserve_count, reserve_rules, queue);
KEEL_ATTRS_OF(job, queue, exec_vnode);
KEEL_ATTRS_OF(queue, kill_delay, state_count);

#define SLICE_US 1000
#define ROUND_MS 30000 /* beyond kill_delay */

/* ---- its jobs ------------------------------------------------------------------------------------------ */

struct sweep {
	struct sweep *prev, *next;
	struct keel_cursor *walk;
	struct keel_alarm alarm;
	struct keel_mod *mod;
	bool running_only, force;
	char *who;
	char id[]; /* of the reservation */
};

static void sweep_free(struct sweep *s)
{
	keel_alarm_end(&s->alarm);
	if (s->walk)
		keel_cursor_close(s->walk);
	free(s->who);
	free(s);
}

void sweeps_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct sweep *s, *next;

	DL_FOREACH_SAFE(st->sweeps, s, next) {
		DL_DELETE(st->sweeps, s);
		sweep_free(s);
	}
}

static void deleted(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg, (void)code, (void)text;
}

/* Is there a link to the first of its hosts? A job elsewhere is left alone until there is. */
static bool host_answers(struct keel_mod *mod, struct keel_obj *job)
{
	const char *nodes = keel_get_str(job, job_exec_vnode);
	char name[256];
	struct keel_obj *node;
	size_t len;

	if (!nodes)
		return true;
	nodes += strspn(nodes, "(");
	len = strcspn(nodes, ":+)");
	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), nodes);
	node = keel_find(mod, "node", name);
	return node && keel_node_linked(node);
}

static void job_delete(struct keel_mod *mod, struct sweep *s, struct keel_obj *job)
{
	if (s->force && !keel_id_is_whole(keel_id(job)) && host_answers(mod, job))
		keel_job_ask(job, &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask), .verb = "delete",
							  .detail = "force", .who = s->who }, mod, deleted, NULL);
	else
		keel_job_request_delete(job, s->who, mod, deleted, NULL);
}

static void job_seen(struct keel_mod *mod, struct sweep *s, struct keel_obj *resv, struct keel_obj *job)
{
	const char *queue = keel_get_str(job, job_queue), *mine = keel_get_str(resv, resv_queue);
	const char state = keel_job_state(job);
	const bool runs = state == 'R' || state == 'E';

	if (!queue || !mine || strcmp(queue, mine) != 0 || strchr("FXM", state) || (s->running_only && !runs))
		return;
	if (!s->running_only && !s->force && keel_id_is_part(keel_id(job))) /* with its array */
		return;
	if (s->running_only)
		keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(job), "Deleting running job at end of reservation occurrence");
	if (state != 'E' || s->force)
		job_delete(mod, s, job);
}

/* How many of its jobs are in this state, `Running:`. */
static long jobs_in(struct keel_mod *mod, struct keel_obj *resv, const char *state)
{
	struct keel_obj *queue = queue_of(mod, resv);
	char text[256] = "";
	const char *at;

	if (!queue || keel_get_text(queue, queue_state_count, NULL, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, state);
	return at ? strtol(at + strlen(state), NULL, 10) : 0;
}

static bool has_running(struct keel_mod *mod, struct keel_obj *resv)
{
	return jobs_in(mod, resv, "Running:") > 0 || jobs_in(mod, resv, "Exiting:") > 0;
}

static int64_t round_length(struct keel_mod *mod, struct keel_obj *resv)
{
	struct keel_obj *queue = queue_of(mod, resv);
	const int64_t delay = queue ? keel_get_int(queue, queue_kill_delay) : 0;

	return ROUND_MS + (delay > 0 && delay < 86400 ? delay * 1000 : 10000);
}

static void next_round(struct keel_mod *mod, void *arg)
{
	const int32_t state = resv_state(arg);

	if (state == KEEL_RESV_BEING_DELETED || state == KEEL_RESV_DELETING_JOBS)
		resv_sweep(mod, arg, state == KEEL_RESV_DELETING_JOBS);
}

static void sweep_over(struct keel_mod *mod, struct sweep *s)
{
	struct keel_obj *resv = keel_find(mod, "resv", s->id);
	struct resv *r = resv ? resv_slot(mod, resv) : NULL;
	struct state *st = mod->state;

	DL_DELETE(st->sweeps, s);
	sweep_free(s);
	if (!r)
		return;
	keel_alarm_set(mod, &r->purge, round_length(mod, resv), next_round, resv);
	job_left(mod, resv);
}

static void sweep_on(struct keel_mod *mod, void *arg)
{
	struct sweep *s = arg;
	const int64_t until = keel_clock_us(mod) + SLICE_US;
	struct keel_obj *job, *resv = keel_find(mod, "resv", s->id);

	while (resv && (job = keel_next(s->walk))) {
		job_seen(mod, s, resv, job);
		if (keel_clock_us(mod) > until && keel_alarm_set(mod, &s->alarm, 0, sweep_on, s) == 0)
			return;
		resv = keel_find(mod, "resv", s->id);
	}
	sweep_over(mod, s);
}

/* Jobs whose deletion was asked for in vain are found again in the next round. */
void resv_sweep(struct keel_mod *mod, struct keel_obj *resv, bool running_only)
{
	struct state *st = mod->state;
	struct resv *r = resv_slot(mod, resv);
	const char *id = keel_id(resv);
	struct sweep *s = calloc(1, sizeof(*s) + strlen(id) + 1);

	if (!s || asprintf(&s->who, "root@%s", keel_host_name(mod)) < 0)
		goto failed;
	strcpy(s->id, id);
	s->running_only = running_only;
	s->force = r->rounds++ > 0;
	s->walk = keel_cursor(mod, "job");
	if (!s->walk || keel_alarm_set(mod, &s->alarm, 0, sweep_on, s))
		goto failed;
	DL_APPEND(st->sweeps, s);
	return;
failed:
	if (s)
		sweep_free(s);
	keel_alarm_set(mod, &r->purge, ROUND_MS, next_round, resv);
}

void resv_sweep_soon(struct keel_mod *mod, struct keel_obj *resv)
{
	const int32_t state = resv_state(resv);
	struct resv *r = resv_slot(mod, resv);

	if (!r || (state != KEEL_RESV_BEING_DELETED && state != KEEL_RESV_DELETING_JOBS))
		return;
	r->rounds = 0;
	keel_alarm_set(mod, &r->purge, 1000, next_round, resv);
}

/* ---- the end --------------------------------------------------------------------------------------------- */

static void note_end(struct keel_mod *mod, struct keel_obj *resv)
{
	keel_note(mod, KEEL_POINT_resv_end, KEEL_EVENT(resv_end, .id = keel_id(resv), .resv = resv));
}

static void last_end(struct keel_mod *mod, struct keel_obj *resv)
{
	char who[300];

	snprintf(who, sizeof(who), "root@%s", keel_host_name(mod));
	letter_send(mod, resv, 'e', NULL);
	record_remove(mod, resv, who);
	if (resv_is_confirmed(resv))
		note_end(mod, resv);
	askers_answer(mod, resv, resv_state(resv) == KEEL_RESV_UNCONFIRMED ? "DENIED" : "BEING DELETED");
	resv_close(mod, resv, who);
}

static void log_skipped(struct keel_mod *mod, struct keel_obj *resv)
{
	const time_t from = (time_t)keel_get_int(resv, resv_reserve_start);
	char at[16] = "";
	struct tm tm;

	if (localtime_r(&from, &tm))
		strftime(at, sizeof(at), "%H:%M:%S", &tm);
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv),
		 "reservation occurrence %lld/%lld scheduled at %s was skipped because its end time is in the past",
		 (long long)keel_get_int(resv, resv_reserve_index), (long long)keel_get_int(resv, resv_reserve_count), at);
}

/* The next time that is not over yet; false: there is none. */
static bool next_time(struct keel_mod *mod, struct keel_obj *resv)
{
	while (span_next(mod, resv)) {
		alter_next(mod, resv);
		if (keel_get_int(resv, resv_reserve_end) > keel_time(mod))
			return true;
		log_skipped(mod, resv);
	}
	return false;
}

/* For its next time. */
static void waits_again(struct keel_mod *mod, struct keel_obj *resv)
{
	const int32_t substate = resv_substate(resv);

	if (keel_get_int(resv, resv_reserve_rules) & RULE_LOST)
		resv_to(mod, resv, KEEL_RESV_DEGRADED, substate);
	else
		resv_to(mod, resv, KEEL_RESV_CONFIRMED, KEEL_RESV_CONFIRMED);
	span_block_soonest(mod, resv);
	resv_judge(mod, resv);
	clock_set(mod, resv);
	keel_sched_reconsider();
}

/* Its running jobs are gone: its next time is the soonest now. */
static void occurrence_over(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	const bool lost = keel_get_int(resv, resv_reserve_rules) & RULE_LOST;

	keel_alarm_end(&r->purge);
	keel_alarm_end(&r->left);
	r->rounds = 0;
	spans_unhold(mod, resv);
	resv_to(mod, resv, KEEL_RESV_FINISHED, lost ? resv_substate(resv) : KEEL_RESV_FINISHED);
	if (next_time(mod, resv))
		waits_again(mod, resv);
	else
		last_end(mod, resv);
}

static void occurrence_end(struct keel_mod *mod, struct keel_obj *resv)
{
	const int32_t substate = keel_get_int(resv, resv_reserve_rules) & RULE_LOST ? resv_substate(resv) : KEEL_RESV_DELETING_JOBS;

	note_end(mod, resv);
	queue_start(mod, resv, false);
	resv_to(mod, resv, KEEL_RESV_DELETING_JOBS, substate);
	resv_slot(mod, resv)->rounds = 0;
	if (has_running(mod, resv))
		resv_sweep(mod, resv, true);
	else
		occurrence_over(mod, resv);
}

void resv_end(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);

	search_forget(mod, resv);
	keel_alarm_end(&resv_slot(mod, resv)->clock);
	if (resv_state(resv) == KEEL_RESV_RUNNING && keel_get_int(resv, resv_reserve_count) > 1)
		keel_log(mod, KEEL_LOG_DEBUG, "Resv", keel_id(resv), "reached end of occurrence %lld/%lld",
			 (long long)keel_get_int(resv, resv_reserve_index), (long long)keel_get_int(resv, resv_reserve_count));
	if (r->n_spans > 1 && resv_state(resv) == KEEL_RESV_RUNNING)
		occurrence_end(mod, resv);
	else
		last_end(mod, resv);
}

void resv_missed(struct keel_mod *mod, struct keel_obj *resv)
{
	search_forget(mod, resv);
	if (resv_slot(mod, resv)->n_spans > 1)
		log_skipped(mod, resv);
	if (next_time(mod, resv))
		waits_again(mod, resv);
	else
		last_end(mod, resv);
}

void resv_idle(struct keel_mod *mod, struct keel_obj *resv)
{
	resv_slot(mod, resv)->idle_since = 0;
	resv_end(mod, resv);
}

/* ---- a job is over, or has moved ------------------------------------------------------------------------- */

static bool is_swept(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;
	const struct sweep *s;

	DL_FOREACH(st->sweeps, s)
		if (strcmp(s->id, id) == 0)
			return true;
	return false;
}

static void look(struct keel_mod *mod, void *arg)
{
	const int32_t state = resv_state(arg);

	if (is_swept(mod, keel_id(arg)))
		return;
	if (state == KEEL_RESV_BEING_DELETED && queue_is_empty(mod, arg))
		resv_gone(mod, arg);
	else if (state == KEEL_RESV_DELETING_JOBS && !has_running(mod, arg))
		occurrence_over(mod, arg);
	else if (state == KEEL_RESV_RUNNING)
		clock_set(mod, arg);
	else
		keel_alarm_set(mod, &resv_slot(mod, arg)->purge, round_length(mod, arg), next_round, arg);
}

/* After the note: the job has still its queue in it. */
void job_left(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	const int32_t state = resv_state(resv);

	if (r && (state == KEEL_RESV_BEING_DELETED || state == KEEL_RESV_DELETING_JOBS || state == KEEL_RESV_RUNNING))
		keel_alarm_set(mod, &r->left, 0, look, resv);
}
