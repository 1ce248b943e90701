/* SPDX-License-Identifier: Apache-2.0
 *
 * test_waits.c - jobs that wait for others, in the mock: restarts, and no memory. Jobs are the test's.
 */
#include "dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "module_memory.h"

static struct keel_module alone;
static struct keel_mod *module;
static struct keel_obj *first;
static struct keel_mock_outcome out;
static struct keel_err err;

/* ---- the service it needs of jobs ------------------------------------------------------------------- */
static char state(struct keel_mod *m, struct keel_obj *job)
{
	const char *text = keel_mock_text(job, "job_state", NULL);

	(void)m;
	return text ? text[0] : '\0';
}

static void depend(struct keel_mod *m, struct keel_obj *job, bool waits)
{
	(void)m;
	keel_mock_set(job, "job_state", NULL, waits ? "H" : "Q");
}

static void purge(const char *id)
{
	keel_mock_raise(mock, KEEL_POINT_job_purged,
			KEEL_EVENT(job_purged, .id = id,
				   .job = ((const struct keel_object_api *)keel_mock_group(mock, "object"))
						  ->find(keel_mock_self(mock), "job", id)),
			NULL);
}

static void abort_job(struct keel_mod *m, struct keel_obj *job, const char *why)
{
	char id[ID_MAX];

	(void)m, (void)why;
	snprintf(id, sizeof(id), "%s", keel_id(job));
	keel_mock_set(job, "job_state", NULL, "E");
	purge(id);
	keel_mock_destroy(job);
}

static int64_t next_number(struct keel_mod *m)
{
	(void)m;
	return 100;
}

static struct keel_obj *job(const char *id)
{
	struct keel_obj *o = keel_mock_object(mock, "job", id);

	keel_mock_set(o, "job_state", NULL, "Q");
	keel_mock_set(o, "euser", NULL, "ann");
	return o;
}

static void set_up(void)
{
	static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = state, .depend = depend,
						  .abort = abort_job, .next_number = next_number };

	alone = module_alone("dependencies");
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_attr(mock, "job", "job_state", "string");
	keel_mock_attr(mock, "job", "euser", "string");
	keel_mock_attr(mock, "job", "Exit_status", "long");
	keel_mock_attr(mock, "job", "stime", "long");
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	first = job("1.svr");
}

/* Submitted with these dependencies; NULL: refused. */
static struct keel_obj *submit(const char *id, const char *text)
{
	struct keel_changes *set = keel_changes(keel_mock_self(mock));
	struct keel_obj *draft = keel_mock_draft(mock, "job", id);
	const struct keel_attrop op = { "depend", NULL, text, KEEL_SET };

	keel_mock_set(draft, "job_state", NULL, "Q");
	keel_mock_set(draft, "euser", NULL, "ann");
	CU_ASSERT_EQUAL(keel_change(set, NULL, draft, &op, &err), 0);
	if (keel_mock_raise_for(mock, NULL, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = id, .job = draft), set,
				&out) != KEEL_NEXT) {
		keel_destroy(draft);
		return NULL;
	}
	keel_publish(draft);
	return draft;
}

static void ends(const char *id, int64_t status)
{
	struct keel_obj *o = keel_find(keel_mock_self(mock), "job", id);

	keel_mock_raise(mock, KEEL_POINT_job_obit, KEEL_EVENT(job_obit, .id = id, .job = o, .exit_status = status), NULL);
	keel_mock_set(o, "job_state", NULL, "F");
	purge(id);
	keel_mock_destroy(o);
	keel_mock_advance(mock, 0);
}

/* ---- stories -------------------------------------------------------------------------------------------- */
static void test_one_after_the_other(void)
{
	struct keel_obj *good = submit("2.svr", "afterok:1");

	CU_ASSERT_PTR_NOT_NULL_FATAL(good);
	submit("3.svr", "afternotok:1");
	CU_ASSERT_EQUAL(state(NULL, good), 'H');
	module = keel_mock_restart(module, &err);
	ends("1.svr", 0);
	CU_ASSERT_EQUAL(state(NULL, good), 'Q');
	CU_ASSERT_PTR_NULL(keel_mock_text(good, "depend", NULL));
}

/* Whichever allocation fails: it is refused, or it waits. */
static void no_memory_for(const char *text)
{
	long n = 0;

	do {
		struct keel_obj *waits;

		tear_down();
		set_up();
		keel_mock_set(first, "job_state", NULL, "R");
		countdown = ++n;
		waits = submit("2.svr", text);
		if (waits != NULL)
			CU_ASSERT_EQUAL(state(NULL, waits), 'H');
	} while (memory_failed());
	CU_ASSERT(n > 5 || !INJECTING);
}

static void test_no_memory_to_wait(void)
{
	no_memory_for("afterok:1");
	no_memory_for("runone:1");
}

/* Whichever allocation fails at the end of the job it waits for: at the latest a reload lets it go. */
static void test_no_memory_to_go_on(void)
{
	long n = 0;
	bool failed;

	do {
		struct keel_obj *waits;

		tear_down();
		set_up();
		waits = submit("2.svr", "afterany:1");
		CU_ASSERT_PTR_NOT_NULL_FATAL(waits);
		countdown = ++n;
		ends("1.svr", 0);
		failed = memory_failed();
		module = keel_mock_reload(module, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(module);
		CU_ASSERT_EQUAL(state(NULL, waits), 'Q');
		CU_ASSERT_PTR_NULL(keel_mock_text(waits, "depend", NULL));
	} while (failed);
	CU_ASSERT(n > 3 || !INJECTING);
}

/* So many that the rest is for the next turn: a reload of the module before that leaves nothing behind. */
static void test_reloaded_in_the_middle(void)
{
	enum { MANY = 4200 };
	static struct keel_obj *waits[MANY];
	char id[32];

	for (int i = 0; i < MANY; i++) {
		snprintf(id, sizeof(id), "%d.svr", i + 2);
		waits[i] = submit(id, "afterany:1");
		CU_ASSERT_EQUAL(state(NULL, waits[i]), 'H');
	}
	keel_mock_set(first, "job_state", NULL, "F");
	purge("1.svr");
	keel_mock_destroy(first);
	CU_ASSERT_EQUAL(state(NULL, waits[MANY - 1]), 'H');
	module = keel_mock_reload(module, &err);
	keel_mock_advance(mock, 0);
	for (int i = 0; i < MANY; i++)
		if (state(NULL, waits[i]) != 'Q')
			CU_FAIL_FATAL("one waits on");
}

/* mend D14: what a parent shows of its children has a bound: past modules/dependencies/index.c SHOWN_MAX */
static void test_more_than_are_shown(void)
{
	enum { SHOWN = 1000 };
	const char *text;
	char id[32];
	int n = 0;

	for (int i = 0; i <= SHOWN; i++) {
		snprintf(id, sizeof(id), "%d.svr", i + 200);
		submit(id, "afterok:1");
	}
	submit("2.svr", "afterany:1");
	text = keel_mock_text(first, "depend", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (const char *at = text; (at = strchr(at, '@')) != NULL; at++)
		n++;
	CU_ASSERT_EQUAL(n, SHOWN + 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "beforeok:200.svr@svr:201.svr@svr:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ",beforeany:2.svr@svr"));
}

/* Whichever allocation fails while it is shown: its own clause is, at least. */
static void test_no_memory_to_show(void)
{
	struct keel_obj *both = submit("2.svr", "afterok:1");
	const char *text;
	long n = 0;

	submit("3.svr", "afterok:2");
	do {
		countdown = ++n;
		text = keel_mock_text(both, "depend", NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		CU_ASSERT_EQUAL(strncmp(text, "afterok:1.svr@svr", 17), 0);
	} while (memory_failed());
	CU_ASSERT_STRING_EQUAL(text, "afterok:1.svr@svr,beforeok:3.svr@svr");
	CU_ASSERT(n > 1 || !INJECTING);
}

/* Of a set one runs, and the others wait; it is so after a reload. */
static void test_a_set(void)
{
	struct keel_obj *one = submit("2.svr", "runone:1"), *another = submit("3.svr", "runone:1");

	CU_ASSERT_EQUAL(state(NULL, one), 'Q');
	module = keel_mock_reload(module, &err);
	keel_mock_set(one, "job_state", NULL, "R");
	keel_mock_raise(mock, KEEL_POINT_job_step, KEEL_EVENT(job_step, .id = "2.svr", .job = one, .state = 'R'), NULL);
	CU_ASSERT_EQUAL(state(NULL, another), 'H');
}

TESTS_MAIN_BETWEEN("waits", set_up, tear_down, TEST(test_one_after_the_other), TEST(test_no_memory_to_wait),
		   TEST(test_no_memory_to_go_on), TEST(test_reloaded_in_the_middle), TEST(test_a_set),
		   TEST(test_more_than_are_shown), TEST(test_no_memory_to_show))
