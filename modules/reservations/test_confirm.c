/* SPDX-License-Identifier: Apache-2.0
 *
 * test_confirm.c - vnodes that a request gives to a reservation: who may, what is refused, what is nothing new.
 */
#include "test_world.h"

static const struct keel_session *operator(void)
{
	return keel_mock_session(mock, "op", KEEL_USER | KEEL_OPERATOR);
}

static int32_t asked_by(const struct keel_session *who, const char *body)
{
	struct keel_mock_reply reply = { 0 };

	keel_mock_request(mock, who, "resv_confirm", body, &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT_FATAL(reply.told);
	return reply.code;
}

static int32_t asked(const char *location, const char *start, const char *extend)
{
	char body[1024];

	snprintf(body, sizeof(body), "id = \"%s\"; location = \"%s\"; start = %s; extend = \"%s\";", id, location, start, extend);
	return asked_by(operator(), body);
}

#define SUCCESS "PBS_RESV_CONFIRM_SUCCESS"
#define FAILURE "PBS_RESV_CONFIRM_FAIL"

static void by_an_operator(void)
{
	made(60, 120);
	CU_ASSERT_EQUAL(asked_by(keel_mock_session(mock, "ann", KEEL_USER),
				 "id = \"R1\"; location = \"(a:ncpus=1)\"; start = 0; extend = \"" SUCCESS "\";"),
			PBSE_PERM);
	CU_ASSERT(is(1, 1));
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)+(b:ncpus=2)", "0", SUCCESS ":partition=p1"), 0);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("partition"), "p1");
	CU_ASSERT_EQUAL(records_of('Y'), 1);
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)+(b:ncpus=2)", "0", SUCCESS), 0);
	CU_ASSERT_EQUAL(records_of('Y'), 1);
	CU_ASSERT_EQUAL(asked("(c:ncpus=3)", "0", SUCCESS), PBSE_BADSTATE);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
}

static void nonsense(void)
{
	static const char *const bad[] = { "", "a", "(a:ncpus=1", "(d:ncpus=1)", "(a:nosuch=1)", "()", "(a:ncpus=1)+", "1#(a:ncpus=1)",
					   "2#(a:ncpus=1){0-1}", "1#(a:ncpus=1){1}", "1#(d:ncpus=1){0}", "1#", "#", "(a:ncpus=x)" };

	made(60, 120);
	for (size_t i = 0; i < KEEL_COUNT(bad); i++)
		if (asked(bad[i], "0", SUCCESS) == 0) {
			printf("taken: %s\n", bad[i]);
			CU_FAIL("a bad place was taken");
		}
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)", "9223372036854775807L", SUCCESS), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)", "1L", SUCCESS), PBSE_BADTSPEC);
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)", "0", "nothing"), PBSE_resvFail);
	CU_ASSERT_EQUAL(asked_by(operator(), "id = \"R1\"; location = \"(a:ncpus=1)\";"), PBSE_resvFail);
	CU_ASSERT_EQUAL(asked_by(operator(), "id = \"R7\"; location = \"(a:ncpus=1)\"; extend = \"" SUCCESS "\";"), PBSE_UNKRESVID);
	CU_ASSERT_EQUAL(asked_by(operator(), NULL), PBSE_UNKRESVID);
	CU_ASSERT(is(1, 1));
	CU_ASSERT_STRING_EQUAL(records, "");
}

static void at_another_time(void)
{
	char start[32];

	made(60, 120);
	snprintf(start, sizeof(start), "%lldL", (long long)NOW + 300);
	CU_ASSERT_EQUAL(asked("1#(a:ncpus=1){0}", start, SUCCESS), 0);
	CU_ASSERT(is(2, 2));
	CU_ASSERT(number_of("reserve_start") == NOW + 300 && number_of("reserve_end") == NOW + 360);
	CU_ASSERT(blocked[0].from == NOW + 300 && blocked[0].till == NOW + 360);
}

static void of_several_times(void)
{
	made_standing(60, 80);
	CU_ASSERT_EQUAL(asked("(a:ncpus=1)", "0", SUCCESS), PBSE_BADNODESPEC);
	CU_ASSERT_EQUAL(asked("3#(a:ncpus=1){0-1}", "0", SUCCESS), PBSE_BADNODESPEC);
	CU_ASSERT_EQUAL(asked("3#(a:ncpus=1){0,2}(b:ncpus=1){1}", "0", SUCCESS), 0);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_EQUAL(n_blocked, 3);
	CU_ASSERT_STRING_EQUAL(node_resv("b"), ID);
}

static void there_is_no_place(void)
{
	made(60, 120);
	CU_ASSERT_EQUAL(asked("", "0", FAILURE), 0);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_STRING_EQUAL(records, "K");
	made(60, 120);
	confirmed();
	CU_ASSERT_EQUAL(asked("", "0", FAILURE), PBSE_BADSTATE);
	degrade("a");
	CU_ASSERT(is(10, 10));
	CU_ASSERT_EQUAL(asked("", "0", FAILURE), 0);
	CU_ASSERT(is(10, 10));
	CU_ASSERT_EQUAL(asked("(c:ncpus=1)+(b:ncpus=2)", "0", SUCCESS), 0);
	CU_ASSERT(is(2, 2));
}

/* What is being found at that moment is of no use any more. */
static void while_it_is_searched(void)
{
	made(60, 120);
	run_cycle();
	CU_ASSERT_EQUAL(asked("(c:ncpus=3)", "0", SUCCESS), 0);
	CU_ASSERT_EQUAL(drops, 1);
	CU_ASSERT(is(2, 2));
}

TESTS_MAIN_BETWEEN("vnodes by request", set_up, tear_down, TEST(by_an_operator), TEST(nonsense), TEST(at_another_time),
		   TEST(of_several_times), TEST(there_is_no_place), TEST(while_it_is_searched))
