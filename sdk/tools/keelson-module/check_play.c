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
#include "check_host.h"
#include "check_others.h"
#include "keel/service/job.h"

#define USER "nobody" /* known everywhere */
enum { TURNS_MAX = 500, SOON_MS = 2000 };

/* The life of a job: what users, the scheduler and its host do with it. The points of all that are raised by the modules
 * that do it; those of questions that a scheduler asks are raised here. No reload comes between what a daemon does in one turn. */
static const struct moment {
	enum deed { RAISE, SEND, MAY_RUN, RUN, RESUME, END } deed;
	uint32_t point;		/* of RAISE */
	const char *name, *body; /* of SEND: a request about the job */
	bool runs;		/* of a job that runs alone */
} life[] = {
	{ .deed = SEND, .name = "alter", .body = "attrs = ( (\"Priority\", \"\", \"5\", 0) );" },
	{ .deed = SEND, .name = "hold", .body = "holds = \"u\";" },
	{ .deed = SEND, .name = "release", .body = "holds = \"u\";" },
	{ .deed = SEND, .name = "move", .body = "dest = \"emptyq\";" },
	{ .deed = SEND, .name = "move", .body = "dest = \"workq\";" },
	{ .deed = RAISE, .point = KEEL_POINT_start_job },
	{ .deed = RAISE, .point = KEEL_POINT_start_group },
	{ .deed = RAISE, .point = KEEL_POINT_job_rank },
	{ .deed = RAISE, .point = KEEL_POINT_node_eligible },
	{ .deed = RAISE, .point = KEEL_POINT_node_score },
	{ .deed = RAISE, .point = KEEL_POINT_job_explain },
	{ .deed = RAISE, .point = KEEL_POINT_job_reason },
	{ .deed = MAY_RUN },
	{ .deed = RUN },
	{ .deed = SEND, .name = "signal", .body = "signal = \"USR1\";", .runs = true },
	{ .deed = SEND, .name = "signal", .body = "signal = \"suspend\";", .runs = true },
	{ .deed = RESUME, .runs = true },
	{ .deed = RAISE, .point = KEEL_POINT_acct_record },
	{ .deed = END, .runs = true },
};
/* What happens beside: once a day. */
static const uint32_t others[] = {
	KEEL_POINT_client_auth, KEEL_POINT_request_receive, KEEL_POINT_management, KEEL_POINT_node_modify,
	KEEL_POINT_resource_delete, KEEL_POINT_cycle_begin, KEEL_POINT_cycle_end, KEEL_POINT_task_begin,
	KEEL_POINT_task_launch, KEEL_POINT_task_resume, KEEL_POINT_task_preterm,
};

/* The daemon ends and begins again, for the module under test. */
static void reload(struct play *p)
{
	struct stage *s = &p->stage;

	if (!p->reloads || s->mod == NULL)
		return;
	keel_mock_advance(s->mock, 0);
	s->mod = keel_mock_restart(s->mod, &s->err);
	if (s->mod == NULL)
		finding(RULE_replay_answers, "it cannot be loaded again, %s: %s", child_last_step(), s->err.text);
}

/* ---- steps ------------------------------------------------------------------------------------------- */
/* How something ends that may take its time: freed when it has ended, else it stays, for it is filled later. */
struct answer {
	struct keel_mock_reply reply;	  /* of a request */
	struct keel_mock_outcome outcome; /* of a point */
	bool done;			  /* of a service */
	int32_t code;
	char text[256];
};

static bool is_there(const struct answer *a)
{
	return a->reply.told || a->outcome.told || a->done;
}

static void on_done(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	struct answer *a = arg;

	(void)me;
	a->done = true;
	a->code = code;
	snprintf(a->text, sizeof(a->text), "%s", text != NULL ? text : "");
}

/* Returns whether it was accepted. */
static bool answer_write(struct play *p, struct answer *a, const char *what, const char *id)
{
	const struct keel_mock_outcome *o = &a->outcome;
	bool accepted = a->done ? a->code == 0 : a->reply.told ? a->reply.code == 0 :
			o->told && (o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE);

	keel_text_printf(&p->answers, "%s of %s: ", what, id);
	if (!is_there(a)) {
		keel_text_str(&p->answers, "waits\n");
		return false;
	}
	if (a->done)
		keel_text_printf(&p->answers, "code %d, '%s'\n", (int)a->code, a->text);
	else if (a->reply.told)
		keel_text_printf(&p->answers, "code %d, '%s'\n", (int)a->reply.code, a->reply.text);
	else
		keel_text_printf(&p->answers, "verdict %d, code %d, sum %lld, '%s'\n", (int)o->verdict, (int)o->code,
				 (long long)o->sum, o->text);
	free(a);
	return accepted;
}

static void others_end(struct play *p);

/* How far the job of a day comes; before the days of the second week those that run are over. */
enum { PARTS = 5, WEEK = 5 };
static const size_t parts_of[PLAY_DAYS] = { 1, 2, 3, 4, 5, 5, 3 };

static void step_name(const struct play *p, const char *what, const char *job_id)
{
	child_step("at %s of %s%s", what, job_id, p->reloads ? ", reloaded" : "");
}

/* What the hold waits for happens; or jobs end, and every event that the module listens to is raised; or time passes until
 * the operation has ended. A reload would cancel it: there is none meanwhile. */
static void hold_wait(struct play *p, const char *what, const char *job_id, const struct answer *a)
{
	struct stage *s = &p->stage;
	const bool reloads = p->reloads;
	int tried = 0;

	p->reloads = false;
	for (int n = 0; n < TURNS_MAX && !is_there(a); n++) {
		if (keel_mock_hold_until(s->mock, 0) != NULL)
			keel_mock_release(s->mock, 0);
		else switch (tried++) {
		case 0: others_end(p); break;
		case 1: others_raise(s, job_id); break;
		case 2: step_name(p, what, job_id), others_judge(s); break;
		default: (void)keel_mock_next(s->mock); break;
		}
		keel_mock_advance(s->mock, 0);
	}
	p->reloads = reloads;
	step_name(p, what, job_id);
}

/* What was begun ends, now or when what it waits for has happened. Returns whether it was accepted. */
static bool step_end(struct play *p, struct answer *a, const char *what, const char *id)
{
	if (!is_there(a) && keel_mock_holds(p->stage.mock) > 0) {
		keel_text_printf(&p->answers, "%s of %s: it takes a hold\n", what, id);
		hold_wait(p, what, id, a);
	}
	keel_mock_advance(p->stage.mock, SOON_MS);
	return answer_write(p, a, what, id);
}

/* Returns false when a tap refuses. */
static bool step_raise(struct play *p, const struct point *point, const char *job_id, struct keel_obj *job)
{
	struct stage *s = &p->stage;
	const char *id = job_id == NULL ? "the day" : job_id;
	struct answer *a;
	struct event e;

	if (point == NULL || s->mod == NULL || (point->daemon & s->of->m->roles) == 0 ||
	    !event_make(s, point, USUAL, &e) || (a = calloc(1, sizeof(*a))) == NULL)
		return true;
	step_name(p, point->name, id);
	for (uint32_t i = 0; job_id != NULL && i < point->n_fields; i++) { /* the event is about this job */
		char *at = (char *)&e + point->fields[i].offset;

		if (strcmp(point->fields[i].name, "job") == 0)
			memcpy(at, &job, sizeof(job));
		else if (strcmp(point->fields[i].name, "id") == 0)
			memcpy(at, &job_id, sizeof(job_id));
	}
	(void)keel_mock_raise(s->mock, point->id, &e, &a->outcome);
	return step_end(p, a, point->name, id);
}

static bool step_send(struct play *p, const char *name, const char *id, const char *body)
{
	struct answer *a = calloc(1, sizeof(*a));
	char all[512];

	if (a == NULL)
		return false;
	step_name(p, name, id);
	snprintf(all, sizeof(all), "id = \"%s\"; %s", id, body);
	(void)keel_mock_request(p->stage.mock, keel_mock_session(p->stage.mock, USER, KEEL_EVERYBODY), name, all, &a->reply);
	return step_end(p, a, name, id);
}

static const struct keel_job_api *jobs(struct play *p)
{
	return keel_mock_group(p->stage.mock, "job");
}

/* What a scheduler does with a job. */
static bool step_act(struct play *p, enum deed deed, const char *id, struct keel_obj *job)
{
	static const char *const names[] = { [MAY_RUN] = "the question whether it may run", [RUN] = "the start", [RESUME] = "resuming" };
	struct keel_mod *me = keel_mock_self(p->stage.mock);
	const struct keel_job_api *api = jobs(p);
	struct answer *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return false;
	step_name(p, names[deed], id);
	if (deed == MAY_RUN)
		api->may_run(api->self, job, "Scheduler", me, on_done, a);
	else if (deed == RUN)
		api->run(api->self, job, "(mockhost:ncpus=1)", "Scheduler", me, on_done, a);
	else
		api->resume(api->self, job, "resume", "Scheduler", me, on_done, a);
	return step_end(p, a, names[deed], id);
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

/* The moments `from` to `to` that a job has; those of a job that does not run are fewer. */
static void moments_play(struct play *p, int day, size_t from, size_t to)
{
	const char *id = p->id[day];

	for (size_t i = from; i < to && job_find(p, id) != NULL; i++) {
		const struct moment *m = &life[i];
		const bool written = m->deed != MAY_RUN || p->dry == ASKED;
		const size_t before = p->answers.len;

		if (m->deed == MAY_RUN && p->dry == NOT_ASKED)
			keel_mock_advance(p->stage.mock, SOON_MS); /* the question takes as long */
		if ((m->runs && !p->runs[day]) || (m->deed == MAY_RUN && p->dry == NOT_ASKED))
			continue;
		step_name(p, m->name != NULL ? m->name : "a moment", id);
		reload(p);
		if (p->stage.mod == NULL)
			return;
		switch (m->deed) {
		case RAISE: step_raise(p, point_find(m->point), id, job_find(p, id)); break;
		case SEND: step_send(p, m->name, id, m->body); break;
		case END: host_ends(job_find(p, id)); keel_mock_advance(p->stage.mock, SOON_MS); break;
		case RUN: p->runs[day] = step_act(p, RUN, id, job_find(p, id)); break;
		default: step_act(p, m->deed, id, job_find(p, id)); break;
		}
		if (!written)
			p->answers.data[p->answers.len = before] = '\0';
		else
			play_show(p, "job", job_find(p, id), id);
	}
}

/* The jobs that run end: what they had is free. */
static void others_end(struct play *p)
{
	for (int day = 0; day < PLAY_DAYS; day++) {
		struct keel_obj *job = p->runs[day] ? job_find(p, p->id[day]) : NULL;

		if (job != NULL)
			host_ends(job);
		p->runs[day] = false;
		keel_mock_advance(p->stage.mock, 0);
	}
}

/* From its submission on, as far as day `day` lets it come. */
static void job_lives(struct play *p, int day)
{
	struct answer *a = calloc(1, sizeof(*a));
	char attrs[1024], id[64] = "";

	child_step("before the job of day %d", day);
	reload(p);
	if (day >= WEEK)
		others_end(p);
	if (a == NULL || p->stage.mod == NULL || jobs(p) == NULL)
		return;
	step_name(p, "submit", "the day");
	stage_said(&p->stage, "job", attrs, sizeof(attrs));
	(void)keel_mock_request(p->stage.mock, keel_mock_session(p->stage.mock, USER, KEEL_EVERYBODY), "submit", attrs, &a->reply);
	keel_mock_advance(p->stage.mock, SOON_MS);
	if (!is_there(a))
		hold_wait(p, "submit", "the day", a);
	if (a->reply.told && a->reply.json != NULL)
		(void)sscanf(a->reply.json, "{\"id\": \"%63[^\"]", id);
	if (!answer_write(p, a, "submit", "the day") || id[0] == '\0')
		return;
	snprintf(p->id[day], sizeof(p->id[day]), "%s", id);
	play_show(p, "job", job_find(p, id), id);
	moments_play(p, day, 0, KEEL_COUNT(life) * parts_of[day] / PARTS);
	if (parts_of[day] == PARTS)
		p->runs[day] = false;
}

/* Every object that stays; those with the largest values only if `all`: they take the longest. */
static void play_cluster(struct play *p, bool all)
{
	static const char *const klasses[] = { "server", "queue", "node", "sched", "resv" };

	const int n = all ? N_CASTS : CAST_FULL;

	reload(p);
	for (size_t k = 0; k < KEEL_COUNT(klasses); k++)
		for (int c = 0; c < n; c++)
			play_show(p, klasses[k], stage_object(&p->stage, klasses[k], (enum cast)c), stage_id(klasses[k], (enum cast)c));
	for (int c = 0; c < n; c++)
		play_show(p, "job", stage_object(&p->stage, "job", (enum cast)c), stage_id("job", (enum cast)c));
}

/* ---- a play ------------------------------------------------------------------------------------------ */
void play_days(struct play *p, const struct subject *of, enum play_dry dry, bool reloads)
{
	*p = (struct play){ .dry = dry, .reloads = true };
	keel_text_init(&p->answers);
	keel_text_init(&p->values);
	calls_begin(&p->stage, of);
	stage_points_see(&p->stage);
	reload(p); /* it has seen the values that objects were given */
	p->reloads = reloads;
	for (int day = 0; p->stage.mod != NULL && day < PLAY_DAYS; day++) {
		job_lives(p, day);
		for (size_t i = 0; i < KEEL_COUNT(others); i++) { /* each in a turn of its own */
			const struct point *point = point_find(others[i]);

			if (point == NULL || p->stage.mod == NULL)
				continue;
			step_name(p, point->name, "the day");
			reload(p);
			step_raise(p, point, NULL, NULL);
		}
		play_cluster(p, day == PLAY_DAYS - 1);
	}
	child_step("being unloaded after some days");
	stage_close(&p->stage, "some days");
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
