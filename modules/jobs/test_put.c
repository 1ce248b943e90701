/* SPDX-License-Identifier: Apache-2.0
 *
 * test_put.c - a job in whatever state is put into another queue: counters and amounts of both follow. And numbers that
 * other modules take.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "with_resources.h"

extern const struct keel_module keel_module;
KEEL_USE_OPT(job);

static char recorded[8];
static int moved;
static char moved_from[64], lodged[64];

static int32_t listen_to_none(struct keel_mod *mod, struct keel_mod *me, const struct keel_task_events *events)
{
	(void)mod, (void)me, (void)events;
	return 0;
}

static int32_t assign_again(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
			    const char *exec_host, struct keel_err *err)
{
	(void)mod, (void)job_id, (void)exec_vnode, (void)share, (void)exec_host, (void)err;
	return 0;
}

static void release(struct keel_mod *mod, const char *job_id, const char *exec_vnode, const char *only, bool ended)
{
	(void)mod, (void)job_id, (void)exec_vnode, (void)only, (void)ended;
}

static int32_t lodge(struct keel_mod *mod, const char *job_id, const char *exec_vnode, struct keel_err *err)
{
	(void)mod, (void)err;
	CU_ASSERT_STRING_EQUAL(exec_vnode, "(n1:ncpus=2:mem=4kb)");
	snprintf(lodged, sizeof(lodged), "%s", job_id);
	return 0;
}

static void record(struct keel_mod *mod, char letter, struct keel_obj *job)
{
	(void)mod, (void)job;
	recorded[strlen(recorded)] = letter;
}

static keel_verdict on_moved(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_moved *ev = event;

	(void)c, (void)point, (void)arg;
	moved++;
	snprintf(moved_from, sizeof(moved_from), "%s", ev->from);
	return KEEL_NEXT;
}

static void offer_services(void)
{
	static const struct keel_task_api tasks = { .size = sizeof(tasks), .listen = listen_to_none };
	static const struct keel_node_api nodes = {
		.size = sizeof(nodes), .assign_again = assign_again, .release = release, .lodge = lodge,
	};
	static const struct keel_acct_api acct = { .size = sizeof(acct), .job = record };

	keel_mock_service(mock, "task", &tasks);
	keel_mock_service(mock, "node", &nodes);
	keel_mock_service(mock, "acct", &acct);
}

static void load(const char *name)
{
	const char *build = getenv("KEELSON_BUILD");
	struct keel_err err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/modules/%s.so", build ? build : ".", name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
}

/* state as stored: `R` 42, suspended `S` 43, queued `Q` 10. Two cpus, of which a suspended one gave back what `released` names. */
static struct keel_obj *job_of(const char *id, int64_t state, int64_t substate, const char *released_names)
{
	struct keel_obj *job = keel_mock_object(mock, "job", id);

	keel_set_int(job, keel_attr_find(keel_mock_self(mock), "job", "job_state"), state);
	keel_set_int(job, keel_attr_find(keel_mock_self(mock), "job", "substate"), substate);
	keel_mock_set(job, "queue", NULL, "workq");
	keel_mock_set(job, "Resource_List", "ncpus", "2");
	keel_mock_set(job, "Resource_List", "mem", "4kb");
	keel_mock_set(job, "exec_vnode", NULL, "(n1:ncpus=2:mem=4kb)");
	if (released_names)
		keel_mock_set(job, "released_names", NULL, released_names);
	return job;
}

static void set_up(void)
{
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	load("manager");
	load("queues");
	offer_services();
	lodged[0] = '\0';
	memset(recorded, 0, sizeof(recorded));
	moved = 0;
	keel_mock_tap(mock, KEEL_POINT_job_moved, "moved", 0, on_moved, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	keel_mock_set(keel_mock_object(mock, "queue", "R1"), "queue_type", NULL, "Execution");
}

static struct keel_obj *queue(const char *name)
{
	return keel_find(keel_mock_self(mock), "queue", name);
}

static const char *count_of(const char *name)
{
	const char *text = keel_mock_text(queue(name), "total_jobs", NULL);

	return text ? text : "";
}

static const char *ncpus_of(const char *name)
{
	const char *text = keel_mock_text(queue(name), "resources_assigned", "ncpus");

	return text ? text : "0";
}

static void known(struct keel_obj *job)
{
	keel_mock_raise(mock, KEEL_POINT_job_known, KEEL_EVENT(job_known, .id = keel_id(job), .job = job), NULL);
}

static void test_running(void)
{
	struct keel_obj *job = job_of("1.svr", 'R', KEEL_SUB_RUNNING, NULL);

	known(job);
	CU_ASSERT_STRING_EQUAL(ncpus_of("workq"), "2");
	CU_ASSERT_EQUAL(keel_job_put(job, queue("R1"), "bob@host"), 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "queue", NULL), "R1");
	CU_ASSERT_STRING_EQUAL(ncpus_of("workq"), "0");
	CU_ASSERT_STRING_EQUAL(ncpus_of("R1"), "2");
	CU_ASSERT_STRING_EQUAL(count_of("workq"), "0");
	CU_ASSERT_STRING_EQUAL(count_of("R1"), "1");
	CU_ASSERT_PTR_NOT_NULL(strstr(keel_mock_text(queue("R1"), "state_count", NULL), "Running:1"));
	CU_ASSERT_EQUAL(keel_job_state(job), 'R');
	CU_ASSERT_EQUAL(moved, 1);
	CU_ASSERT_STRING_EQUAL(moved_from, "workq");
	CU_ASSERT_STRING_EQUAL(recorded, "");
	CU_ASSERT_STRING_EQUAL(lodged, "1.svr");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "qtime", NULL));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Job moved to R1 at request of bob@host"));
}

/* It goes with what it kept, and with nothing when it kept nothing. */
static void test_suspended(void)
{
	struct keel_obj *job = job_of("1.svr", 'R' | SUSPENDED_BIT, KEEL_SUB_SUSPENDED, "mem");
	struct keel_obj *bare = job_of("2.svr", 'R' | SUSPENDED_BIT, KEEL_SUB_SUSPENDED, NULL);

	known(job);
	known(bare);
	CU_ASSERT_STRING_EQUAL(ncpus_of("workq"), "2");
	CU_ASSERT_EQUAL(keel_job_put(job, queue("R1"), "bob@host"), 0);
	CU_ASSERT_EQUAL(keel_job_put(bare, queue("R1"), "bob@host"), 0);
	CU_ASSERT_STRING_EQUAL(ncpus_of("workq"), "0");
	CU_ASSERT_STRING_EQUAL(ncpus_of("R1"), "2");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue("R1"), "resources_assigned", "mem"), "0kb");
	CU_ASSERT_STRING_EQUAL(count_of("R1"), "2");
}

static void test_waiting(void)
{
	struct keel_obj *job = job_of("1.svr", 'Q', KEEL_SUB_QUEUED, NULL);

	known(job);
	CU_ASSERT_EQUAL(keel_job_put(job, queue("R1"), "bob@host"), 0);
	CU_ASSERT_STRING_EQUAL(ncpus_of("R1"), "0");
	CU_ASSERT_STRING_EQUAL(count_of("R1"), "1");
	CU_ASSERT_STRING_EQUAL(recorded, "Q");
	CU_ASSERT_STRING_EQUAL(lodged, "");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_text(job, "qtime", NULL));
}

static void test_over(void)
{
	struct keel_obj *job = job_of("1.svr", 'F', KEEL_SUB_FINISHED, NULL);

	known(job);
	CU_ASSERT_EQUAL(keel_job_put(job, queue("R1"), "bob@host"), PBSE_BADSTATE);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "queue", NULL), "workq");
	CU_ASSERT_EQUAL(moved, 0);
}

static void test_numbers(void)
{
	struct keel_obj *server = keel_find(keel_mock_self(mock), "server", keel_server_name(keel_mock_self(mock)));
	int64_t first = keel_job_take_number();

	CU_ASSERT_EQUAL(keel_job_take_number(), first + 1);
	CU_ASSERT_EQUAL(keel_job_next_number(), first + 2);
	/* What is stored is above all that was taken. */
	CU_ASSERT(atoll(keel_mock_text(server, "next_sequence", NULL)) > first + 1);
}

TESTS_MAIN_BETWEEN("jobs put into queues", set_up, tear_down, TEST(test_running), TEST(test_suspended), TEST(test_waiting),
		   TEST(test_over), TEST(test_numbers))
