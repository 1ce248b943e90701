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
#include "check_points.h"

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

/* A module may be busy; then it is the daemon that ends and begins again. */
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
/* That a tap failed and was passed over is said by whoever called it, each host in its own words. */
static bool is_hosts(const char *record)
{
	static const char end[] = "; it is skipped";
	size_t len = strlen(record);

	return len >= sizeof(end) && strcmp(record + len - (sizeof(end) - 1), end) == 0;
}

/* What has been logged since. */
void play_said(struct play *p)
{
	const char *record;

	for (uint32_t i = 0; (record = keel_mock_log(p->stage.mock, i)) != NULL; i++)
		if (!is_hosts(record))
			keel_text_printf(&p->said, "%s: %s\n", child_last_step(), record);
	keel_mock_log_clear(p->stage.mock);
}

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
static bool step_at(struct play *p, const struct point *point, const char *job_id, struct keel_obj *job)
{
	struct stage *s = &p->stage;
	struct keel_mock_outcome *o;
	struct event e;
	keel_verdict verdict;
	bool accepted;

	if (point == NULL || s->mod == NULL || (point->daemon & s->of->m->roles) == 0 ||
	    !event_make(s, point, USUAL, &e))
		return true;
	child_step("at %s of %s%s", point->name, job_id == NULL ? "the day" : job_id, p->reloads ? ", reloaded" : "");
	if (point->id != KEEL_POINT_job_submit) /* a draft does not outlive the owner of its class */
		reload(p);
	if (job_id != NULL)
		about(&e, point, job_id, job);
	o = calloc(1, sizeof(*o));
	if (o == NULL)
		return false;
	verdict = keel_mock_raise(s->mock, stage_point_id(s, point), &e, o);
	for (int n = 0; n < TURNS_MAX && verdict == KEEL_WAIT && !o->told; n++)
		hold_end(s);
	answer_write(p, point, job_id == NULL ? "the day" : job_id, verdict, o);
	play_said(p);
	accepted = o->verdict == KEEL_NEXT || o->verdict == KEEL_DONE;
	if (verdict != KEEL_WAIT || o->told)
		free(o); /* else it is filled when the play ends */
	return accepted;
}

static bool step(struct play *p, uint32_t id, const char *job_id, struct keel_obj *job)
{
	return step_at(p, point_find(id), job_id, job);
}

/* At the points that modules publish. */
static void published(struct play *p)
{
	const struct point *point;

	for (unsigned i = 0; (point = stage_point(i)) != NULL; i++)
		if (is_published(point) && stage_point_id(&p->stage, point) != 0)
			step_at(p, point, NULL, NULL);
}

void play_show(struct play *p, const char *klass, struct keel_obj *o, const char *id)
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
	stage_said(&p->stage, "job", job);
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
		play_show(p, "job", job_find(p, id), id);
	}
}

/* Every object that stays; those with the largest values only if `all`: they take the longest. */
void play_cluster(struct play *p, bool all)
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
	keel_text_init(&p->said);
	calls_begin(&p->stage, of);
	stage_points_see(&p->stage);
	reload(p); /* it has seen the values that objects were given */
	p->reloads = false;
}

void play_days(struct play *p)
{
	for (int day = 0; p->stage.mod != NULL && day < JOBS; day++) {
		job_lives(p, day);
		for (size_t i = 0; i < KEEL_COUNT(others); i++)
			step(p, others[i], NULL, NULL);
		published(p);
		play_cluster(p, day == JOBS - 1);
	}
}

void play_forget(struct play *p)
{
	keel_text_fini(&p->answers);
	keel_text_fini(&p->values);
	keel_text_fini(&p->said);
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
