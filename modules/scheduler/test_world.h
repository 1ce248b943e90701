/* SPDX-License-Identifier: Apache-2.0
 *
 * test_world.h - the scheduler in a mock daemon, with vnodes and jobs of the test's own: ncpus is all they have.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "no_memory.h"
#include "with_resources.h"

#define NOW 1700000000LL /* the mock's first second is 1000 of its own */
#ifndef NODES
#define NODES 4
#endif
#define HOLDER "R1.svr"
#ifndef SLICE
#define SLICE "slice = \"50ms\";" /* all of a cycle in one turn */
#endif

extern const struct keel_module keel_module;
KEEL_USE_OPT(sched);

/* Cpus that jobs have, outside and inside of the one holder there is, and what that holds. */
static struct {
	struct keel_obj *obj;
	char name[16];
	uint32_t jobs_outside, jobs_inside, bits;
	int outside, inside, held;
	bool down, closed_inside, alone_inside;
} node[NODES];
static uint64_t generation, shape;
static struct keel_mod *me; /* the scheduler */
static struct keel_obj *job[32];
static uint32_t n_jobs;
static char ran[32][80]; /* "3 (n1:ncpus=2)" */
static uint32_t n_ran;
static int32_t run_fails;
static bool run_waits; /* the next start does, for run_goes_on() */
static struct {
	struct keel_obj *job;
	char exec_vnode[80];
	struct keel_mod *caller;
	keel_job_done *done;
	void *arg;
} waiting;
static void (*request_run)(struct keel_mod *, struct keel_obj *, const char *, struct keel_mod *, keel_job_done *, void *);

static uint32_t node_index(const struct keel_obj *obj)
{
	return (uint32_t)atoi(keel_id(obj) + 1);
}

/* The mock's own memory does not fail. */
static const char *text_of(struct keel_obj *obj, const char *attr, const char *key)
{
	long left = countdown;
	const char *text;

	countdown = -1;
	text = keel_mock_text(obj, attr, key);
	countdown = left;
	return text;
}

/* ---- service node ---------------------------------------------------------------------------------------- */

static const struct keel_reslist *list_of(struct keel_obj *obj, const char *name)
{
	return keel_get_ptr(obj, keel_attr_find(me ? me : keel_mock_self(mock), "node", name));
}

static void nodes_changed(void)
{
	char text[32];

	for (uint32_t i = 0; i < NODES; i++) {
		int held = node[i].inside > node[i].held ? node[i].inside : node[i].held;

		snprintf(text, sizeof(text), "%d", node[i].outside + held);
		keel_mock_set(node[i].obj, "t_assigned", "ncpus", text);
		snprintf(text, sizeof(text), "%d", node[i].outside + node[i].inside);
		keel_mock_set(node[i].obj, "t_used", "ncpus", text);
		snprintf(text, sizeof(text), "%d", node[i].inside);
		keel_mock_set(node[i].obj, "t_inside", "ncpus", text);
	}
	generation++;
}

static uint32_t node_state(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return node[node_index(obj)].bits;
}

static bool node_unavailable(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return node[node_index(obj)].down;
}

static bool node_closed_inside(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return node[node_index(obj)].closed_inside;
}

static const struct keel_reslist *node_available(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return list_of(obj, "resources_available");
}

static const struct keel_reslist *node_assigned(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return list_of(obj, "t_assigned");
}

static const struct keel_reslist *node_used(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return list_of(obj, "t_used");
}

static const struct keel_reslist *node_used_inside(struct keel_mod *mod, struct keel_obj *obj, const char *holder,
						   uint32_t *ret_jobs, bool *ret_alone)
{
	uint32_t i = node_index(obj);
	bool ours = strcmp(holder, HOLDER) == 0;

	(void)mod;
	*ret_jobs = ours ? node[i].jobs_inside : 0;
	*ret_alone = ours && node[i].alone_inside;
	return ours ? list_of(obj, "t_inside") : NULL;
}

static uint64_t node_generation(struct keel_mod *mod)
{
	(void)mod;
	return generation;
}

static uint64_t node_shape(struct keel_mod *mod)
{
	(void)mod;
	return shape;
}

static void node_changed_since(struct keel_mod *mod, uint64_t since, void (*fn)(void *arg, struct keel_obj *obj), void *arg)
{
	(void)mod;
	for (uint32_t i = 0; since < generation && i < NODES; i++)
		fn(arg, node[i].obj);
}

static int32_t node_sharing(struct keel_mod *mod, struct keel_obj *obj, int32_t share)
{
	(void)mod, (void)obj;
	return share <= KEEL_SHARE_SHARED ? KEEL_SHARE_SHARED : share;
}

static uint32_t node_jobs_on(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return node[node_index(obj)].jobs_outside + node[node_index(obj)].jobs_inside;
}

static void node_tenants(struct keel_mod *mod, struct keel_obj *obj, void (*fn)(void *arg, const char *id, bool suspended),
			 void *arg)
{
	char word[16];

	(void)mod;
	snprintf(word, sizeof(word), "%s:", node[node_index(obj)].name);
	for (uint32_t i = 0; i < n_jobs; i++) {
		const char *has = job[i] ? text_of(job[i], "exec_vnode", NULL) : NULL;

		if (has && strstr(has, word))
			fn(arg, keel_id(job[i]), false);
	}
}

/* ---- service job ------------------------------------------------------------------------------------------- */

static char job_state(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod;
	return text_of(obj, "exec_vnode", NULL) ? 'R' : 'Q';
}

static int32_t job_substate(struct keel_mod *mod, struct keel_obj *obj)
{
	const char *text = text_of(obj, "substate", NULL);

	if (text)
		return atoi(text);
	return job_state(mod, obj) == 'R' ? KEEL_SUB_RUNNING : KEEL_SUB_QUEUED;
}

static bool job_is_suspended(struct keel_mod *mod, struct keel_obj *obj)
{
	return job_substate(mod, obj) == KEEL_SUB_SCHED_SUSPENDED;
}

static uint32_t job_waiting(struct keel_mod *mod, struct keel_obj *obj)
{
	return job_state(mod, obj) == 'Q';
}

static uint32_t job_members(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod, (void)obj;
	return 0;
}

static const char *job_released(struct keel_mod *mod, struct keel_obj *obj)
{
	(void)mod, (void)obj;
	return NULL;
}

/* It is on these vnodes (sign 1), or leaves them. */
static void job_moves(struct keel_obj *obj, const char *exec_vnode, int sign)
{
	const char *queue = text_of(obj, "queue", NULL), *place = text_of(obj, "Resource_List", "place");
	bool inside = strcmp(queue, "R1") == 0;

	for (uint32_t i = 0; i < NODES; i++) {
		char word[16];
		const char *at;

		snprintf(word, sizeof(word), "%s:ncpus=", node[i].name);
		at = strstr(exec_vnode, word);
		if (!at)
			continue;
		*(inside ? &node[i].jobs_inside : &node[i].jobs_outside) += (uint32_t)sign;
		*(inside ? &node[i].inside : &node[i].outside) += sign * atoi(at + strlen(word));
		if (inside)
			node[i].alone_inside = sign > 0 && place && strcmp(place, "excl") == 0;
	}
	nodes_changed();
}

static void job_begin(struct keel_obj *obj, const char *exec_vnode)
{
	char now[32];

	snprintf(now, sizeof(now), "%lld", (long long)keel_time(keel_mock_self(mock)));
	keel_mock_set(obj, "exec_vnode", NULL, exec_vnode);
	keel_mock_set(obj, "stime", NULL, now);
	job_moves(obj, exec_vnode, 1);
	keel_mock_raise(mock, KEEL_POINT_job_placed, KEEL_EVENT(job_placed, .id = keel_id(obj), .job = obj), NULL);
}

static void job_run(struct keel_mod *mod, struct keel_obj *obj, const char *exec_vnode, const char *who,
		    struct keel_mod *caller, keel_job_done *done, void *arg)
{
	(void)mod, (void)who;
	countdown = -1; /* it is the scheduler's memory that fails */
	if (run_fails) {
		done(caller, arg, run_fails, "no");
		return;
	}
	if (run_waits) {
		waiting.job = obj;
		waiting.caller = caller;
		waiting.done = done;
		waiting.arg = arg;
		snprintf(waiting.exec_vnode, sizeof(waiting.exec_vnode), "%s", exec_vnode);
		run_waits = false;
		return;
	}
	snprintf(ran[n_ran++], sizeof(ran[0]), "%s %s", keel_id(obj), exec_vnode);
	job_begin(obj, exec_vnode);
	done(caller, arg, 0, "");
}

static __attribute__((unused)) void run_goes_on(void)
{
	job_begin(waiting.job, waiting.exec_vnode);
	waiting.done(waiting.caller, waiting.arg, 0, "");
}

static void job_resume(struct keel_mod *mod, struct keel_obj *obj, struct keel_mod *caller, keel_job_done *done, void *arg)
{
	const char *has = text_of(obj, "exec_vnode", NULL);

	(void)mod;
	snprintf(ran[n_ran++], sizeof(ran[0]), "%s again %s", keel_id(obj), has);
	keel_mock_set(obj, "substate", NULL, NULL);
	job_moves(obj, has, 1);
	done(caller, arg, 0, "");
}

static void job_no_change(struct keel_mod *mod, struct keel_mod *who, void (*fn)(struct keel_mod *))
{
	(void)mod, (void)who, (void)fn;
}

static void job_on_request(struct keel_mod *mod, struct keel_mod *who,
			   void (*fn)(struct keel_mod *, struct keel_obj *, const char *, struct keel_mod *,
				      keel_job_done *, void *))
{
	(void)mod, (void)who;
	request_run = fn;
}

static void job_comment(struct keel_mod *mod, struct keel_obj *obj, const char *text)
{
	(void)mod;
	keel_mock_set(obj, "comment", NULL, text);
}

/* ---- a world -------------------------------------------------------------------------------------------------- */

static const struct keel_node_api nodes_api = {
	.size = sizeof(nodes_api), .state = node_state, .unavailable = node_unavailable, .available = node_available,
	.assigned = node_assigned, .generation = node_generation, .sharing = node_sharing, .jobs_on = node_jobs_on,
	.shape = node_shape, .changed_since = node_changed_since, .tenants = node_tenants, .used = node_used,
	.used_inside = node_used_inside, .closed_inside = node_closed_inside,
};
static const struct keel_job_api jobs_api = {
	.size = sizeof(jobs_api), .state = job_state, .substate = job_substate, .is_suspended = job_is_suspended,
	.run = job_run, .resume_waiting = job_resume, .on_change = job_no_change, .on_run_request = job_on_request, .waiting = job_waiting,
	.released = job_released, .members = job_members, .set_comment = job_comment,
};

static void attrs(const char *klass, const char *type, const char *names)
{
	char copy[400], *save = NULL, *name;

	snprintf(copy, sizeof(copy), "%s", names);
	for (name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save))
		keel_mock_attr(mock, klass, name, type);
}

static void attrs_make(void)
{
	attrs("job", "string", "queue schedselect euser egroup project Account_Name exec_vnode comment job_state");
	attrs("job", "long", "Execution_Time queue_rank Priority stime substate");
	attrs("job", "resource_list", "Resource_List resources_used");
	attrs("node", "long", "Priority max_running max_user_run max_group_run last_used_time");
	attrs("node", "bool", "no_multinode_jobs");
	attrs("node", "string", "queue partition state comment");
	attrs("node", "resource_list", "resources_available t_assigned t_used t_inside");
	attrs("queue", "string", "queue_type partition node_group_key");
	attrs("queue", "bool", "started");
	attrs("queue", "long", "Priority backfill_depth");
	attrs("queue", "resource_list", "resources_available resources_assigned");
	attrs("server", "bool", "scheduling node_group_enable clear_topjob_estimates_enable");
	attrs("server", "long", "scheduler_iteration backfill_depth");
	attrs("server", "string", "job_sort_formula node_group_key");
	attrs("server", "resource_list", "resources_available resources_assigned");
}

static void queue_add(const char *name)
{
	struct keel_obj *queue = keel_mock_object(mock, "queue", name);

	keel_mock_set(queue, "queue_type", NULL, "Execution");
	keel_mock_set(queue, "started", NULL, "True");
}

static void world_begin(void)
{
	struct keel_module alone = keel_module;
	struct keel_err err = { 0 };
	struct keel_obj *server;

	me = NULL;
	n_jobs = n_ran = 0;
	run_fails = 0;
	run_waits = false;
	mock = mock_with_resources();
	attrs_make();
	keel_mock_service(mock, "node", &nodes_api);
	keel_mock_service(mock, "job", &jobs_api);
	server = keel_mock_object(mock, "server", "svr");
	keel_mock_set(server, "scheduling", NULL, "True");
	memset(node, 0, sizeof(node));
	for (int i = 0; i < NODES; i++) {
		snprintf(node[i].name, sizeof(node[i].name), "n%d", i);
		node[i].obj = keel_mock_object(mock, "node", node[i].name);
		keel_mock_set(node[i].obj, "resources_available", "ncpus", "4");
		keel_mock_set(node[i].obj, "resources_available", "host", node[i].name);
		keel_mock_set(node[i].obj, "resources_available", "vnode", node[i].name);
	}
	queue_add("R1");
	queue_add("workq");
	nodes_changed();
	alone.requires_modules = NULL;
	me = keel_mock_load(mock, &alone, SLICE, &err);
	CU_ASSERT_STRING_EQUAL_FATAL(err.text, "");
	KEEL_USE_sched = keel_mock_group(mock, "sched");
	keel_mock_advance(mock, 1000);
}

static struct keel_obj *job_make(const char *queue, const char *select, const char *place, int walltime)
{
	char id[16], text[32];
	struct keel_obj *obj;

	snprintf(id, sizeof(id), "%u", n_jobs);
	obj = job[n_jobs++] = keel_mock_object(mock, "job", id);
	keel_mock_set(obj, "queue", NULL, queue);
	keel_mock_set(obj, "schedselect", NULL, select);
	keel_mock_set(obj, "Resource_List", "place", place);
	keel_mock_set(obj, "euser", NULL, "u");
	snprintf(text, sizeof(text), "%d", walltime);
	keel_mock_set(obj, "Resource_List", "walltime", walltime ? text : NULL);
	snprintf(text, sizeof(text), "%u", n_jobs);
	keel_mock_set(obj, "queue_rank", NULL, text);
	return obj;
}

/* It runs there, from now on. */
static __attribute__((unused)) struct keel_obj *job_runs(const char *queue, const char *exec_vnode, int walltime)
{
	struct keel_obj *obj = job_make(queue, "1:ncpus=1", "free", walltime);

	job_begin(obj, exec_vnode);
	return obj;
}

static __attribute__((unused)) struct keel_obj *job_waits_in(const char *queue, const char *select, const char *place)
{
	struct keel_obj *obj = job_make(queue, select, place, 100);

	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = keel_id(obj), .job = obj), NULL);
	return obj;
}

static int64_t now(void)
{
	return keel_time(keel_mock_self(mock));
}

static __attribute__((unused)) void blocks_part(const char *id, uint32_t part, const char *queue, int64_t from, int64_t till,
						const char *exec_vnode, uint32_t flags)
{
	struct keel_sched_block b = { .size = sizeof(b), .flags = flags, .id = id, .part = part, .from = now() + from,
				      .till = now() + till, .exec_vnode = exec_vnode, .queue = queue };
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(keel_sched_block(&b, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
}

#endif
