/* SPDX-License-Identifier: Apache-2.0
 *
 * test_retry.c - reservations whose vnodes fail or are taken, and what people see of it, in the mock.
 */
#include "test_world.h"

static struct keel_mock_reply reply;

static void begin(void)
{
	set_up();
	keel_mock_set(keel_find(keel_mock_self(mock), "server", "svr"), "reserve_retry_time", NULL, "50");
}

static void repair(const char *vnode)
{
	set_state(NULL, keel_find(keel_mock_self(mock), "node", vnode), KEEL_NODE_OFFLINE, false);
	keel_mock_advance(mock, 0);
}

/* ---- degraded ------------------------------------------------------------------------------------------ */
static void a_vnode_fails(void)
{
	made(1000, 2000);
	confirmed();
	degrade("c");
	CU_ASSERT(is(2, 2));
	degrade("a");
	CU_ASSERT(is(10, 10));
	CU_ASSERT_EQUAL(number_of("reserve_retry"), NOW + 50);
	CU_ASSERT(logged("An attempt to reconfirm reservation will be made on "));
	degrade("b");
	CU_ASSERT_EQUAL(number_of("reserve_retry"), NOW + 50);
	repair("b");
	CU_ASSERT(is(10, 10));
	repair("a");
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("reserve_retry"), "");
}

static void the_start_is_nearer(void)
{
	made(30, 2000);
	confirmed();
	degrade("a");
	CU_ASSERT_EQUAL(number_of("reserve_retry"), NOW + 30);
	keel_mock_advance(mock, 31000);
	CU_ASSERT(is(5, 10));
	repair("a");
	CU_ASSERT(is(5, 5));
}

static void is_found_again(void)
{
	made(1000, 2000);
	confirmed();
	degrade("a");
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 1); /* it is not due */
	woken = 0;
	keel_mock_advance(mock, 51000);
	CU_ASSERT(woken > 0);
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(is(10, 10));
	CU_ASSERT_STRING_EQUAL(where(), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_why"), "no way");
	CU_ASSERT(number_of("reserve_retry") >= NOW + 101);
	CU_ASSERT(logged("Next attempt to reconfirm reservation will be made on "));
	keel_mock_advance(mock, 51000);
	run_cycle();
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(where(), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_why"), "");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_retry"), "");
}

static void only_a_later_time(void)
{
	made_standing(30, 40);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	answer("(a:ncpus=1)+(c:ncpus=2)", NULL);
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	degrade("c");
	CU_ASSERT(is(2, 10));
	keel_mock_advance(mock, 31000);
	CU_ASSERT(is(5, 10));
	repair("c");
	CU_ASSERT(is(5, 5));
	degrade("b");
	keel_mock_advance(mock, 10000);
	CU_ASSERT(is(2, 10)); /* the second of its times has b not */
}

static void its_retry_goes_with_its_time(void)
{
	made_standing(30, 40);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	keel_mock_advance(mock, 31000);
	degrade("a");
	CU_ASSERT(is(5, 10));
	CU_ASSERT(number_of("reserve_retry") > NOW);
	keel_mock_advance(mock, 10000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("reserve_retry"), "");
}

/* ---- taken ------------------------------------------------------------------------------------------------ */
static void vnodes_are_taken(void)
{
	made(1000, 2000);
	CU_ASSERT_FALSE(lose("M2.svr", 1500, 3000, "a")); /* it has none yet */
	confirmed();
	CU_ASSERT_FALSE(lose("M2.svr", 2000, 3000, "a"));
	CU_ASSERT_FALSE(lose("M2.svr", 0, 1000, "a"));
	CU_ASSERT_FALSE(lose("M2.svr", 1500, 3000, "c"));
	CU_ASSERT(lose("M2.svr", 1500, 3000, "a"));
	CU_ASSERT(is(10, 12));
	CU_ASSERT_STRING_EQUAL(where(), "(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "");
	CU_ASSERT_STRING_EQUAL(blocked[0].exec_vnode, "(b:ncpus=2)");
	CU_ASSERT_EQUAL(number_of("reserve_retry"), NOW);
	CU_ASSERT(logged("An attempt to reconfirm reservation will be made on "));
	CU_ASSERT_FALSE(lose("M2.svr", 1500, 3000, "a"));
	CU_ASSERT(lose("M3.svr", 1500, 3000, "b"));
	CU_ASSERT_STRING_EQUAL(where(), "");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_lost_to"), "M2.svr,M3.svr");
	degrade("b");
	CU_ASSERT(is(10, 12));
	restart();
	CU_ASSERT(is(10, 12));
	CU_ASSERT_STRING_EQUAL(where(), "");
}

static void it_gets_others(void)
{
	made(1000, 2000);
	confirmed();
	CU_ASSERT(lose("M2.svr", 1500, 3000, "a"));
	run_cycle();
	answer(NULL, "Insufficient amount of resource: host ");
	CU_ASSERT(is(10, 12));
	CU_ASSERT_EQUAL(number_of("reserve_retry"), NOW + 50);
	run_cycle();
	CU_ASSERT_PTR_NULL(found);
	resv_retry(module, "M3.svr");
	run_cycle();
	CU_ASSERT_PTR_NULL(found);
	resv_retry(module, "M2.svr");
	run_cycle();
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(where(), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("reserve_retry"), "");
}

static void it_runs_without_any(void)
{
	made(10, 2000);
	confirmed();
	keel_mock_advance(mock, 11000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT(lose("M2.svr", 100, 3000, "a"));
	CU_ASSERT(is(5, 12));
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT(lose("M2.svr", 100, 3000, "b"));
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	restart();
	CU_ASSERT(is(5, 12));
	run_cycle();
	answer("(c:ncpus=1)+(c:ncpus=2)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(c:ncpus=2)");
}

static void it_begins_in_conflict(void)
{
	made(10, 2000);
	confirmed();
	CU_ASSERT(lose("M2.svr", 5, 3000, "a"));
	keel_mock_advance(mock, 11000);
	CU_ASSERT(is(5, 12));
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
}

static void a_later_time_is_taken(void)
{
	made_standing(30, 40);
	confirmed();
	CU_ASSERT(lose("M2.svr", 85, 95, "a")); /* [90, 100) */
	CU_ASSERT(is(10, 12));
	CU_ASSERT_STRING_EQUAL(where(), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_EQUAL(number_of("reserve_start"), NOW + 30);
	run_cycle();
	CU_ASSERT_EQUAL(wish_from, NOW + 90);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
}

static void all_times_are_taken(void)
{
	const struct resv *r;

	made_standing(30, 40);
	confirmed();
	CU_ASSERT(lose("M2.svr", 0, 1000, "a"));
	r = resv_slot(module, resv());
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_STRING_EQUAL(r->span[i].nodes, "(b:ncpus=2)");
	CU_ASSERT(r->span[0].nodes == r->span[2].nodes);
	CU_ASSERT(lose("M2.svr", 95, 1000, "b"));
	CU_ASSERT(r->span[0].nodes && !r->span[1].nodes && !r->span[2].nodes);
	restart();
	r = resv_slot(module, resv());
	CU_ASSERT(is(10, 12));
	CU_ASSERT(r->span[0].nodes && !r->span[1].nodes && !r->span[2].nodes);
	CU_ASSERT_STRING_EQUAL(where(), "(b:ncpus=2)");
}

/* ---- keelson resv ---------------------------------------------------------------------------------------------- */
static bool explained(const char *operand, const char *line)
{
	char body[128];

	snprintf(body, sizeof(body), "args = [ \"%s\" ];", operand);
	memset(&reply, 0, sizeof(reply));
	keel_mock_request(mock, keel_mock_session(mock, "eve", KEEL_USER), "keelson.resv", body, &reply);
	return reply.told && reply.code == 0 && strstr(reply.json, line);
}

static void is_explained(void)
{
	made(1000, 2000);
	CU_ASSERT(explained("R1", "R1.svr waits for the scheduler's decision (state 1, substate 1)"));
	CU_ASSERT(explained("R1.svr@svr", "time 1 of 1: "));
	confirmed();
	degrade("a");
	keel_mock_advance(mock, 51000);
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(explained("R1", "lacks vnodes"));
	CU_ASSERT(explained("R1", "vnode a is unavailable: closed"));
	CU_ASSERT_FALSE(explained("R1", "vnode b"));
	CU_ASSERT(explained("R1", "the last search for vnodes found none: no way"));
	CU_ASSERT(explained("R1", "others are looked for on "));
	CU_ASSERT(lose("M2.svr", 1500, 3000, "a"));
	CU_ASSERT(explained("R1", "vnodes of it were taken by M2.svr"));
	CU_ASSERT_FALSE(explained("S1", ""));
	CU_ASSERT_EQUAL(reply.code, PBSE_UNKRESVID);
	CU_ASSERT_FALSE(explained("", ""));
}

static void denied_ones_are_explained(void)
{
	made(1000, 2000);
	run_cycle();
	answer(NULL, "no way");
	CU_ASSERT(explained("R1", "it was denied, and is gone: R1.svr: no way"));
	CU_ASSERT_FALSE(explained("R", ""));
}

TESTS_MAIN_BETWEEN("degraded, in conflict", begin, tear_down, TEST(a_vnode_fails), TEST(the_start_is_nearer), TEST(is_found_again),
		   TEST(only_a_later_time), TEST(its_retry_goes_with_its_time), TEST(vnodes_are_taken), TEST(it_gets_others),
		   TEST(it_runs_without_any), TEST(it_begins_in_conflict), TEST(a_later_time_is_taken), TEST(all_times_are_taken),
		   TEST(is_explained), TEST(denied_ones_are_explained))
