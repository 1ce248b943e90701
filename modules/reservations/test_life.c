/* SPDX-License-Identifier: Apache-2.0
 *
 * test_life.c - the life of reservations, in the mock: confirmed, begun, over, deleted, and all of it over restarts.
 */
#include "test_world.h"

/* ---- plain ---------------------------------------------------------------------------------------------------- */
static void is_confirmed(void)
{
	made(60, 120);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2");
	CU_ASSERT(wish_from == NOW + 60 && wish_till == NOW + 120);
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(text_of("partition"), "pbs-default");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	CU_ASSERT_EQUAL(n_blocked, 1);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), ID);
	CU_ASSERT_STRING_EQUAL(node_resv("c"), "");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation confirmed"));
	CU_ASSERT_EQUAL(records_of('Y'), 1);
	CU_ASSERT_STRING_EQUAL(held, "");
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 1);
}

static void is_denied(void)
{
	made(60, 120);
	run_cycle();
	answer(NULL, "Insufficient amount of resource: ncpus");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "PBS Failed to confirm resv: Insufficient amount of resource: ncpus"));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation denied"));
	CU_ASSERT_STRING_EQUAL(records, "K");
}

static void is_never_confirmed(void)
{
	made(60, 120);
	keel_mock_advance(mock, 119000);
	CU_ASSERT_PTR_NOT_NULL(resv());
	keel_mock_advance(mock, 2000);
	CU_ASSERT_PTR_NULL(resv());
}

static void begins_once(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 58000);
	CU_ASSERT(is(2, 2));
	keel_mock_advance(mock, 3000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "True");
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_BEGAN);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "vnodes in reservation: 2; "));
	CU_ASSERT_EQUAL(records_of('B'), 1);
	restart();
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_EQUAL(n_blocked, 1);
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_BEGAN);
	CU_ASSERT_EQUAL(records_of('B'), 1);
	CU_ASSERT_STRING_EQUAL(node_resv("b"), ID);
}

/* The alarm of the one that begins was set first. */
static void one_is_over_before_the_other_begins(void)
{
	the_second(0);
	made(120, 180);
	confirmed();
	the_second(1);
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 119000);
	CU_ASSERT(is(5, 5));
	keel_mock_advance(mock, 2000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT(strrchr(records, 'B') != NULL && strrchr(records, 'B')[1] == '\0');
	the_second(0);
	CU_ASSERT(is(5, 5));
}

static void has_vnodes_alone(void)
{
	made(60, 120);
	keel_mock_set(resv(), "Resource_List", "place", "excl");
	confirmed();
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_ALONE);
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	keel_mock_advance(mock, 61000);
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	CU_ASSERT_EQUAL(bits_of("c"), 0);
	restart();
	CU_ASSERT_EQUAL(bits_of("b"), 0x2000);
	CU_ASSERT(is(5, 5)); /* it is no reason to doubt the vnode */
	keel_mock_advance(mock, 60000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_EQUAL(bits_of("b"), 0);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "");
}

/* Maintenance, twice. */
static void two_have_it_alone(void)
{
	for (int second = 0; second < 2; second++) {
		the_second(second);
		made(60, 120 + 60 * second);
		keel_mock_set(resv(), "Resource_List", "place", "exclhost");
		number("reserve_rules", RULE_WHATEVER);
		resv_confirmed(module, resv(), "root@svr", (const char *const[]){ "(a:ncpus=4)" }, 1);
		CU_ASSERT(is(2, 2));
		CU_ASSERT(blocked[0].flags & KEEL_BLOCK_WHATEVER);
	}
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr, R1.svr");
	CU_ASSERT_EQUAL(woken, 0);
	keel_mock_advance(mock, 61000);
	restart();
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr, R1.svr");
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "R2.svr");
	CU_ASSERT_EQUAL(bits_of("a"), 0x2000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_EQUAL(records_of('K'), 2);
}

static void has_hosts_alone(void)
{
	made(60, 120);
	keel_mock_set(resv(), "Resource_List", "place", "exclhost");
	confirmed();
	CU_ASSERT(blocked[0].flags & KEEL_BLOCK_ALONE);
	CU_ASSERT_STRING_EQUAL(blocked_nodes, "(a:ncpus=1)+(b:ncpus=2)+(c:ncpus=0)");
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
}

static void is_never_alone(void)
{
	sharing_of = "ignore_excl";
	made(60, 120);
	keel_mock_set(resv(), "Resource_List", "place", "excl");
	confirmed();
	keel_mock_advance(mock, 61000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(bits_of("a"), 0);
	CU_ASSERT_FALSE(blocked[0].flags & KEEL_BLOCK_ALONE);
}

static void ends_with_its_last_job(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 60000);
	CU_ASSERT(is(7, 9));
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	CU_ASSERT_EQUAL(records_of('K'), 1);
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "False");
	CU_ASSERT_STRING_EQUAL(held, "(a:ncpus=1)+(b:ncpus=2)");
	restart();
	CU_ASSERT(is(7, 9));
	CU_ASSERT_EQUAL(records_of('K'), 1);
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NULL(queue());
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT_EQUAL(n_blocked, 0);
}

static void a_job_that_stays(void)
{
	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 60000);
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	keel_mock_advance(mock, 60000);
	CU_ASSERT(strlen(deleted) > strlen("5.svr;"));
	CU_ASSERT(is(7, 9));
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
}

static void is_idle(void)
{
	made(60, 600);
	number("delete_idle_time", 15);
	confirmed();
	keel_mock_advance(mock, 61000);
	keel_mock_advance(mock, 12000);
	CU_ASSERT(is(5, 5));
	job_comes("5.svr", "Q");
	keel_mock_advance(mock, 30000);
	CU_ASSERT(is(5, 5));
	job_goes("5.svr");
	keel_mock_advance(mock, 13000);
	CU_ASSERT(is(5, 5));
	keel_mock_advance(mock, 4000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Deleting reservation after being idle for 15 seconds"));
}

static void far_away(void)
{
	made(5000000000, 5000000060);
	confirmed();
	keel_mock_advance(mock, 3600000);
	CU_ASSERT(is(2, 2));
	number("reserve_end", INT64_MAX);
	number("reserve_start", INT64_MAX - 1);
	clock_set(module, resv());
	keel_mock_advance(mock, 3600000);
	CU_ASSERT(is(2, 2));
}

static void is_deleted(void)
{
	struct keel_mock_reply reply;
	const struct keel_session *owner = keel_mock_session(mock, "ann", KEEL_USER);

	made(60, 120);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "R");
	keel_mock_set(resv(), "Reserve_Owner", NULL, owner->who);
	keel_mock_request(mock, owner, "resv_delete", "id = \"R1\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT(is(7, 9));
	keel_mock_request(mock, owner, "resv_delete", "id = \"" ID "\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT_EQUAL(records_of('k'), 1);
	job_goes("5.svr");
	CU_ASSERT_PTR_NULL(resv());
	keel_mock_request(mock, owner, "resv_delete", "id = \"R1\";", &reply);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, PBSE_UNKRESVID);
}

/* ---- of several times ------------------------------------------------------------------------------------------- */
static void has_several_times(void)
{
	made_standing(60, 80);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT_EQUAL(wish_from, NOW + 120);
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(1, 1));
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(text_of("reserve_execvnodes"), "3#(a:ncpus=1)+(b:ncpus=2){0,2}(c:ncpus=1)+(b:ncpus=2){1}");
	CU_ASSERT_EQUAL(n_blocked, 3);
	CU_ASSERT_EQUAL(blocked[1].from, NOW + 120);
	keel_mock_advance(mock, 61000);
	CU_ASSERT(is(5, 5));
	job_comes("5.svr", "R");
	keel_mock_advance(mock, 20000);
	CU_ASSERT_EQUAL(number_of("reserve_state"), KEEL_RESV_DELETING_JOBS);
	CU_ASSERT_STRING_EQUAL(deleted, "5.svr;");
	job_goes("5.svr");
	CU_ASSERT(is(2, 2));
	CU_ASSERT_EQUAL(number_of("reserve_index"), 2);
	CU_ASSERT_EQUAL(number_of("reserve_start"), NOW + 120);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), ID);
	CU_ASSERT_STRING_EQUAL(held, "");
	CU_ASSERT(n_blocked == 3 && blocked[0].till < NOW && blocked[1].from == NOW + 120);
	restart();
	CU_ASSERT(n_blocked == 3 && blocked[1].from == NOW + 120 && blocked[2].from == NOW + 180);
	keel_mock_advance(mock, 40000);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_EQUAL(records_of('B'), 2);
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
	keel_mock_advance(mock, 60000);
	keel_mock_advance(mock, 60000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(records_of('B'), 3);
	CU_ASSERT_EQUAL(records_of('K'), 1);
}

/* Whatever becomes of the first ones. */
static void begins_stay(void)
{
	made_standing(60, 80);
	confirmed();
	span_move(module, resv(), NOW + 65, NOW + 90);
	restart();
	CU_ASSERT_EQUAL(resv_slot(module, resv())->n_spans, 3);
	CU_ASSERT(blocked[0].from == NOW + 65 && blocked[0].till == NOW + 90);
	CU_ASSERT(blocked[1].from == NOW + 120 && blocked[1].till == NOW + 140);
	keel_mock_advance(mock, 91000);
	CU_ASSERT(is(2, 2));
	restart();
	CU_ASSERT(number_of("reserve_start") == NOW + 120 && number_of("reserve_duration") == 20);
	CU_ASSERT(blocked[2].from == NOW + 180 && blocked[2].till == NOW + 200);
}

static void all_or_none(void)
{
	made_standing(60, 80);
	run_cycle();
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	answer(NULL, "none");
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(n_finds, 2);
	CU_ASSERT_EQUAL(n_blocked, 0);
}

static void queued_jobs_stay(void)
{
	made_standing(60, 80);
	confirmed();
	keel_mock_advance(mock, 61000);
	job_comes("5.svr", "Q");
	keel_mock_advance(mock, 20000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_STRING_EQUAL(deleted, "");
	CU_ASSERT_STRING_EQUAL(queue_says("started"), "False");
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
}

/* The server was down over two of three. */
static void some_were_missed(void)
{
	made_standing(60, 80);
	confirmed();
	keel_alarm_end(&resv_slot(module, resv())->clock);
	keel_mock_advance(mock, 150000);
	CU_ASSERT(is(2, 2));
	restart();
	keel_mock_advance(mock, 6000);
	CU_ASSERT(is(2, 2));
	CU_ASSERT_EQUAL(number_of("reserve_index"), 3);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "reservation occurrence 2/3 scheduled at"));
	CU_ASSERT_EQUAL(records_of('B'), 0);
	keel_alarm_end(&resv_slot(module, resv())->clock);
	keel_mock_advance(mock, 300000);
	restart();
	keel_mock_advance(mock, 3000);
	CU_ASSERT_PTR_NOT_NULL(resv());
	keel_mock_advance(mock, 3000);
	CU_ASSERT_PTR_NULL(resv());
	CU_ASSERT_EQUAL(records_of('B'), 0);
	CU_ASSERT_EQUAL(records_of('K'), 1);
}

/* ---- searches -------------------------------------------------------------------------------------------------- */
static void what_changed_meanwhile(void)
{
	made(60, 120);
	run_cycle();
	number("reserve_start", NOW + 70);
	spans_read(module, resv());
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(1, 1));
	run_cycle();
	CU_ASSERT_EQUAL(wish_from, NOW + 70);
	resv_remove(module, resv(), "root@svr");
	CU_ASSERT_EQUAL(drops, 1);
	CU_ASSERT_PTR_NULL(resv());
	keel_mock_advance(mock, 0);
	made(60, 120);
	confirmed();
}

static void altered_ones_come_first(void)
{
	made(60, 120);
	the_second(true);
	made(300, 400);
	run_cycle();
	CU_ASSERT_EQUAL(wish_from, NOW + 60);
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	answer("(a:ncpus=1)+(b:ncpus=2)", NULL);
	number("reserve_state", KEEL_RESV_BEING_ALTERED);
	the_second(false);
	degrade("a");
	number("reserve_retry", NOW);
	n_finds = 0;
	run_cycle();
	CU_ASSERT_EQUAL(wish_from, NOW + 300);
	answer("(c:ncpus=3)", NULL);
	CU_ASSERT_EQUAL(wish_from, NOW + 60);
	answer("(c:ncpus=3)", NULL);
	CU_ASSERT_EQUAL(n_finds, 2);
}

static void keeps_what_works(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	degrade("a");
	CU_ASSERT(is(5, 10));
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(b:ncpus=2)");
	answer("(c:ncpus=1)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_STRING_EQUAL(node_resv("a"), "");
	CU_ASSERT_STRING_EQUAL(node_resv("c"), ID);
	CU_ASSERT_EQUAL(records_of('Y'), 2);
}

static void jobs_stay_where_they_are(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	inside = 1;
	degrade("b");
	CU_ASSERT(is(5, 10));
	number("reserve_retry", NOW);
	n_finds = 0;
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 0);
	CU_ASSERT(is(5, 10));
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "PBS Failed to confirm resv: Reservation has running jobs in it"));
	CU_ASSERT(number_of("reserve_retry") > NOW);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
}

/* The first of two chunks was taken from it. */
static void lost_chunks_come_back(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	CU_ASSERT_EQUAL(span_place(module, resv(), 0, "(b:ncpus=2)"), 0);
	CU_ASSERT_STRING_EQUAL(held, "(b:ncpus=2)");
	number("reserve_rules", number_of("reserve_rules") | RULE_LOST);
	number("reserve_substate", 12);
	number("reserve_retry", NOW);
	restart();
	CU_ASSERT(is(5, 12));
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(b:ncpus=2)");
	answer("(c:ncpus=1)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(c:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_FALSE(number_of("reserve_rules") & RULE_LOST);
}

/* Altered while it runs: all is found anew, those with jobs where they are. */
static void altered_where_jobs_are(void)
{
	made(60, 1200);
	confirmed();
	keel_mock_advance(mock, 61000);
	inside = 1;
	number("reserve_state", KEEL_RESV_BEING_ALTERED);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2:vnode=b");
	CU_ASSERT_STRING_EQUAL(wish_beside, "");
	answer("(c:ncpus=1)+(b:ncpus=2)", NULL);
	CU_ASSERT(is(5, 5));
	CU_ASSERT_STRING_EQUAL(held, "(c:ncpus=1)+(b:ncpus=2)");
}

/* A chunk on two vnodes stays one. */
static void whole_groups_move(void)
{
	made(60, 1200);
	keel_mock_set(resv(), "schedselect", NULL, "2:ncpus=1+1:ncpus=3");
	run_cycle();
	answer("(a:ncpus=1)+(a:ncpus=1)+(b:ncpus=2+c:ncpus=1)", NULL);
	keel_mock_advance(mock, 61000);
	degrade("c");
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=3");
	CU_ASSERT_STRING_EQUAL(wish_beside, "(a:ncpus=1)+(a:ncpus=1)");
	answer("(b:ncpus=2+a:ncpus=1)", NULL);
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(a:ncpus=1)+(b:ncpus=2+a:ncpus=1)");
	CU_ASSERT(is(5, 5));
}

/* One that waits gives up all. */
static void all_are_given_up(void)
{
	made(600, 1200);
	confirmed();
	degrade("a");
	CU_ASSERT(is(10, 10));
	number("reserve_retry", NOW);
	run_cycle();
	CU_ASSERT_STRING_EQUAL(wish_select, "1:ncpus=1+1:ncpus=2");
	CU_ASSERT_STRING_EQUAL(wish_beside, "");
	answer(NULL, "none");
	CU_ASSERT(is(10, 10));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "(a:ncpus=1)+(b:ncpus=2)");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Reservation is in degraded mode"));
	CU_ASSERT_EQUAL(n_blocked, 1);
	set_state(NULL, keel_find(keel_mock_self(mock), "node", "a"), KEEL_NODE_OFFLINE, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT(is(2, 2));
}

/* ---- restarts --------------------------------------------------------------------------------------------------- */
static void nothing_is_left_of_its_vnodes(void)
{
	made(600, 1200);
	confirmed();
	number("reserve_state", KEEL_RESV_DEGRADED);
	number("reserve_substate", 12);
	number("reserve_rules", RULE_LOST);
	span_place(module, resv(), 0, NULL);
	restart();
	CU_ASSERT(is(10, 12));
	CU_ASSERT_STRING_EQUAL(text_of("resv_nodes"), "");
	CU_ASSERT(number_of("reserve_retry") >= NOW && number_of("reserve_retry") <= NOW + 5);
	if (queue())
		keel_mock_destroy(queue());
	restart();
	CU_ASSERT_PTR_NOT_NULL(queue());
	CU_ASSERT_STRING_EQUAL(queue_says("enabled"), "True");
}

/* Hosts have time to come back; those that are lost later have none. */
static void hosts_come_back(void)
{
	struct keel_obj *a = keel_find(keel_mock_self(mock), "node", "a");

	made(3600, 7200);
	confirmed();
	keel_mock_advance(mock, 10000);
	lost = NOW + 10;
	set_state(NULL, a, KEEL_NODE_DOWN, true);
	keel_mock_advance(mock, 0);
	CU_ASSERT(is(10, 10));
	restart();
	CU_ASSERT(is(2, 2));
	keel_mock_advance(mock, 599000);
	CU_ASSERT(is(2, 2));
	keel_mock_advance(mock, 2000);
	CU_ASSERT(is(10, 10));
}

static void of_a_kind_without_a_decision(void)
{
	made(600, 1200);
	number("reserve_rules", RULE_WHATEVER);
	run_cycle();
	CU_ASSERT_EQUAL(n_finds, 0);
	restart();
	CU_ASSERT_PTR_NULL(resv());
}

static void a_vnode_of_maintenance_stays(void)
{
	struct keel_mock_outcome out;
	struct keel_obj *a;

	made(600, 1200);
	confirmed();
	a = keel_find(keel_mock_self(mock), "node", "a");
	keel_mock_raise(mock, KEEL_POINT_node_delete, KEEL_EVENT(node_delete, .id = "a", .node = a, .who = "root@svr"), &out);
	CU_ASSERT_NOT_EQUAL(out.verdict, KEEL_REJECT);
	number("reserve_rules", RULE_WHATEVER);
	keel_mock_raise(mock, KEEL_POINT_node_delete, KEEL_EVENT(node_delete, .id = "a", .node = a, .who = "root@svr"), &out);
	CU_ASSERT(out.verdict == KEEL_REJECT && out.code == PBSE_OBJBUSY);
	degrade("a");
	CU_ASSERT(is(2, 2));
}

TESTS_MAIN_BETWEEN("life of reservations", set_up, tear_down, TEST(is_confirmed), TEST(is_denied), TEST(is_never_confirmed),
		   TEST(begins_once), TEST(one_is_over_before_the_other_begins), TEST(has_vnodes_alone), TEST(has_hosts_alone), TEST(is_never_alone), TEST(two_have_it_alone), TEST(ends_with_its_last_job),
		   TEST(a_job_that_stays), TEST(is_idle), TEST(far_away), TEST(is_deleted), TEST(has_several_times),
		   TEST(all_or_none), TEST(begins_stay), TEST(queued_jobs_stay), TEST(some_were_missed), TEST(what_changed_meanwhile), TEST(altered_ones_come_first),
		   TEST(keeps_what_works), TEST(jobs_stay_where_they_are), TEST(lost_chunks_come_back), TEST(altered_where_jobs_are),
		   TEST(whole_groups_move), TEST(all_are_given_up),
		   TEST(nothing_is_left_of_its_vnodes), TEST(hosts_come_back), TEST(of_a_kind_without_a_decision), TEST(a_vnode_of_maintenance_stays))
