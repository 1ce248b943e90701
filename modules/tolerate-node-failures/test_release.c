/* SPDX-License-Identifier: Apache-2.0
 *
 * test_release.c - a primary: which failures it survives, what it reports, what the job gives back before its start. The
 * server and the host's part of the job are the test's.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/tolerance.h"
#include "runs.h"

extern const struct keel_module keel_module;

#define PADDED "(a:ncpus=2)+(b:ncpus=2)+(c:ncpus=2)+(d:ncpus=2)"

static struct keel_mock *mock;
static struct keel_mod *mod;
static const struct keel_tolerance_api *api;
static struct keel_mock_outcome out;
static struct keel_part_events told;

/* ---- the part of the job, as this host's executor would have it ------------------------------------------------ */

static struct keel_part_host hosts[] = {
	{ .size = sizeof(hosts[0]), .name = "a", .vnodes = "(a:ncpus=2)" },
	{ .size = sizeof(hosts[0]), .name = "b", .vnodes = "(b:ncpus=2)" },
	{ .size = sizeof(hosts[0]), .name = "c", .vnodes = "(c:ncpus=2)" },
	{ .size = sizeof(hosts[0]), .name = "d", .vnodes = "(d:ncpus=2)" },
};
static struct keel_part part;
static char pruned[200];
static int32_t prune_code;

static int32_t fake_listen(struct keel_mod *me, struct keel_mod *who, const struct keel_part_events *events)
{
	(void)me, (void)who;
	told = events ? *events : (struct keel_part_events){ 0 };
	return 0;
}

static const struct keel_part *fake_find(struct keel_mod *me, const char *id)
{
	(void)me;
	return part.id && strcmp(id, part.id) == 0 ? &part : NULL;
}

static int32_t fake_prune(struct keel_mod *me, const char *id, const struct keel_part_host *left, uint32_t n, const char *select)
{
	size_t len = 0;

	(void)me, (void)id;
	for (uint32_t i = 0; i < n; i++)
		len += (size_t)snprintf(pruned + len, sizeof(pruned) - len, "%s=%s ", left[i].name, left[i].vnodes);
	snprintf(pruned + len, sizeof(pruned) - len, "%s", select);
	return prune_code;
}

static const struct keel_part_api fake = { .size = sizeof(fake), .version = 1, .listen = fake_listen, .find = fake_find,
					   .prune = fake_prune };

static void set_up(void)
{
	struct keel_err err = { 0 };

	part = (struct keel_part){ .size = sizeof(part), .n_hosts = 4, .id = "1.svr", .run = 3, .hosts = hosts, .tolerate = "job_start" };
	pruned[0] = '\0';
	prune_code = 0;
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_service(mock, "part", &fake);
	mod = keel_mock_load(mock, &keel_module, NULL, &err);
	if (!mod)
		fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	api = keel_mock_group(mock, "tolerance");
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	keel_mock_advance(mock, 0);
	keel_mock_sent_clear(mock);
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static keel_verdict lost(const char *host, const char *stage, int64_t code, const char *text)
{
	return keel_mock_raise(mock, KEEL_POINT_task_lost,
			       KEEL_EVENT(task_lost, .id = "1.svr", .host = host, .stage = stage, .code = code, .text = text), &out);
}

static keel_verdict launch(void)
{
	return keel_mock_raise(mock, KEEL_POINT_task_launch, KEEL_EVENT(task_launch, .id = "1.svr", .user = "u"), &out);
}

static keel_verdict prologue(int64_t index)
{
	return keel_mock_raise(mock, KEEL_POINT_task_prologue,
			       KEEL_EVENT(task_prologue, .id = "1.svr", .user = "u", .index = index), &out);
}

static void facts(const char *more)
{
	char body[1000];

	snprintf(body, sizeof(body), "id = \"1.svr\"; run = 3; exec_vnode = \"" PADDED "\"; schedselect = \"4:ncpus=2\"; %s", more);
	keel_mock_deliver(mock, "server", "tolerance.facts", body);
	keel_mock_advance(mock, 0);
}

/* The message that left last, or "". */
static const char *sent(void)
{
	const char *last = "", *next;

	keel_mock_advance(mock, 0);
	for (uint32_t i = 0; (next = keel_mock_sent(mock, i)); i++)
		last = next;
	return last;
}

static bool has(const char *text, const char *words)
{
	return strstr(text, words) != NULL;
}

/* ---- which failures --------------------------------------------------------------------------------------------- */

static void test_values(void)
{
	static const struct {
		const char *value;
		keel_verdict start, run, end;
	} rows[] = {
		{ "", KEEL_NEXT, KEEL_NEXT, KEEL_NEXT },
		{ "none", KEEL_NEXT, KEEL_NEXT, KEEL_NEXT },
		{ "bogus", KEEL_NEXT, KEEL_NEXT, KEEL_NEXT },
		{ "job_start", KEEL_DONE, KEEL_NEXT, KEEL_DONE },
		{ "all", KEEL_DONE, KEEL_DONE, KEEL_DONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		part.tolerate = rows[i].value;
		CU_ASSERT_EQUAL(lost("b", "join", 15169, "bad"), rows[i].start);
		CU_ASSERT_EQUAL(lost("c", "prologue", 15169, "bad"), rows[i].start);
		CU_ASSERT_EQUAL(lost("b", "run", 15059, "gone"), rows[i].run);
		CU_ASSERT_EQUAL(lost("b", "end", 15059, "gone"), rows[i].end);
	}
	part.n_hosts = 2; /* c was given back */
	part.tolerate = "none";
	CU_ASSERT_EQUAL(lost("c", "prologue", 15059, ""), KEEL_DONE);
	part.index = 1;
	CU_ASSERT_EQUAL(lost("b", "join", 15169, "bad"), KEEL_NEXT);
	part.id = NULL;
	CU_ASSERT_EQUAL(lost("b", "join", 15169, "bad"), KEEL_NEXT);
}

static void count(void *arg, const struct keel_tolerance_host *h)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s %s %d %s %s;", h->name, h->stage, h->code, h->text, h->vnodes);
}

static void test_lists(void)
{
	char text[500] = "";

	lost("b", "join", 15169, "bad node");
	lost("c", "join", 0, "");
	CU_ASSERT_FALSE(api->is_good(mod, "1.svr", "b"));
	CU_ASSERT_FALSE(api->is_good(mod, "1.svr", "c")); /* silent: not good, not failed */
	CU_ASSERT_TRUE(api->is_good(mod, "1.svr", "d"));
	CU_ASSERT_FALSE(api->is_good(mod, "1.svr", "other"));
	api->each_failed(mod, "1.svr", count, text);
	CU_ASSERT_STRING_EQUAL(text, "b join 15169 bad node (b:ncpus=2);");
	lost("c", "prologue", 15059, "");
	text[0] = '\0';
	api->each_failed(mod, "1.svr", count, text);
	CU_ASSERT_STRING_EQUAL(text, "b join 15169 bad node (b:ncpus=2);c prologue 15059 it does not answer (c:ncpus=2);");
	part.run = 4; /* another run: nothing is known of it */
	CU_ASSERT_TRUE(api->is_good(mod, "1.svr", "b"));
}

static void test_reports_until_noted(void)
{
	lost("b", "join", 15169, "bad node");
	CU_ASSERT(has(sent(), "server tolerance.lost {"));
	CU_ASSERT(has(sent(), "\"host\": \"b\"") && has(sent(), "\"text\": \"bad node\"") && has(sent(), "\"run\": 3"));
	keel_mock_sent_clear(mock);
	keel_mock_peer(mock, "server", KEEL_SERVER, false);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT(has(sent(), "tolerance.lost"));
	keel_mock_deliver(mock, "server", "tolerance.noted", "id = \"1.svr\"; run = 2; host = \"b\";");
	keel_mock_sent_clear(mock);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT(has(sent(), "tolerance.lost")); /* that was another run's */
	keel_mock_deliver(mock, "server", "tolerance.noted", "id = \"1.svr\"; run = 3; host = \"b\";");
	keel_mock_sent_clear(mock);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT_STRING_EQUAL(sent(), "");
	lost("c", "join", 0, ""); /* silent ones are not reported */
	CU_ASSERT_STRING_EQUAL(sent(), "");
}

/* ---- facts --------------------------------------------------------------------------------------------------------- */

static void test_start_waits_for_facts(void)
{
	CU_ASSERT_EQUAL(prologue(0), KEEL_WAIT);
	CU_ASSERT(has(sent(), "server tolerance.ask {"));
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 1);
	keel_mock_sent_clear(mock);
	keel_mock_peer(mock, "server", KEEL_SERVER, false);
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT(has(sent(), "tolerance.ask"));
	keel_mock_deliver(mock, "server", "tolerance.facts", "id = \"1.svr\"; run = 2;");
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE(out.told);
	facts("");
	CU_ASSERT_TRUE(out.told);
	CU_ASSERT_EQUAL(out.verdict, KEEL_NEXT);
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT);
}

static void test_others_wait_for_nothing(void)
{
	CU_ASSERT_EQUAL(prologue(1), KEEL_NEXT);
	part.tolerate = "none";
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT);
	part.tolerate = "all";
	part.n_hosts = 1;
	CU_ASSERT_EQUAL(prologue(0), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(sent(), "");
}

/* After a restart of the daemon the server has what failed before. */
static void test_lists_come_back(void)
{
	prologue(0);
	facts("lost = (\"c join 15169 bad node\", \"x\", \"d run\"); ");
	CU_ASSERT_FALSE(api->is_good(mod, "1.svr", "c"));
	CU_ASSERT_TRUE(api->is_good(mod, "1.svr", "d"));
}

static void test_gone(void)
{
	lost("b", "join", 15169, "bad node");
	told.gone(mod, "1.svr", 2, false);
	CU_ASSERT_FALSE(api->is_good(mod, "1.svr", "b"));
	told.gone(mod, "1.svr", 3, false);
	CU_ASSERT_TRUE(api->is_good(mod, "1.svr", "b"));
}

/* ---- what is given back ---------------------------------------------------------------------------------------------- */

static void test_spares(void)
{
	prologue(0);
	facts("keep = \"2:ncpus=2\";");
	lost("b", "join", 15169, "bad node");
	CU_ASSERT_EQUAL(launch(), KEEL_NEXT);
	CU_ASSERT_STRING_EQUAL(pruned, "a=(a:ncpus=2) c=(c:ncpus=2) 2:ncpus=2");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "pruned from exec_vnode=" PADDED));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "pruned to exec_vnode=(a:ncpus=2)+(c:ncpus=2)"));
	pruned[0] = '\0';
	CU_ASSERT_EQUAL(launch(), KEEL_NEXT); /* once a run */
	CU_ASSERT_STRING_EQUAL(pruned, "");
}

static void test_spares_not_enough(void)
{
	prologue(0);
	facts("keep = \"3:ncpus=2\";");
	lost("b", "join", 15169, "bad node");
	lost("c", "prologue", 15169, "no disk");
	keel_mock_sent_clear(mock);
	CU_ASSERT_EQUAL(launch(), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, -3);
	CU_ASSERT(has(out.text, "not enough of its hosts are well: ") && has(out.text, "b: bad node") && has(out.text, "c: no disk"));
	CU_ASSERT(has(sent(), "server tolerance.hold {") && has(sent(), "c: no disk"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "could not satisfy select chunk (ncpus=2)"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "NEED chunks for keep_select (3:ncpus=2)"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "HAVE chunks from job's exec_vnode: (a:ncpus=2)+(d:ncpus=2)"));
	CU_ASSERT_STRING_EQUAL(pruned, "");
}

/* An error of the host itself is no reason to hold the job. */
static void test_prune_fails(void)
{
	prologue(0);
	facts("keep = \"2:ncpus=2\";");
	keel_mock_sent_clear(mock);
	prune_code = -ENOMEM;
	CU_ASSERT_EQUAL(launch(), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, -3);
	CU_ASSERT_STRING_EQUAL(sent(), "");
}

static void test_taps_of_sites(void)
{
	static const char *const vnodes[] = { "c", "none" };

	lost("b", "join", 15169, "bad node");
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "ncpus=2+ncpus=1"), 0); /* without facts, too */
	CU_ASSERT_STRING_EQUAL(pruned, "a=(a:ncpus=2) c=(c:ncpus=1) 1:ncpus=2+1:ncpus=1");
	facts("");
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", ""), -EINVAL);
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "+"), -EINVAL);
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "4:ncpus=2"), -ENODATA);
	CU_ASSERT_EQUAL(api->keep(mod, "2.svr", "ncpus=2"), -ENOENT);
	part.started = true;
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "ncpus=2"), -EBUSY);
	part.started = false;
	part.run = 4;
	lost("b", "join", 15169, "bad node");
	CU_ASSERT_EQUAL(api->release(mod, "1.svr", vnodes, 2), 0);
	CU_ASSERT_STRING_EQUAL(pruned, "a=(a:ncpus=2) d=(d:ncpus=2) 1:ncpus=2+1:ncpus=2");
}

static void test_not_released(void)
{
	part.tolerate = "none";
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "ncpus=2"), -EPERM);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "1.svr: no nodes released as job does not tolerate node failures"));
	part.tolerate = "all";
	prologue(0);
	facts("cray = \"a\";");
	CU_ASSERT_EQUAL(api->keep(mod, "1.svr", "ncpus=2"), -ENOTSUP);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "release_nodes(): not currently supported on Cray X* series nodes"));
	CU_ASSERT_STRING_EQUAL(pruned, "");
}

/* past modules/tolerate-node-failures/tolerate.h TEXT_MAX: longer reasons are cut. */
static void test_long_reason(void)
{
	char reason[700], text[2000] = "";

	memset(reason, 'x', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	lost("b", "join", 15169, reason);
	api->each_failed(mod, "1.svr", count, text);
	CU_ASSERT_EQUAL(strspn(strchr(text, 'x'), "x"), 511);
}

static void test_increment(void)
{
	static const char *const one[] = { "1" }, *const each[] = { "0", NULL };
	struct keel_err err = { 0 };
	char *text = api->increment(mod, "2:ncpus=1+ncpus=2", one, 0, &err);

	CU_ASSERT_STRING_EQUAL(text, "3:ncpus=1+2:ncpus=2");
	free(text);
	CU_ASSERT_PTR_NULL(api->increment(mod, "2:ncpus=1+ncpus=2", each, 2, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "bad increment specs");
}

TESTS_MAIN_BETWEEN("release", set_up, tear_down, TEST(test_values), TEST(test_lists), TEST(test_reports_until_noted),
		   TEST(test_start_waits_for_facts), TEST(test_others_wait_for_nothing), TEST(test_lists_come_back),
		   TEST(test_gone), TEST(test_spares), TEST(test_spares_not_enough), TEST(test_prune_fails),
		   TEST(test_taps_of_sites), TEST(test_not_released), TEST(test_long_reason), TEST(test_increment))
