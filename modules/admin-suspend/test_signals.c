/* SPDX-License-Identifier: Apache-2.0
 *
 * test_signals.c - suspension for maintenance in the mock, with the real modules resources and nodes; jobs are
 * the test's.
 */
#include "admin-suspend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "keel/service/admin_suspend.h"
#include "keel/service/task.h"

extern const struct keel_module keel_module;

static struct keel_mod *module;
static struct keel_obj *job, *other, *n1, *n2;
static struct keel_mock_outcome out;
static int32_t signalled; /* the code a SIGNAL row's start() returned by signal_done(); -1: none */
static bool starts_late; /* `other` starts while the host suspends `job` */
static int32_t host_says; /* the code the host returns for the next step */

/* ---- the services of jobs and executor -------------------------------------------------------------- */
static bool is_suspended(struct keel_mod *m, struct keel_obj *o)
{
	(void)m;
	return keel_mock_text(o, "stands", NULL) != NULL;
}

static char state(struct keel_mod *m, struct keel_obj *o)
{
	(void)m, (void)o;
	return 'R';
}

static const char *id_of(struct keel_obj *o)
{
	return o == job ? "1.svr" : "2.svr";
}

static void occupy(struct keel_obj *o, bool on)
{
	const char *exec_vnode = keel_mock_text(o, "exec_vnode", NULL);
	char *exec_host = NULL;

	if (on)
		keel_node_assign(id_of(o), exec_vnode, KEEL_SHARE_SHARED, &exec_host, NULL);
	else
		keel_node_release(id_of(o), exec_vnode, NULL, false);
	free(exec_host);
}

static void suspend(struct keel_mod *self, struct keel_obj *o, const char *signal, const char *who,
		    struct keel_mod *me, keel_job_done *done, void *arg)
{
	if (starts_late)
		occupy(other, true);
	starts_late = false;
	if (host_says == 0) {
		occupy(o, false);
		keel_mock_set(o, "stands", NULL, "still");
		keel_note(self, KEEL_POINT_job_suspended,
			  KEEL_EVENT(job_suspended, .id = id_of(o), .job = o, .signal = signal, .who = who));
	}
	done(me, arg, host_says, NULL);
}

static void resume(struct keel_mod *self, struct keel_obj *o, const char *signal, const char *who,
		   struct keel_mod *me, keel_job_done *done, void *arg)
{
	occupy(o, true);
	keel_mock_set(o, "stands", NULL, NULL);
	keel_note(self, KEEL_POINT_job_resumed,
		  KEEL_EVENT(job_resumed, .id = id_of(o), .job = o, .signal = signal, .who = who));
	done(me, arg, 0, NULL);
}

static void signal_done(struct keel_mod *m, void *op, int32_t code, const char *text)
{
	(void)m, (void)op, (void)text;
	signalled = code;
}

static void set_host_of(struct keel_mod *m, struct keel_mod *me,
			const char *(*fn)(struct keel_mod *me, const char *vnode))
{
	(void)m, (void)me, (void)fn;
}

static int32_t listen_to(struct keel_mod *m, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)m, (void)me, (void)events;
	return 0;
}

/* ---- a server with two vnodes, a job on the first and one on both ------------------------------------ */
static struct keel_mod *load_file(const char *name)
{
	const char *build = getenv("KEELSON_BUILD");
	struct keel_err err = { 0 };
	struct keel_mod *m;
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/%s.so", build != NULL ? build : ".", name);
	m = keel_mock_load_file(mock, path, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	return m;
}

static void is_up(struct keel_obj *node)
{
	keel_node_set_state(node, KEEL_NODE_UNKNOWN | KEEL_NODE_DOWN, false);
}

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .is_suspended = is_suspended,
						  .state = state, .suspend = suspend, .resume = resume,
						  .signal_done = signal_done };
	static const struct keel_task_api tasks = { .size = sizeof(tasks), .set_host_of = set_host_of,
						    .listen = listen_to };
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_service(mock, "task", &tasks);
	keel_mock_attr(mock, "job", "exec_vnode", "string");
	keel_mock_attr(mock, "job", "stands", "string");
	load_file("resources");
	load_file("nodes");
	keel_mock_use(mock, &keel_module);
	n1 = keel_mock_object(mock, "node", "n1");
	n2 = keel_mock_object(mock, "node", "n2");
	is_up(n1);
	is_up(n2);
	job = keel_mock_object(mock, "job", "1.svr");
	other = keel_mock_object(mock, "job", "2.svr");
	keel_mock_set(job, "exec_vnode", NULL, "(n1:ncpus=1)");
	keel_mock_set(other, "exec_vnode", NULL, "(n1:ncpus=1)+(n2:ncpus=1)");
	occupy(job, true);
	occupy(other, true);
	module = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	host_says = 0;
	starts_late = false;
}

/* ---- short verbs --------------------------------------------------------------------------------------- */
static bool in_maintenance(struct keel_obj *node)
{
	return (keel_node_state(node) & MAINTENANCE_BIT) != 0;
}

/* As qsig: raises job_signal, then calls the row's start(). */
static int32_t send_to(struct keel_obj *o, const char *id, const char *name)
{
	const struct keel_signal_def *row = NULL;
	struct keel_mod *owner;

	for (uint32_t i = 0; (row = keel_mock_row(mock, "SIGNAL", i, &owner)) != NULL; i++)
		if (strcmp(row->name, name) == 0)
			break;
	signalled = -1;
	if (keel_mock_raise(mock, KEEL_POINT_job_signal,
			    KEEL_EVENT(job_signal, .id = id, .job = o, .signal = name, .who = "root@svr"),
			    &out) == KEEL_REJECT)
		return out.code;
	if (row != NULL)
		row->start(owner, o, "root@svr", NULL);
	return row != NULL ? signalled : 0;
}

/* ---- stories -------------------------------------------------------------------------------------------- */
static void test_rows(void)
{
	const struct keel_signal_def *row = keel_mock_row(mock, "SIGNAL", 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(row);
	CU_ASSERT_STRING_EQUAL(row->name, "admin-suspend");
	CU_ASSERT_EQUAL(row->roles, KEEL_OPERATORS); /* not the job's owner */
	CU_ASSERT_PTR_NOT_NULL(keel_mock_row(mock, "NODE_STATE", 0, NULL));
}

static void test_there_and_back(void)
{
	CU_ASSERT_EQUAL(send_to(job, "1.svr", "admin-suspend"), 0);
	CU_ASSERT(in_maintenance(n1));
	CU_ASSERT_FALSE(in_maintenance(n2));
	CU_ASSERT_EQUAL(send_to(other, "2.svr", "admin-suspend"), 0);
	CU_ASSERT(in_maintenance(n2));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(n1, "maintenance_jobs", NULL), "1.svr,2.svr");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(n2, "maintenance_jobs", NULL), "2.svr");
	CU_ASSERT(strncmp(keel_mock_text(other, "admin_suspended", NULL), "2 by root@svr at ", 17) == 0);
	CU_ASSERT_EQUAL(send_to(job, "1.svr", "admin-resume"), 0);
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "admin_suspended", NULL));
	CU_ASSERT(in_maintenance(n1)); /* the other job's */
	CU_ASSERT_EQUAL(send_to(other, "2.svr", "admin-resume"), 0);
	CU_ASSERT_FALSE(in_maintenance(n1) || in_maintenance(n2));
	CU_ASSERT_PTR_NULL(keel_mock_text(n1, "maintenance_jobs", NULL));
}

static void test_mismatched_resume(void)
{
	CU_ASSERT_EQUAL(send_to(job, "1.svr", "admin-suspend"), 0);
	CU_ASSERT_EQUAL(send_to(job, "1.svr", "resume"), PBSE_WRONG_RESUME);
	CU_ASSERT_STRING_EQUAL(out.text, keel_pbse_text(PBSE_WRONG_RESUME));
	CU_ASSERT_STRING_EQUAL(out.by, "admin-suspend.on_signal");
	CU_ASSERT_EQUAL(send_to(other, "2.svr", "admin-resume"), PBSE_WRONG_RESUME);
	CU_ASSERT_EQUAL(send_to(other, "2.svr", "resume"), 0);
	CU_ASSERT_EQUAL(send_to(other, "2.svr", "TERM"), 0);
	CU_ASSERT(in_maintenance(n1)); /* the resume failed */
}

static void test_refused_by_the_host(void)
{
	host_says = 15070;
	CU_ASSERT_EQUAL(send_to(job, "1.svr", "admin-suspend"), 15070);
	CU_ASSERT_FALSE(in_maintenance(n1));
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "admin_suspended", NULL));
}

static void test_the_job_ends(void)
{
	send_to(other, "2.svr", "admin-suspend");
	keel_mock_raise(mock, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = "2.svr"), NULL);
	CU_ASSERT_FALSE(in_maintenance(n1) || in_maintenance(n2));
}

static void test_vnode_is_busy(void)
{
	send_to(job, "1.svr", "admin-suspend");
	CU_ASSERT_EQUAL(keel_mock_raise(mock, KEEL_POINT_node_delete,
					KEEL_EVENT(node_delete, .id = "n1", .node = n1, .who = "root@svr"), &out),
			KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, PBSE_OBJBUSY);
	occupy(other, false);
	CU_ASSERT_NOT_EQUAL(keel_mock_raise(mock, KEEL_POINT_node_delete,
					    KEEL_EVENT(node_delete, .id = "n2", .node = n2), &out),
			    KEEL_REJECT);
}

/* Lists and states are derived from the marks on jobs. */
static void test_reload(void)
{
	struct keel_err err = { 0 };

	send_to(other, "2.svr", "admin-suspend");
	CU_ASSERT_EQUAL(keel_mock_unload(module, &err), -16);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "jobs are admin-suspended (2.svr)"));
	module = keel_mock_reload(module, &err); /* after a reload they are derived again */
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(n2, "maintenance_jobs", NULL), "2.svr");
	CU_ASSERT(in_maintenance(n2));
	keel_mock_set(other, "stands", NULL, NULL); /* ... unless it is not suspended any more */
	send_to(job, "1.svr", "admin-suspend");
	keel_mock_set(other, "admin_suspended", NULL, NULL);
	keel_mock_set(job, "admin_suspended", NULL, NULL);
	module = keel_mock_reload(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_PTR_NULL(keel_mock_text(n2, "maintenance_jobs", NULL));
	keel_mock_set(job, "admin_suspended", NULL, "7 by root@svr at noon");
	keel_mock_raise(mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(n1, "maintenance_jobs", NULL), "1.svr");
	CU_ASSERT(in_maintenance(n1));
	send_to(other, "2.svr", "admin-suspend"); /* numbers continue */
	CU_ASSERT(strncmp(keel_mock_text(other, "admin_suspended", NULL), "8 by ", 5) == 0);
}

static int verb_send(const char *name, const char *node, const char *comment, struct keel_mock_reply *reply)
{
	char body[256];

	snprintf(body, sizeof(body), "args = [ \"%s\", \"%s\" ];", node, comment);
	keel_mock_request(mock, keel_mock_session(mock, "root", KEEL_MANAGERS), name, body, reply);
	CU_ASSERT(reply->told);
	return reply->code;
}

static void test_whole_nodes(void)
{
	const char *down = suspend_nodes.name, *up = resume_nodes.name;
	struct keel_mock_reply reply;

	CU_ASSERT_EQUAL(verb_send(down, "n1", "fan is loud", &reply), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "2 jobs suspended"));
	CU_ASSERT_PTR_NOT_NULL(strstr(keel_mock_text(job, "admin_suspended", NULL), ": fan is loud"));
	CU_ASSERT_EQUAL(verb_send(down, "n2", "", &reply), 0); /* it is suspended already */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(other, "admin_suspended_nodes", NULL), "n1,n2");
	CU_ASSERT_EQUAL(verb_send(up, "n1", "", &reply), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "1 job resumed")); /* the other one was suspended for n2, too */
	CU_ASSERT_EQUAL(verb_send(up, "n2", "", &reply), 0);
	CU_ASSERT_FALSE(in_maintenance(n1) || in_maintenance(n2));
	CU_ASSERT_NOT_EQUAL(verb_send(down, "n9", "", &reply), 0);
}

/* Before the first of them is suspended, the scheduler may start another one there. */
static void test_one_starts_meanwhile(void)
{
	struct keel_mock_reply reply;

	occupy(other, false);
	starts_late = true;
	CU_ASSERT_EQUAL(verb_send(suspend_nodes.name, "n1", "", &reply), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "2 jobs suspended"));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(n1, "maintenance_jobs", NULL), "1.svr,2.svr");
}

/* The reply names the vnodes of the node that still take jobs. */
static void test_vnodes_without_a_job(void)
{
	struct keel_mock_reply reply;

	occupy(other, false);
	keel_mock_set(n2, "resources_available", "ncpus", "4");
	CU_ASSERT_EQUAL(verb_send(suspend_nodes.name, "n2", "", &reply), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "0 jobs suspended"));
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "not in maintenance, for no job was suspended there: n2; set"));
	CU_ASSERT_EQUAL(verb_send(suspend_nodes.name, "n1", "", &reply), 0);
	CU_ASSERT_PTR_NULL(strstr(reply.json, "not in maintenance"));
}

static void test_some_did_not(void)
{
	struct keel_mock_reply reply;

	host_says = PBSE_NORELYMOM;
	CU_ASSERT_EQUAL(verb_send(suspend_nodes.name, "n1", "", &reply), PBSE_NORELYMOM);
	CU_ASSERT_STRING_EQUAL(reply.text, "1.svr: Server could not connect to MOM (0 suspended, 2 not)");
	CU_ASSERT_EQUAL(verb_send(suspend_nodes.name, "n2", "", &reply), PBSE_NORELYMOM);
	CU_ASSERT_STRING_EQUAL(reply.text, "2.svr: Server could not connect to MOM");
}

/* Suspended, and listed by one of its vnodes. */
static bool is_down(struct keel_obj *o, struct keel_obj *node)
{
	const char *listed = keel_mock_text(node, "maintenance_jobs", NULL);

	return keel_mock_text(o, "stands", NULL) != NULL && keel_mock_text(o, "admin_suspended", NULL) != NULL &&
	       in_maintenance(node) && listed != NULL &&
	       strstr(listed, o == job ? "1.svr" : "2.svr") != NULL;
}

/* Whichever call fails: either all is done, or it is a plain suspension and the reply or the log says so. */
static int32_t answered;

static void answer(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	(void)me, (void)arg, (void)text;
	answered = code;
}

static void named(void *arg, const char *job_id)
{
	strcat(arg, job_id);
}

static const char *reasons(void)
{
	const char *text = keel_mock_text(job, "admin_suspended_nodes", NULL);

	return text ? text : "";
}

/* Another module's reasons: the job goes on when the last one is gone. */
static void test_service(void)
{
	const struct keel_admin_suspend_api *api = keel_mock_group(mock, "admin_suspend");
	struct keel_mod *self = api->self;
	char ids[64] = "";

	api->suspend(self, job, "M1.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_EQUAL(answered, 0);
	CU_ASSERT(in_maintenance(n1));
	api->suspend(self, job, "M2.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_STRING_EQUAL(reasons(), "M1.svr,M2.svr");
	api->each(self, n1, named, ids);
	CU_ASSERT_STRING_EQUAL(ids, "1.svr");
	api->resume(self, job, "M3.svr", "root@svr", module, answer, NULL);
	api->resume(self, job, "M1.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_STRING_EQUAL(reasons(), "M2.svr");
	CU_ASSERT(in_maintenance(n1));
	api->resume(self, job, "M2.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_EQUAL(answered, 0);
	CU_ASSERT_STRING_EQUAL(reasons(), "");
	CU_ASSERT_FALSE(in_maintenance(n1));
	host_says = 15010;
	api->suspend(self, job, "M1.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_EQUAL(answered, 15010);
	keel_mock_set(job, "stands", NULL, "still"); /* its owner's doing */
	api->suspend(self, job, "M1.svr", "root@svr", module, answer, NULL);
	CU_ASSERT_EQUAL(answered, PBSE_BADSTATE);
	CU_ASSERT_STRING_EQUAL(reasons(), "");
}

static void test_no_memory_for_the_mark(void)
{
	uint32_t calls, n = 0;

	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		if (send_to(other, "2.svr", "admin-suspend") == 0) {
			CU_ASSERT(is_down(other, n1) && is_down(other, n2));
		} else {
			CU_ASSERT_PTR_NULL(keel_mock_text(other, "admin_suspended", NULL));
			CU_ASSERT_FALSE(in_maintenance(n1) || in_maintenance(n2));
			CU_ASSERT_PTR_NULL(keel_mock_text(n1, "maintenance_jobs", NULL));
		}
		calls = keel_mock_calls(mock) - calls;
		tear_down();
		set_up();
	} while (calls >= n);
	CU_ASSERT(n > 3);
}

/* Whichever call fails: a reply without an error means that all jobs of the node are suspended. */
static void test_no_memory(void)
{
	struct keel_mock_reply reply;
	uint32_t calls, n = 0;

	do {
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		if (verb_send(suspend_nodes.name, "n1", "fan is loud", &reply) == 0) {
			CU_ASSERT(is_down(job, n1) && is_down(other, n1) && is_down(other, n2));
			CU_ASSERT_PTR_NOT_NULL(keel_mock_text(job, "admin_suspended_nodes", NULL));
			CU_ASSERT_PTR_NOT_NULL(keel_mock_text(other, "admin_suspended_nodes", NULL));
		} else {
			CU_ASSERT_STRING_NOT_EQUAL(reply.text, "");
		}
		calls = keel_mock_calls(mock) - calls;
		tear_down();
		set_up();
	} while (calls >= n);
	CU_ASSERT(n > 3);
}

TESTS_MAIN_BETWEEN("admin-suspend", set_up, tear_down, TEST(test_rows), TEST(test_there_and_back), TEST(test_service),
		   TEST(test_mismatched_resume), TEST(test_refused_by_the_host), TEST(test_the_job_ends),
		   TEST(test_vnode_is_busy), TEST(test_reload), TEST(test_whole_nodes), TEST(test_one_starts_meanwhile), TEST(test_vnodes_without_a_job),
		   TEST(test_some_did_not), TEST(test_no_memory_for_the_mark), TEST(test_no_memory))
