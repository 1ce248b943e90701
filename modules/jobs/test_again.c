/* SPDX-License-Identifier: Apache-2.0
 *
 * test_again.c - what a tap changes of a job on its way in: sums, defaults and queue follow, or the job is
 * refused, without a trace.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "with_resources.h"

extern const struct keel_module keel_module;
KEEL_USE_OPT(job);

/* What the tap sets; attr NULL: nothing. */
static struct {
	const char *attr, *key, *text;
} wish;

static keel_verdict change(struct keel_call *c, struct keel_obj *job)
{
	struct keel_err err = { 0 };

	if (wish.attr && keel_call_set(c, job, wish.attr, wish.key, wish.text, &err))
		return keel_reject(c, err.code, "%s", err.text);
	return KEEL_NEXT;
}

static keel_verdict on_submit_point(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)arg;
	return change(c, ((const struct keel_ev_job_submit *)event)->job);
}

static keel_verdict on_modify_point(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)arg;
	return change(c, ((const struct keel_ev_job_modify *)event)->job);
}

static keel_verdict on_move_point(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)arg;
	return change(c, ((const struct keel_ev_job_move *)event)->job);
}

/* ---- the world ---------------------------------------------------------------------------------------------- */
static int32_t listen_to_none(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static void record(struct keel_mod *mod, char letter, struct keel_obj *job)
{
	(void)mod, (void)letter, (void)job;
}

static void record_text(struct keel_mod *mod, char letter, const char *id, const char *text)
{
	(void)mod, (void)letter, (void)id, (void)text;
}

static char *value(struct keel_mod *mod, const char *text)
{
	(void)mod;
	return strdup(text);
}

static void load(const char *name)
{
	const char *build = getenv("KEELSON_BUILD");
	struct keel_err err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/%s.so", build ? build : ".", name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
}

static void queue_make(const char *name, const char *mem)
{
	struct keel_obj *queue = keel_mock_object(mock, "queue", name);

	keel_mock_set(queue, "queue_type", NULL, "Execution");
	keel_mock_set(queue, "enabled", NULL, "True");
	keel_mock_set(queue, "started", NULL, "True");
	keel_mock_set(queue, "resources_default", "mem", mem);
}

static void set_up(void)
{
	static const struct keel_task_api tasks = { .size = sizeof(tasks), .listen = listen_to_none };
	static const struct keel_node_api nodes = { .size = sizeof(nodes) };
	static const struct keel_acct_api acct = { .size = sizeof(acct), .job = record, .record = record_text,
						  .value = value };
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	load("manager");
	load("queues");
	keel_mock_service(mock, "task", &tasks);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "acct", &acct);
	wish.attr = NULL;
	keel_mock_tap(mock, KEEL_POINT_job_submit, "changes", 0, on_submit_point, NULL);
	keel_mock_tap(mock, KEEL_POINT_job_modify, "changes", 0, on_modify_point, NULL);
	keel_mock_tap(mock, KEEL_POINT_job_move, "changes", 0, on_move_point, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	queue_make("second", "5mb");
	queue_make("third", "7mb");
}

/* Sends it in the name of bob; the code of the answer. */
static int32_t ask(const char *name, const char *body)
{
	struct keel_mock_reply reply = { 0 };

	keel_mock_request(mock, keel_mock_session(mock, "bob", KEEL_USER), name, body, &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told);
	return reply.code;
}

static int32_t submit(void)
{
	return ask("submit",
		   "dest = \"workq\"; attrs = ( (\"Resource_List\", \"ncpus\", \"1\"), (\"Hold_Types\", \"\", \"u\") );");
}

static struct keel_obj *only_job(void)
{
	struct keel_cursor *walk = keel_cursor(keel_mock_self(mock), "job");
	struct keel_obj *job = keel_next(walk);

	keel_cursor_close(walk);
	return job;
}

static void wants(const char *attr, const char *key, const char *text)
{
	wish.attr = attr;
	wish.key = key;
	wish.text = text;
}

static bool has(struct keel_obj *job, const char *attr, const char *key, const char *text)
{
	const char *now = keel_mock_text(job, attr, key);

	return now ? text && strcmp(now, text) == 0 : !text;
}

/* ---- submissions -------------------------------------------------------------------------------------------- */
static void test_resources(void)
{
	wants("Resource_List", "ncpus", "3");
	CU_ASSERT_EQUAL(submit(), 0);
	CU_ASSERT(has(only_job(), "Resource_List", "select", "1:ncpus=3"));
	CU_ASSERT(has(only_job(), "schedselect", NULL, "1:ncpus=3"));
}

/* Nothing that was written is lost when a select takes the place of a computed one. */
static void test_select(void)
{
	wants("Resource_List", "select", "2:ncpus=2");
	CU_ASSERT_EQUAL(submit(), 0);
	CU_ASSERT(has(only_job(), "Resource_List", "ncpus", "4"));
	CU_ASSERT(has(only_job(), "Resource_List", "nodect", "2"));
}

static void test_queue(void)
{
	wants("queue", NULL, "second");
	CU_ASSERT_EQUAL(submit(), 0);
	CU_ASSERT(has(only_job(), "queue", NULL, "second"));
	CU_ASSERT(has(only_job(), "Resource_List", "mem", "5mb"));
}

static void test_no_queue(void)
{
	wants("queue", NULL, "nowhere");
	CU_ASSERT_EQUAL(submit(), PBSE_UNKQUE);
	keel_mock_set(keel_find(keel_mock_self(mock), "queue", "second"), "enabled", NULL, "False");
	wants("queue", NULL, "second");
	CU_ASSERT_EQUAL(submit(), PBSE_QUNOENB);
	CU_ASSERT_PTR_NULL(only_job());
}

/* A bound that the new value exceeds. */
static void test_bound(void)
{
	keel_mock_set(keel_find(keel_mock_self(mock), "queue", "workq"), "resources_max", "ncpus", "2");
	wants("Resource_List", "ncpus", "3");
	CU_ASSERT_EQUAL(submit(), PBSE_EXCQRESC);
	CU_ASSERT_PTR_NULL(only_job());
}

/* ---- alterations -------------------------------------------------------------------------------------------- */
static void alter_to(const char *ncpus, int32_t code)
{
	char body[256];

	snprintf(body, sizeof(body), "id = \"%s\"; attrs = ( (\"Resource_List\", \"ncpus\", \"%s\") );",
		 keel_id(only_job()), ncpus);
	CU_ASSERT_EQUAL(ask("alter", body), code);
}

static void test_alter(void)
{
	CU_ASSERT_EQUAL(submit(), 0);
	wants("Resource_List", "ncpus", "4");
	alter_to("2", 0);
	CU_ASSERT(has(only_job(), "Resource_List", "select", "1:ncpus=4"));
	wants("queue", NULL, "second");
	alter_to("1", PBSE_IVALREQ);
	CU_ASSERT(has(only_job(), "Resource_List", "ncpus", "4"));
	CU_ASSERT(has(only_job(), "queue", NULL, "workq"));
}

/* ---- moves -------------------------------------------------------------------------------------------------- */
static void move_to(const char *queue, int32_t code)
{
	char body[256];

	snprintf(body, sizeof(body), "id = \"%s\"; dest = \"%s\";", keel_id(only_job()), queue);
	CU_ASSERT_EQUAL(ask("move", body), code);
}

static void test_move(void)
{
	CU_ASSERT_EQUAL(submit(), 0);
	move_to("second", 0);
	CU_ASSERT(has(only_job(), "queue", NULL, "second"));
	wants("queue", NULL, "third");
	move_to("workq", 0);
	CU_ASSERT(has(only_job(), "queue", NULL, "third"));
	CU_ASSERT(has(only_job(), "Resource_List", "mem", "7mb"));
	CU_ASSERT(has(keel_find(keel_mock_self(mock), "queue", "third"), "total_jobs", NULL, "1"));
	CU_ASSERT(has(keel_find(keel_mock_self(mock), "queue", "workq"), "total_jobs", NULL, "0"));
	wants("queue", NULL, "nowhere");
	move_to("workq", PBSE_UNKQUE);
	CU_ASSERT(has(only_job(), "queue", NULL, "third"));
}

/* ---- a module ----------------------------------------------------------------------------------------------- */
static void test_change(void)
{
	struct keel_mod *self = keel_mock_self(mock);
	struct keel_changes *set;
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(submit(), 0);
	set = keel_changes(self);
	keel_change_text(set, only_job(), keel_attr_find(self, "job", "Resource_List"), KEEL_SET, "ncpus", "2", NULL);
	keel_change_text(set, only_job(), keel_attr_find(self, "job", "Hold_Types"), KEEL_SET, NULL, "n", NULL);
	CU_ASSERT_EQUAL(keel_job_change(only_job(), set, &err), 0);
	CU_ASSERT(has(only_job(), "Resource_List", "select", "1:ncpus=2"));
	CU_ASSERT_EQUAL(keel_job_state(only_job()), 'Q');
}

TESTS_MAIN_BETWEEN("jobs that taps change", set_up, tear_down, TEST(test_resources), TEST(test_select),
		   TEST(test_queue),
		   TEST(test_no_queue), TEST(test_bound), TEST(test_alter), TEST(test_move), TEST(test_change))
