/* SPDX-License-Identifier: Apache-2.0
 *
 * test_repeat.c - what the extend of a submission asks for besides a kind: a dry run, one reservation for each time of a rule; and
 * other vnodes for one that runs.
 */
#include "test_world.h"

#include "keel/service/resv.h"

static const struct keel_session *ann, *boss;
static struct keel_mock_reply reply;
static uint32_t placed, refuse_from;

static int32_t place(struct keel_mod *owner, struct keel_changes *ch, struct keel_obj *draft, char **ret_nodes, struct keel_err *e)
{
	(void)owner, (void)ch, (void)draft;
	if (refuse_from && ++placed >= refuse_from)
		return keel_error(e, PBSE_IVALREQ, "no such host");
	*ret_nodes = strdup("(b:ncpus=4)");
	return 0;
}

static char *preview(struct keel_mod *owner, const struct keel_resv_window *w)
{
	char *text;

	(void)owner;
	return asprintf(&text, "%s for %d", w->nodes, (int)(w->till - w->from)) < 0 ? NULL : text;
}

static const struct keel_resv_kind_def house = {
	.size = sizeof(house), .flags = KEEL_RESV_WHATEVER, .roles = KEEL_OPERATORS, .letter = "H", .extend = "h",
	.name = "house", .doc = "for tests", .place = place, .preview = preview, .repeats = 3,
};
static const struct keel_resv_kind_def kraal = {
	.size = sizeof(kraal), .flags = KEEL_RESV_WHATEVER, .roles = KEEL_OPERATORS, .letter = "K", .extend = "k",
	.name = "kraal", .doc = "for tests", .place = place,
};
static const struct keel_contrib house_rows[] = { KEEL_ROW(RESV_KIND, house), KEEL_ROW(RESV_KIND, kraal) };

static void begin(void)
{
	static struct keel_module other;

	set_up();
	ann = keel_mock_session(mock, "ann", KEEL_USER);
	boss = keel_mock_session(mock, "boss", KEEL_MANAGERS);
	other = (struct keel_module){ .magic = keel_module.magic, .abi_major = keel_module.abi_major,
				      .abi_minor = keel_module.abi_minor, .size = keel_module.size, .kernel = keel_module.kernel,
				      .name = "house", .version = "1", .summary = "for tests", .roles = KEEL_SERVER,
				      KEEL_CONTRIBS(house_rows) };
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &other, NULL, &err));
	counted = true;
	placed = refuse_from = 0;
}

static int32_t submit(const struct keel_session *who, const char *rule, const char *extend)
{
	char body[1024];

	reply = (struct keel_mock_reply){ 0 };
	snprintf(body, sizeof(body), "attrs = ( (\"reserve_start\", \"\", \"1700000060\"), (\"reserve_duration\", \"\", \"60\")%s%s%s ); "
				     "extend = \"%s\";", rule ? ", (\"reserve_timezone\", \"\", \"UTC\"), (\"reserve_rrule\", \"\", \"" : "",
		 rule ? rule : "", rule ? "\")" : "", extend);
	keel_mock_request(mock, who, "resv_submit", body, &reply);
	keel_mock_advance(mock, 0);
	return reply.told ? reply.code : -1;
}

static uint32_t how_many(void)
{
	struct keel_cursor *walk = keel_cursor(keel_mock_self(mock), "resv");
	uint32_t n = 0;

	while (keel_next(walk))
		n++;
	keel_cursor_close(walk);
	return n;
}

static void a_dry_run_makes_nothing(void)
{
	CU_ASSERT_EQUAL(submit(boss, NULL, "h,dry-run"), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"(b:ncpus=4) for 60\"}");
	CU_ASSERT_EQUAL(how_many(), 0);
	CU_ASSERT_STRING_EQUAL(records, "");
	CU_ASSERT_EQUAL(submit(ann, NULL, "h,dry-run"), PBSE_PERM);
	refuse_from = 1;
	CU_ASSERT_EQUAL(submit(boss, NULL, "h,dry-run"), PBSE_IVALREQ);
	CU_ASSERT_EQUAL(submit(boss, NULL, "k,dry-run"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=2", "h,repeat,dry-run"), PBSE_NOSUP);
}

static void one_for_each_time(void)
{
	CU_ASSERT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=3", "h,repeat"), 0);
	CU_ASSERT_EQUAL(how_many(), 3);
	CU_ASSERT_STRING_EQUAL(records, "UYUYUY");
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "CONFIRMED"));
	CU_ASSERT_EQUAL(submit(ann, "FREQ=DAILY;COUNT=3", "h,repeat"), PBSE_PERM);
}

static void all_or_none(void)
{
	refuse_from = 3;
	CU_ASSERT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=3", "h,repeat"), PBSE_IVALREQ);
	CU_ASSERT_STRING_EQUAL(reply.text, "no such host");
	CU_ASSERT_EQUAL(how_many(), 0);
}

static void a_rule_is_bounded(void)
{
	CU_ASSERT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=4", "h,repeat"), PBSE_IVALREQ);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.text, "more than 3 times"));
	CU_ASSERT_NOT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=5", "h,repeat"), 0);
	CU_ASSERT_NOT_EQUAL(submit(boss, "nonsense", "h,repeat"), 0);
	CU_ASSERT_NOT_EQUAL(submit(boss, NULL, "h,repeat"), 0);
	CU_ASSERT_EQUAL(submit(boss, "FREQ=DAILY;COUNT=3", "k,repeat"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(how_many(), 0);
}

static void one_that_runs_gets_other_vnodes(void)
{
	const struct keel_resv_api *api = keel_mock_group(mock, "resv");
	struct keel_obj *h;

	counted = false;
	id = "H1.svr";
	name = "H1";
	CU_ASSERT_EQUAL(submit(boss, NULL, "h"), 0);
	h = resv();
	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	CU_ASSERT_EQUAL(api->replace(api->self, h, "(a:ncpus=1)"), -EINVAL); /* not yet */
	keel_mock_advance(mock, 61000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(api->replace(api->self, h, "a:ncpus=1)"), -EINVAL);
	CU_ASSERT_EQUAL(api->replace(api->self, h, "(a:ncpus=1)"), 0);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "H1.svr");
	CU_ASSERT_STRING_EQUAL(node_resv("b"), "");
	CU_ASSERT_STRING_EQUAL(blocked[0].exec_vnode, "(a:ncpus=1)");
}

TESTS_MAIN_BETWEEN("reservations that are repeated", begin, tear_down, TEST(a_dry_run_makes_nothing), TEST(one_for_each_time),
		   TEST(all_or_none), TEST(a_rule_is_bounded), TEST(one_that_runs_gets_other_vnodes))
