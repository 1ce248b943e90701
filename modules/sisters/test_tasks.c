/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tasks.c - tasks on other hosts, and bounds.
 */
#include "task.h"
#include "test_world.h"

/* ---- tasks ----------------------------------------------------------------------------------------------------------- */
static struct { int n; int32_t code; } told;
static struct { int n; uint32_t number; int32_t status; } over;

static void told_done(struct keel_mod *m, void *arg, int32_t code, const char *text)
{
	(void)m, (void)arg, (void)text;
	told.n++;
	told.code = code;
}
static void heard_over(struct keel_mod *m, const char *id, int64_t r, uint32_t number, int32_t status)
{
	(void)m, (void)id, (void)r;
	over.n++;
	over.number = number;
	over.status = status;
}
static const struct keel_sister_api *sisters(void)
{
	static const struct keel_sister_events events = { .size = sizeof(events), .task_over = heard_over };
	const struct keel_sister_api *api = keel_mock_group(mock, "sister");

	told.n = over.n = 0;
	api->listen(mod, keel_mock_self(mock), &events);
	return api;
}
static void spawn(const struct keel_sister_api *api, uint32_t host, uint32_t number)
{
	static const char *const argv[] = { "prog", NULL };

	api->spawn(mod, "1.svr", host, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = number, .argv = argv },
		   keel_mock_self(mock), told_done, NULL);
	keel_mock_advance(mock, 0);
}

static void a_task_on_another_host(void)
{
	char call[32];
	const struct keel_sister_api *api;

	run();
	api = sisters();
	spawn(api, 1, 7);
	CU_ASSERT_PTR_NOT_NULL(said("b sister.spawn id=1.svr run=1"));
	snprintf(call, sizeof(call), "#%lld", (long long)number_of(said("b sister.spawn"), "call"));
	up("b"); /* a new link: it is asked again */
	CU_ASSERT_EQUAL(told.n, 0);
	HEAR("c", "sister.spawned", "call", call, "to", "a", "code", "#0", "text", ""); /* not from there */
	CU_ASSERT_EQUAL(told.n, 0);
	HEAR("b", "sister.spawned", "call", call, "to", "a", "code", "#0", "text", "");
	HEAR("b", "sister.spawned", "call", call, "to", "a", "code", "#17000", "text", "");
	CU_ASSERT(told.n == 1 && told.code == 0);
	HEAR("c", "sister.over", "from", "b", "to", "a", "task", "#7", "status", "#0"); /* of a task that is not there */
	CU_ASSERT_EQUAL(over.n, 0);
	HEAR("b", "sister.over", "from", "b", "to", "a", "task", "#7", "status", "#3");
	HEAR("b", "sister.over", "from", "b", "to", "a", "task", "#7", "status", "#3");
	CU_ASSERT(over.n == 1 && over.number == 7 && over.status == 3);
	CU_ASSERT_PTR_NOT_NULL(said("b sister.known"));
	spawn(api, 3, 8); /* there is no such host */
	CU_ASSERT(told.n == 2 && told.code == 17006);
	end();
}

/* The daemon of the host that had it started was restarted meanwhile. */
static void an_end_is_heard_by_a_later_daemon(void)
{
	for (int later = 0; later < 2; later++) {
		if (later) {
			begin(0, KEEL_PART_READY);
			up("b");
		} else {
			run();
		}
		sisters();
		HEAR("b", "sister.over", "from", "b", "to", "a", "task", "#7", "status", "#3");
		HEAR("b", "sister.over", "from", "b", "to", "a", "task", "#1048583", "status", "#3"); /* it is b's own */
		CU_ASSERT_PTR_NOT_NULL(said("b sister.known"));
		CU_ASSERT_EQUAL(over.n, later);
		end();
	}
}

static void a_lost_host_answers_for_its_tasks(void)
{
	const struct keel_sister_api *api;
	char call[32];

	run();
	api = sisters();
	spawn(api, 2, 7);
	snprintf(call, sizeof(call), "#%lld", (long long)number_of(said("c sister.spawn"), "call"));
	HEAR("c", "sister.spawned", "call", call, "to", "a", "code", "#0", "text", "");
	spawn(api, 2, 8);
	hear("c", "sister.none", NULL);
	CU_ASSERT(over.n == 1 && over.number == 7 && over.status == -1);
	CU_ASSERT(told.n == 2 && told.code == 17000);
	CU_ASSERT_PTR_NOT_NULL(said("b sister.lost id=1.svr run=1 host=c"));
	spawn(api, 2, 9);
	CU_ASSERT(told.n == 3 && told.code == 17000);
	end();
}

static void a_primary_passes_on(void)
{
	run();
	HEAR("b", "sister.spawn", "call", "#44", "from", "c", "to", "c", "task", "#1048577", "argv", "[prog");
	CU_ASSERT_PTR_NOT_NULL(said("c sister.spawn id=1.svr run=1 call=44 from=b to=c task=1048577")); /* from: who sent it */
	HEAR("c", "sister.spawned", "call", "#44", "to", "b", "code", "#0", "text", "");
	CU_ASSERT_PTR_NOT_NULL(said("b sister.spawned id=1.svr run=1 call=44 to=b code=0"));
	HEAR("c", "sister.over", "from", "x", "to", "b", "task", "#1048577", "status", "#0");
	CU_ASSERT_PTR_NOT_NULL(said("b sister.over id=1.svr run=1 from=c to=b task=1048577 status=0"));
	HEAR("b", "sister.known", "from", "b", "to", "c", "task", "#1048577");
	CU_ASSERT_PTR_NOT_NULL(said("c sister.known id=1.svr run=1 from=b to=c"));
	HEAR("b", "sister.spawn", "call", "#45", "to", "a", "task", "#1048578", "argv", "[here");
	CU_ASSERT_STRING_EQUAL(waiting.name, "here");
	wait_over(0, NULL);
	CU_ASSERT_PTR_NOT_NULL(said("b sister.spawned id=1.svr run=1 call=45 to=b code=0"));
	end();
}

static void a_task_is_started_once_and_its_end_said_until_it_is_known(void)
{
	follow();
	HEAR("a", "sister.spawn", "call", "#9", "from", "a", "to", "b", "task", "#7", "argv", "[prog");
	HEAR("a", "sister.spawn", "call", "#9", "from", "a", "to", "b", "task", "#7", "argv", "[prog");
	CU_ASSERT_EQUAL(waiting.n, 1);
	parts_heard.task_over(parts_me, &part, 7, 3); /* before its start was answered */
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NULL(said("sister.over"));
	wait_over(0, NULL);
	CU_ASSERT_PTR_NOT_NULL(said("a sister.over id=1.svr run=1 from=b to=a task=7 status=3"));
	sent_clear();
	up("a");
	CU_ASSERT_PTR_NOT_NULL(said("a sister.over"));
	sent_clear();
	keel_mock_advance(mock, END_AGAIN_MS - TICK_MS);
	CU_ASSERT_PTR_NULL(said("a sister.over"));
	keel_mock_advance(mock, 2 * TICK_MS); /* the primary may not have reached who had it started */
	CU_ASSERT_PTR_NOT_NULL(said("a sister.over"));
	HEAR("a", "sister.known", "from", "a", "to", "b", "task", "#7");
	sent_clear();
	up("a");
	keel_mock_advance(mock, 2 * END_AGAIN_MS);
	CU_ASSERT_PTR_NULL(said("a sister.over"));
	parts_heard.task_over(parts_me, &part, 3, 1); /* of an earlier life of this daemon: host 0 had it started */
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(said("to=a task=3 status=1"));
	part.slots = (const uint32_t[]){ 0, 2, 3 }; /* one between was released */
	parts_heard.task_over(parts_me, &part, 1 << 20 | 5, 1);
	parts_heard.task_over(parts_me, &part, 3 << 20 | 5, 1);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NULL(said("task=1048581"));
	CU_ASSERT_PTR_NOT_NULL(said("to=c task=3145733 status=1"));
	end();
}

static void what_another_host_started_is_for_it_to_know(void)
{
	run();
	HEAR("b", "sister.spawn", "call", "#45", "to", "a", "task", "#1048578", "argv", "[here");
	wait_over(0, NULL);
	parts_heard.task_over(parts_me, &part, 1048578, 3);
	keel_mock_advance(mock, 0);
	HEAR("c", "sister.known", "from", "b", "to", "a", "task", "#1048578");
	sent_clear();
	up("b");
	CU_ASSERT_PTR_NOT_NULL(said("b sister.over"));
	HEAR("b", "sister.known", "from", "b", "to", "a", "task", "#1048578");
	sent_clear();
	up("b");
	CU_ASSERT_PTR_NULL(said("b sister.over"));
	end();
}

static void a_host_that_is_lost_starts_nothing(void)
{
	run();
	hear("b", "sister.none", NULL);
	HEAR("b", "sister.spawn", "call", "#44", "to", "a", "task", "#1048577", "argv", "[here");
	HEAR("b", "sister.spawn", "call", "#45", "to", "c", "task", "#1048578", "argv", "[there");
	HEAR("b", "sister.signal", "call", "#46", "to", "a", "task", "#0", "name", "KILL");
	CU_ASSERT_EQUAL(waiting.n, 0);
	CU_ASSERT_PTR_NULL(said("c sister.spawn"));
	end();
}

/* ---- bounds ------------------------------------------------------------------------------------------------------- */
/* past modules/sisters/sisters.h CALLS_MAX */
static void questions_without_an_answer_are_bounded(void)
{
	const struct keel_sister_api *api;

	run();
	api = sisters();
	lose("b");
	for (uint32_t i = 0; i < CALLS_MAX; i++)
		spawn(api, 1, 10 + i);
	CU_ASSERT_EQUAL(told.n, 0);
	spawn(api, 1, 10 + CALLS_MAX);
	CU_ASSERT(told.n == 1 && told.code == 17000);
	end();
}

/* past modules/sisters/sisters.h CALLS_BYTES_MAX */
static void bytes_without_an_answer_are_bounded(void)
{
	const struct keel_sister_api *api;
	char *word = calloc(1, CALLS_BYTES_MAX / 4);
	const char *argv[] = { word, NULL };

	memset(word, 'x', CALLS_BYTES_MAX / 4 - 1 - sizeof(*argv));
	run();
	api = sisters();
	lose("b");
	for (uint32_t i = 0; i < 5; i++)
		api->spawn(mod, "1.svr", 1, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = 10 + i, .argv = argv },
			   keel_mock_self(mock), told_done, NULL);
	CU_ASSERT(told.n == 1 && told.code == 17000);
	up("b");
	hear("b", "sister.none", NULL); /* they are answered: there is room again */
	CU_ASSERT_EQUAL(told.n, 5);
	api->spawn(mod, "1.svr", 2, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = 20, .argv = argv },
		   keel_mock_self(mock), told_done, NULL);
	CU_ASSERT_EQUAL(told.n, 5);
	end();
	free(word);
}

/* past modules/sisters/sisters.h TASKS_MAX */
static void tasks_for_others_are_bounded(void)
{
	struct far_task *table = NULL, *t, *next;

	for (uint32_t i = 0; i < TASKS_MAX; i++)
		CU_ASSERT_PTR_NOT_NULL(far_add(&table, i, "b"));
	CU_ASSERT_PTR_NULL(far_add(&table, TASKS_MAX, "b"));
	HASH_ITER(hh, table, t, next)
		far_remove(&table, t);
}

/* A message with one value of `len` bytes, or so many of one byte. */
static void hear_long(const char *name, const char *id, size_t len, size_t items)
{
	char *bytes = calloc(1, len + 1);
	struct buf b;

	memset(bytes, 'x', len);
	buf_init(&b);
	pack_map(&b, 6);
	pack_key_str(&b, "msg", name);
	pack_key_str(&b, "id", id ? id : bytes);
	pack_key_int(&b, "run", 1);
	pack_key_int(&b, "stream", 1);
	pack_key_int(&b, "at", 0);
	pack_str(&b, items ? "items" : "bytes");
	if (items) {
		pack_array(&b, items);
		for (size_t i = 0; i < items; i++)
			pack_str(&b, "x=1");
	} else {
		pack_bin(&b, bytes, len);
	}
	CU_ASSERT_EQUAL(carry()->in(keel_mock_self(mock), "b", b.data, (uint32_t)b.len), 0);
	buf_fini(&b);
	free(bytes);
	keel_mock_advance(mock, 0);
}

/* past modules/sisters/sisters.h PIECE_MAX, past modules/sisters/sisters.h ITEMS_MAX, past modules/sisters/sisters.h ID_MAX */
static void what_other_hosts_send_is_bounded(void)
{
	run();
	hear_long("sister.output", "1.svr", PIECE_MAX + 1, 0);
	CU_ASSERT_STRING_EQUAL(written, "");
	hear_long("sister.output", "1.svr", PIECE_MAX, 0);
	CU_ASSERT(written[0] != '\0');
	hear_long("sister.used", "1.svr", 1, ITEMS_MAX + 1);
	CU_ASSERT_STRING_EQUAL(added, "");
	hear_long("sister.used", "1.svr", 1, ITEMS_MAX);
	CU_ASSERT_STRING_EQUAL(added, "b x=1 64");
	sent_clear();
	hear_long("sister.join", NULL, ID_MAX + 1, 0);
	CU_ASSERT_EQUAL(n_sent, 0);
	hear_long("sister.join", NULL, ID_MAX, 0);
	CU_ASSERT_EQUAL(n_sent, 1);
	end();
}

TESTS_MAIN("sisters/tasks", TEST(a_task_on_another_host), TEST(an_end_is_heard_by_a_later_daemon),
	   TEST(a_lost_host_answers_for_its_tasks),
	   TEST(a_primary_passes_on), TEST(a_task_is_started_once_and_its_end_said_until_it_is_known),
	   TEST(what_another_host_started_is_for_it_to_know), TEST(a_host_that_is_lost_starts_nothing),
	   TEST(questions_without_an_answer_are_bounded), TEST(bytes_without_an_answer_are_bounded), TEST(tasks_for_others_are_bounded),
	   TEST(what_other_hosts_send_is_bounded))
