/* SPDX-License-Identifier: Apache-2.0
 *
 * test_mail.c - the module in the mock, with a mailer of our own that keeps what it is handed.
 */
#include "mail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;

static char *dir, conf[512];
static struct keel_mock *mock;
static struct keel_mod *module;
static struct keel_obj *array;

static void set_up(void)
{
	static const char *const texts[] = { "Mail_Points", "Mail_Users", "Job_Owner", "Job_Name", "resources_used",
					     "job_state" };
	static struct keel_module alone; /* a restart reads it again */
	struct keel_err err = { 0 };
	char path[256], text[512];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mailer", dir);
	snprintf(text, sizeof(text), "#!/bin/sh\nexec cat >>%s/mails\n", dir);
	scratch_write(dir, "mailer", text);
	CU_ASSERT_EQUAL(chmod(path, 0755), 0);
	mock = keel_mock_new(KEEL_SERVER);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_mock_attr(mock, "job", texts[i], "string");
	keel_mock_attr(mock, "job", "Exit_status", "long");
	keel_mock_attr(mock, "server", "mail_from", "string");
	keel_mock_attr(mock, "server", "mailer", "string");
	array = keel_mock_object(mock, "job", "1[].svr");
	keel_mock_set(array, "Mail_Points", NULL, "abe");
	keel_mock_set(array, "Job_Owner", NULL, "ann@h");
	keel_mock_set(array, "job_state", NULL, "Q");
	alone = keel_module;
	alone.requires_modules = NULL;
	snprintf(conf, sizeof(conf), "sendmail = \"%s\"; queue = 3;", path);
	module = keel_mock_load(mock, &alone, conf, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

/* How many have been handed over up to now. */
static int mails(void)
{
	char path[256], line[512];
	int n = 0;
	FILE *f;

	keel_mock_advance(mock, 0);
	snprintf(path, sizeof(path), "%s/mails", dir);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		n += strncmp(line, "To: ", 4) == 0;
	if (f)
		fclose(f);
	return n;
}

static void step(const char *letter)
{
	keel_mock_set(array, "job_state", NULL, letter);
	keel_mock_raise(mock, KEEL_POINT_job_step,
			KEEL_EVENT(job_step, .id = "1[].svr", .job = array, .state = letter[0]), NULL);
}

static void notice(void)
{
	keel_mock_raise(mock, KEEL_POINT_job_notice,
			KEEL_EVENT(job_notice, .id = "1[].svr", .job = array, .letter = "a", .text = "because"), NULL);
}

/* It says so at each step; its people hear it once, whenever the server is restarted. */
static void test_an_array_begins_once(void)
{
	step("B");
	step("B");
	CU_ASSERT_EQUAL(mails(), 1);
	module = keel_mock_restart(module, NULL);
	step("B");
	CU_ASSERT_EQUAL(mails(), 1);
}

static void test_unloaded_while_one_is_sent(void)
{
	struct keel_err err = { 0 };

	notice();
	CU_ASSERT_EQUAL(keel_mock_unload(module, &err), 0); /* which waits for it */
	CU_ASSERT_EQUAL(mails(), 1);
}

static void test_too_many(void)
{
	for (int i = 0; i < 10; i++)
		notice();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "3 mails wait"));
	CU_ASSERT_EQUAL(mails(), 4);
}

/* Whichever call fails: those that wait are sent, but for the one it hits. */
static void test_no_memory(void)
{
	uint32_t calls, n = 0;

	do {
		tear_down();
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++n);
		notice();
		notice();
		notice();
		CU_ASSERT(mails() >= 2);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= n);
	CU_ASSERT(n > 1);
}

TESTS_MAIN_BETWEEN("mail", set_up, tear_down, TEST(test_an_array_begins_once),
		   TEST(test_unloaded_while_one_is_sent), TEST(test_too_many), TEST(test_no_memory))
