/* SPDX-License-Identifier: Apache-2.0
 *
 * check_replay.c - a reload at every step leads to where no reload leads.
 *
 * The same days of a small cluster are played three times: twice as they come, once with the module
 * unloaded and loaded before each step. What it answers and what objects show is written down as lines,
 * and the lines are compared. A module whose first two plays differ cannot be judged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_calls.h"
#include "check_child.h"
#include "check_events.h"
#include "check_lifecycle.h"
#include "keel/text.h"

enum { JOBS = 5, TURNS_MAX = 500 };

/* The life of a job: what is raised, and what its state is from then on (0: as before); the point job_step
 * is raised, too, when it changes. */
static const struct {
	uint32_t point;
	char state;
	const char *substate;
} life[] = {
	{ KEEL_POINT_job_queued, 'Q', "10" },	 { KEEL_POINT_job_modify, 0, NULL },
	{ KEEL_POINT_job_hold, 0, NULL },	 { KEEL_POINT_job_release, 0, NULL },
	{ KEEL_POINT_job_move, 0, NULL },	 { KEEL_POINT_job_eligible, 0, NULL },
	{ KEEL_POINT_group_eligible, 0, NULL },	 { KEEL_POINT_job_rank, 0, NULL },
	{ KEEL_POINT_node_eligible, 0, NULL },	 { KEEL_POINT_node_score, 0, NULL },
	{ KEEL_POINT_job_explain, 0, NULL },	 { KEEL_POINT_job_reason, 0, NULL },
	{ KEEL_POINT_job_run, 0, NULL },	 { KEEL_POINT_job_placed, 'R', "41" },
	{ KEEL_POINT_job_started, 'R', "42" },	 { KEEL_POINT_job_signal, 0, NULL },
	{ KEEL_POINT_suspend_release, 0, NULL }, { KEEL_POINT_job_suspended, 'R', "43" },
	{ KEEL_POINT_job_resume, 0, NULL },	 { KEEL_POINT_job_resumed, 'R', "42" },
	{ KEEL_POINT_acct_record, 0, NULL },	 { KEEL_POINT_job_delete, 0, NULL },
	{ KEEL_POINT_job_obit, 'E', "50" },	 { KEEL_POINT_job_purged, 'F', "92" },
};
/* What happens beside: once a day. */
static const uint32_t others[] = {
	KEEL_POINT_client_auth, KEEL_POINT_request_receive, KEEL_POINT_management, KEEL_POINT_node_modify,
	KEEL_POINT_resource_delete, KEEL_POINT_cycle_begin, KEEL_POINT_cycle_end, KEEL_POINT_task_begin,
	KEEL_POINT_task_launch, KEEL_POINT_task_resume, KEEL_POINT_task_preterm,
};

struct play {
	struct stage stage;
	bool reloads, is_busy;
	struct keel_text answers, values;
};

/* A module may be busy; then it stays. */
static void reload(struct play *p)
{
	struct stage *s = &p->stage;

	if (!p->reloads || s->mod == NULL)
		return;
	stage_unload(s);
	if (s->mod != NULL)
		p->is_busy = true;
	else if (stage_load(s) < 0)
		finding(RULE_replay_answers, "it cannot be loaded again, %s: %s", child_last_step(), s->err.text);
}

/* ---- steps ------------------------------------------------------------------------------------------- */
static void answer_write(struct play *p, const struct point *point, const char *id, keel_verdict verdict,
			 const struct keel_mock_outcome *o)
{
	keel_text_printf(&p->answers, "%s of %s: ", point->name, id);
	if (verdict == KEEL_WAIT && !o->told)
		keel_text_str(&p->answers, "waits\n");
	else
		keel_text_printf(&p->answers, "verdict %d, code %d, sum %lld, '%s'\n", (int)o->verdict, (int)o->code,
				 (long long)o->sum, o->text);
}

/* The event is about this job instead. */
static void about(struct event *e, const struct point *point, const char *id, struct keel_obj *job)
{
	const char *letter = keel_mock_text(job, "job_state", NULL);
	int64_t state = letter == NULL ? 'Q' : letter[0];

	for (uint32_t i = 0; i < point->n_fields; i++) {
		const struct keel_field *f = &point->fields[i];

		if (strcmp(f->name, "job") == 0)
			memcpy((char *)e + f->offset, &job, sizeof(job));
		else if (strcmp(f->name, "id") == 0)
			memcpy((char *)e + f->offset, &id, sizeof(id));
		else if (strcmp(f->name, "state") == 0)
			memcpy((char *)e + f->offset, &state, sizeof(state));
	}
}

/* What is awaited happens; or time passes, until the module has had enough. */
static void hold_end(struct stage *s)
{
	if (keel_mock_hold_until(s->mock, 0) != NULL)
		keel_mock_release(s->mock, 0);
	else
		(void)keel_mock_next(s->mock);
	keel_mock_advance(s->mock, 0);
}

/* Does anybody object? What waits is waited for: a reload would end it. */
static bool step(struct play *p, uint32_t id, const char *job_id, struct keel_obj *job)
{
	const struct point *point = point_find(id);
	struct stage *s = &p->stage;
	struct keel_mock_outcome *o;
	struct event e;
	keel_verdict verdict;
	bool accepted;

	if (point == NULL || s->mod == NULL || (point->daemon & s->of->m->roles) == 0 ||
	    !event_make(s, point, USUAL, &e))
		return true;
	child_step("at %s of %s%s", point->name, job_id == NULL ? "the day" : job_id, p->reloads ? ", reloaded" : "");
	if (id != KEEL_POINT_job_submit) /* a draft does not outlive the owner of its class */
		reload(p);
	if (job_id != NULL)
		about(&e, point, job_id, job);
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return false;
	verdict = keel_mock_raise(s->mock, id, &e, o);
	for (int n = 0; n < TURNS_MAX && verdict == KEEL_WAIT && !o->told; n++)
		hold_end(s);
	answer_write(p, point, job_id == NULL ? "the day" : job_id, verdict, o);
	accepted = o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE;
	if (verdict != KEEL_WAIT || o->told)
		free(o); /* else it is filled when the play ends */
	return accepted;
}

static void show(struct play *p, const char *klass, struct keel_obj *o, const char *id)
{
	const struct keel_attr_def *a;
	const char *text;

	for (unsigned i = 0; o != NULL && (a = stage_attr(p->stage.of, i)) != NULL; i++)
		if (strcmp(a->klass, klass) == 0 && (text = keel_mock_text(o, a->name, NULL)) != NULL)
			keel_text_printf(&p->values, "%s of %s: %.200s\n", a->name, id, text);
}

static struct keel_obj *job_find(struct play *p, const char *id)
{
	const struct keel_object_api *object = keel_mock_group(p->stage.mock, "object");

	return object->find(keel_mock_self(p->stage.mock), "job", id);
}

static void value_set(struct play *p, const char *id, const char *attr, const char *text)
{
	const struct keel_object_api *object = keel_mock_group(p->stage.mock, "object");

	if (object->attr(keel_mock_self(p->stage.mock), "job", attr) != NULL)
		(void)keel_mock_set(job_find(p, id), attr, NULL, text);
}

/* From its submission on, as far as day `day` lets it come. */
static void job_lives(struct play *p, int day)
{
	const struct keel_object_api *object = keel_mock_group(p->stage.mock, "object");
	struct keel_obj *job;
	char id[16], state[2] = "Q";

	snprintf(id, sizeof(id), "%d.svr", 10 + day);
	child_step("before job %s", id);
	reload(p);
	job = keel_mock_draft(p->stage.mock, "job", id);
	if (!step(p, KEEL_POINT_job_submit, id, job)) {
		keel_mock_destroy(job);
		return;
	}
	object->publish(job);
	for (size_t i = 0; i < KEEL_COUNT(life) * (size_t)(day + 1) / JOBS; i++) {
		if (life[i].state != 0) {
			state[0] = life[i].state;
			value_set(p, id, "job_state", state);
			value_set(p, id, "substate", life[i].substate);
			step(p, KEEL_POINT_job_step, id, job_find(p, id));
		}
		step(p, life[i].point, id, job_find(p, id));
		show(p, "job", job_find(p, id), id);
	}
}

static void day_shows(struct play *p)
{
	static const char *const klasses[] = { "server", "queue", "node", "sched" };

	reload(p);
	for (size_t k = 0; k < KEEL_COUNT(klasses); k++)
		for (int c = 0; c < N_CASTS; c++)
			show(p, klasses[k], stage_object(&p->stage, klasses[k], (enum cast)c), stage_id(klasses[k], (enum cast)c));
	for (int c = 0; c < N_CASTS; c++)
		show(p, "job", stage_object(&p->stage, "job", (enum cast)c), stage_id("job", (enum cast)c));
}

/* ---- a play ------------------------------------------------------------------------------------------ */
static void play(struct play *p, const struct subject *of, bool reloads)
{
	p->reloads = true;
	p->is_busy = false;
	keel_text_init(&p->answers);
	keel_text_init(&p->values);
	calls_begin(&p->stage, of);
	reload(p); /* it has seen the values that objects were given */
	p->reloads = reloads;
	for (int day = 0; p->stage.mod != NULL && day < JOBS; day++) {
		job_lives(p, day);
		for (size_t i = 0; i < KEEL_COUNT(others); i++)
			step(p, others[i], NULL, NULL);
		day_shows(p);
	}
	child_step("being unloaded after some days");
	stage_close(&p->stage, "some days");
}

static void play_forget(struct play *p)
{
	keel_text_fini(&p->answers);
	keel_text_fini(&p->values);
}

/* The first line of each that differs. */
static void compare(enum rule rule, const char *plain, const char *reloaded)
{
	while (*plain != '\0') {
		size_t len = strcspn(plain, "\n") + 1;

		if (strncmp(plain, reloaded, len) != 0)
			break;
		plain += len;
		reloaded += len;
	}
	if (*plain != *reloaded || *plain != '\0')
		finding(rule, "without a reload: %.*s; with one: %.*s", (int)strcspn(plain, "\n"), plain,
			(int)strcspn(reloaded, "\n"), reloaded);
}

static void judge_plays(const struct play *first, const struct play *again, const struct play *reloaded)
{
	if (reloaded->is_busy)
		skip_group("replay", "it says that it is busy: %s", reloaded->stage.err.text);
	else if (strcmp(first->answers.data, again->answers.data) != 0)
		skip_group("replay", "it does not answer twice the same");
	else
		compare(RULE_replay_answers, first->answers.data, reloaded->answers.data);
	if (rule_broken(RULE_replay_answers))
		skip(RULE_replay_attributes, "what it answers differs already");
	else if (strcmp(first->values.data, again->values.data) != 0)
		skip(RULE_replay_attributes, "it does not show twice the same");
	else if (!reloaded->is_busy)
		compare(RULE_replay_attributes, first->values.data, reloaded->values.data);
}

static bool plays_compare(void *arg, unsigned i)
{
	struct play first, again, reloaded;

	(void)i;
	play(&first, arg, false);
	play(&again, arg, false);
	play(&reloaded, arg, true);
	judge_plays(&first, &again, &reloaded);
	play_forget(&first);
	play_forget(&again);
	play_forget(&reloaded);
	return false;
}

static bool owns_jobs(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_class_def *c = m->contribs[i].def;

		if (strcmp(m->contribs[i].kind, "CLASS") == 0 && strcmp(c->name, "job") == 0)
			return true;
	}
	return false;
}

void check_replay(const struct subject *s)
{
	struct subject with = *s;

	with.optional = true;
	if (owns_jobs(s->m)) {
		skip_group("replay", "it is the one that tells what becomes of jobs");
		return;
	}
	if (s->m->flags & KEEL_MOD_RESIDENT) {
		skip_group("replay", "it says that it cannot be unloaded");
		return;
	}
	look_from_to(RULE_replay_attributes, RULE_replay_answers);
	child_cases(plays_compare, &with, RULE_replay_answers, RULE_replay_answers);
}
