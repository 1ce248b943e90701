/* SPDX-License-Identifier: Apache-2.0
 *
 * test_alter.c - reservations that are altered, in the mock.
 */
#include "test_world.h"

static const struct keel_session *ann, *eve, *root;
static struct keel_mock_reply reply;

static void begin(void)
{
	set_up();
	ann = keel_mock_session(mock, "ann", KEEL_USER);
	eve = keel_mock_session(mock, "eve", KEEL_USER);
	root = keel_mock_session(mock, "root", KEEL_EVERYBODY);
}

/* ---- altered ----------------------------------------------------------------------------------------------- */
/* Up to three attributes. */
static int32_t alter_by(const struct keel_session *who, const char *extend, const char *const *attr)
{
	char body[1024];

	snprintf(body, sizeof(body), "id = \"%s\"; attrs = ( %s%s%s%s%s ); extend = \"%s\";", ID, attr[0], attr[1] ? ", " : "",
		 attr[1] ? attr[1] : "", attr[1] && attr[2] ? ", " : "", attr[1] && attr[2] ? attr[2] : "", extend ? extend : "");
	memset(&reply, 0, sizeof(reply));
	keel_mock_request(mock, who, "resv_alter", body, &reply);
	keel_mock_advance(mock, 0);
	return reply.told ? reply.code : -1;
}
#define alter(who, extend, ...) alter_by(who, extend, (const char *const[4]){ __VA_ARGS__ })

static const char *moment(const char *attr, int64_t at)
{
	static char text[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof(text[i]), "(\"%s\", \"\", \"%lld\", 0)", attr, (long long)(NOW + at));
	return text[i];
}

static const char *start(int64_t at)
{
	return moment("reserve_start", at);
}

static bool at(int64_t from, int64_t till)
{
	return number_of("reserve_start") == NOW + from && number_of("reserve_end") == NOW + till &&
	       number_of("reserve_duration") == till - from;
}

#define LASTS(n) "(\"reserve_duration\", \"\", \"" #n "\", 0)"
#define SELECT(s) "(\"Resource_List\", \"select\", \"" s "\", 0)"

static void made_whole(int64_t from, int64_t till)
{
	made(from, till);
	keel_mock_set(resv(), "Resource_List", "select", "1:ncpus=1+1:ncpus=2");
}

static void is_altered(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, start(3000), LASTS(500)), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " ALTER REQUESTED\"}");
	CU_ASSERT(is(11, 2));
	CU_ASSERT(at(3000, 3500));
	CU_ASSERT_EQUAL(blocked[0].from, NOW + 1000); /* until it is decided */
	CU_ASSERT(logged("Attempting to modify reservation start="));
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(7)), PBSE_BADSTATE);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Reserve_Name\", \"\", \"x\", 0)"), PBSE_BADSTATE);
	run_cycle();
	CU_ASSERT(wish_from == NOW + 3000 && wish_till == NOW + 3500);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(3000, 3500));
	CU_ASSERT_STRING_EQUAL(where(), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_EQUAL(blocked[0].from, NOW + 3000);
	CU_ASSERT_EQUAL(records_of('Y'), 2);
	CU_ASSERT(logged("Reservation alter confirmed"));
}

static void is_refused(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, start(3000)), PBSE_BADTSPEC); /* -R alone keeps the end */
	CU_ASSERT_EQUAL(alter(ann, NULL, start(-5)), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(alter(ann, NULL, moment("reserve_end", 500)), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(0)), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(253402300799)), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(alter(ann, NULL, start(3000), moment("reserve_end", 3300), LASTS(300)), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Resource_List\", \"ncpus\", \"1\", 0)"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(ann, "force", LASTS(300)), PBSE_PERM);
	CU_ASSERT_EQUAL(alter(root, "force", "(\"Reserve_Name\", \"\", \"x\", 0)"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(root, "force", SELECT("1:ncpus=1")), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(eve, NULL, LASTS(300)), PBSE_PERM);
	/* past modules/reservations/alter.c WAIT_MAX */
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"interactive\", \"\", \"1000000001\", 0)", LASTS(300)), PBSE_BADATVAL);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"interactive\", \"\", \"0\", 0)", LASTS(300)), PBSE_BADATVAL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 2000));
}

static void is_denied(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"interactive\", \"\", \"9\", 0)", LASTS(5000)), -1);
	CU_ASSERT_STRING_EQUAL(text_of("interactive"), "9");
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(reply.told);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " DENIED\"}");
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 2000));
	CU_ASSERT_STRING_EQUAL(where(), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_alter_revert"), "");
	CU_ASSERT_STRING_EQUAL(text_of("interactive"), "");
	CU_ASSERT(logged("Reservation alter denied"));
	CU_ASSERT_EQUAL(records_of('Y'), 1);
}

static void the_server_restarts(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(5000)), 0);
	CU_ASSERT(at(1000, 6000));
	restart();
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 2000));
	CU_ASSERT_STRING_EQUAL(where(), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_EQUAL(blocked[0].till, NOW + 2000);
}

static void only_names(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Reserve_Name\", \"\", \"other\", 0), (\"Authorized_Users\", \"\", \"bob\", 0)"), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " ALTER REQUESTED\"}");
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("Reserve_Name"), "other");
	CU_ASSERT_STRING_EQUAL(queue_says("acl_users"), "bob");
	CU_ASSERT_EQUAL(records_of('Y'), 1);
}

static void its_list_has_somebody(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Authorized_Users\", \"\", \"bob\", 0)"), 0);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Authorized_Users\", \"\", \"\", 1)"), 0);
	CU_ASSERT_STRING_EQUAL(text_of("Authorized_Users"), text_of("Reserve_Owner"));
	CU_ASSERT_STRING_EQUAL(queue_says("acl_users"), text_of("Reserve_Owner"));
}

static void only_lists_are_added_to(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Reserve_Name\", \"\", \"more\", 2)"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"reserve_end\", \"\", \"5\", 2)"), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Authorized_Users\", \"\", \"bob\", 2)"), 0);
}

static void has_fewer_chunks(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("1:ncpus=3")), PBSE_SELECT_NOT_SUBSET);
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("2:ncpus=1")), PBSE_SELECT_NOT_SUBSET);
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("1:ncpus=2+1:ncpus=2")), PBSE_SELECT_NOT_SUBSET);
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("1:ncpus=2:mem=1gb")), PBSE_SELECT_NOT_SUBSET);
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("ncpus=2")), 0);
	CU_ASSERT(is(11, 2));
	CU_ASSERT_STRING_EQUAL(text_of("schedselect"), "1:ncpus=2");
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=2");
	answer(NULL, "no way");
	CU_ASSERT_STRING_EQUAL(text_of("schedselect"), "1:ncpus=1+1:ncpus=2");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(resv(), "Resource_List", "ncpus"), "3");
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("ncpus=2")), 0);
	run_cycle();
	answer("(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(where(), "(b:ncpus=2)");
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("1:ncpus=1+1:ncpus=2")), PBSE_SELECT_NOT_SUBSET);
}

static void it_runs(void)
{
	made_whole(10, 2000);
	confirmed();
	keel_mock_advance(mock, 11000);
	job_comes("5.svr", "R");
	CU_ASSERT_EQUAL(alter(ann, NULL, start(3000), LASTS(50)), PBSE_RESV_NOT_EMPTY);
	CU_ASSERT_EQUAL(alter(ann, NULL, moment("reserve_end", 3000), LASTS(50)), PBSE_RESV_NOT_EMPTY);
	CU_ASSERT_EQUAL(alter(ann, NULL, moment("reserve_end", 3000)), 0);
	CU_ASSERT(is(11, 5));
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT(at(10, 3000));
	job_goes("5.svr");
	CU_ASSERT_EQUAL(alter(ann, NULL, start(3000), LASTS(50)), 0);
	run_cycle();
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	keel_mock_advance(mock, 2990000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(records_of('B'), 2);
}

static void it_ran_for_long(void)
{
	made_whole(10, 2000);
	confirmed();
	keel_mock_advance(mock, 61000);
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(20)), 0);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(records_of('K'), 1);
}

static void nothing_is_decided_in_time(void)
{
	made_whole(10, 100);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, start(5)), 0);
	keel_mock_advance(mock, 6000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(10, 100));
	CU_ASSERT(logged("Reservation alter denied"));
	keel_mock_advance(mock, 6000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(alter(ann, NULL, moment("reserve_end", 3000)), 0);
	keel_mock_advance(mock, 80000);
	CU_ASSERT(is(11, 5));
	keel_mock_advance(mock, 10000); /* others may have its vnodes now */
	CU_ASSERT_PTR_NULL(resv());
}

/* Taps at resv_modify. */
static keel_verdict sets_end(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_resv_modify *ev = event;

	(void)point;
	CU_ASSERT_EQUAL(keel_call_set(c, ev->resv, "reserve_end", NULL, arg, NULL), 0);
	return KEEL_NEXT;
}

static void a_tap_has_another_end(void)
{
	made_whole(1000, 2000);
	confirmed();
	keel_mock_tap(mock, KEEL_POINT_resv_modify, "sets_end", 0, sets_end, (void *)(uintptr_t) "1700005000");
	CU_ASSERT_EQUAL(alter(ann, NULL, "(\"Reserve_Name\", \"\", \"other\", 0)"), 0);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 2000));
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(50)), 0);
	CU_ASSERT(is(11, 2));
	CU_ASSERT(at(1000, 5000));
	CU_ASSERT_STRING_EQUAL(keel_mock_text(resv(), "Resource_List", "walltime"), "01:06:40");
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	return KEEL_NEXT;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)arg, (void)reason;
}

static keel_verdict waits(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)event, (void)arg;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "a test", .timeout_ms = 1000000,
						      .resume = resumed, .cancel = cancelled }, NULL);
}

static void it_begins_while_a_tap_waits(void)
{
	made_whole(10, 2000);
	confirmed();
	keel_mock_tap(mock, KEEL_POINT_resv_modify, "waits", 0, waits, NULL);
	CU_ASSERT_EQUAL(alter(ann, NULL, start(50)), -1);
	keel_mock_advance(mock, 11000);
	CU_ASSERT(is(5, 5));
	keel_mock_release(mock, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told);
	CU_ASSERT_EQUAL(reply.code, PBSE_BADSTATE);
	CU_ASSERT(is(5, 5));
	CU_ASSERT(at(10, 2000));
}

static void it_is_deleted_while_a_tap_waits(void)
{
	made_whole(10, 2000);
	confirmed();
	keel_mock_tap(mock, KEEL_POINT_resv_modify, "waits", 0, waits, NULL);
	CU_ASSERT_EQUAL(alter(ann, NULL, start(50)), -1);
	resv_remove(module, resv(), "root@svr");
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT(reply.told && reply.code == PBSE_UNKRESVID);
}

static void by_force(void)
{
	made_whole(1000, 2000);
	confirmed();
	keel_mock_set(keel_find(keel_mock_self(mock), "server", "svr"), "scheduling", NULL, "False");
	CU_ASSERT_EQUAL(alter(root, "force", LASTS(50)), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " CONFIRMED\"}");
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 1050));
	CU_ASSERT_EQUAL(blocked[0].till, NOW + 1050);
	keel_mock_set(keel_find(keel_mock_self(mock), "server", "svr"), "scheduling", NULL, "True");
	CU_ASSERT_EQUAL(alter(root, "force", LASTS(70)), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " ALTER REQUESTED\"}");
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 1070));
	CU_ASSERT_EQUAL(records_of('Y'), 3);
}

static void not_yet_confirmed(void)
{
	made_whole(1000, 2000);
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(50)), 0);
	CU_ASSERT(is(11, 1));
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(is(1, 1));
	CU_ASSERT(at(1000, 2000));
	CU_ASSERT_EQUAL(alter(ann, NULL, LASTS(50)), 0);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 1050));
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
}

static void the_soonest_of_several(void)
{
	made_standing(30, 40);
	keel_mock_set(resv(), "Resource_List", "select", "1:ncpus=1+1:ncpus=2");
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, moment("reserve_end", 91)), PBSE_STDG_RESV_OCCR_CONFLICT);
	CU_ASSERT_EQUAL(alter(ann, NULL, start(500)), PBSE_STDG_RESV_OCCR_CONFLICT);
	CU_ASSERT(logged("Requested time(s) will interfere with a later occurrence"));
	CU_ASSERT_EQUAL(alter(ann, NULL, start(50), LASTS(20), SELECT("ncpus=2")), 0);
	run_cycle();
	CU_ASSERT(wish_from == NOW + 50 && wish_till == NOW + 70);
	answer("(b:ncpus=2)", NULL);
	CU_ASSERT_PTR_NULL(found);
	CU_ASSERT(is(2, 2));
	keel_mock_advance(mock, 51000);
	CU_ASSERT(is(5, 5));
	keel_mock_advance(mock, 20000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(90, 100));
	CU_ASSERT_STRING_EQUAL(where(), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("schedselect"), "1:ncpus=1+1:ncpus=2");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_standing_revert"), "");
}

static void taken_while_altered(void)
{
	made_whole(1000, 2000);
	confirmed();
	CU_ASSERT_EQUAL(alter(ann, NULL, start(5000), LASTS(50)), 0);
	CU_ASSERT_FALSE(lose("M2.svr", 5000, 6000, "a"));
	CU_ASSERT(lose("M2.svr", 1500, 1600, "a"));
	CU_ASSERT(is(11, 12));
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("ncpus=2")), PBSE_BADSTATE);
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(is(10, 12));
	CU_ASSERT(at(1000, 2000));
	CU_ASSERT_STRING_EQUAL(where(), "(b:ncpus=2)");
	CU_ASSERT_EQUAL(alter(ann, NULL, SELECT("ncpus=2")), PBSE_BADSTATE);
	CU_ASSERT_EQUAL(alter(ann, NULL, start(5000), LASTS(50)), 0);
	run_cycle();
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
}

static void of_a_kind_that_waits_for_nothing(void)
{
	made_whole(1000, 2000);
	confirmed();
	number("reserve_rules", RULE_WHATEVER);
	CU_ASSERT_EQUAL(alter(root, NULL, SELECT("ncpus=2")), PBSE_NOSUP);
	CU_ASSERT_EQUAL(alter(root, NULL, LASTS(50)), 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"reply\": \"" ID " CONFIRMED\"}");
	CU_ASSERT(is(2, 2));
	CU_ASSERT(at(1000, 1050));
	CU_ASSERT_EQUAL(records_of('Y'), 2);
	CU_ASSERT_FALSE(lose("M2.svr", 1000, 1050, "a"));
	degrade("a");
	CU_ASSERT(is(2, 2));
}

static void hosts_are_to_report(void)
{
	made_whole(1000, 2000);
	restart();
	lost = number_of("reserve_start") - 1000; /* the start of the server */
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(is(1, 1));
	woken = 0;
	keel_mock_advance(mock, 61000);
	CU_ASSERT(woken > 0);
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT_PTR_NULL(resv());
	lost = 0;
}

TESTS_MAIN_BETWEEN("altered", begin, tear_down, TEST(is_altered), TEST(is_refused), TEST(is_denied),
		   TEST(the_server_restarts), TEST(only_names), TEST(its_list_has_somebody),
		   TEST(only_lists_are_added_to), TEST(has_fewer_chunks), TEST(it_runs), TEST(it_ran_for_long),
		   TEST(nothing_is_decided_in_time), TEST(a_tap_has_another_end), TEST(it_begins_while_a_tap_waits),
		   TEST(it_is_deleted_while_a_tap_waits), TEST(by_force), TEST(not_yet_confirmed), TEST(the_soonest_of_several),
		   TEST(taken_while_altered), TEST(of_a_kind_that_waits_for_nothing), TEST(hosts_are_to_report))
