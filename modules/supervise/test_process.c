/* SPDX-License-Identifier: Apache-2.0
 *
 * test_process.c - a program that is started again when it ends: its states, its deadline, its bounds. The program is the
 * test; its tree is not there.
 */
#include "process.c"

#include <fcntl.h>

#include "harness.h"
#include "keel/load.h"
#include "keel/mock.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct state st;
static struct keel_mod self;
static struct keel_supervised *program;
static struct {
	tree_fn *over; /* NULL: there is no tree */
	void *arg;
	int fd; /* the program's end */
	bool killed;
	uint32_t started, frames, begun, waited;
	char dir[32], first[32]; /* what the tree was started with: folder, environment */
	char why[256];
	int64_t again_ms;
} world;

/* ---- no tree ----------------------------------------------------------------------------------------------- */
int socket_pair(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}

int32_t tree_start(struct state *s, const struct tree_opts *o, struct tree **ret_tree, struct keel_err *err)
{
	(void)s, (void)err;
	world.over = o->over;
	world.arg = o->arg;
	world.fd = dup(o->data);
	world.killed = false;
	world.started++;
	snprintf(world.dir, sizeof(world.dir), "%s", o->order.dir);
	snprintf(world.first, sizeof(world.first), "%s", o->env ? o->env[0] : "");
	*ret_tree = (struct tree *)&world;
	return 0;
}

pid_t tree_pid(const struct tree *t)
{
	(void)t;
	return 812;
}

void tree_kill(struct tree *t)
{
	(void)t;
	world.killed = true;
}

void tree_forget(struct tree *t)
{
	tree_kill(t);
}

void tree_wait(struct tree *t, int timeout_ms)
{
	(void)t, (void)timeout_ms;
	world.waited++;
}

void trees_end(struct state *s)
{
	(void)s;
}

/* The program is gone, and all it started. */
static void dies(void)
{
	tree_fn *over = world.over;

	world.over = NULL;
	close(world.fd);
	over(world.arg, "its process was killed by signal 9 (Killed)", -1);
}

/* ---- the caller ---------------------------------------------------------------------------------------------- */
static void on_begin(struct keel_mod *m, void *arg)
{
	(void)m, (void)arg;
	world.begun++;
}

static void frame(struct keel_mod *m, void *arg, const void *bytes, uint32_t len)
{
	(void)m, (void)arg, (void)bytes, (void)len;
	world.frames++;
	process_paid(program);
}

static void has_ended(struct keel_mod *m, void *arg, const char *why, int64_t again_ms)
{
	(void)m, (void)arg;
	snprintf(world.why, sizeof(world.why), "%s", why);
	world.again_ms = again_ms;
}

static const void *group(void *arg, const char *name, uint32_t minor, struct keel_err *err)
{
	(void)arg, (void)minor, (void)err;
	return keel_mock_group(mock, name);
}

static void program_begin(int64_t deaths)
{
	static const char *const argv[] = { "/bin/program", NULL };
	char first[] = "A=1", dir[] = "/usr";
	const char *const env[] = { first, NULL };
	struct keel_supervise_opts o = { .size = sizeof(o), .profile = KEEL_PROFILE_MODULE, .name = "it", .argv = argv,
					 .deadline_ms = 250, .start_ms = 10000, .deaths = deaths, .within_ms = 60000, .env = env, .dir = dir,
					 .begins = on_begin, .frame = frame, .ended = has_ended };

	memset(&world, 0, sizeof(world));
	mock = keel_mock_new(KEEL_SERVER);
	keel_load_kernel(&keel_module, group, NULL);
	st = (struct state){ .mod = keel_mock_self(mock) };
	self = (struct keel_mod){ .state = &st };
	program = process_start(&self, st.mod, &o, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(program);
	first[0] = dir[0] = '?'; /* its own now */
}

static void program_finish(void)
{
	process_stop(program);
	if (world.over)
		close(world.fd);
	keel_mock_free(mock);
}

static const char *shown(void)
{
	static char text[80];

	process_text(program, text, sizeof(text));
	return text;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */
static void it_is_started_again_at_once_if_it_was_of_use(void)
{
	program_begin(0);
	CU_ASSERT_STRING_EQUAL(shown(), "process 812 starting");
	process_up(program);
	CU_ASSERT_STRING_EQUAL(shown(), "process 812 up");
	keel_mock_advance(mock, 1000);
	dies();
	CU_ASSERT_STRING_EQUAL(world.why, "its process was killed by signal 9 (Killed)");
	CU_ASSERT_EQUAL(world.again_ms, 0);
	CU_ASSERT_STRING_EQUAL(shown(), "process waiting");
	CU_ASSERT_EQUAL(process_send(program, "x", 1), -ENOTCONN);
	keel_mock_advance(mock, 1);
	CU_ASSERT_EQUAL(world.begun, 2);
	CU_ASSERT_STRING_EQUAL(shown(), "process 812 starting, restarts: 1");
	program_finish();
}

static void one_that_was_of_no_use_waits_twice_as_long_each_time(void)
{
	static const int64_t waits[] = { 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };

	program_begin(0);
	for (uint32_t i = 0; i < KEEL_COUNT(waits); i++) {
		dies();
		CU_ASSERT_EQUAL(world.again_ms, waits[i]);
		keel_mock_advance(mock, waits[i] - 1);
		CU_ASSERT_EQUAL(world.started, i + 1);
		keel_mock_advance(mock, 1);
		CU_ASSERT_EQUAL(world.started, i + 2);
	}
	program_finish();
}

static void one_that_dies_too_often_is_not_started_again(void)
{
	program_begin(3);
	for (int i = 0; i < 3; i++) {
		dies();
		keel_mock_advance(mock, 500);
	}
	CU_ASSERT_EQUAL(world.again_ms, -1);
	CU_ASSERT_EQUAL(world.started, 3);
	keel_mock_advance(mock, 100000);
	CU_ASSERT_EQUAL(world.started, 3);
	CU_ASSERT_STRING_EQUAL(shown(), "process benched, restarts: 2");
	program_finish();
}

static void one_that_owes_an_answer_for_too_long_is_killed(void)
{
	program_begin(0);
	process_up(program);
	keel_mock_advance(mock, 100000); /* it owes nothing */
	CU_ASSERT_FALSE(world.killed);
	process_owes(program);
	process_owes(program);
	keel_mock_advance(mock, 200);
	process_paid(program);
	keel_mock_advance(mock, 200);
	CU_ASSERT_FALSE(world.killed);
	keel_mock_advance(mock, 250);
	CU_ASSERT_TRUE(world.killed);
	dies();
	CU_ASSERT_STRING_EQUAL(world.why, "its process gave no answer for 250 ms");
	program_finish();
}

/* As at an alarm: its caller goes on at once. */
static void one_that_is_given_up_is_over_later_and_once(void)
{
	program_begin(1);
	process_up(program);
	process_give_up(program, "it took too long");
	CU_ASSERT_FALSE(world.killed);
	keel_mock_advance(mock, 1);
	CU_ASSERT_TRUE(world.killed);
	CU_ASSERT_EQUAL(world.waited, 0);
	dies();
	CU_ASSERT_STRING_EQUAL(world.why, "it took too long");
	CU_ASSERT_EQUAL(world.again_ms, -1);
	keel_mock_advance(mock, 100000);
	CU_ASSERT_EQUAL(world.started, 1);
	program_finish();
}

static void one_that_is_dropped_is_not_waited_for(void)
{
	program_begin(0);
	process_up(program);
	process_drop(program);
	CU_ASSERT_TRUE(world.killed);
	CU_ASSERT_EQUAL(world.waited, 0);
	process_drop(NULL);
	keel_mock_advance(mock, 100000);
	CU_ASSERT_STRING_EQUAL(world.why, "");
	CU_ASSERT_EQUAL(world.started, 1);
	close(world.fd);
	keel_mock_free(mock);
}

static void each_one_has_the_words_of_its_caller(void)
{
	program_begin(0);
	for (uint32_t i = 1; i <= 2; i++) {
		CU_ASSERT_EQUAL(world.started, i);
		CU_ASSERT_STRING_EQUAL(world.dir, "/usr");
		CU_ASSERT_STRING_EQUAL(world.first, "A=1");
		dies();
		keel_mock_advance(mock, 100);
	}
	program_finish();
}

/* A frame of that length, as far as it has to be there. */
static void says_frame_of(uint32_t len)
{
	CU_ASSERT_EQUAL(write(world.fd, &len, sizeof(len)), (ssize_t)sizeof(len));
	keel_mock_advance(mock, 1);
}

/* past sdk/include/keel/service/supervise.h KEEL_SUPERVISE_FRAME_MAX */
static void a_frame_that_is_too_long_ends_it(void)
{
	program_begin(0);
	process_up(program);
	says_frame_of(1);
	CU_ASSERT_EQUAL(write(world.fd, "x", 1), 1);
	keel_mock_advance(mock, 1);
	CU_ASSERT_EQUAL(world.frames, 1);
	says_frame_of(KEEL_SUPERVISE_FRAME_MAX);
	keel_mock_advance(mock, 1);
	CU_ASSERT_FALSE(world.killed);
	program_finish();
	program_begin(0);
	process_up(program);
	says_frame_of(KEEL_SUPERVISE_FRAME_MAX + 1);
	keel_mock_advance(mock, 1);
	CU_ASSERT_TRUE(world.killed);
	program_finish();
}

/* past modules/supervise/process.c QUEUE_MAX */
static void one_that_does_not_read_is_ended_once_it_is_up(void)
{
	static char chunk[65536];
	uint32_t n = 0;

	program_begin(0);
	while (n++ < 2 * QUEUE_MAX / sizeof(chunk)) /* what it has to know is as long as it is */
		CU_ASSERT(process_send(program, chunk, sizeof(chunk)) >= 0);
	CU_ASSERT_EQUAL(process_send(program, chunk, sizeof(chunk)), 1);
	process_up(program);
	CU_ASSERT_EQUAL(process_send(program, chunk, sizeof(chunk)), -ENOBUFS);
	dies();
	CU_ASSERT_STRING_EQUAL(world.why, "its process does not read what it is told");
	program_finish();
}

/* As when a daemon does not come up: a module that is open only has no fini() of its own, and is closed last. */
static void its_handle_outlives_the_module(void)
{
	program_begin(0);
	process_up(program);
	keel_module.fini(&self);
	CU_ASSERT_TRUE(world.killed);
	CU_ASSERT_STRING_EQUAL(shown(), "process benched");
	CU_ASSERT_EQUAL(process_send(program, "x", 1), -ENOTCONN);
	keel_mock_advance(mock, 100000);
	CU_ASSERT_EQUAL(world.started, 1);
	program_finish();
}

TESTS_MAIN("supervise", TEST(it_is_started_again_at_once_if_it_was_of_use),
	   TEST(one_that_was_of_no_use_waits_twice_as_long_each_time), TEST(one_that_dies_too_often_is_not_started_again),
	   TEST(one_that_owes_an_answer_for_too_long_is_killed), TEST(a_frame_that_is_too_long_ends_it),
	   TEST(one_that_is_given_up_is_over_later_and_once), TEST(one_that_is_dropped_is_not_waited_for),
	   TEST(each_one_has_the_words_of_its_caller), TEST(one_that_does_not_read_is_ended_once_it_is_up), TEST(its_handle_outlives_the_module))
