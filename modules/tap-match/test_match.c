/* SPDX-License-Identifier: Apache-2.0
 *
 * test_match.c - patterns, and the words they are looked for in.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;
static uint32_t calls;
static char words[2048];

static int32_t text(struct keel_mod *owner, struct keel_obj *obj, char *buf, uint32_t len)
{
	(void)owner, (void)obj;
	return snprintf(buf, len, "%s", words);
}
static const struct keel_scope_def of_job = { .size = sizeof(of_job), .name = "word", .klass = "job", .doc = "a test",
					      .text = text };
static const struct keel_scope_def of_node = { .size = sizeof(of_node), .name = "word", .klass = "node", .doc = "a test",
					       .text = text };
static const struct keel_scope_def host = { .size = sizeof(host), .name = "host", .klass = "node", .doc = "a test",
					    .text = text };
static const struct keel_contrib rows[] = { KEEL_ROW(SCOPE, of_job), KEEL_ROW(SCOPE, of_node), KEEL_ROW(SCOPE, host) };

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	(void)c, (void)ev;
	calls++;
	return KEEL_NEXT;
}
static const struct keel_tap taps[] = { KEEL_TAP(job_queued, on_queued) };
static struct keel_kernel kernel = { .size = sizeof(kernel) };
static const struct keel_module listener = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_SDK_TARGET, .size = sizeof(listener), .kernel = &kernel,
	.name = "listener", .version = "1", .summary = "a test", .roles = KEEL_SERVER, KEEL_CONTRIBS(rows), KEEL_TAPS(taps),
};

static struct keel_mock *mock;
static struct keel_err err;

/* Loads the listener with this `match`. */
static struct keel_mod *listen_for(const char *match)
{
	char conf[256];

	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_attr(mock, "job", "queue", "string");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &keel_module, NULL, &err));
	snprintf(conf, sizeof(conf), "match = { %s };", match);
	return keel_mock_load(mock, &listener, conf, &err);
}

/* Is the listener called for a job with these words? */
static bool hears(const char *said)
{
	struct keel_obj *job = keel_mock_object(mock, "job", "1.svr");
	uint32_t before = calls;

	snprintf(words, sizeof(words), "%s", said);
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	keel_mock_destroy(job);
	return calls > before;
}

static void patterns_are_looked_for_in_words(void)
{
	char lines[1200];

	CU_ASSERT_PTR_NOT_NULL_FATAL(listen_for("word = \"^gpu$\";"));
	CU_ASSERT_TRUE(hears("gpu"));
	CU_ASSERT_FALSE(hears("gpus"));
	CU_ASSERT_TRUE(hears("a\ngpu\nb")); /* one per line */
	memset(lines, 'x', sizeof(lines)); /* past modules/tap-match/tap-match.c WORDS_SIZE */
	memcpy(lines + sizeof(lines) - 5, "\ngpu", 5);
	CU_ASSERT_TRUE(hears(lines));
	lines[sizeof(lines) - 2] = 'x';
	CU_ASSERT_FALSE(hears(lines));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* A scope that no object of the event has says nothing; an event without an object reaches the tap. */
static void what_is_not_known_is_ignored(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(listen_for("host = \"^n1$\";"));
	CU_ASSERT_TRUE(hears("n2"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(listen_for("word = \"^gpu$\";"));
	calls = 0;
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "2.svr"), NULL);
	CU_ASSERT_EQUAL(calls, 1);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

/* past modules/tap-match/tap-match.c LONGEST_TRY */
static void a_match_that_takes_too_long_counts_as_found(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(listen_for("word = \"^(a+)+$\";"));
	CU_ASSERT_TRUE(hears("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "takes too long and counts as found"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static void what_is_wrong_is_said_with_its_line(void)
{
	CU_ASSERT_PTR_NULL(listen_for("word = \"(\";"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "listener.match.word: \"(\" is no regular expression: "));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	CU_ASSERT_PTR_NULL(listen_for("colour = \"x\";"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "listener.match.colour: no module offers a scope \"colour\" (there are: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "word"));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("tap-match", TEST(patterns_are_looked_for_in_words), TEST(what_is_not_known_is_ignored),
	   TEST(a_match_that_takes_too_long_counts_as_found), TEST(what_is_wrong_is_said_with_its_line))
