/* SPDX-License-Identifier: Apache-2.0
 *
 * actions.c - what users, operators and managers do: a table of deeds, each through the request that a
 * command sends. Most of them are refused now and then; that is part of it.
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "msg/msg.h"
#include "pbs_ifl.h"

#define ROOT 0u
#define LARGE 50 /* hosts of a large site */
#define JOBS_MANY 60 /* from here on fewer are submitted */
#define PICK(s, list) (list)[chance_below(&(s)->driver, KEEL_COUNT(list))]

static uint32_t some_user(struct sim *s)
{
	return 1 + (uint32_t)chance_below(&s->driver, USERS - 1);
}

/* The owner may do it, or a manager. */
static uint32_t user_or_root(struct sim *s)
{
	return chance_is(&s->driver, 0.7) ? ROOT : some_user(s);
}

/* ---- jobs to act upon ------------------------------------------------------------------------------ */

/* The id of one of the jobs that `fits`, each alike; false: there is none. */
static bool some_job(struct sim *s, bool (*fits)(struct sim *, struct keel_obj *), char id[static 300])
{
	struct keel_cursor *walk;
	struct keel_obj *job;
	uint64_t seen = 0;

	if (s->server == NULL)
		return false;
	walk = s->object->cursor(&s->owner.pub, "job");
	while ((job = s->object->next(walk)) != NULL)
		if ((fits == NULL || fits(s, job)) && chance_below(&s->driver, ++seen) == 0)
			snprintf(id, 300, "%s", s->object->id(job));
	s->object->cursor_close(walk);
	return seen > 0;
}

static bool is_running(struct sim *s, struct keel_obj *job)
{
	return s->job->state(s->job->self, job) == 'R' && !s->job->is_suspended(s->job->self, job);
}

static bool is_suspended(struct sim *s, struct keel_obj *job)
{
	return s->job->state(s->job->self, job) == 'R' && s->job->is_suspended(s->job->self, job);
}

static bool is_waiting(struct sim *s, struct keel_obj *job)
{
	return strchr("QHW", s->job->state(s->job->self, job)) != NULL;
}

static bool is_held(struct sim *s, struct keel_obj *job)
{
	return s->job->state(s->job->self, job) == 'H';
}

static bool is_admin_suspended(struct sim *s, struct keel_obj *job)
{
	const struct keel_attr *mark = s->object->attr(&s->owner.pub, "job", "admin_suspended");

	return mark != NULL && s->object->is_set(job, mark);
}

/* Mostly one for which the deed has a meaning, now and then any. */
static bool target(struct sim *s, bool (*fits)(struct sim *, struct keel_obj *), char id[static 300])
{
	return some_job(s, chance_is(&s->driver, 0.1) ? NULL : fits, id);
}

static char *about_job(struct sim *s, char what[static 96], const char *verb, const char *id)
{
	(void)s;
	snprintf(what, 96, "%.20s %.60s", verb, id);
	return what;
}

/* ---- submit ------------------------------------------------------------------------------------------ */

static void submitted(struct sim *s, void *arg, int32_t code, const struct keel_msg *m)
{
	const char *id = code == 0 && m != NULL ? msg_api.str(m, "id") : NULL;

	(void)arg;
	if (id != NULL)
		check_acknowledged(s, id);
	else if (code == 0)
		sim_wrong(s, "a submission was accepted without an id");
}

static void select_put(struct sim *s, struct keel_out *o)
{
	static const char *const selects[] = {
		"1:ncpus=1", "1:ncpus=1", "1:ncpus=1", "1:ncpus=2", "1:ncpus=4", "2:ncpus=1", "2:ncpus=2",
		"1:ncpus=1:mem=1gb", "1:ncpus=2:mem=6gb", "3:ncpus=1:mem=512mb", "1:ncpus=1:tok=1",
		"2:ncpus=1:tok=2", "1:ncpus=2:host=n1", "1:ncpus=64", "4:ncpus=4", "1:ncpus=1+1:ncpus=2:mem=1gb",
	};
	static const char *const places[] = { "free", "pack", "scatter", "excl", "scatter:excl", "vscatter",
					      "pack:shared", "free:shared", "exclhost" };

	char many[64];

	/* On a large site from one host to all of them. */
	snprintf(many, sizeof(many), "%lld:ncpus=%d", (long long)chance_between(&s->driver, 1, 1 + chance_between(&s->driver, 0, s->conf.hosts - 1)),
		 chance_is(&s->driver, 0.5) ? 1 : 2);
	ask_attr(o, "Resource_List", "select", s->conf.hosts >= LARGE && chance_is(&s->driver, 0.5) ? many : PICK(s, selects), SET);
	if (s->conf.hosts >= LARGE && chance_is(&s->driver, 0.8))
		ask_attr(o, "Resource_List", "place", "scatter", SET);
	else if (chance_is(&s->driver, 0.3))
		ask_attr(o, "Resource_List", "place", PICK(s, places), SET);
	if (chance_is(&s->driver, 0.15))
		ask_attr(o, "Resource_List", "lic", chance_is(&s->driver, 0.7) ? "1" : "3", SET);
	if (chance_is(&s->driver, 0.6)) {
		static const char *const times[] = { "60", "00:05:00", "01:00:00", "10", "24:00:00" };

		ask_attr(o, "Resource_List", "walltime", PICK(s, times), SET);
	}
}

static void options_put(struct sim *s, struct keel_out *o)
{
	char text[320], id[300];

	if (chance_is(&s->driver, 0.2)) {
		snprintf(text, sizeof(text), "%lld", (long long)chance_between(&s->driver, -100, 100));
		ask_attr(o, "Priority", NULL, text, SET);
	}
	if (chance_is(&s->driver, 0.15))
		ask_attr(o, "Rerunable", NULL, "n", SET);
	if (s->server != NULL && s->object->attr(&s->owner.pub, "job", "tolerate_node_failures") != NULL && chance_is(&s->driver, 0.15)) {
		static const char *const values[] = { "none", "job_start", "all" };

		ask_attr(o, "tolerate_node_failures", NULL, PICK(s, values), SET);
	}
	if (chance_is(&s->driver, 0.1))
		ask_attr(o, "Hold_Types", NULL, "u", SET);
	if (chance_is(&s->driver, 0.1)) {
		snprintf(text, sizeof(text), "%lld",
			 (long long)(sim_time(s) + chance_between(&s->driver, 1, 300)));
		ask_attr(o, "Execution_Time", NULL, text, SET);
	}
	if (chance_is(&s->driver, 0.06) && some_job(s, NULL, id)) {
		static const char *const kinds[] = { "after", "afterok", "afternotok", "afterany",
						     "before", "beforeany" };

		snprintf(text, sizeof(text), "%s:%s", PICK(s, kinds), id);
		ask_attr(o, "depend", NULL, text, SET);
	}
	if (chance_is(&s->driver, 0.08) && s->has_arrays) {
		static const char *const ranges[] = { "1-3", "0-9:3", "1-20", "1-5%2", "5-6" };

		ask_attr(o, "array_indices_submitted", NULL, PICK(s, ranges), SET);
	}
}

static void job_submit(struct sim *s)
{
	static const char *const queues[] = { "", "", "", "workq", "express", "express", "low", "route" };
	struct keel_out *o;

	if (s->server != NULL && s->object->count(&s->owner.pub, "job") > JOBS_MANY &&
	    !chance_is(&s->driver, 0.1))
		return;
	o = ask_begin("submit");
	ask_attrs(o);
	select_put(s, o);
	options_put(s, o);
	msg_api.close(o);
	out_put_str(o, "dest", PICK(s, queues));
	if (chance_is(&s->driver, 0.8))
		msg_api.put_bytes(o, "script", "sleep\n", 6);
	ask(s, some_user(s), o, "submit", submitted, NULL);
}

/* ---- what is done to jobs ----------------------------------------------------------------------------- */

static void deleted(struct sim *s, void *arg, int32_t code, const struct keel_msg *m)
{
	char *id = arg;

	(void)m;
	check_deletion(s, id, -1);
	if (code == 0 || code == -1) /* it may have been done although the answer is lost */
		check_ended(s, id);
	free(id);
}

static void delete_ask(struct sim *s, const char *id, const char *extend)
{
	struct keel_out *o = ask_begin("delete");
	char what[96];

	out_put_str(o, "id", id);
	if (extend != NULL)
		out_put_str(o, "extend", extend);
	check_deletion(s, id, 1);
	ask(s, user_or_root(s), o, about_job(s, what, "delete", id), deleted, strdup(id));
}

static void job_delete(struct sim *s)
{
	char id[300];

	if (some_job(s, NULL, id))
		delete_ask(s, id, chance_is(&s->driver, 0.05) ? "force" : NULL);
}

static void jobs_delete(struct sim *s)
{
	char id[300];

	for (int i = 0; i < 5; i++)
		if (some_job(s, NULL, id))
			delete_ask(s, id, NULL);
}

static void word_ask(struct sim *s, const char *request, const char *key, const char *value,
		     bool (*fits)(struct sim *, struct keel_obj *))
{
	struct keel_out *o;
	char id[300], what[96], verb[64];

	if (!target(s, fits, id))
		return;
	o = ask_begin(request);
	out_put_str(o, "id", id);
	if (key != NULL)
		out_put_str(o, key, value);
	snprintf(verb, sizeof(verb), "%s %s", request, value != NULL ? value : "");
	ask(s, user_or_root(s), o, about_job(s, what, verb, id), NULL, NULL);
}

static void job_hold(struct sim *s)
{
	static const char *const letters[] = { "u", "u", "o", "s", "uo" };

	word_ask(s, "hold", "holds", PICK(s, letters), NULL);
}

static void job_release(struct sim *s)
{
	static const char *const letters[] = { "u", "uos", "o", "s", "uo" };

	word_ask(s, "release", "holds", PICK(s, letters), is_held);
}

static void job_rerun(struct sim *s) { word_ask(s, "rerun", NULL, NULL, is_running); }
static void job_suspend(struct sim *s) { word_ask(s, "signal", "signal", "suspend", is_running); }
static void job_resume(struct sim *s) { word_ask(s, "signal", "signal", "resume", is_suspended); }
static void job_stop(struct sim *s) { word_ask(s, "signal", "signal", "admin-suspend", is_running); }
static void job_go(struct sim *s)
{
	word_ask(s, "signal", "signal", "admin-resume", is_admin_suspended);
}

static void job_signal(struct sim *s)
{
	static const char *const names[] = { "SIGUSR1", "SIGTERM", "KILL", "NOSUCH", "0" };

	word_ask(s, "signal", "signal", PICK(s, names), NULL);
}

static void job_run(struct sim *s) { word_ask(s, "run", "location", "", is_waiting); }

static void job_move(struct sim *s)
{
	static const char *const queues[] = { "workq", "express", "low", "route", "nowhere" };

	word_ask(s, "move", "destination", PICK(s, queues), is_waiting);
}

/* Vnodes of a job over several hosts, by name, all, or by what is to stay. */
static void job_shrink(struct sim *s)
{
	static const char *const stays[] = { "select=1", "select=1:ncpus=1", "select=2:ncpus=1", "select=1:mem=1gb" };
	struct keel_out *o;
	char id[300], what[96], names[64];

	if (!target(s, is_running, id))
		return;
	o = ask_begin("release_nodes");
	out_put_str(o, "id", id);
	snprintf(names, sizeof(names), "n%lld+n%lld[%lld]", (long long)chance_between(&s->driver, 1, s->conf.hosts),
		 (long long)chance_between(&s->driver, 1, s->conf.hosts), (long long)chance_between(&s->driver, 0, 3));
	if (chance_is(&s->driver, 0.3))
		names[0] = '\0';
	else if (chance_is(&s->driver, 0.5))
		*strchr(names, '+') = '\0';
	out_put_str(o, "vnodes", names);
	if (chance_is(&s->driver, 0.3))
		out_put_str(o, "keep", PICK(s, stays));
	ask(s, user_or_root(s), o, about_job(s, what, "shrink", id), NULL, NULL);
}

static void job_order(struct sim *s)
{
	struct keel_out *o;
	char a[300], b[300], what[96];

	if (!some_job(s, is_waiting, a) || !some_job(s, is_waiting, b))
		return;
	o = ask_begin("order");
	out_put_str(o, "id", a);
	out_put_str(o, "id2", b);
	out_put_str(o, "with", b);
	ask(s, ROOT, o, about_job(s, what, "order", a), NULL, NULL);
}

static void job_alter(struct sim *s)
{
	static const struct {
		const char *name, *resource, *value;
	} changes[] = {
		{ "Priority", NULL, "500" },		{ "Priority", NULL, "-5" },
		{ "Job_Name", NULL, "other" },		{ "Resource_List", "walltime", "00:20:00" },
		{ "Resource_List", "select", "1:ncpus=3" }, { "Resource_List", "lic", "2" },
		{ "Rerunable", NULL, "y" },		{ "Account_Name", NULL, "a" },
	};
	uint64_t i = chance_below(&s->driver, KEEL_COUNT(changes));
	struct keel_out *o;
	char id[300], what[96];

	if (!some_job(s, NULL, id))
		return;
	o = ask_begin("alter");
	out_put_str(o, "id", id);
	ask_attrs(o);
	ask_attr(o, changes[i].name, changes[i].resource, changes[i].value, SET);
	msg_api.close(o);
	ask(s, user_or_root(s), o, about_job(s, what, "alter", id), NULL, NULL);
}

static void status_ask(struct sim *s)
{
	static const char *const classes[] = { "job", "queue", "server", "node", "sched", "resource" };
	struct keel_out *o = ask_begin("status");

	out_put_str(o, "class", PICK(s, classes));
	out_put_str(o, "id", "");
	ask(s, some_user(s), o, "status", NULL, NULL);
}

/* ---- managers ------------------------------------------------------------------------------------------ */

static void qmgr_ask(struct sim *s, int cmd, int obj, const char *name, const char *attr,
		     const char *resource, const char *value, int op)
{
	struct keel_out *o = ask_begin("manage");
	char what[96];

	out_put_int(o, "cmd", cmd);
	out_put_int(o, "obj", obj);
	out_put_str(o, "name", name);
	ask_attrs(o);
	ask_attr(o, attr, resource, value, op);
	msg_api.close(o);
	snprintf(what, sizeof(what), "qmgr %d %s %s %s", cmd, name, attr, value != NULL ? value : "");
	ask(s, ROOT, o, what, NULL, NULL);
}

static void node_offline(struct sim *s)
{
	char name[32];

	snprintf(name, sizeof(name), "n%lld", (long long)chance_between(&s->driver, 1, s->conf.hosts));
	qmgr_ask(s, MGR_CMD_SET, MGR_OBJ_NODE, name, "state", NULL, "offline",
		 chance_is(&s->driver, 0.35) ? INCR : DECR);
}

static void queue_switch(struct sim *s)
{
	static const char *const queues[] = { "workq", "express", "low" };

	qmgr_ask(s, MGR_CMD_SET, MGR_OBJ_QUEUE, PICK(s, queues),
		 chance_is(&s->driver, 0.5) ? "started" : "enabled", NULL,
		 chance_is(&s->driver, 0.75) ? "True" : "False", SET);
}

static void scheduling_switch(struct sim *s)
{
	qmgr_ask(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "scheduling", NULL,
		 chance_is(&s->driver, 0.8) ? "True" : "False", SET);
}

/* Attributes that change how things are done; NULL: unset. Those of features that are not there are
 * refused. */
static void policy_set(struct sim *s)
{
	static const struct {
		int obj;
		const char *name, *attr, *resource, *values[8];
	} rows[] = {
		{ MGR_OBJ_SERVER, "", "restrict_res_to_release_on_suspend", NULL,
		  { "ncpus", "ncpus,mem", "mem", "lic", "ncpus,lic,tok", "tok" } },
		{ MGR_OBJ_SERVER, "", "restrict_res_to_release_on_suspend", NULL, { NULL } },
		{ MGR_OBJ_SCHED, "default", "preempt_order", NULL,
		  { "SCR", "S", "R", "D", "SD", "RD", "\"SCR 80 SC 50 S\"", "CD" } },
		{ MGR_OBJ_SCHED, "default", "preempt_order", NULL,
		  { "S", "SRD", "SCR", "R", "D", "SR", "DS", "RS" } },
		{ MGR_OBJ_SCHED, "default", "preempt_prio", NULL,
		  { "\"express_queue, normal_jobs\"", "\"normal_jobs\"",
		    "\"express_queue, starving_jobs, normal_jobs\"" } },
		{ MGR_OBJ_SCHED, "default", "preempt_sort", NULL, { "min_time_since_start" } },
		{ MGR_OBJ_SERVER, "", "max_run", NULL, { "[u:PBS_GENERIC=5]", "[o:PBS_ALL=12]" } },
		{ MGR_OBJ_SERVER, "", "max_run", NULL, { NULL } },
		{ MGR_OBJ_QUEUE, "workq", "max_run_res", "ncpus", { "[u:PBS_GENERIC=4]" } },
		{ MGR_OBJ_QUEUE, "workq", "max_run_res", "ncpus", { NULL } },
		{ MGR_OBJ_QUEUE, "low", "Priority", NULL, { "1", "200", "50" } },
		{ MGR_OBJ_SERVER, "", "job_history_enable", NULL, { "True", "False" } },
		{ MGR_OBJ_SERVER, "", "node_fail_requeue", NULL, { "310", "20", "0", "-1" } },
		{ MGR_OBJ_SERVER, "", "backfill_depth", NULL, { "0", "1", "5" } },
		{ MGR_OBJ_SERVER, "", "eligible_time_enable", NULL, { "True", "False" } },
		{ MGR_OBJ_SERVER, "", "job_sort_formula", NULL, { "\"ncpus\"", "\"Priority * 2\"" } },
		{ MGR_OBJ_SERVER, "", "job_sort_formula", NULL, { NULL } },
	};
	uint64_t i = chance_below(&s->driver, KEEL_COUNT(rows)), n = 0, k;
	char text[128];
	const char *value;

	while (n < KEEL_COUNT(rows[i].values) && rows[i].values[n] != NULL)
		n++;
	k = chance_below(&s->driver, n);
	value = n == 0 ? NULL : rows[i].values[k];
	if (value != NULL && value[0] == '"') { /* quotes are for people who read the table */
		snprintf(text, sizeof(text), "%.*s", (int)strlen(value) - 2, value + 1);
		value = text;
	}
	qmgr_ask(s, value == NULL ? MGR_CMD_UNSET : MGR_CMD_SET, rows[i].obj, rows[i].name, rows[i].attr,
		 rows[i].resource, value, SET);
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static const struct {
	uint32_t weight;
	void (*fn)(struct sim *s);
} deeds[] = {
	{ 40, job_submit },   { 8, job_delete },   { 2, jobs_delete },	 { 5, job_hold },
	{ 6, job_release },   { 4, job_rerun },	   { 6, job_suspend },	 { 8, job_resume },
	{ 4, job_stop },      { 6, job_go },	   { 2, job_signal },	 { 4, job_run },
	{ 3, job_move },      { 2, job_order },	   { 4, job_alter },	 { 2, status_ask },
	{ 4, node_offline },  { 3, queue_switch }, { 2, scheduling_switch }, { 5, policy_set },
	{ 6, job_shrink },
};

void act(struct sim *s)
{
	uint64_t sum = 0, at;

	for (size_t i = 0; i < KEEL_COUNT(deeds); i++)
		sum += deeds[i].weight;
	at = chance_below(&s->driver, sum);
	for (size_t i = 0; i < KEEL_COUNT(deeds); i++) {
		if (at < deeds[i].weight) {
			deeds[i].fn(s);
			return;
		}
		at -= deeds[i].weight;
	}
}
