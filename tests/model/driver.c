/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c - a run: a site is set up, random deeds with faults among them, then calm. In the calm every
 * question gets its answer, hosts and server agree about what runs, and when all jobs are deleted
 * nothing is left of them.
 */
#include <string.h>

#include "model.h"
#include "msg/msg.h"
#include "pbs_ifl.h"

#define BETWEEN_MS 4000          /* from one deed to the next, on average */
#define ANSWER_MS (20 * 60000)   /* a reply that takes longer is an error */
#define CALM_MS (30 * 60000)
#define EMPTY_MS (2 * 3600000)

/* ---- the site --------------------------------------------------------------------------------------- */

void queue_make(struct sim *s, const char *name, const char *priority)
{
	ask_manage(s, MGR_CMD_CREATE, MGR_OBJ_QUEUE, name, NULL, NULL, NULL, SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, name, "queue_type", NULL, "Execution", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, name, "Priority", NULL, priority, SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, name, "enabled", NULL, "True", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, name, "started", NULL, "True", SET);
}

static void route_make(struct sim *s)
{
	ask_manage(s, MGR_CMD_CREATE, MGR_OBJ_QUEUE, "route", NULL, NULL, NULL, SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, "route", "queue_type", NULL, "Route", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, "route", "route_destinations", NULL, "low,workq", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, "route", "enabled", NULL, "True", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, "route", "started", NULL, "True", SET);
}

static void resource_make(struct sim *s, const char *name, const char *flags)
{
	ask_manage(s, MGR_CMD_CREATE, MGR_OBJ_RSC, name, "type", NULL, "long", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_RSC, name, "flag", NULL, flags, SET);
	check_forget(s);
}

static void node_make(struct sim *s, int64_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "n%lld", (long long)number);
	ask_manage(s, MGR_CMD_CREATE, MGR_OBJ_NODE, name, NULL, NULL, NULL, SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_NODE, name, "resources_available", "tok", "4", SET);
}

static bool arrays_are_there(struct sim *s)
{
	return s->object->attr(&s->owner.pub, "job", "array_indices_submitted") != NULL;
}

static void site_make(struct sim *s)
{
	queue_make(s, "workq", "20");
	queue_make(s, "express", "160");
	queue_make(s, "low", "1");
	route_make(s);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "default_queue", NULL, "workq", SET);
	resource_make(s, "lic", "q");
	resource_make(s, "tok", "nh");
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "resources_available", "lic", "6", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "scheduling", NULL, "True", SET);
	for (int64_t i = 1; i <= s->conf.hosts; i++)
		node_make(s, i);
	s->has_arrays = arrays_are_there(s);
}

/* ---- answers ------------------------------------------------------------------------------------------ */

static void answers_check(struct sim *s)
{
	const struct question *q = s->questions; /* the oldest is first */

	if (q != NULL && s->now_ms - q->asked_ms > ANSWER_MS)
		sim_wrong(s, "'%s' has had no answer for %lld s", q->what,
			  (long long)((s->now_ms - q->asked_ms) / 1000));
}

/* ---- calm ----------------------------------------------------------------------------------------------- */

/* Hosts and server agree: each running job has its one task, each task its job. */
static void task_check(struct sim *s, const struct host *h, const struct task *t)
{
	struct keel_mod *m = &s->owner.pub;
	struct keel_obj *job = s->object->find(m, "job", t->id);
	const struct keel_attr *run = s->object->attr(m, "job", "run_version");

	if (job == NULL)
		sim_wrong(s, "%s has a task of job %s, which is not there", h->name, t->id);
	else if (s->object->get_int(job, run) != t->run)
		sim_wrong(s, "%s has run %lld of job %s, whose run is %lld", h->name, (long long)t->run,
			  t->id, (long long)s->object->get_int(job, run));
	else if (strchr("RE", s->job->state(s->job->self, job)) == NULL)
		sim_wrong(s, "%s has a task of job %s, whose state is %c", h->name, t->id,
			  s->job->state(s->job->self, job));
	else if (task_is_alive(t) && (t->state == 'S') != s->job->is_suspended(s->job->self, job))
		sim_wrong(s, "%s: the task of job %s is %c, the job is %s", h->name, t->id, t->state,
			  s->job->is_suspended(s->job->self, job) ? "suspended" : "not suspended");
}

/* The host of a vnode: "n3" or "n3[1]", which ends at `stops`. */
static struct host *host_of(struct sim *s, const char *vnode, const char *stops)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(vnode, stops), vnode);
	return host_find(s, name);
}

/* A job over several hosts has a part on each, no other host has one, and what the parts have is what the job has. */
static void parts_check(struct sim *s, struct keel_obj *job)
{
	const char *id = s->object->id(job), *exec = s->object->get_str(job, s->object->attr(&s->owner.pub, "job", "exec_vnode"));
	uint32_t groups = 0, shared = 0, n = 0;
	bool lacks = false;

	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next) {
		const struct task *t = task_on(h, id);
		const char *share = t != NULL ? part_share(t) : NULL;

		n += t != NULL;
		lacks |= t != NULL && part_may_lack(t);
		for (const char *at = share; at != NULL && (at = strchr(at, '(')) != NULL; at++) {
			char group[512];

			shared++;
			snprintf(group, sizeof(group), "%.*s", (int)strcspn(at, ")") + 1, at);
			if (exec == NULL || strstr(exec, group) == NULL)
				sim_wrong(s, "%s has %s of job %s, which has %s", h->name, group, id, exec != NULL ? exec : "nothing");
		}
	}
	for (const char *at = exec; at != NULL && (at = strchr(at, '(')) != NULL; at++) {
		const struct host *h = host_of(s, at + 1, "[:+)");

		groups++;
		if (h != NULL && task_on(h, id) == NULL && !lacks)
			sim_wrong(s, "job %s has no part on %s, which is in %s", id, h->name, exec);
	}
	if (n > 1 && shared != groups && !lacks)
		sim_wrong(s, "job %s has %u chunks, its parts have %u", id, groups, shared);
}

static void agreement_check(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next)
		for (const struct task *t = h->tasks; t != NULL; t = t->hh.next)
			task_check(s, h, t);
	while ((job = s->object->next(walk)) != NULL) {
		char letter = s->job->state(s->job->self, job);
		uint32_t n = 0;

		for (const struct host *h = s->hosts; h != NULL; h = h->hh.next)
			n += task_on(h, s->object->id(job)) != NULL;
		if ((letter == 'R' || letter == 'E') ? n == 0 : n != 0)
			sim_wrong(s, "job %s in state %c has %u tasks", s->object->id(job), letter, n);
		if (n > 0)
			parts_check(s, job);
	}
	s->object->cursor_close(walk);
}

/* A job is between two states: too early to compare. */
static bool is_moving(struct sim *s)
{
	if (s->server == NULL || s->questions != NULL)
		return true;
	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next) {
		if (!h->alive || !h->link.up)
			return true;
		for (const struct task *t = h->tasks; t != NULL; t = t->hh.next)
			if (!task_is_alive(t) || t->stop_timer != NULL || part_is_moving(t))
				return true;
	}
	return false;
}

/* Nothing has moved for a while. */
static bool settle(struct sim *s, int64_t until_ms)
{
	int64_t quiet = 0;

	while (s->wrong[0] == '\0' && s->now_ms < until_ms && quiet < 20) {
		sim_run_until(s, s->now_ms + 1000);
		answers_check(s);
		quiet = is_moving(s) ? 0 : quiet + 1;
	}
	return quiet >= 20;
}

static void everything_on(struct sim *s)
{
	static const char *const queues[] = { "workq", "express", "low", "route" };

	for (size_t i = 0; i < KEEL_COUNT(queues); i++)
		ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, queues[i], "started", NULL, "True", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "scheduling", NULL, "False", SET);
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "job_history_enable", NULL, "False", SET);
}

static void jobs_delete(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL) {
		struct keel_out *o = ask_begin("delete");

		out_put_str(o, "id", s->object->id(job));
		out_put_str(o, "extend", "");
		check_ended(s, s->object->id(job));
		ask(s, 0, o, "delete all", NULL, NULL);
	}
	s->object->cursor_close(walk);
}

static bool has_jobs(struct sim *s)
{
	answers_check(s);
	return s->server == NULL || s->object->count(&s->owner.pub, "job") > 0;
}

/* A reservation may make none again once its jobs are gone. */
static bool has_reservations(struct sim *s)
{
	answers_check(s);
	return s->server == NULL || (reserve_loaded(s) && s->object->count(&s->owner.pub, "resv") > 0);
}

static void calm(struct sim *s)
{
	s->calm = true;
	if (s->server == NULL)
		sim_run_until(s, s->now_ms + 60000);
	everything_on(s);
	/* Else tasks end all the time: another seed will be quieter. */
	if (s->wrong[0] == '\0' && settle(s, s->now_ms + CALM_MS))
		agreement_check(s);
	if (s->wrong[0] != '\0')
		return;
	jobs_delete(s);
	if (!sim_run_while(s, has_jobs, s->now_ms + EMPTY_MS) && s->wrong[0] == '\0')
		sim_wrong(s, "%u jobs are left after all were deleted", s->object->count(&s->owner.pub, "job"));
	reserve_calm(s);
	if (!sim_run_while(s, has_reservations, s->now_ms + EMPTY_MS) && s->wrong[0] == '\0')
		sim_wrong(s, "%u reservations are left after all were deleted", s->object->count(&s->owner.pub, "resv"));
	sim_run_until(s, s->now_ms + 60000);
	if (s->wrong[0] == '\0')
		reserve_left(s);
	if (s->wrong[0] != '\0')
		return;
	check_now(s);
	holds_check(s);
	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next)
		if (h->tasks != NULL)
			sim_wrong(s, "all jobs are gone, %s has a task of job %s", h->name, h->tasks->id);
}

/* ---- a run ------------------------------------------------------------------------------------------------ */

int drive(struct sim *s)
{
	const char *todo = s->conf.inject;

	s->calm = true; /* until the site is there */
	site_make(s);
	s->calm = false;
	for (uint64_t i = 0; i < s->conf.steps && s->wrong[0] == '\0'; i++) {
		act(s);
		if (chance_is(&s->resv, s->conf.resv))
			reserve_act(s);
		sim_run_until(s, s->now_ms + chance_wait(&s->driver, BETWEEN_MS));
		answers_check(s);
		if (i >= s->conf.steps / 2 && todo != NULL && inject(s, todo))
			todo = NULL;
	}
	if (s->wrong[0] == '\0')
		calm(s);
	return s->wrong[0] != '\0';
}
