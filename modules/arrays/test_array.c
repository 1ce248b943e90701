/* SPDX-License-Identifier: Apache-2.0
 *
 * test_array.c - whole arrays in the mock: what their end says, whatever of their subjobs is still known, also after
 * restarts and from an older store. Jobs are the test's.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "module_memory.h"

#define LARGEST 10000 /* max_array_size, unless a site says otherwise */

static struct keel_module alone;
static struct keel_mod *module;
static struct keel_obj *whole;
static struct keel_err err;
static int32_t ended; /* Exit_status of the array; -1: it is not over */

/* ---- the services it needs ------------------------------------------------------------------------------ */
static char state(struct keel_mod *m, struct keel_obj *job)
{
	const char *text = keel_mock_text(job, "job_state", NULL);

	(void)m;
	return text ? text[0] : '\0';
}

static int32_t substate(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	return KEEL_SUB_QUEUED;
}

static bool is_suspended(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
	return false;
}

static void adopt(struct keel_mod *m, struct keel_obj *part)
{
	(void)m;
	keel_mock_set(part, "job_state", NULL, "R");
}

static void nothing(struct keel_mod *m, struct keel_obj *job)
{
	(void)m, (void)job;
}

static void finish(struct keel_mod *m, struct keel_obj *job, int32_t as, int32_t exit_status)
{
	(void)m, (void)as;
	keel_mock_set(job, "job_state", NULL, "F");
	ended = exit_status;
}

static void record(struct keel_mod *m, char letter, const char *id, const char *text)
{
	(void)m, (void)letter, (void)id, (void)text;
}

static const struct keel_job_api jobs = { .size = sizeof(jobs), .state = state, .substate = substate, .adopt = adopt,
					  .is_suspended = is_suspended,
					  .waits = nothing, .settle = nothing, .finish = finish };
static const struct keel_acct_api records = { .size = sizeof(records), .record = record };

static void set_up(void)
{
	static const char *const texts[] = { "job_state", "comment", "Output_Path", "Error_Path", "queue", "ending" };
	static const char *const numbers[] = { "substate", "stime", "Exit_status", "run_count", "run_version" };

	alone = module_alone("arrays");
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_service(mock, "acct", &records);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	for (size_t i = 0; i < KEEL_COUNT(numbers); i++)
		keel_mock_attr(mock, "job", numbers[i], "long");
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	ended = -1;
}

static void submit(const char *range)
{
	whole = keel_mock_object(mock, "job", "1[].svr");
	keel_mock_set(whole, "job_state", NULL, "B");
	CU_ASSERT_EQUAL(keel_mock_set(whole, "array_indices_submitted", NULL, range), 0);
}

static const struct keel_job_form_def *form_row(struct keel_mod **owner)
{
	return keel_mock_row(mock, "JOB_FORM", 0, owner);
}

static void start_next(void)
{
	struct keel_mod *owner;
	const struct keel_job_form_def *row = form_row(&owner);

	CU_ASSERT_PTR_NOT_NULL_FATAL(row->next(owner, whole, &err));
}

static void end(uint32_t index, int32_t status, bool kept)
{
	struct keel_mod *owner;
	const struct keel_job_form_def *row = form_row(&owner);
	struct keel_obj *part;
	char id[40], text[12];

	snprintf(id, sizeof(id), "1[%u].svr", (unsigned)index);
	part = keel_find(keel_mock_self(mock), "job", id);
	CU_ASSERT_PTR_NOT_NULL_FATAL(part);
	snprintf(text, sizeof(text), "%d", (int)status);
	keel_mock_set(part, "Exit_status", NULL, text);
	keel_mock_set(part, "job_state", NULL, "X");
	row->over(owner, part, status ? KEEL_SUB_FAILED : KEEL_SUB_FINISHED, kept);
	if (!kept)
		keel_mock_destroy(part);
}

/* 1..count start; those with an odd index end, the server starts again, then the others; `bad` fails with 3. */
static void play(uint32_t count, uint32_t bad, bool kept)
{
	char range[24];
	uint32_t i;

	snprintf(range, sizeof(range), "1-%u", (unsigned)count);
	submit(range);
	for (i = 1; i <= count; i++)
		start_next();
	for (i = 1; i <= count; i += 2)
		end(i, i == bad ? 3 : 0, kept);
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	CU_ASSERT_EQUAL(ended, -1);
	for (i = 2; i <= count; i += 2)
		end(i, i == bad ? 3 : 0, kept);
}

/* ---- what its end says ------------------------------------------------------------------------------------ */

/* mend A2 */
static void test_540_end_out_of_order(void)
{
	play(540, 0, false);
	CU_ASSERT_EQUAL(ended, 0);
	CU_ASSERT_PTR_NULL(keel_mock_text(whole, "array_failures", NULL));
}

/* mend A2 */
static void test_the_largest_array_with_one_failure(void)
{
	play(LARGEST, 7777, false);
	CU_ASSERT_EQUAL(ended, 1);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(whole, "array_failures", NULL), "1");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(whole, "array_state_count", NULL),
			       "Queued:0 Running:0 Exiting:0 Expired:10000");
	CU_ASSERT_PTR_NOT_NULL(strstr(keel_mock_text(whole, "array_ended", NULL), ":7777"));
}

/* mend A2: more runs than are kept apart */
static void test_a_larger_one_with_one_failure(void)
{
	play(WAYS_MAX + 2, 1, false);
	CU_ASSERT_EQUAL(ended, 1);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(whole, "array_failures", NULL), "1");
}

/* mend A2: how it ended is said by its history, and then by the array: it is counted once. */
static void test_a_failure_is_not_forgotten_with_its_history(void)
{
	submit("1-2");
	start_next();
	start_next();
	end(1, 3, true);
	module = keel_mock_restart(module, &err);
	end(1, 3, false);
	module = keel_mock_restart(module, &err);
	end(2, 0, true);
	CU_ASSERT_EQUAL(ended, 1);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(whole, "array_failures", NULL), "1");
}

static void answer_keep(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	(void)me, (void)text;
	*(int32_t *)arg = code;
}

/* One letter past modules/arrays/ask.c RANGE_MAX */
static void test_a_range_of_many_letters(void)
{
	const struct keel_job_ask ask = { .size = sizeof(ask), .verb = "no such", .who = "ann@svr" };
	struct keel_mod *owner;
	const struct keel_job_form_def *row = form_row(&owner);
	char operand[1100];
	int32_t code = 0;

	submit("1-3");
	snprintf(operand, sizeof(operand), "1[%01024d].svr", 1);
	CU_ASSERT_TRUE(row->ask(owner, operand, &ask, owner, answer_keep, &code));
	CU_ASSERT_EQUAL(code, PBSE_IVALREQ);
	snprintf(operand, sizeof(operand), "1[%01025d].svr", 1);
	CU_ASSERT_FALSE(row->ask(owner, operand, &ask, owner, answer_keep, &code));
}

/* One that an older server wrote: it knows failures by how subjobs ended. */
static void an_older_store(int32_t status, int32_t expected)
{
	char text[32];

	submit("1-3");
	start_next();
	snprintf(text, sizeof(text), "%d:2-3",
		 (int)over_value(status ? KEEL_SUB_FAILED : KEEL_SUB_FINISHED, status));
	keel_mock_set(whole, "array_ended", NULL, text);
	module = keel_mock_restart(module, &err);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(whole, "array_state_count", NULL),
			       "Queued:0 Running:1 Exiting:0 Expired:2");
	end(1, 0, false);
	CU_ASSERT_EQUAL(ended, expected);
}

static void test_an_older_store(void)
{
	an_older_store(0, 0);
	tear_down();
	set_up();
	an_older_store(3, 1);
}

TESTS_MAIN_BETWEEN("array", set_up, tear_down, TEST(test_540_end_out_of_order),
		   TEST(test_the_largest_array_with_one_failure), TEST(test_a_larger_one_with_one_failure),
		   TEST(test_a_failure_is_not_forgotten_with_its_history), TEST(test_an_older_store),
		   TEST(test_a_range_of_many_letters))
