/* SPDX-License-Identifier: Apache-2.0
 *
 * test_shrink.c - a job with fewer hosts: pruned before its start, resized while it runs; what hosts a start message may say.
 */
#include "test_part.h"

static bool is_held(void *arg) { (void)arg; return keel_mock_holds(mock) > 0; }

/* The last message of this kind that left for the server; NULL: none. */
static const char *pruned_said(void)
{
	const char *text, *found = NULL;

	for (uint32_t i = 0; (text = keel_mock_sent(mock, i)); i++)
		if (strncmp(text, "server task.pruned ", 19) == 0)
			found = text;
	return found;
}
static bool is_pruned(void *arg) { (void)arg; return pruned_said() != NULL; }

static const char *nodefile(const char *id)
{
	char name[100];

	snprintf(name, sizeof(name), "../home/aux/%s", id);
	return output(name);
}

static void primary_held(const char *id, uint32_t point)
{
	struct keel_out *out;

	held_point = point;
	out = start_begin(id, 1, 0);
	keel_put_str(out, "shell", "/bin/sh");
	keel_put_bytes(out, "script", "sleep 60\n", 9);
	send("task.start", out);
	CU_ASSERT(until(is_held, DEADLINE_MS));
}

static const struct keel_part_host two[] = { { .size = sizeof(struct keel_part_host), .name = "first", .vnodes = "(first:ncpus=1)" },
					     { .size = sizeof(struct keel_part_host), .name = "third", .vnodes = "(third:ncpus=2)" } };

static void resize_say(const char *id, int64_t run, int64_t index, const char *const *hosts, uint32_t n, const char *nodes)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", id);
	keel_put_int(out, "run", run);
	keel_put_int(out, "index", index);
	keel_put_strings(out, "hosts", hosts, n);
	keel_put_str(out, "nodes", nodes);
	send("task.resize", out);
}

/* Held at task_prologue: files are there. A host goes, and half of what another one has. */
static void test_prune(void)
{
	struct keel_obj *job;
	const struct keel_part *p;

	part_start();
	job = script_job("1.s", "true\n");
	set(job, "job_state", "R");
	primary_held("1.s", KEEL_POINT_task_prologue);
	CU_ASSERT_STRING_EQUAL(nodefile("1.s"), "first\nthishost\nthird\nthird\n");
	CU_ASSERT_EQUAL(part_api.prune(mod, "1.s", &two[1], 1, "1:ncpus=1"), -EINVAL); /* without the primary */
	CU_ASSERT_EQUAL(part_api.prune(mod, "2.s", two, 2, "1:ncpus=1"), -EINVAL);
	CU_ASSERT_EQUAL(part_api.prune(mod, "1.s", two, 0, "1:ncpus=1"), -EINVAL);
	keel_mock_loopback(mock, false); /* what leaves can be read */
	keel_mock_peer(mock, "server", KEEL_SERVER, true);
	CU_ASSERT_EQUAL(noted.resized, 0);
	CU_ASSERT_EQUAL(part_api.prune(mod, "1.s", two, 2, "1:ncpus=1+1:ncpus=2"), 0);
	CU_ASSERT_EQUAL(noted.resized, 1); /* a host that is out and ends is no loss to listeners */
	p = part_api.find(mod, "1.s");
	CU_ASSERT_EQUAL(p->n_hosts, 2);
	CU_ASSERT_STRING_EQUAL(p->hosts[1].name, "third");
	CU_ASSERT_STRING_EQUAL(p->hosts[1].key, "key3");
	CU_ASSERT_EQUAL(p->n_nodes, 2);
	CU_ASSERT_EQUAL(p->nodes[1], 1);
	CU_ASSERT_EQUAL(keel_part_slot(p, 1), 2); /* as when the run began */
	CU_ASSERT_STRING_EQUAL(nodefile("1.s"), "first\nthird\n");
	CU_ASSERT(until(is_pruned, DEADLINE_MS));
	CU_ASSERT_PTR_NOT_NULL(strstr(pruned_said(), "\"(first:ncpus=1)+(third:ncpus=2)\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(pruned_said(), "\"1:ncpus=1+1:ncpus=2\""));
	keel_mock_sent_clear(mock);
	keel_mock_deliver(mock, "server", "task.who", ""); /* said again, until the server has noted it */
	CU_ASSERT(until(is_pruned, DEADLINE_MS));
	keel_mock_deliver(mock, "server", "task.prune_done", "id = \"1.s\"; run = 2;"); /* another run */
	CU_ASSERT(task_find(mod->state, "1.s")->part->pruned);
	keel_mock_deliver(mock, "server", "task.prune_done", "id = \"1.s\"; run = 1;");
	keel_mock_loopback(mock, true);
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	CU_ASSERT(!task_find(mod->state, "1.s")->part->pruned);
	CU_ASSERT_EQUAL(part_api.prune(mod, "1.s", two, 1, "1:ncpus=1"), -EBUSY);
	stop();
	part_start();
	CU_ASSERT_EQUAL(part_api.find(mod, "1.s")->n_hosts, 2);
	CU_ASSERT_EQUAL(part_api.find(mod, "1.s")->n_nodes, 2);
	CU_ASSERT_EQUAL(keel_part_slot(part_api.find(mod, "1.s"), 1), 2);
	about("task.discard", "1.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	keel_mock_destroy(job);
	end();
}

/* Held at task_begin: nothing is written yet. */
static void test_prune_at_once(void)
{
	part_start();
	primary_held("3.s", KEEL_POINT_task_begin);
	CU_ASSERT_EQUAL(part_api.prune(mod, "3.s", two, 1, "1:ncpus=1"), 0);
	held_point = 0;
	keel_mock_release(mock, 0);
	CU_ASSERT(until(is_begun, DEADLINE_MS));
	CU_ASSERT_STRING_EQUAL(nodefile("3.s"), "first\n");
	CU_ASSERT_EQUAL(part_api.find(mod, "3.s")->n_hosts, 1);
	about("task.discard", "3.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	end();
}

static bool waits_for_pruning(void *arg)
{
	(void)arg;
	return task_find(mod->state, "4.s")->prune_waits;
}

static bool was_refused(void *arg)
{
	const struct task *t = task_find(mod->state, "4.s");

	(void)arg;
	return !t || t->state == TASK_REFUSED;
}

/* The program waits until it is decided whether the job may have fewer hosts. */
static void test_prune_decided_late(void)
{
	static const int32_t codes[] = { 0, -3 };

	part_start();
	for (int i = 0; i < 2; i++) {
		primary_held("4.s", KEEL_POINT_task_prologue);
		held_point = KEEL_POINT_task_resize;
		CU_ASSERT_EQUAL(part_api.prune(mod, "4.s", two, 1, "1:ncpus=1"), 0);
		CU_ASSERT_EQUAL(keel_mock_holds(mock), 2);
		held_point = 0;
		keel_mock_release(mock, 0);
		CU_ASSERT(until(waits_for_pruning, DEADLINE_MS));
		CU_ASSERT(!task_find(mod->state, "4.s")->passed);
		if (codes[i])
			CU_ASSERT_EQUAL(part_api.fail(mod, "4.s", codes[i], "it may not"), 0);
		keel_mock_release(mock, 0);
		CU_ASSERT(until(codes[i] ? was_refused : is_begun, DEADLINE_MS));
		about("task.discard", "4.s", 1);
		CU_ASSERT(until(no_tasks, DEADLINE_MS));
	}
	/* decided at once: it may not */
	primary_held("4.s", KEEL_POINT_task_prologue);
	refused_point = KEEL_POINT_task_resize;
	CU_ASSERT_EQUAL(part_api.prune(mod, "4.s", two, 1, "1:ncpus=1"), 0);
	held_point = refused_point = 0;
	CU_ASSERT(until(was_refused, DEADLINE_MS));
	about("task.discard", "4.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	end();
}

/* "thishost - - 3 (thishost:ncpus=3+vnode0000:ncpus=1...)", a share of thousands of vnodes. The caller frees it. */
static char *long_line(void)
{
	char *line = malloc(100000), *at = line + sprintf(line, "thishost - - 3 (thishost:ncpus=3");

	for (int i = 0; i < 2000; i++)
		at += sprintf(at, "+vnode%04d:ncpus=1", i);
	strcpy(at, ")");
	return line;
}

/* The message comes again: nothing has changed. */
static void test_resize_again(void)
{
	char *line = long_line();
	const char *const hosts[] = { three[0], line };

	part_start();
	sister_start("5.s");
	resize_say("5.s", 1, 1, hosts, 2, "first\nthishost\n");
	CU_ASSERT(until(is_resized, DEADLINE_MS));
	resize_say("5.s", 1, 1, hosts, 2, "first\nthishost\n");
	keel_mock_run(mock, is_gone, NULL, 50);
	CU_ASSERT_EQUAL(noted.resized, 1);
	about("task.discard", "5.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	free(line);
	end();
}

static void test_resize(void)
{
	const char *const away[] = { "first - - 1 (first:ncpus=1)", three[1] }; /* the server does not reach it now */
	struct keel_obj *job;

	part_start();
	job = script_job("4.s", "true\n");
	set(job, "job_state", "R");
	sister_start("4.s");
	resize_say("4.s", 2, 1, three, 2, "first\nthishost\n"); /* another run */
	resize_say("4.s", 1, 0, three, 2, "first\nthishost\n"); /* it is no primary */
	resize_say("4.s", 1, 1, three, 3, "first\n");		 /* as it is */
	resize_say("4.s", 1, 1, away, 2, "first\nthishost\n");
	resize_say("4.s", 1, 1, three, 2, "first\nthishost\n"); /* as it is */
	CU_ASSERT(until(is_resized, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.resized, 1);
	CU_ASSERT_EQUAL(noted.n_hosts, 32); /* from 3 to 2 */
	CU_ASSERT_STRING_EQUAL(nodefile("4.s"), "first\nthishost\n");
	CU_ASSERT_STRING_EQUAL(part_api.find(mod, "4.s")->hosts[0].address, "10.0.0.1:15003");
	CU_ASSERT_STRING_EQUAL(part_api.find(mod, "4.s")->hosts[0].key, "key1");
	stop();
	part_start();
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT_EQUAL(part_api.find(mod, "4.s")->n_hosts, 2);
	CU_ASSERT_EQUAL(part_api.find(mod, "4.s")->index, 1);
	about("task.discard", "4.s", 1);
	CU_ASSERT(until(no_tasks, DEADLINE_MS));
	keel_mock_destroy(job);
	end();
}

/* ---- facts ------------------------------------------------------------------------------------------------- */

static void test_facts(void)
{
	static const struct {
		const char *line;
		int r;
	} rows[] = {
		{ "a - - 1 (a:ncpus=1)", 0 }, { "a b c 0", 0 },	   { "a - -", -EPROTO },     { "a - - x -", -EPROTO },
		{ "a - - 1 (a)\n", -EPROTO }, { "", -EPROTO },	   { "a - - -1 -", -EPROTO }, { "a - - 1234567890 -", -EPROTO },
	};
	struct part *p = part_alone("own", 4);
	const char **lines = calloc(PART_HOSTS_MAX + 1, sizeof(*lines));
	char *numbers;

	CU_ASSERT_EQUAL(p->hosts[0].ncpus, 4);
	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		CU_ASSERT_EQUAL(part_set_hosts(p, &rows[i].line, 1, "0"), rows[i].r);
	CU_ASSERT_EQUAL(part_set_hosts(p, &rows[0].line, 1, "1"), -EPROTO);
	CU_ASSERT_EQUAL(part_set_hosts(p, &rows[0].line, 1, "0 x"), -EPROTO);
	CU_ASSERT_EQUAL(part_set_hosts(p, &rows[0].line, 0, ""), -EPROTO);
	/* past modules/executor/part.h PART_HOSTS_MAX */
	for (uint32_t i = 0; i <= PART_HOSTS_MAX; i++)
		lines[i] = rows[0].line;
	CU_ASSERT_EQUAL(part_set_hosts(p, lines, PART_HOSTS_MAX + 1, "0"), -E2BIG);
	CU_ASSERT_EQUAL(part_set_hosts(p, lines, PART_HOSTS_MAX, "0"), 0);
	numbers = part_nodes_of_file((const char *[]){ "a.x - - 1", "b - - 1" }, 2, "a\nb.y\nc\nb\n");
	CU_ASSERT_STRING_EQUAL(numbers, " 0 1 1");
	free(numbers);
	free(lines);
	part_free(p);
}

TESTS_MAIN_BETWEEN("shrink", set_up, tear_down, TEST(test_prune), TEST(test_prune_at_once),
		   TEST(test_prune_decided_late), TEST(test_resize), TEST(test_resize_again), TEST(test_facts))
