/* SPDX-License-Identifier: Apache-2.0
 *
 * test_route.c - jobs in a routing queue, in the mock: destinations that refuse, that think it over, restarts, no
 * memory. Jobs and queues are the test's.
 */
#include "routing.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "module_memory.h"

static struct keel_module alone;
static struct keel_mod *module;
static struct keel_obj *job, *from;
static struct keel_err err;
static int32_t says[2]; /* of the two destinations, when a job is moved there */
static char aborted[128], comment[256];

static struct keel_obj *find(const char *klass, const char *id)
{
	return keel_find(keel_mock_self(mock), klass, id);
}

/* ---- the service it needs of jobs ----------------------------------------------------------------------- */
static char state(struct keel_mod *m, struct keel_obj *o)
{
	(void)m;
	return keel_mock_text(o, "job_state", NULL)[0];
}

static int32_t destination(struct keel_mod *m, const char *dest, struct keel_obj **ret)
{
	(void)m;
	*ret = find("queue", dest);
	return *ret ? 0 : PBSE_UNKQUE;
}

static void move(struct keel_mod *m, struct keel_obj *o, struct keel_obj *queue, const char *who, struct keel_mod *me,
		 keel_job_done *done, void *arg)
{
	bool second = queue == find("queue", "second");

	(void)m, (void)who;
	if (says[second] == 0)
		keel_mock_set(o, "queue", NULL, second ? "second" : "first");
	done(me, arg, says[second], NULL);
}

static void abort_job(struct keel_mod *m, struct keel_obj *o, const char *why)
{
	(void)m;
	snprintf(aborted, sizeof(aborted), "%s", why);
	keel_mock_destroy(o);
}

static void set_comment(struct keel_mod *m, struct keel_obj *o, const char *text)
{
	(void)m, (void)o;
	snprintf(comment, sizeof(comment), "%s", text);
}

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = state, .destination = destination,
						  .move = move, .abort = abort_job, .set_comment = set_comment };

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_attr(mock, "job", "job_state", "string");
	keel_mock_attr(mock, "job", "queue", "string");
	keel_mock_attr(mock, "job", "qtime", "long");
	keel_mock_attr(mock, "job", "hop_count", "long");
	keel_mock_attr(mock, "queue", "queue_type", "string");
	keel_mock_attr(mock, "queue", "started", "bool");
	keel_mock_object(mock, "queue", "first");
	keel_mock_object(mock, "queue", "second");
	from = keel_mock_object(mock, "queue", "from");
	keel_mock_set(from, "queue_type", NULL, ROUTE);
	keel_mock_set(from, "started", NULL, "True");
	alone = module_alone("routing");
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_set(from, "route_destinations", NULL, "first,second");
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "job_state", NULL, "T");
	keel_mock_set(job, "queue", NULL, "from");
	says[0] = says[1] = 0;
	aborted[0] = comment[0] = '\0';
}

static void queued(void)
{
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	keel_mock_advance(mock, 0);
}

static const char *where(void)
{
	return find("job", "1.svr") ? keel_mock_text(find("job", "1.svr"), "queue", NULL) : "gone";
}

static keel_verdict hold(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)event, (void)arg;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "thinks it over" },
			 NULL);
}

/* ---- stories -------------------------------------------------------------------------------------------- */
static void test_the_first_that_takes_it(void)
{
	says[0] = PBSE_QUNOENB;
	queued();
	CU_ASSERT_STRING_EQUAL(where(), "second");
}

static void test_all_refuse(void)
{
	says[0] = PBSE_QUNOENB; /* it may be enabled later */
	says[1] = PBSE_PERM;
	queued();
	CU_ASSERT_STRING_EQUAL(where(), "from");
	CU_ASSERT_PTR_NOT_NULL(strstr(comment, "Not Routed: second: "));
	says[0] = 0;
	keel_mock_advance(mock, 30000);
	CU_ASSERT_STRING_EQUAL(where(), "first");
	says[0] = PBSE_PERM;
	keel_mock_set(job, "queue", NULL, "from");
	queued();
	CU_ASSERT_STRING_EQUAL(where(), "gone");
	CU_ASSERT_STRING_NOT_EQUAL(aborted, "");
}

static void test_restart(void)
{
	says[0] = says[1] = PBSE_QUNOENB;
	queued();
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	says[0] = 0;
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(where(), "first");
}

/* A tap waits; meanwhile the job goes, its destination goes, the module goes, the daemon ends. */
static void test_meanwhile(void)
{
	keel_mock_tap(mock, KEEL_POINT_job_route, "hold", 0, hold, NULL);
	queued();
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1);
	keel_mock_destroy(find("queue", "first"));
	keel_mock_release(mock, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1); /* the second */
	keel_mock_expire(mock, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_STRING_EQUAL(where(), "from");
	keel_mock_advance(mock, 30000);
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1);
	keel_mock_destroy(job);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "job_state", NULL, "T");
	keel_mock_set(job, "queue", NULL, "from");
	queued();
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1); /* when the daemon ends */
}

/* Whatever fails, the job is routed, at the latest when it is tried again or anything changes. */
static void test_no_memory(void)
{
	uint32_t calls, k = 0;
	long n = 0;

	do {
		tear_down();
		set_up();
		countdown = ++n;
		queued();
		keel_mock_advance(mock, 30000);
		CU_ASSERT_STRING_EQUAL(where(), "first");
	} while (memory_failed());
	CU_ASSERT(n > 1 || !INJECTING);
	do {
		tear_down();
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		queued();
		keel_mock_advance(mock, 30000);
		if (strcmp(where(), "from") == 0) {
			queued();
			keel_mock_advance(mock, 30000);
		}
		CU_ASSERT_STRING_NOT_EQUAL(where(), "from");
		CU_ASSERT_STRING_NOT_EQUAL(where(), "gone");
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= k);
	CU_ASSERT(k > 1);
}

TESTS_MAIN_BETWEEN("route", set_up, tear_down, TEST(test_the_first_that_takes_it), TEST(test_all_refuse),
		   TEST(test_restart), TEST(test_meanwhile), TEST(test_no_memory))
