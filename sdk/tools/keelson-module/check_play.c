/* SPDX-License-Identifier: Apache-2.0
 *
 * check_play.c - some days of a small cluster, played and written down as lines.
 */
#include "check_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_calls.h"
#include "check_child.h"
#include "check_events.h"
#include "check_others.h"
#include "check_points.h"

enum { TURNS_MAX = 500, FIRST_JOB = 10 };

/* The life of a job as the daemon plays it: each moment is a point that is raised, job_step where the job has another
 * state from then on. What a daemon does in one turn no reload or crash comes between. */
enum {
	SAME_TURN = 1, /* as the moment before */
	STARTED = 2,   /* of a job that may start alone */
	PLACED = 4,    /* it has all its vnodes */
	DRY = 8,       /* a question whether it may start; nothing starts */
	ENDS = 16,     /* of a job that is over */
};
static const struct moment {
	uint32_t point;
	char state;
	const char *substate;
	unsigned is;
} life[] = {
	{ KEEL_POINT_job_step, 'Q', "10", SAME_TURN },
	{ KEEL_POINT_job_queued, 0, NULL, SAME_TURN },
	{ KEEL_POINT_job_modify, 0, NULL, 0 },
	{ KEEL_POINT_job_hold, 0, NULL, 0 },
	{ KEEL_POINT_job_release, 0, NULL, 0 },
	{ KEEL_POINT_job_move, 0, NULL, 0 },
	{ KEEL_POINT_job_eligible, 0, NULL, 0 },
	{ KEEL_POINT_group_eligible, 0, NULL, 0 },
	{ KEEL_POINT_job_rank, 0, NULL, 0 },
	{ KEEL_POINT_node_eligible, 0, NULL, 0 },
	{ KEEL_POINT_node_score, 0, NULL, 0 },
	{ KEEL_POINT_job_explain, 0, NULL, 0 },
	{ KEEL_POINT_job_reason, 0, NULL, 0 },
	{ KEEL_POINT_job_run, 0, NULL, DRY },
	{ KEEL_POINT_job_run, 0, NULL, 0 },
	{ KEEL_POINT_job_placed, 0, NULL, STARTED | SAME_TURN },
	{ KEEL_POINT_job_step, 'R', "41", STARTED | SAME_TURN | PLACED },
	{ KEEL_POINT_job_step, 'R', "42", STARTED | PLACED },
	{ KEEL_POINT_job_started, 0, NULL, STARTED | SAME_TURN },
	{ KEEL_POINT_job_signal, 0, NULL, STARTED },
	{ KEEL_POINT_suspend_release, 0, NULL, STARTED },
	{ KEEL_POINT_job_step, 'S', "43", STARTED },
	{ KEEL_POINT_job_suspended, 0, NULL, STARTED | SAME_TURN },
	{ KEEL_POINT_job_resume, 0, NULL, STARTED },
	{ KEEL_POINT_job_placed, 0, NULL, STARTED | SAME_TURN },
	{ KEEL_POINT_job_resumed, 0, NULL, STARTED },
	{ KEEL_POINT_job_step, 'R', "42", STARTED | SAME_TURN | PLACED },
	{ KEEL_POINT_acct_record, 0, NULL, 0 },
	{ KEEL_POINT_job_delete, 0, NULL, 0 },
	{ KEEL_POINT_job_step, 'E', "51", ENDS | STARTED | PLACED },
	{ KEEL_POINT_job_obit, 0, NULL, ENDS | STARTED | SAME_TURN },
	{ KEEL_POINT_job_step, 'E', "53", ENDS | STARTED | SAME_TURN },
	{ KEEL_POINT_job_purged, 0, NULL, ENDS | SAME_TURN },
	{ KEEL_POINT_job_step, 'F', "92", ENDS | SAME_TURN },
};
/* What happens beside: once a day. */
static const uint32_t others[] = {
	KEEL_POINT_client_auth, KEEL_POINT_request_receive, KEEL_POINT_management, KEEL_POINT_node_modify,
	KEEL_POINT_resource_delete, KEEL_POINT_cycle_begin, KEEL_POINT_cycle_end, KEEL_POINT_task_begin,
	KEEL_POINT_task_launch, KEEL_POINT_task_resume, KEEL_POINT_task_preterm,
};

/* A module that is busy is not unloaded: then the daemon ends and begins again. */
static void reload(struct play *p)
{
	struct stage *s = &p->stage;

	if (!p->reloads || s->mod == NULL)
		return;
	stage_unload(s);
	if (s->mod != NULL)
		s->mod = keel_mock_restart(s->mod, &s->err);
	else
		(void)stage_load(s);
	if (s->mod == NULL)
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

/* The event is about this job instead, at this moment. */
static void about(struct event *e, const struct point *point, const char *id, struct keel_obj *job, char letter, unsigned is)
{
	const int64_t state = letter == 'S' ? 'R' : letter; /* what is suspended runs */
	const int64_t dry = (is & DRY) != 0, placed = (is & PLACED) != 0;
	const struct {
		const char *name;
		const void *word;
	} known[] = { { "job", &job }, { "id", &id }, { "state", &state }, { "dry", &dry }, { "placed", &placed } };

	for (uint32_t i = 0; i < point->n_fields; i++)
		for (size_t k = 0; k < KEEL_COUNT(known); k++)
			if (strcmp(point->fields[i].name, known[k].name) == 0)
				memcpy((char *)e + point->fields[i].offset, known[k].word, sizeof(int64_t));
}

static void others_end(struct play *p);

/* How far the job of a day comes; before the days of the second week those that run are over. */
enum { PARTS = 5, WEEK = 5 };
static const size_t parts_of[PLAY_DAYS] = { 1, 2, 3, 4, 5, 5, 3 };

static void step_name(const struct play *p, const struct point *point, const char *job_id)
{
	child_step("at %s of %s%s", point->name, job_id == NULL ? "the day" : job_id, p->reloads ? ", reloaded" : "");
}

/* What the hold waits for happens; or jobs end, and every event that the module listens to is raised; or time passes until
 * the operation has ended. A reload would cancel it: there is none meanwhile. */
static void hold_wait(struct play *p, const struct point *point, const char *job_id, const struct keel_mock_outcome *o)
{
	struct stage *s = &p->stage;
	const bool reloads = p->reloads;
	int tried = 0;

	p->reloads = false;
	for (int n = 0; n < TURNS_MAX && !o->told; n++) {
		if (keel_mock_hold_until(s->mock, 0) != NULL)
			keel_mock_release(s->mock, 0);
		else switch (tried++) {
		case 0: others_end(p); break;
		case 1: others_raise(s, job_id); break;
		case 2: step_name(p, point, job_id), others_judge(s); break;
		default: (void)keel_mock_next(s->mock); break;
		}
		keel_mock_advance(s->mock, 0);
	}
	p->reloads = reloads;
	step_name(p, point, job_id);
}

/* Returns false when a tap refuses. */
static bool step_at(struct play *p, const struct point *point, const char *job_id, struct keel_obj *job, unsigned is)
{
	struct stage *s = &p->stage;
	struct keel_mock_outcome *o;
	struct event e;
	keel_verdict verdict;
	bool accepted;

	if (point == NULL || s->mod == NULL || (point->daemon & s->of->m->roles) == 0 ||
	    !event_make(s, point, USUAL, &e))
		return true;
	step_name(p, point, job_id);
	if (job_id != NULL)
		about(&e, point, job_id, job, p->letter, is);
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return false;
	verdict = keel_mock_raise(s->mock, stage_point_id(s, point), &e, o);
	if (verdict == KEEL_WAIT && (!(is & DRY) || p->dry == ASKED))
		keel_text_printf(&p->answers, "%s of %s: it takes a hold\n", point->name, job_id == NULL ? "the day" : job_id);
	if (verdict == KEEL_WAIT)
		hold_wait(p, point, job_id, o);
	if (!(is & DRY) || p->dry == ASKED)
		answer_write(p, point, job_id == NULL ? "the day" : job_id, verdict, o);
	accepted = o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE;
	if (verdict != KEEL_WAIT || o->told)
		free(o); /* else it is filled when the play ends */
	return accepted;
}

/* In a turn of its own. */
static void step_alone(struct play *p, const struct point *point)
{
	if (point == NULL || p->stage.mod == NULL)
		return;
	step_name(p, point, NULL);
	reload(p);
	step_at(p, point, NULL, NULL, 0);
}

/* At the points that modules publish. */
static void published(struct play *p)
{
	const struct point *point;

	for (unsigned i = 0; (point = stage_point(i)) != NULL; i++)
		if (is_published(point) && stage_point_id(&p->stage, point) != 0)
			step_alone(p, point);
}

static void play_show(struct play *p, const char *klass, struct keel_obj *o, const char *id)
{
	const struct keel_attr_def *a;
	const char *text;

	for (unsigned i = 0; o != NULL && (a = stage_attr(p->stage.of, i)) != NULL; i++)
		if (strcmp(a->klass, klass) == 0 && stage_has(&p->stage, a) && (text = keel_mock_text(o, a->name, NULL)) != NULL)
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

/* Returns false when a tap refuses. */
static bool moment_play(struct play *p, const char *id, const struct moment *m)
{
	const struct point *point = point_find(m->point);
	const char state[2] = { m->state, '\0' };
	bool accepted;

	if (!(m->is & SAME_TURN)) {
		step_name(p, point, id);
		reload(p);
	}
	if (m->state != 0) {
		p->letter = m->state;
		value_set(p, id, "job_state", state);
		value_set(p, id, "substate", m->substate);
	}
	accepted = step_at(p, point, id, job_find(p, id), m->is);
	if (!(m->is & DRY) || p->dry == ASKED)
		play_show(p, "job", job_find(p, id), id);
	return accepted;
}

static void job_name(int day, char id[16])
{
	snprintf(id, 16, "%d.svr", FIRST_JOB + day);
}

/* The moments `from` to `to` that a job has, a job that may not start some of them. */
static void moments_play(struct play *p, int day, size_t from, size_t to)
{
	char id[16];

	job_name(day, id);
	for (size_t i = from; i < to; i++) {
		bool accepted;

		if (((life[i].is & STARTED) && !p->runs[day]) || ((life[i].is & DRY) && p->dry == NOT_ASKED))
			continue;
		accepted = moment_play(p, id, &life[i]);
		if (life[i].point == KEEL_POINT_job_run && !(life[i].is & DRY))
			p->runs[day] = accepted;
	}
}

/* Jobs that run are over: what they had is free. */
static void others_end(struct play *p)
{
	for (int day = 0; day < PLAY_DAYS; day++)
		if (p->runs[day]) {
			for (size_t i = 0; i < KEEL_COUNT(life); i++)
				if (life[i].is & ENDS)
					moments_play(p, day, i, i + 1);
			p->runs[day] = false;
		}
}

/* From its submission on, as far as day `day` lets it come. */
static void job_lives(struct play *p, int day)
{
	const struct keel_object_api *object = keel_mock_group(p->stage.mock, "object");
	struct keel_obj *job;
	char id[16];

	job_name(day, id);
	child_step("before job %s", id);
	reload(p);
	if (day >= WEEK)
		others_end(p);
	job = keel_mock_draft(p->stage.mock, "job", id);
	stage_said(&p->stage, "job", job);
	p->letter = 'Q';
	if (!step_at(p, point_find(KEEL_POINT_job_submit), id, job, 0)) {
		keel_mock_destroy(job);
		return;
	}
	object->publish(job);
	moments_play(p, day, 0, KEEL_COUNT(life) * parts_of[day] / PARTS);
	if (parts_of[day] == PARTS)
		p->runs[day] = false;
}

/* Every object that stays; those with the largest values only if `all`: they take the longest. */
static void play_cluster(struct play *p, bool all)
{
	static const char *const klasses[] = { "server", "queue", "node", "sched" };

	const int n = all ? N_CASTS : CAST_FULL;

	reload(p);
	for (size_t k = 0; k < KEEL_COUNT(klasses); k++)
		for (int c = 0; c < n; c++)
			play_show(p, klasses[k], stage_object(&p->stage, klasses[k], (enum cast)c), stage_id(klasses[k], (enum cast)c));
	for (int c = 0; c < n; c++)
		play_show(p, "job", stage_object(&p->stage, "job", (enum cast)c), stage_id("job", (enum cast)c));
}

/* ---- a play ------------------------------------------------------------------------------------------ */
void play_begin(struct play *p, const struct subject *of)
{
	*p = (struct play){ .reloads = true };
	keel_text_init(&p->answers);
	keel_text_init(&p->values);
	calls_begin(&p->stage, of);
	stage_points_see(&p->stage);
	reload(p); /* it has seen the values that objects were given */
	p->reloads = false;
}

void play_days(struct play *p)
{
	for (int day = 0; p->stage.mod != NULL && day < PLAY_DAYS; day++) {
		job_lives(p, day);
		for (size_t i = 0; i < KEEL_COUNT(others); i++)
			step_alone(p, point_find(others[i]));
		published(p);
		play_cluster(p, day == PLAY_DAYS - 1);
	}
}

void play_forget(struct play *p)
{
	keel_text_fini(&p->answers);
	keel_text_fini(&p->values);
}

bool play_compare(enum rule rule, const char *as, const struct keel_text *one, const char *or_so,
		  const struct keel_text *other)
{
	const char *a = one->data, *b = other->data;

	while (*a != '\0') {
		size_t len = strcspn(a, "\n") + 1;

		if (strncmp(a, b, len) != 0)
			break;
		a += len;
		b += len;
	}
	if (*a == '\0' && *b == '\0')
		return true;
	finding(rule, "%s: %.*s; %s: %.*s", as, (int)strcspn(a, "\n"), a, or_so, (int)strcspn(b, "\n"), b);
	return false;
}
