/* SPDX-License-Identifier: Apache-2.0
 *
 * test_submit.c - reservations are submitted: what is accepted, what is refused with which number, who waits, kinds of other modules.
 */
#include "test_world.h"

#include "keel/service/resv.h"

static const struct keel_session *ann, *bob, *boss;
static struct keel_mock_reply reply;

/* `more`: further rows of attributes. */
static struct keel_req *submit(const struct keel_session *who, const char *times, const char *more, const char *extend)
{
	char body[2048];

	reply = (struct keel_mock_reply){ 0 };
	snprintf(body, sizeof(body), "attrs = ( (\"Resource_List\", \"select\", \"1:ncpus=1\")%s%s ); extend = \"%s\";", times, more,
		 extend);
	return keel_mock_request(mock, who, "resv_submit", body, &reply);
}

static struct keel_req *sent(const struct keel_session *who, const char *times, const char *more)
{
	struct keel_req *req = submit(who, times, more, "");

	keel_mock_advance(mock, 0);
	return req;
}

#define IN_A_MINUTE ", (\"reserve_start\", \"\", \"1700000060\"), (\"reserve_duration\", \"\", \"60\")"

static void begin(void)
{
	set_up();
	ann = keel_mock_session(mock, "ann", KEEL_USER);
	bob = keel_mock_session(mock, "bob", KEEL_USER);
	boss = keel_mock_session(mock, "boss", KEEL_MANAGERS);
}

static void is_made(void)
{
	sent(ann, IN_A_MINUTE, ", (\"Reserve_Name\", \"\", \"mine\"), (\"Authorized_Users\", \"\", \"bob\")");
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr UNCONFIRMED"));
	CU_ASSERT_FATAL(is(1, 1));
	CU_ASSERT_EQUAL(number_of("reserve_end"), 1700000120);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(resv(), "Resource_List", "walltime"), "00:01:00");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(resv(), "Resource_List", "ncpus"), "1");
	CU_ASSERT_STRING_EQUAL(text_of("schedselect"), "1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(text_of("Reserve_Name"), "mine");
	CU_ASSERT_STRING_EQUAL(queue_says("acl_user_enable"), "True");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "False");
	CU_ASSERT_STRING_EQUAL(keel_mock_text(queue(), "resources_max", "ncpus"), "1");
	CU_ASSERT_PTR_NULL(keel_mock_text(queue(), "resources_max", "walltime"));
	CU_ASSERT_STRING_EQUAL(records, "U");
	CU_ASSERT_EQUAL(woken, 1);
	CU_ASSERT_EQUAL(n_blocked, 1);
}

static const struct {
	const char *times, *more;
	int32_t code;
} refused[] = {
	{ "", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"1700000060\")", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"1699999999\"), (\"reserve_duration\", \"\", \"60\")", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"1700000060\"), (\"reserve_duration\", \"\", \"0\")", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"-5\"), (\"reserve_duration\", \"\", \"60\")", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"253402300800\"), (\"reserve_duration\", \"\", \"60\")", "", PBSE_BADTSPEC },
	{ ", (\"reserve_start\", \"\", \"1700000060\"), (\"reserve_duration\", \"\", \"9999999999999\")", "", PBSE_BADATVAL },
	{ IN_A_MINUTE, ", (\"reserve_nodes\", \"\", \"x\")", PBSE_NOATTR },
	{ IN_A_MINUTE, ", (\"resv_nodes\", \"\", \"(a:ncpus=1)\")", PBSE_ATTRRO },
	{ IN_A_MINUTE, ", (\"reserve_rules\", \"\", \"1\")", PBSE_ATTRRO },
	{ IN_A_MINUTE, ", (\"Resource_List\", \"min_walltime\", \"5\")", PBSE_NOSTF_RESV },
	{ IN_A_MINUTE, ", (\"Resource_List\", \"place\", \"foo\")", PBSE_BADATVAL },
	{ IN_A_MINUTE, ", (\"Resource_List\", \"nosuch\", \"1\")", PBSE_UNKRESC },
	{ IN_A_MINUTE, ", (\"Priority\", \"\", \"1025\")", PBSE_BADATVAL }, /* past modules/reservations/attributes.c PRIORITY_MAX */
	{ IN_A_MINUTE, ", (\"Mail_Points\", \"\", \"ax\")", PBSE_BADATVAL },
	{ IN_A_MINUTE, ", (\"Reserve_Name\", \"\", \"a b\")", PBSE_BADATVAL },
	{ IN_A_MINUTE, ", (\"Authorized_Users\", \"\", \"x,y,x\")", PBSE_DUPLIST },
	{ IN_A_MINUTE, ", (\"User_List\", \"\", \"bob\")", PBSE_R_UID },
	{ IN_A_MINUTE, ", (\"User_List\", \"\", \"ann@elsewhere\")", PBSE_R_UID },
	{ IN_A_MINUTE, ", (\"User_List\", \"\", \"an,annie\")", PBSE_R_UID },
	{ IN_A_MINUTE, ", (\"group_list\", \"\", \"nosuch\")", PBSE_R_GID },
	{ IN_A_MINUTE, ", (\"Account_Name\", \"\", \"a\\nb\")", PBSE_BADATVAL },
	{ IN_A_MINUTE, ", (\"reserve_rrule\", \"\", \"FREQ=DAILY\"), (\"reserve_timezone\", \"\", \"UTC\")", PBSE_BAD_RRULE_SYNTAX2 },
	{ IN_A_MINUTE, ", (\"reserve_rrule\", \"\", \"FREQ=DAILY;COUNT=2\")", PBSE_BAD_ICAL_TZ },
};

static void is_refused(void)
{
	for (size_t i = 0; i < KEEL_COUNT(refused); i++) {
		sent(ann, refused[i].times, refused[i].more);
		if (reply.code != refused[i].code)
			fprintf(stderr, "row %zu: %d %s\n", i, reply.code, reply.text);
		CU_ASSERT_EQUAL(reply.code, refused[i].code);
		CU_ASSERT_PTR_NULL(resv());
		CU_ASSERT_PTR_NULL(queue());
	}
	CU_ASSERT_STRING_EQUAL(records, "");
	CU_ASSERT_EQUAL(woken, 0);
}

static void entries_that_count(void)
{
	sent(ann, IN_A_MINUTE, ", (\"User_List\", \"\", \"bob@elsewhere,ann\"), (\"group_list\", \"\", \"nosuch@elsewhere,users\")");
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_STRING_EQUAL(text_of("egroup"), "users");
}

/* past modules/reservations/attributes.c NAME_LEN_MAX */
static void names_have_an_end(void)
{
	char more[300];

	snprintf(more, sizeof(more), ", (\"Reserve_Name\", \"\", \"%0231d\")", 7);
	sent(ann, IN_A_MINUTE, more);
	CU_ASSERT_EQUAL(reply.code, PBSE_JOBNBIG);
	snprintf(more, sizeof(more), ", (\"Reserve_Name\", \"\", \"%0230d\")", 7);
	sent(ann, IN_A_MINUTE, more);
	CU_ASSERT_EQUAL(reply.code, 0);
}

static void set_server(const char *attr, const char *value)
{
	CU_ASSERT_EQUAL(keel_mock_set(keel_find(keel_mock_self(mock), "server", "svr"), attr, NULL, value), 0);
}

static void server_may_refuse(void)
{
	set_server("resv_enable", "False");
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, PBSE_RESVAUTH_U);
	CU_ASSERT_STRING_EQUAL(reply.text, "reservations disallowed on svr");
	set_server("resv_enable", "True");
	set_server("acl_resv_host_enable", "True");
	set_server("acl_resv_hosts", "elsewhere");
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, PBSE_RESVAUTH_H);
	set_server("acl_resv_host_enable", "False");
	set_server("acl_resv_group_enable", "True");
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, PBSE_RESVAUTH_G);
	set_server("acl_resv_group_enable", "False");
	set_server("acl_resv_user_enable", "True");
	set_server("acl_resv_users", "ann");
	sent(bob, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, PBSE_RESVAUTH_U);
	CU_ASSERT_PTR_NULL(resv());
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, 0);
}

static keel_verdict no(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)event, (void)arg;
	return keel_reject(c, PBSE_HOOKERROR, "no");
}

static void a_tap_may_refuse(void)
{
	keel_mock_tap(mock, KEEL_POINT_resv_submit, "no", 0, no, NULL);
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_EQUAL(reply.code, PBSE_HOOKERROR);
	CU_ASSERT_STRING_EQUAL(reply.text, "no");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
}

static void recurs(void)
{
	id = "S1.svr";
	name = "S1";
	sent(ann, IN_A_MINUTE,
	     ", (\"reserve_rrule\", \"\", \"FREQ=DAILY;COUNT=3\"), (\"reserve_timezone\", \"\", \"UTC\")");
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_FATAL(is(1, 1));
	CU_ASSERT_EQUAL(number_of("reserve_count"), 3);
	CU_ASSERT_EQUAL(number_of("reserve_index"), 1);
	CU_ASSERT_EQUAL(resv_slot(module, resv())->n_spans, 3);
}

static void recurs_once(void)
{
	sent(ann, IN_A_MINUTE,
	     ", (\"reserve_rrule\", \"\", \"FREQ=DAILY;COUNT=1\"), (\"reserve_timezone\", \"\", \"UTC\")");
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_FATAL(is(1, 1));
	CU_ASSERT_EQUAL(number_of("reserve_count"), 1);
	CU_ASSERT_EQUAL(resv_slot(module, resv())->n_spans, 1);
	CU_ASSERT_PTR_NULL(keel_find(keel_mock_self(mock), "resv", "S1.svr"));
}

/* ---- requests that wait ------------------------------------------------------------------------------------------------ */

static void waits(void)
{
	sent(ann, IN_A_MINUTE, ", (\"interactive\", \"\", \"10\")");
	CU_ASSERT_FALSE(reply.told);
	run_cycle();
	answer("(a:ncpus=1)", NULL);
	CU_ASSERT_EQUAL(reply.parts, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.part[0], ID));
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr CONFIRMED"));
	CU_ASSERT_STRING_EQUAL(text_of("interactive"), "");
}

static void waits_in_vain(void)
{
	sent(ann, IN_A_MINUTE, ", (\"interactive\", \"\", \"3\")");
	keel_mock_advance(mock, 2900);
	CU_ASSERT_FALSE(reply.told);
	keel_mock_advance(mock, 200);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr UNCONFIRMED"));
	CU_ASSERT(is(1, 1));
}

static void is_removed_when_it_waits_in_vain(void)
{
	sent(ann, IN_A_MINUTE, ", (\"interactive\", \"\", \"-3\")");
	keel_mock_advance(mock, 3100);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr delete, wait period expired"));
	CU_ASSERT_PTR_NULL(resv());
}

/* past modules/reservations/asker.c WAIT_MAX: it does not become a moment in the past. */
static void waits_a_year_at_most(void)
{
	sent(ann, ", (\"reserve_start\", \"\", \"1900000000\"), (\"reserve_duration\", \"\", \"60\")",
	     ", (\"interactive\", \"\", \"9223372036854775807\")");
	keel_mock_advance(mock, INT64_C(86400) * 1000);
	CU_ASSERT_FALSE(reply.told);
	CU_ASSERT_PTR_NOT_NULL(resv_slot(module, resv())->askers);
	run_cycle();
	answer("(a:ncpus=1)", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr CONFIRMED"));
}

static void client_goes(void)
{
	struct keel_req *req = sent(ann, IN_A_MINUTE, ", (\"interactive\", \"\", \"-3\")");

	keel_mock_client_gone(req);
	keel_mock_advance(mock, 5000);
	CU_ASSERT(is(1, 1));
	CU_ASSERT_PTR_NULL(resv_slot(module, resv())->askers);
}

/* As the library does it when the server was restarted. */
static void waits_again(void)
{
	struct keel_mock_reply other = { 0 };

	sent(ann, IN_A_MINUTE, "");
	keel_mock_request(mock, bob, "resv_wait", "id = \"R1.svr\"; seconds = -1;", &other);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(other.code, PBSE_PERM);
	keel_mock_request(mock, ann, "resv_wait", "id = \"R1.svr\"; seconds = 9;", &reply);
	keel_mock_request(mock, ann, "resv_wait", "id = \"R7.svr\"; seconds = 9;", &other);
	run_cycle();
	answer("(a:ncpus=1)", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "R1.svr CONFIRMED"));
	CU_ASSERT_EQUAL(other.code, PBSE_UNKRESVID);
}

/* ---- kinds ---------------------------------------------------------------------------------------------------------------- */

static int32_t place_code;

static int32_t place(struct keel_mod *owner, struct keel_changes *ch, struct keel_obj *draft, char **ret_nodes, struct keel_err *e)
{
	(void)owner, (void)ch, (void)draft;
	if (place_code)
		return keel_error(e, place_code, "no such host");
	*ret_nodes = strdup("(b:ncpus=4)");
	return 0;
}

static const struct keel_resv_kind_def house = {
	.size = sizeof(house), .flags = KEEL_RESV_WHATEVER, .roles = KEEL_OPERATORS, .letter = "H", .extend = "h",
	.name = "house", .doc = "for tests", .place = place,
};
static const struct keel_contrib house_rows[] = { KEEL_ROW(RESV_KIND, house) };

static void load_house(void)
{
	static struct keel_module other;

	other = (struct keel_module){ .magic = keel_module.magic, .abi_major = keel_module.abi_major,
				      .abi_minor = keel_module.abi_minor, .size = keel_module.size, .kernel = keel_module.kernel,
				      .name = "house", .version = "1", .summary = "for tests", .roles = KEEL_SERVER,
				      KEEL_CONTRIBS(house_rows) };
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &other, NULL, &err));
	place_code = 0;
	id = "H1.svr";
	name = "H1";
}

static void kind_is_confirmed_at_once(void)
{
	load_house();
	submit(boss, IN_A_MINUTE, "", "h");
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "H1.svr CONFIRMED"));
	CU_ASSERT_FATAL(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(b:ncpus=4)");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
	CU_ASSERT_STRING_EQUAL(records, "UY");
	CU_ASSERT_EQUAL(woken, 0);
	CU_ASSERT_EQUAL(number_of("reserve_rules") & RULE_WHATEVER, RULE_WHATEVER);
}

static void kind_has_its_roles(void)
{
	load_house();
	submit(ann, IN_A_MINUTE, "", "h");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_PERM);
	place_code = PBSE_IVALREQ;
	submit(boss, IN_A_MINUTE, "", "h");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_IVALREQ);
	CU_ASSERT_STRING_EQUAL(reply.text, "no such host");
	CU_ASSERT_PTR_NULL(resv());
	submit(boss, IN_A_MINUTE, "", "q");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_NOSUP);
}

/* ---- names, permission ------------------------------------------------------------------------------------------------------ */

static void has_names(void)
{
	sent(ann, IN_A_MINUTE, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(resv());
	CU_ASSERT_PTR_EQUAL(resv_find(module, "R1"), resv());
	CU_ASSERT_PTR_EQUAL(resv_find(module, "R1.svr"), resv());
	CU_ASSERT_PTR_EQUAL(resv_find(module, "R1.svr@svr"), resv());
	CU_ASSERT_PTR_EQUAL(resv_find(module, "R1@svr"), resv());
	CU_ASSERT_PTR_NULL(resv_find(module, "M1"));
	CU_ASSERT_PTR_NULL(resv_find(module, "S1.svr"));
	CU_ASSERT_PTR_NULL(resv_find(module, ""));
	CU_ASSERT_PTR_NULL(resv_find(module, "@svr"));
	CU_ASSERT_PTR_NULL(resv_find(module, "R1.other"));
	CU_ASSERT_PTR_EQUAL(resv_of_queue(module, "R1"), resv());
	CU_ASSERT_PTR_NULL(resv_of_queue(module, "R1.svr"));
	CU_ASSERT_PTR_NULL(resv_of_queue(module, "workq"));
}

/* A list of so many users, of which one stands twice; its length. */
static size_t long_list(char *list, int users)
{
	size_t len = 0;

	for (int i = 0; i < users; i++)
		len += (size_t)sprintf(list + len, "u%d,", i);
	return len + (size_t)sprintf(list + len, "u1");
}

static int32_t submit_list(const char *list)
{
	char *body = malloc(strlen(list) + 512);

	CU_ASSERT_FATAL(body != NULL);
	sprintf(body, "attrs = ( (\"Resource_List\", \"select\", \"1\")" IN_A_MINUTE ", (\"Authorized_Users\", \"\", \"%s\") );",
		list);
	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, ann, "resv_submit", body, &reply);
	keel_mock_advance(mock, 0);
	free(body);
	return reply.code;
}

static void lists_may_be_long(void)
{
	char *list = malloc(2 * LIST_LEN_MAX);

	CU_ASSERT_FATAL(list != NULL);
	CU_ASSERT(long_list(list, 38000) < LIST_LEN_MAX);
	CU_ASSERT_EQUAL(submit_list(list), PBSE_DUPLIST);
	memset(list, 'x', LIST_LEN_MAX + 1); /* past modules/reservations/reservations.h LIST_LEN_MAX */
	list[LIST_LEN_MAX + 1] = '\0';
	CU_ASSERT_EQUAL(submit_list(list), PBSE_BADATVAL);
	free(list);
}

static void its_queue_is_its_own(void)
{
	sent(ann, IN_A_MINUTE, "");
	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, boss, "manage", "cmd = 1; obj = 1; name = \"R1\"; attrs = ();", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_OBJBUSY);
	CU_ASSERT_PTR_NOT_NULL(queue());
}

TESTS_MAIN_BETWEEN("reservations are submitted", begin, tear_down, TEST(is_made), TEST(is_refused), TEST(names_have_an_end),
		   TEST(entries_that_count), TEST(server_may_refuse), TEST(a_tap_may_refuse), TEST(recurs), TEST(recurs_once), TEST(waits),
		   TEST(waits_in_vain), TEST(is_removed_when_it_waits_in_vain), TEST(waits_a_year_at_most), TEST(client_goes), TEST(waits_again),
		   TEST(kind_is_confirmed_at_once), TEST(kind_has_its_roles), TEST(has_names), TEST(its_queue_is_its_own), TEST(lists_may_be_long))
