/* SPDX-License-Identifier: Apache-2.0
 *
 * figures.c - what the server costs at scale: seconds of the processor that its turns take, hosts and disk
 * being simulated. What hosts take to obey is virtual time and not part of a figure.
 */
#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "keel/service/sched.h"
#include "model.h"
#include "msg/msg.h"
#include "pbs_ifl.h"
#include "registry/registry.h"

#define LONG_MS (6 * 3600000) /* virtual */

struct figure {
	const char *name;
	int64_t hosts, vnodes, ncpus;
	void (*run)(struct sim *s);
};

/* ---- common ----------------------------------------------------------------------------------------- */

static void say(const char *name, double value, const char *unit)
{
	printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", name, value, unit);
}

static double seconds_since(const struct sim *s, int64_t began_ns)
{
	return (double)(s->server_ns - began_ns) / 1e9;
}

static void server_set(struct sim *s, const char *attr, const char *resource, const char *value)
{
	if (ask_manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", attr, resource, value, SET) != 0)
		sim_wrong(s, "server %s cannot be %s", attr, value);
}

static bool vnodes_are_missing(struct sim *s)
{
	int64_t per_host = s->conf.vnodes > 1 ? s->conf.vnodes + 1 : 1; /* and the host's own one */

	return s->object->count(&s->owner.pub, "node") < s->conf.hosts * per_host ||
	       s->questions != NULL;
}

static void site_make(struct sim *s)
{
	queue_make(s, "workq", "20");
	queue_make(s, "express", "200");
	server_set(s, "default_queue", NULL, "workq");
	server_set(s, "scheduling", NULL, "False");
	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next)
		ask_manage(s, MGR_CMD_CREATE, MGR_OBJ_NODE, h->name, NULL, NULL, NULL, SET);
	if (!sim_run_while(s, vnodes_are_missing, LONG_MS))
		sim_wrong(s, "only %u vnodes are there", s->object->count(&s->owner.pub, "node"));
}

static void submit(struct sim *s, uint32_t user, const char *queue, const char *select, const char *walltime,
		   const char *priority)
{
	struct keel_out *o = ask_begin("submit");

	ask_attrs(o);
	ask_attr(o, "Resource_List", "select", select, SET);
	if (walltime != NULL)
		ask_attr(o, "Resource_List", "walltime", walltime, SET);
	if (priority != NULL)
		ask_attr(o, "Priority", NULL, priority, SET);
	ask_attr(o, "executable", NULL, "/bin/true", SET);
	msg_api.close(o);
	out_put_str(o, "dest", queue);
	ask(s, user, o, "submit", NULL, NULL);
}

static bool questions_are_open(struct sim *s)
{
	return s->questions != NULL;
}

static void answers(struct sim *s)
{
	if (!sim_run_while(s, questions_are_open, s->now_ms + LONG_MS))
		sim_wrong(s, "questions have no answers");
}

static uint32_t wanted; /* how many tasks are waited for */

static bool too_few_run(struct sim *s)
{
	return s->n_running != wanted;
}

static void wait_running(struct sim *s, uint32_t n)
{
	wanted = n;
	if (!sim_run_while(s, too_few_run, s->now_ms + LONG_MS) && s->wrong[0] == '\0')
		sim_wrong(s, "%u tasks run, not %u", s->n_running, n);
}

/* ---- cycle_100k --------------------------------------------------------------------------------------- */

static struct {
	int64_t began_ns, took_ns;
	uint32_t cycles;
} cycle;

static keel_verdict cycle_began(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	(void)call, (void)point, (void)event, (void)arg;
	cycle.began_ns = sim_cpu_ns();
	return KEEL_NEXT;
}

static keel_verdict cycle_ended(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_cycle_end *ev = event;

	(void)call, (void)point, (void)arg;
	if (ev->started > 0) {
		cycle.took_ns = sim_cpu_ns() - cycle.began_ns;
		cycle.cycles++;
	}
	return KEEL_NEXT;
}

static void many_submit(struct sim *s, uint32_t n)
{
	static const char *const times[] = { "00:10:00", "01:00:00", "12:00:00" };
	char select[64], priority[16];

	for (uint32_t i = 0; i < n && s->wrong[0] == '\0'; i++) {
		snprintf(select, sizeof(select), "1:ncpus=1:mem=%umb", 100 * (1 + i % 20));
		snprintf(priority, sizeof(priority), "%u", i % 100);
		submit(s, 1 + i % (USERS - 1), i % 7 == 0 ? "express" : "workq", select, times[i % 3],
		       priority);
		if (i % 100 == 99)
			answers(s);
	}
	answers(s);
}

/* 1,000 blocks of ten vnodes each, all over the site, one after the other from half an hour on. */
static void block_many(struct sim *s)
{
	struct keel_err err;
	const struct keel_sched_api *sched = registry_service(s->parts->registry, "sched", 0, NULL, &err);
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "node");
	int64_t now = sim_time(s);
	const struct keel_obj *node = NULL;
	char id[32], exec[2048];

	for (uint32_t i = 0; i < 1000 && sched && walk; i++) {
		struct keel_sched_block b = { .size = sizeof(b), .id = id, .exec_vnode = exec,
					      .from = now + 1800 + 60 * i, .till = now + 1800 + 60 * i + 3600 };
		size_t at = 0;

		for (uint32_t k = 0; k < 10 && (node = s->object->next(walk)); k++)
			at += (size_t)snprintf(exec + at, sizeof(exec) - at, "%s(%s:ncpus=1)", k ? "+" : "",
					       s->object->id(node));
		snprintf(id, sizeof(id), "R%u", i);
		if (sched->block(sched->self, &b, &err) != 0)
			sim_wrong(s, "no block: %s", err.text);
	}
	if (walk)
		s->object->cursor_close(walk);
}

/* 9,000 of 10,000 one-cpu vnodes are taken, then 100,000 jobs in many groups are looked at. */
static void cycle_of_many(struct sim *s, const char *name, bool blocks)
{
	char stall[64];
	uint32_t jobs = getenv("JOBS_100K") != NULL ? (uint32_t)atoi(getenv("JOBS_100K")) : 100000;
	struct keel_err err;

	ask_manage(s, MGR_CMD_SET, MGR_OBJ_QUEUE, "express", "Priority", NULL, "100", SET); /* no preemption */
	submit(s, 1, "workq", "9000:ncpus=1", NULL, NULL);
	answers(s);
	server_set(s, "scheduling", NULL, "True");
	wait_running(s, 1);
	server_set(s, "scheduling", NULL, "False");
	many_submit(s, jobs);
	if (blocks)
		block_many(s);
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_cycle_begin, "begin", 0, cycle_began, s, &err);
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_cycle_end, "end", 0, cycle_ended, s, &err);
	s->stall_ns = 0;
	server_set(s, "scheduling", NULL, "True");
	wait_running(s, 1001);
	snprintf(stall, sizeof(stall), "%s_stall", name);
	say(name, (double)cycle.took_ns / 1e9, "s");
	say(stall, (double)s->stall_ns / 1e6, "ms");
	if (cycle.cycles != 1)
		fprintf(stderr, "keelson sim: it took %u cycles\n", cycle.cycles);
}

static void run_cycle_100k(struct sim *s)
{
	cycle_of_many(s, "cycle_100k", false);
}

static void run_cycle_100k_resv(struct sim *s)
{
	cycle_of_many(s, "cycle_100k_resv", true);
}

/* ---- node_eligible_tap -------------------------------------------------------------------------------- */

static keel_verdict lets_all(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	(void)call, (void)point, (void)event, (void)arg;
	return KEEL_NEXT;
}

/* 3,000 equal jobs, 500 vnodes of one cpu. */
static void cycle_of_equals(struct sim *s, const char *name)
{
	struct keel_err err;

	for (uint32_t i = 0; i < 3000 && s->wrong[0] == '\0'; i++) {
		submit(s, 1, "workq", "1:ncpus=1:mem=100mb", "01:00:00", NULL);
		if (i % 100 == 99)
			answers(s);
	}
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_cycle_begin, "begin", 0, cycle_began, s, &err);
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_cycle_end, "end", 0, cycle_ended, s, &err);
	server_set(s, "scheduling", NULL, "True");
	wait_running(s, 500);
	say(name, (double)cycle.took_ns / 1e6, "ms");
}

static void run_node_eligible_none(struct sim *s)
{
	cycle_of_equals(s, "node_eligible_none");
}

static void run_node_eligible_tap(struct sim *s)
{
	struct keel_err err;

	s->hook->tap_add(&s->owner.pub, KEEL_POINT_node_eligible, "eligible", 0, lets_all, s, &err);
	cycle_of_equals(s, "node_eligible_tap");
}

/* ---- delete_preempt_1000 ------------------------------------------------------------------------------ */

static int64_t decided_ns;

static keel_verdict decision(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	struct sim *s = arg;

	(void)call, (void)point, (void)event;
	if (decided_ns == 0)
		decided_ns = s->server_ns;
	return KEEL_NEXT;
}

static void run_delete_preempt_1000(struct sim *s)
{
	struct keel_err err;

	server_set(s, "scheduling", NULL, "True");
	ask_manage(s, MGR_CMD_SET, MGR_OBJ_SCHED, "default", "preempt_order", NULL, "D", SET);
	for (int i = 0; i < 1000; i++)
		submit(s, 1 + (uint32_t)i % (USERS - 1), "workq", "1:ncpus=1", NULL, NULL);
	answers(s);
	wait_running(s, 1000);
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_preempt_victims, "decision", -1000, decision, s, &err);
	s->stall_ns = 0;
	submit(s, 1, "express", "1000:ncpus=1", NULL, NULL);
	wait_running(s, 1);
	say("delete_preempt_1000", seconds_since(s, decided_ns), "s");
	say("delete_preempt_1000_stall", (double)s->stall_ns / 1e6, "ms");
}

/* ---- suspend_resume_1000 -------------------------------------------------------------------------------- */

static void signal_all(struct sim *s, const char *name)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL) {
		struct keel_out *o = ask_begin("signal");

		out_put_str(o, "id", s->object->id(job));
		out_put_str(o, "signal", name);
		ask(s, 0, o, name, NULL, NULL);
	}
	s->object->cursor_close(walk);
	answers(s);
}

static void run_suspend_resume_1000(struct sim *s)
{
	int64_t began_ns;

	server_set(s, "scheduling", NULL, "True");
	server_set(s, "restrict_res_to_release_on_suspend", NULL, "ncpus,mem");
	for (int i = 0; i < 1000; i++)
		submit(s, 1 + (uint32_t)i % (USERS - 1), "workq", "1:ncpus=1:mem=100mb", NULL, NULL);
	answers(s);
	wait_running(s, 1000);
	check_now(s);
	s->stall_ns = 0;
	began_ns = s->server_ns;
	signal_all(s, "suspend");
	wait_running(s, 0);
	check_now(s);
	signal_all(s, "resume");
	wait_running(s, 1000);
	say("suspend_resume_1000", seconds_since(s, began_ns), "s");
	say("suspend_resume_1000_stall", (double)s->stall_ns / 1e6, "ms");
	check_now(s);
}

/* ---- one job over 10,000 vnodes --------------------------------------------------------------------------- */

static bool job_is_there(struct sim *s)
{
	return s->object->count(&s->owner.pub, "job") != 0;
}

static void delete_all(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL) {
		struct keel_out *o = ask_begin("delete");

		out_put_str(o, "id", s->object->id(job));
		ask(s, 0, o, "delete", NULL, NULL);
	}
	s->object->cursor_close(walk);
}

/* Its start and its end, where a cycle has been before. */
static void run_job_10k_vnodes(struct sim *s)
{
	server_set(s, "scheduling", NULL, "True");
	submit(s, 1, "workq", "1:ncpus=1", NULL, NULL);
	wait_running(s, 1);
	delete_all(s);
	sim_run_while(s, job_is_there, s->now_ms + LONG_MS);
	s->stall_ns = 0;
	submit(s, 1, "workq", "10000:ncpus=1", NULL, NULL);
	wait_running(s, 1);
	delete_all(s);
	if (!sim_run_while(s, job_is_there, s->now_ms + LONG_MS))
		sim_wrong(s, "the job does not end");
	say("job_10k_vnodes_stall", (double)s->stall_ns / 1e6, "ms");
}

/* ---- a start over 100 hosts -------------------------------------------------------------------------------- */

/* Twice, because the first one touches memory anew. */
static void run_start_100_hosts(struct sim *s)
{
	int64_t began_ns;

	server_set(s, "scheduling", NULL, "True");
	for (int i = 0; i < 2; i++) {
		began_ns = s->server_ns;
		submit(s, 1, "workq", "100:ncpus=1", NULL, NULL);
		wait_running(s, 1);
		if (i)
			say("start_100_hosts", (double)(s->server_ns - began_ns) / 1e6, "ms");
		delete_all(s);
		if (!sim_run_while(s, job_is_there, s->now_ms + LONG_MS))
			sim_wrong(s, "the job does not end");
	}
}

/* ---- victims_10k_stall ------------------------------------------------------------------------------------------ */

static bool was_refused; /* no victim gives way for it */

static keel_verdict found_nobody(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	(void)call, (void)point, (void)event, (void)arg;
	was_refused = true;
	return KEEL_NEXT;
}

static bool nobody_was_found(struct sim *s)
{
	(void)s;
	return !was_refused;
}

/* One job of 10,000 that run is too urgent to give way: with all others gone it is still one too few. Then half of
 * them are enough. */
static void run_victims_10k(struct sim *s)
{
	struct keel_err err;

	server_set(s, "scheduling", NULL, "True");
	submit(s, 1, "express", "1:ncpus=1", NULL, NULL);
	for (int i = 1; i < 10000; i++) {
		submit(s, 1 + (uint32_t)i % (USERS - 1), "workq", "1:ncpus=1", NULL, NULL);
		if (i % 100 == 99)
			answers(s);
	}
	answers(s);
	wait_running(s, 10000);
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_preempt_victims, "nobody", 1000, found_nobody, s, &err);
	s->stall_ns = 0;
	submit(s, 1, "express", "10000:ncpus=1", NULL, NULL);
	if (!sim_run_while(s, nobody_was_found, s->now_ms + LONG_MS))
		sim_wrong(s, "the search has no end");
	say("victims_10k_stall", (double)s->stall_ns / 1e6, "ms");
	s->stall_ns = 0;
	submit(s, 1, "express", "5000:ncpus=1", NULL, NULL);
	wait_running(s, 5001);
	say("victims_10k_5000_stall", (double)s->stall_ns / 1e6, "ms");
}

/* ---- resv_confirm, maintenance_5k --------------------------------------------------------------------- */

#define AN_HOUR 3600
static uint32_t confirmed; /* reservations */

static keel_verdict counts_confirmed(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	(void)call, (void)point, (void)event, (void)arg;
	confirmed++;
	return KEEL_NEXT;
}

static uint32_t in_conflict;

static keel_verdict counts_conflicts(struct keel_call *call, uint32_t point, const void *event, void *arg)
{
	(void)call, (void)point, (void)event, (void)arg;
	in_conflict++;
	return KEEL_NEXT;
}

static bool too_few_confirmed(struct sim *s)
{
	(void)s;
	return confirmed != wanted;
}

static void wait_confirmed(struct sim *s, uint32_t n)
{
	wanted = n;
	if (!sim_run_while(s, too_few_confirmed, s->now_ms + LONG_MS) && s->wrong[0] == '\0')
		sim_wrong(s, "%u reservations are confirmed, not %u", confirmed, n);
}

/* For an hour from `from` on; by the manager, as a window when `extend` says so. */
static void reserve(struct sim *s, const char *select, const char *place, int64_t from, const char *extend)
{
	struct keel_out *o = ask_begin("resv_submit");
	char when[32], text[300] = "";

	ask_attrs(o);
	ask_attr(o, "Resource_List", "select", select, SET);
	ask_attr(o, "Resource_List", "place", place, SET);
	snprintf(when, sizeof(when), "%lld", (long long)from);
	ask_attr(o, "reserve_start", NULL, when, SET);
	snprintf(when, sizeof(when), "%d", AN_HOUR);
	ask_attr(o, "reserve_duration", NULL, when, SET);
	msg_api.close(o);
	if (!extend) {
		ask(s, 1, o, "resv_submit", NULL, NULL);
		return;
	}
	out_put_str(o, "extend", extend);
	if (ask_wait(s, 0, o, "resv_submit", text, sizeof(text)) != 0)
		sim_wrong(s, "no window: %s", text);
}

/* So many, one after the other in time; all are confirmed. */
static void reserve_many(struct sim *s, uint32_t n, const char *select, int64_t apart)
{
	struct keel_err err;

	confirmed = 0;
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_resv_confirm, "confirmed", 0, counts_confirmed, s, &err);
	for (uint32_t i = 0; i < n && s->wrong[0] == '\0'; i++)
		reserve(s, select, "scatter", sim_time(s) + AN_HOUR + apart * i, NULL);
	answers(s);
	server_set(s, "scheduling", NULL, "True");
	wait_confirmed(s, n);
	s->stall_ns = 0;
}

static void say_both(struct sim *s, const char *name, int64_t began_ns)
{
	char stall[64];

	snprintf(stall, sizeof(stall), "%s_stall", name);
	say(name, seconds_since(s, began_ns) * 1e3, "ms");
	say(stall, (double)s->stall_ns / 1e6, "ms");
}

/* Over 100 vnodes each on a host of its own would be as many links: it is vnodes that are scattered. */
static void run_resv_confirm(struct sim *s)
{
	int64_t began_ns;

	reserve_many(s, 1000, "10:ncpus=1", 60);
	began_ns = s->server_ns;
	reserve(s, "100:ncpus=1", "scatter", sim_time(s) + 3 * AN_HOUR, NULL);
	wait_confirmed(s, 1001);
	answers(s);
	say_both(s, "resv_confirm", began_ns);
}

/* 500 reservations of ten hosts each have all hosts in that hour. */
static void run_maintenance_5k(struct sim *s)
{
	char *select = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&select, &len);
	struct keel_err err;
	int64_t began_ns;

	for (const struct host *h = s->hosts; h != NULL && text; h = h->hh.next)
		fprintf(text, "%shost=%s:ncpus=1", h == s->hosts ? "" : "+", h->name);
	if (!text || fclose(text) != 0)
		return;
	server_set(s, "acl_roots", NULL, "root");
	s->hook->tap_add(&s->owner.pub, KEEL_POINT_resv_conflict, "conflicts", 0, counts_conflicts, s, &err);
	reserve_many(s, 500, "10:ncpus=1", 0);
	server_set(s, "scheduling", NULL, "False");
	s->stall_ns = 0;
	began_ns = s->server_ns;
	reserve(s, select, "exclhost", sim_time(s) + AN_HOUR, "m");
	answers(s);
	wait_confirmed(s, 501);
	if (in_conflict != 500)
		sim_wrong(s, "%u reservations are in conflict, not 500", in_conflict);
	say_both(s, "maintenance_5k", began_ns);
	free(select);
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static const struct figure figures[] = {
	{ "cycle_100k", 100, 100, 1, run_cycle_100k },
	{ "cycle_100k_resv", 100, 100, 1, run_cycle_100k_resv },
	{ "node_eligible_none", 10, 50, 1, run_node_eligible_none },
	{ "node_eligible_tap", 10, 50, 1, run_node_eligible_tap },
	{ "delete_preempt_1000", 10, 100, 1, run_delete_preempt_1000 },
	{ "suspend_resume_1000", 10, 10, 10, run_suspend_resume_1000 },
	{ "job_10k_vnodes_stall", 100, 100, 1, run_job_10k_vnodes },
	{ "start_100_hosts", 100, 1, 1, run_start_100_hosts },
	{ "victims_10k_stall", 100, 100, 1, run_victims_10k },
	{ "resv_confirm", 1000, 10, 1, run_resv_confirm },
	{ "maintenance_5k", 5000, 1, 1, run_maintenance_5k },
};

const struct figure *figure_find(const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(figures); i++)
		if (strcmp(figures[i].name, name) == 0)
			return &figures[i];
	return NULL;
}

void figure_conf(const struct figure *f, struct sim_conf *conf)
{
	conf->hosts = f->hosts;
	conf->vnodes = f->vnodes;
	conf->ncpus = f->ncpus;
	conf->job_ms = 0;
	conf->faults = (struct faults){ 0 };
	conf->real_clock = true;
}

int figure_run(struct sim *s, const struct figure *f)
{
	s->calm = true;
	s->after_turn = NULL; /* the figure makes the checks itself */
	site_make(s);
	if (s->wrong[0] == '\0')
		f->run(s);
	return s->wrong[0] != '\0';
}
