/* SPDX-License-Identifier: Apache-2.0
 *
 * test_server.c - the server's half: who is believed, what is noted on the job and on vnodes, what the primary gets to know.
 */
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "tolerate.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *mod;
static struct keel_obj *job;
static char letter, comment[600], offline[200];

static char fake_state(struct keel_mod *me, struct keel_obj *obj)
{
	(void)me, (void)obj;
	return letter;
}

static void fake_comment(struct keel_mod *me, struct keel_obj *obj, const char *text)
{
	(void)me, (void)obj;
	snprintf(comment, sizeof(comment), "%s", text);
}

/* Vnodes are a, a1, b, b1 ... of hosts a, b. */
static const char *fake_host(struct keel_mod *me, const char *vnode)
{
	static char name[2];

	(void)me;
	name[0] = vnode[0];
	return name;
}

static void fake_set_state(struct keel_mod *me, struct keel_obj *node, uint32_t bits, bool on)
{
	(void)me;
	CU_ASSERT_EQUAL(bits, KEEL_NODE_OFFLINE);
	CU_ASSERT_TRUE(on);
	sprintf(offline + strlen(offline), "%s ", keel_id(node));
}

static const struct keel_job_api jobs = { .size = sizeof(jobs), .version = 1, .state = fake_state, .set_comment = fake_comment };
static const struct keel_node_api nodes = { .size = sizeof(nodes), .version = 1, .host_of = fake_host,
					    .set_state = fake_set_state };

static void load(const char *conf)
{
	static const char *const attrs[] = { "exec_vnode", "schedselect", "ending", "Hold_Types" };
	static const char *const vnodes[] = { "a", "b", "b1", "c" };
	struct keel_err err = { 0 };

	mock = keel_mock_new(KEEL_SERVER);
	for (size_t i = 0; i < KEEL_COUNT(attrs); i++)
		keel_mock_attr(mock, "job", attrs[i], i < 3 ? "string" : "string_array");
	keel_mock_attr(mock, "job", "run_version", "long");
	keel_mock_attr(mock, "node", "comment", "string");
	for (size_t i = 0; i < KEEL_COUNT(vnodes); i++)
		keel_mock_object(mock, "node", vnodes[i]);
	keel_mock_service(mock, "job", &jobs);
	keel_mock_service(mock, "node", &nodes);
	job = keel_mock_object(mock, "job", "1.svr");
	keel_mock_set(job, "exec_vnode", NULL, "(a:ncpus=2)+(b:ncpus=1+b1:ncpus=1)+(c:ncpus=2)");
	keel_mock_set(job, "schedselect", NULL, "3:ncpus=2:mem=1kb");
	keel_mock_set(job, "run_version", NULL, "3");
	mod = keel_mock_load(mock, &keel_module, conf, &err);
	if (!mod)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	keel_mock_peer(mock, "a", KEEL_MOM, true);
	keel_mock_peer(mock, "b", KEEL_MOM, true);
	letter = 'R';
	comment[0] = offline[0] = '\0';
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static const char *answer(const char *from, const char *name, const char *body)
{
	const char *text;

	keel_mock_sent_clear(mock);
	keel_mock_deliver(mock, from, name, body);
	keel_mock_advance(mock, 0);
	text = keel_mock_sent(mock, 0);
	return text ? text : "";
}

static bool has(const char *text, const char *words)
{
	return text && strstr(text, words) != NULL;
}

#define LOST(host) "id = \"1.svr\"; run = 3; host = \"" host "\"; stage = \"join\"; code = 15169; text = \"bad\\nnode\";"

static void test_noted(void)
{
	load(NULL);
	CU_ASSERT(has(answer("a", "tolerance.lost", LOST("b")), "a tolerance.noted {"));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "failed_hosts", NULL), "b: bad node (join, 15169)");
	CU_ASSERT_STRING_EQUAL(offline, "");
	CU_ASSERT(has(answer("a", "tolerance.lost", LOST("b")), "tolerance.noted")); /* it comes twice */
	CU_ASSERT(has(answer("a", "tolerance.lost", LOST("c")), "tolerance.noted"));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "failed_hosts", NULL), "b: bad node (join, 15169); c: bad node (join, 15169)");
	CU_ASSERT(has(answer("a", "tolerance.ask", "id = \"1.svr\"; run = 3;"), "\"lost\": [\"b join 15169 bad node\", \"c join"));
	end();
}

/* Each is ignored: nothing is answered, noted or closed. */
static void test_who_is_believed(void)
{
	static const struct {
		const char *from, *name, *body;
	} rows[] = {
		{ "b", "tolerance.lost", LOST("c") }, /* not the primary */
		{ "b", "tolerance.ask", "id = \"1.svr\"; run = 3;" },
		{ "b", "tolerance.hold", "id = \"1.svr\"; run = 3; text = \"x\";" },
		{ "a", "tolerance.lost", "id = \"1.svr\"; run = 2; host = \"b\"; stage = \"join\"; code = 1; text = \"x\";" },
		{ "a", "tolerance.lost", "id = \"2.svr\"; run = 3; host = \"b\"; stage = \"join\"; code = 1; text = \"x\";" },
		{ "a", "tolerance.lost", "run = 3;" },
		{ "a", "tolerance.lost", "id = \"1.svr\"; run = 3; host = \"b c\"; stage = \"join\"; code = 1; text = \"x\";" },
		{ "a", "tolerance.lost", "id = \"1.svr\"; run = 3; host = \"\"; stage = \"join\"; code = 1; text = \"x\";" },
		{ "a", "tolerance.hold", "id = \"1.svr\"; run = 4; text = \"x\";" },
		{ "a", "tolerance.offline", "id = \"1.svr\"; run = 3; vnode = \"b\";" }, /* b has not failed */
		{ "a", "tolerance.offline", "id = \"1.svr\"; run = 3;" },
	};

	load("failed_node = \"offline\";");
	for (size_t i = 0; i < KEEL_COUNT(rows); i++) {
		CU_ASSERT_STRING_EQUAL(answer(rows[i].from, rows[i].name, rows[i].body), "");
		CU_ASSERT_PTR_NULL(keel_mock_text(job, "failed_hosts", NULL));
		CU_ASSERT_PTR_NULL(keel_mock_text(job, "Hold_Types", NULL));
		CU_ASSERT_STRING_EQUAL(offline, "");
	}
	answer("a", "tolerance.lost", LOST("d")); /* not one of its hosts: noted nowhere */
	answer("a", "tolerance.lost", "id = \"1.svr\"; run = 3; host = \"b\"; stage = \"a stage with blanks\"; code = 1; text = \"x\";");
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "failed_hosts", NULL));
	letter = 'Q';
	CU_ASSERT_STRING_EQUAL(answer("a", "tolerance.lost", LOST("b")), "");
	end();
}

/* Hosts of a job that is deleted or rerun leave it at once: the primary may take that for a loss. */
static void test_ending(void)
{
	load("failed_node = \"offline\";");
	keel_mock_set(job, "ending", NULL, "rerun");
	CU_ASSERT(has(answer("a", "tolerance.lost", LOST("b")), "tolerance.noted"));
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "failed_hosts", NULL));
	CU_ASSERT_STRING_EQUAL(offline, "");
	end();
}

static void test_policy(void)
{
	load("failed_node = \"offline\";");
	answer("a", "tolerance.lost", LOST("b"));
	CU_ASSERT_STRING_EQUAL(offline, "b b1 "); /* those that the job has */
	CU_ASSERT_STRING_EQUAL(keel_mock_text(keel_find(keel_mock_self(mock), "node", "b1"), "comment", NULL),
			       "failed for job 1.svr (join): bad node");
	CU_ASSERT_PTR_NULL(keel_mock_text(keel_find(keel_mock_self(mock), "node", "c"), "comment", NULL));
	end();
}

static void test_offline_by_a_site(void)
{
	load(NULL);
	answer("a", "tolerance.lost", LOST("b"));
	answer("a", "tolerance.offline", "id = \"1.svr\"; run = 3; vnode = \"c\"; text = \"x\";");
	CU_ASSERT_STRING_EQUAL(offline, "");
	answer("a", "tolerance.offline", "id = \"1.svr\"; run = 3; vnode = \"b1\"; text = \"look at it\";");
	CU_ASSERT_STRING_EQUAL(offline, "b1 ");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(keel_find(keel_mock_self(mock), "node", "b1"), "comment", NULL), "look at it");
	answer("a", "tolerance.offline", "id = \"1.svr\"; run = 3; vnode = \"b1\";");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(keel_find(keel_mock_self(mock), "node", "b1"), "comment", NULL),
			       "failed for job 1.svr: bad node");
	end();
}

static void test_facts(void)
{
	const char *text;

	load(NULL);
	text = answer("a", "tolerance.ask", "id = \"1.svr\"; run = 3;");
	CU_ASSERT(has(text, "a tolerance.facts {") && has(text, "\"schedselect\": \"3:ncpus=2:mem=1kb\"") && has(text, "\"run\": 3"));
	CU_ASSERT(has(text, "\"exec_vnode\": \"(a:ncpus=2)+(b:ncpus=1+b1:ncpus=1)+(c:ncpus=2)\""));
	CU_ASSERT_FALSE(has(text, "\"keep\""));
	keel_mock_set(job, "kept_select", NULL, "2:ncpus=2"); /* without the default of mem */
	text = answer("a", "tolerance.ask", "id = \"1.svr\"; run = 3;");
	CU_ASSERT(has(text, "\"keep\": \"2:ncpus=2:mem=1kb\""));
	end();
}

static void test_held(void)
{
	load(NULL);
	answer("a", "tolerance.hold", "id = \"1.svr\"; run = 3; text = \"not enough\";");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(job, "Hold_Types", NULL), "s");
	keel_mock_raise(mock, KEEL_POINT_job_step, KEEL_EVENT(job_step, .id = "1.svr", .job = job, .state = 'E'), NULL);
	CU_ASSERT_STRING_EQUAL(comment, "");
	keel_mock_raise(mock, KEEL_POINT_job_step, KEEL_EVENT(job_step, .id = "1.svr", .job = job, .state = 'H'), NULL);
	CU_ASSERT_STRING_EQUAL(comment, "not enough");
	comment[0] = '\0';
	keel_mock_raise(mock, KEEL_POINT_job_step, KEEL_EVENT(job_step, .id = "1.svr", .job = job, .state = 'H'), NULL);
	CU_ASSERT_STRING_EQUAL(comment, "");
	end();
}

/* A run that starts well has no failed hosts of the one before. */
static void test_next_run(void)
{
	load(NULL);
	answer("a", "tolerance.lost", LOST("b"));
	keel_mock_raise(mock, KEEL_POINT_job_started, KEEL_EVENT(job_started, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_text(job, "failed_hosts", NULL));
	keel_mock_set(job, "run_version", NULL, "4");
	CU_ASSERT(has(answer("a", "tolerance.ask", "id = \"1.svr\"; run = 4;"), "\"lost\": []"));
	keel_mock_raise(mock, KEEL_POINT_job_started, KEEL_EVENT(job_started, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_PTR_NULL(keel_mock_text(job, "failed_hosts", NULL));
	end();
}

/* past modules/tolerate-node-failures/server.c LOST_MAX: what is too much is not noted. */
static void test_many(void)
{
	static char lines[65536];

	load(NULL);
	memset(lines, 'x', 65530);
	memcpy(lines, "3\nc join 1 ", 11);
	lines[65530] = '\n';
	keel_mock_set(job, "lost_hosts", NULL, lines);
	CU_ASSERT(has(answer("a", "tolerance.lost", LOST("b")), "tolerance.noted"));
	CU_ASSERT_FALSE(has(keel_mock_text(job, "lost_hosts", NULL), "\nb join"));
	end();
}

TESTS_MAIN("server", TEST(test_noted), TEST(test_who_is_believed), TEST(test_ending), TEST(test_policy), TEST(test_offline_by_a_site),
	   TEST(test_facts), TEST(test_held), TEST(test_next_run), TEST(test_many))
