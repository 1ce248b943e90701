/* SPDX-License-Identifier: Apache-2.0
 *
 * test_room.c - jobs of a block's queue: inside its vnodes and amounts, in its time, and nowhere else.
 */
#include "test_world.h"

static void set_up(void)
{
	world_begin();
}

static void begun(const char *exec_vnode, uint32_t flags)
{
	int held;

	for (int i = 0; i < NODES; i++) {
		char word[16];
		const char *at;

		snprintf(word, sizeof(word), "%s:ncpus=", node[i].name);
		at = strstr(exec_vnode, word);
		held = at ? atoi(at + strlen(word)) : 0;
		node[i].held = held;
		node[i].down = held && flags;
	}
	nodes_changed();
	blocks_part(HOLDER, 0, "R1", -10, 10000000, exec_vnode, flags | KEEL_BLOCK_BEGAN);
}

/* What was started, in order; each is checked once. */
static void starts(uint32_t n, const char *const *wanted)
{
	keel_mock_advance(mock, 5000);
	CU_ASSERT_EQUAL(n_ran, n);
	for (uint32_t i = 0; i < n_ran; i++) {
		CU_ASSERT(i < n && strcmp(ran[i], wanted[i]) == 0);
		if (i >= n || strcmp(ran[i], wanted[i]) != 0)
			printf("\n%s, not %s\n", ran[i], i < n ? wanted[i] : "that");
	}
	n_ran = 0;
}
#define STARTS(...) starts(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), (const char *[]){ __VA_ARGS__ })
#define STARTS_NONE() starts(0, NULL)

static void comments(uint32_t i, const char *wanted)
{
	const char *text = keel_mock_text(job[i], "comment", NULL);

	CU_ASSERT_STRING_EQUAL(text ? text : "", wanted);
	if (!text || strcmp(text, wanted) != 0)
		printf("\n%s, not %s\n", text ? text : "nothing", wanted);
}

/* Others do not get what the block has, its jobs no more than that; within one cycle. */
static void test_amounts(void)
{
	begun("(n1:ncpus=3)+(n2:ncpus=1)", 0);
	job_waits_in("R1", "1:ncpus=2", "free");
	job_waits_in("R1", "1:ncpus=1", "free");
	job_waits_in("R1", "1:ncpus=1", "free");
	job_waits_in("R1", "1:ncpus=1", "free");
	job_waits_in("workq", "1:ncpus=3", "free");
	job_waits_in("workq", "1:ncpus=3", "free");
	job_waits_in("workq", "1:ncpus=3", "free");
	job_waits_in("workq", "1:ncpus=3", "free");
	STARTS("0 (n1:ncpus=2)", "1 (n1:ncpus=1)", "2 (n2:ncpus=1)", "4 (n0:ncpus=3)", "5 (n2:ncpus=3)", "6 (n3:ncpus=3)");
	keel_mock_advance(mock, 1000);
	comments(3, "Not Running: Not enough free nodes available");
	comments(7, "Not Running: Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)");
}

/* Only in its time, whatever its queue says; without vnodes never. */
static void test_time(void)
{
	job_waits_in("R1", "1:ncpus=1", "free");
	blocks_part(HOLDER, 0, "R1", -100, -50, "(n0:ncpus=1)", 0);
	blocks_part(HOLDER, 1, "R1", 100, 200, "(n1:ncpus=1)", 0);
	STARTS_NONE();
	keel_mock_advance(mock, 1000);
	comments(0, "Not Running: Queue not started.");
	keel_mock_advance(mock, 100000);
	keel_sched_reconsider();
	STARTS("0 (n1:ncpus=1)");
	blocks_part(HOLDER, 1, "R1", -10, 200, "", 0);
	job_waits_in("R1", "1:ncpus=1", "free");
	STARTS_NONE();
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Resv;R1.svr;Reservation is invalid - ignoring for this cycle"));
	keel_mock_advance(mock, 1000);
	comments(1, "Not Running: No available resources on nodes");
	keel_sched_unblock(HOLDER, 0);
	keel_mock_advance(mock, 1000);
}

/* It may say more than there is. */
static void test_physically_less(void)
{
	job_runs("workq", "(n1:ncpus=3)", 0);
	begun("(n1:ncpus=4)", 0);
	job_waits_in("R1", "1:ncpus=2", "free");
	job_waits_in("R1", "1:ncpus=1", "free");
	STARTS("2 (n1:ncpus=1)");
}

/* Maintenance: what is free there, whoever has the rest; a state that keeps others away is none for them. */
static void test_whatever(void)
{
	job_runs("workq", "(n1:ncpus=3)", 0);
	begun("(n1:ncpus=4)", KEEL_BLOCK_WHATEVER);
	job_waits_in("R1", "1:ncpus=1", "excl");
	job_waits_in("R1", "1:ncpus=1", "free");
	STARTS("1 (n1:ncpus=1)");
	CU_ASSERT_EQUAL(node[1].jobs_outside, 1);
	job_moves(job[1], "(n1:ncpus=1)", -1);
	keel_mock_set(job[1], "exec_vnode", NULL, NULL);
	keel_sched_reconsider();
	node[1].closed_inside = true;
	nodes_changed();
	STARTS_NONE();
	node[1].closed_inside = false;
	nodes_changed();
	keel_sched_reconsider();
	STARTS("2 (n1:ncpus=1)");
}

static void test_exclusive_inside(void)
{
	begun("(n1:ncpus=2)+(n2:ncpus=2)", 0);
	job_waits_in("R1", "1:ncpus=1", "excl");
	job_waits_in("R1", "1:ncpus=1", "excl");
	job_waits_in("R1", "1:ncpus=1", "free");
	job_waits_in("R1", "1:ncpus=1", "excl");
	STARTS("0 (n1:ncpus=1)", "1 (n2:ncpus=1)");
	keel_mock_advance(mock, 1000);
	comments(2, "Not Running: Not enough free nodes available");
}

/* A start that fails gives back, in the room and outside. */
static void test_start_fails(void)
{
	begun("(n1:ncpus=2)", 0);
	run_fails = PBSE_SYSTEM;
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS_NONE();
	run_fails = 0;
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS("1 (n1:ncpus=2)");
}

/* While a start waits for a tap what it takes is taken, in the room; outside it is the block's. */
static void test_start_waits(void)
{
	begun("(n1:ncpus=2)", 0);
	run_waits = true;
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS_NONE();
	job_waits_in("R1", "1:ncpus=1", "free");
	nodes_changed();
	job_waits_in("workq", "1:ncpus=2:vnode=n1", "free");
	STARTS("2 (n1:ncpus=2)");
	run_goes_on();
	keel_sched_reconsider();
	STARTS_NONE();
	job_moves(job[0], "(n1:ncpus=2)", -1);
	keel_mock_destroy(job[0]);
	job[0] = NULL;
	keel_sched_reconsider();
	STARTS("1 (n1:ncpus=1)");
}

/* Vnodes that change are read again, a block that becomes another is another room. */
static void test_changes(void)
{
	begun("(n1:ncpus=1)", 0);
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS_NONE();
	begun("(n1:ncpus=1)+(n3:ncpus=2)", 0);
	keel_sched_reconsider();
	STARTS("0 (n3:ncpus=2)");
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS_NONE();
	job_moves(job[0], "(n3:ncpus=2)", -1);
	keel_mock_set(job[0], "exec_vnode", NULL, NULL);
	keel_mock_destroy(job[0]);
	job[0] = NULL;
	keel_sched_reconsider();
	STARTS("1 (n3:ncpus=2)");
	shape++;
	nodes_changed();
	job_waits_in("R1", "1:ncpus=1", "free");
	STARTS("2 (n1:ncpus=1)");
}

static void job_suspended(uint32_t i)
{
	job_moves(job[i], keel_mock_text(job[i], "exec_vnode", NULL), -1);
	keel_mock_set(job[i], "substate", NULL, "45");
	keel_mock_raise(mock, KEEL_POINT_job_suspended, KEEL_EVENT(job_suspended, .id = keel_id(job[i]), .job = job[i]), NULL);
	keel_sched_reconsider();
}

/* It goes on inside, when there is room for it inside. */
static void test_resume(void)
{
	begun("(n1:ncpus=2)", 0);
	job_waits_in("R1", "1:ncpus=2", "free");
	STARTS("0 (n1:ncpus=2)");
	job_runs("R1", "(n1:ncpus=1)", 100);
	job_suspended(0);
	STARTS_NONE();
	job_moves(job[1], "(n1:ncpus=1)", -1);
	keel_mock_set(job[1], "exec_vnode", NULL, NULL);
	keel_mock_destroy(job[1]);
	job[1] = NULL;
	keel_sched_reconsider();
	STARTS("0 again (n1:ncpus=2)");
}

static char answer[200];

static void answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg;
	snprintf(answer, sizeof(answer), "%d %s", (int)code, text ? text : "");
}

static void request(uint32_t i)
{
	answer[0] = '\0';
	request_run(me, job[i], "root", keel_mock_self(mock), answered, NULL);
	keel_mock_advance(mock, 5000);
}

/* An administrator's request goes the same way. */
static void test_qrun(void)
{
	job_make("R1", "1:ncpus=2", "free", 0);
	blocks_part(HOLDER, 0, "R1", 100, 1000, "(n1:ncpus=2)", 0);
	request(0);
	CU_ASSERT_STRING_EQUAL(answer, "15044 Queue not started.");
	blocks_part(HOLDER, 0, "R1", -10, 1000, "(n1:ncpus=2)", 0);
	request(0);
	CU_ASSERT_STRING_EQUAL(answer, "0 ");
	STARTS("0 (n1:ncpus=2)");
}

/* A what-if of others does not count on what is inside, and one inside has none. */
static void test_what_if(void)
{
	struct keel_trial *trial;

	begun("(n1:ncpus=2)", 0);
	job_runs("R1", "(n1:ncpus=2)", 100);
	job_make("workq", "1:ncpus=2", "free", 0);
	CU_ASSERT_PTR_NULL(keel_sched_trial(job[0]));
	trial = keel_sched_trial(job[1]);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trial);
	CU_ASSERT_NOT_EQUAL(keel_sched_trial_vacate(trial, job[0], NULL), 0);
	keel_sched_trial_free(trial);
}

static void test_no_memory(void)
{
	begun("(n1:ncpus=2)+(n2:ncpus=2)", 0);
	for (long left = INJECTING ? 1 : 0; left < 500; left++) {
		n_ran = 0;
		keel_mock_set(job_waits_in("R1", "1:ncpus=2", "free"), "comment", NULL, NULL);
		shape++;
		nodes_changed();
		countdown = left;
		for (int i = 0; i < 6; i++)
			keel_mock_next(mock);
		countdown = -1;
		keel_sched_reconsider();
		keel_mock_advance(mock, 100000);
		CU_ASSERT_EQUAL_FATAL(n_ran, 1);
		CU_ASSERT(strstr(ran[0], "(n1:") || strstr(ran[0], "(n2:"));
		job_moves(job[0], keel_mock_text(job[0], "exec_vnode", NULL), -1);
		keel_mock_destroy(job[0]);
		n_jobs = 0;
		if (!INJECTING)
			break;
	}
}

TESTS_MAIN_BETWEEN("room", set_up, tear_down, TEST(test_amounts), TEST(test_time), TEST(test_physically_less),
		   TEST(test_whatever), TEST(test_exclusive_inside), TEST(test_start_fails), TEST(test_start_waits), TEST(test_changes),
		   TEST(test_resume), TEST(test_qrun), TEST(test_what_if), TEST(test_no_memory))
