/* SPDX-License-Identifier: Apache-2.0
 *
 * test_requests.c - a program of a job and what it gets, in the mock: who is refused, where tasks go, events, every bound.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "keel/mock.h"
#include "pbs_error.h"
#include "task-manager.h"

extern const struct keel_module keel_module;

/* ---- the services that it uses ---------------------------------------------------------------------------------- */
static const struct keel_part_events *part_events;
static const struct keel_sister_events *sister_events;
static struct keel_mod *listener, *elsewhere;
static struct keel_part_host hosts[3];
static const uint32_t nodes[4] = { 0, 0, 1, 2 };
static struct keel_part part;
static struct {
	uint32_t n, number, host;
	char argv0[64], env[2][64], signal[16];
	keel_part_done *done;
	void *arg;
	struct keel_mod *me;
	int64_t pid;
} asked;

static int32_t part_listen(struct keel_mod *m, struct keel_mod *me, const struct keel_part_events *events)
{
	(void)m;
	listener = me;
	part_events = events;
	return 0;
}

static const struct keel_part *part_find(struct keel_mod *m, const char *id)
{
	(void)m;
	return part.id != NULL && strcmp(id, part.id) == 0 ? &part : NULL;
}

static void part_each(struct keel_mod *m, void (*fn)(struct keel_mod *, const struct keel_part *, void *), struct keel_mod *me, void *arg)
{
	(void)m;
	if (part.id != NULL)
		fn(me, &part, arg);
}

static void note(struct keel_mod *me, keel_part_done *done, void *arg, uint32_t host, uint32_t number)
{
	asked.n++;
	asked.me = me;
	asked.done = done;
	asked.arg = arg;
	asked.host = host;
	asked.number = number;
}

static void note_task(const struct keel_part_task *t)
{
	snprintf(asked.argv0, sizeof(asked.argv0), "%s", t->argv[0]);
	for (int i = 0; i < 2 && t->env[i] != NULL; i++)
		snprintf(asked.env[i], sizeof(asked.env[i]), "%s", t->env[i]);
}

static void part_spawn(struct keel_mod *m, const char *id, const struct keel_part_task *t, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	note_task(t);
	note(me, done, arg, 0, t->number);
}

static void part_signal(struct keel_mod *m, const char *id, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	snprintf(asked.signal, sizeof(asked.signal), "%s", name);
	note(me, done, arg, 0, number);
}

static void part_attach(struct keel_mod *m, const char *id, uint32_t number, int64_t pid, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	asked.pid = pid;
	note(me, done, arg, 0, number);
}

static int32_t sister_listen(struct keel_mod *m, struct keel_mod *me, const struct keel_sister_events *events)
{
	(void)m;
	elsewhere = me;
	sister_events = events;
	return 0;
}

static void sister_spawn(struct keel_mod *m, const char *id, uint32_t host, const struct keel_part_task *t, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	note_task(t);
	note(me, done, arg, host, t->number);
}

static void sister_signal(struct keel_mod *m, const char *id, uint32_t host, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	snprintf(asked.signal, sizeof(asked.signal), "%s", name);
	note(me, done, arg, host, number);
}

static const struct keel_part_api part_api = {
	.size = sizeof(part_api), .version = 1, .listen = part_listen, .find = part_find, .each = part_each,
	.spawn = part_spawn, .attach = part_attach, .signal = part_signal,
};
static const struct keel_sister_api sister_api = {
	.size = sizeof(sister_api), .version = 1, .listen = sister_listen, .spawn = sister_spawn, .signal = sister_signal,
};

/* ---- a host ------------------------------------------------------------------------------------------------------ */
static struct keel_mock *mock;
static struct keel_mod *mod;
static struct keel_session user, other;
static struct keel_mock_reply reply, stream;
static struct keel_req *program;

static void begin(bool sisters)
{
	static const char *const names[] = { "a", "b", "c" };

	memset(&asked, 0, sizeof(asked));
	for (int i = 0; i < 3; i++)
		hosts[i] = (struct keel_part_host){ .size = sizeof(hosts[i]), .name = names[i],
						    .vnodes = "(v1:ncpus=1:mem=10kb+v2:ncpus=1)+(v3:ncpus=2:mem=5kb)" };
	part = (struct keel_part){
		.size = sizeof(part), .state = KEEL_PART_READY, .n_hosts = 3, .n_nodes = 4, .id = "7.svr", .run = 1,
		.user = "u1", .cookie = "C00KIE", .uid = geteuid() + 77, .hosts = hosts, .nodes = nodes,
	};
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_host(mock, "a");
	keel_mock_service(mock, "part", &part_api);
	if (sisters)
		keel_mock_service(mock, "sister", &sister_api);
	part.id = NULL; /* not there at start */
	mod = keel_mock_load(mock, &keel_module, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	part.id = "7.svr";
	user = *keel_mock_session(mock, "u1", KEEL_USER);
	user.uid = (uint32_t)part.uid;
	other = *keel_mock_session(mock, "u2", KEEL_USER);
	other.uid = user.uid + 1;
}

static void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static int32_t ask_as(const struct keel_session *who, const char *name, const char *body)
{
	reply = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, who, name, body, &reply);
	keel_mock_advance(mock, 0);
	return reply.told ? reply.code : -1;
}

static int32_t ask(const char *name, const char *body)
{
	return ask_as(&user, name, body);
}

/* A program that has called tm_init(): the first one is client 1. */
static void enter(void)
{
	stream = (struct keel_mock_reply){ 0 };
	program = keel_mock_request(mock, &user, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;", &stream);
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE_FATAL(stream.told);
	CU_ASSERT_EQUAL_FATAL(stream.parts, 1);
}

/* The newest event has this in it. */
static void got(const char *words)
{
	keel_mock_advance(mock, 0);
	CU_ASSERT_FATAL(stream.parts > 1);
	if (strstr(stream.part[stream.parts - 1], words) == NULL)
		fprintf(stderr, "expected %s, got %s\n", words, stream.part[stream.parts - 1]);
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[stream.parts - 1], words));
}

#define OWN "job = \"7.svr\"; client = 1; "

static uint32_t spawn(int node)
{
	char body[200];

	snprintf(body, sizeof(body), OWN "event = 5; node = %d; argv = [ \"prog\", \"x\" ]; env = [ \"A=1\" ];", node);
	CU_ASSERT_EQUAL(ask("tm_spawn", body), 0);
	return asked.number;
}

static void answered(int32_t code)
{
	asked.done(asked.me, asked.arg, code, code != 0 ? "no" : NULL);
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */
static void test_who_is_refused(void)
{
	begin(true);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"8.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIF\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask_as(&other, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ENOTCONNECTED);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "another user's job"));
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 153;"), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 0;"), TM_ENOTFOUND);
	part.cookie = "";
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"\"; task = 1;"), TM_ENOTCONNECTED);
	part.cookie = "C00KIE";
	part.state = KEEL_PART_BEGIN;
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ESYSTEM);
	part.state = KEEL_PART_READY;
	enter();
	CU_ASSERT_EQUAL(ask_as(&other, "tm_spawn", OWN "event = 1; node = 0; argv = [ \"p\" ];"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(ask("tm_spawn", "job = \"7.svr\"; client = 2; event = 1; node = 0; argv = [ \"p\" ];"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(asked.n, 0);
	end();
}

static void test_greeting(void)
{
	begin(true);
	enter();
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"client\": 1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"nodes\": 4"));
	CU_ASSERT_PTR_NOT_NULL(strstr(stream.part[0], "\"node\": 0"));
	end();
}

static void test_life_of_a_task(void)
{
	begin(true);
	enter();
	CU_ASSERT_EQUAL(spawn(1), 2);
	CU_ASSERT_STRING_EQUAL(asked.argv0, "prog");
	CU_ASSERT_STRING_EQUAL(asked.env[0], "A=1");
	CU_ASSERT_STRING_EQUAL(asked.env[1], "KEELSON_TASK_PARENT=00000001");
	CU_ASSERT_EQUAL(stream.parts, 1);
	answered(0);
	got("\"task\": 2");
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 6; task = 2; node = 1; signal = 15;"), 0);
	CU_ASSERT_STRING_EQUAL(asked.signal, "15");
	answered(0);
	got("\"event\": 6");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 1;"), 0);
	CU_ASSERT_EQUAL(stream.parts, 3);
	part_events->task_over(listener, &part, 2, 271);
	got("\"status\": 271");
	got("\"event\": 7");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 8; task = 2; node = 1;"), 0); /* it is over: at once */
	got("\"event\": 8");
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 9; task = 2; node = 1; signal = 15;"), 0);
	got("\"code\": 0");
	CU_ASSERT_EQUAL(asked.n, 2);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 10; task = 99; node = 1;"), 0);
	got("\"code\": 17006");
	end();
}

static void test_elsewhere(void)
{
	begin(true);
	enter();
	spawn(2);
	CU_ASSERT_EQUAL(asked.host, 1);
	answered(0);
	spawn(3);
	CU_ASSERT_EQUAL(asked.host, 2);
	answered(TM_ESYSTEM);
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 2;"), 0);
	CU_ASSERT_EQUAL(ask("tm_kill", OWN "event = 8; task = 2; node = 2; signal = 9;"), 0);
	CU_ASSERT_EQUAL(asked.host, 1);
	answered(0);
	sister_events->task_over(elsewhere, "7.svr", 2, 2, 0); /* of another run */
	sister_events->task_over(elsewhere, "7.svr", 1, 2, -1);
	got("\"event\": 7");
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(ask("tm_spawn", OWN "event = 5; node = 4; argv = [ \"p\" ];"), 0);
	got("\"code\": 17006");
	part.n_hosts = 2; /* one was released: the program's numbers stay */
	spawn(3);
	got("\"code\": 17006");
	end();
}

/* Numbers of tasks are the run's: of other hosts before this one some were released. */
static void test_slots(void)
{
	begin(true);
	part.index = 1;
	part.slots = (const uint32_t[]){ 0, 2, 3 };
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 0x200005;"), TM_ENOTFOUND);
	enter();
	CU_ASSERT_EQUAL(spawn(0), 2 << NUMBER_BITS | 2);
	end();
}

static void test_without_sisters(void)
{
	begin(false);
	enter();
	spawn(0);
	answered(0);
	got("\"task\": 2");
	CU_ASSERT_EQUAL(ask("tm_spawn", OWN "event = 6; node = 2; argv = [ \"p\" ];"), 0);
	got("\"code\": 17000");
	end();
}

static void test_listings(void)
{
	begin(true);
	enter();
	spawn(0);
	answered(0);
	spawn(2);
	answered(0);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 1;"), 0);
	got("\"tasks\": [1, 2]");
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 2;"), 0);
	got("\"tasks\": [3]");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 0;"), 0);
	got(":ncpus=4,mem=15kb\"");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 3;"), 0);
	got("Linux c:ncpus=4");
	CU_ASSERT_EQUAL(ask("tm_rescinfo", OWN "event = 6; node = 9;"), 0);
	got("\"code\": 17006");
	end();
}

static void publish(const char *name, size_t len)
{
	char *body = malloc(len + 600);
	size_t at = (size_t)sprintf(body, OWN "event = 6; name = \"%s\"; value = \"", name);

	memset(body + at, 'x', len);
	strcpy(body + at + len, "\";");
	CU_ASSERT_EQUAL(ask("tm_publish", body), 0);
	free(body);
}

/* past modules/task-manager/task-manager.h PUBLISHED_MAX, past modules/task-manager/task-manager.h NAME_LENGTH_MAX */
static void test_values(void)
{
	char name[NAME_LENGTH_MAX + 2];

	begin(true);
	enter();
	publish("data", 5);
	got("\"code\": 0");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	got("\"value\"");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"none\";"), 0);
	got("\"code\": 17006");
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 2; name = \"data\";"), 0);
	got("\"code\": 17006");
	memset(name, 'n', sizeof(name));
	name[NAME_LENGTH_MAX + 1] = '\0';
	publish(name, 5);
	got("\"code\": 17000");
	name[NAME_LENGTH_MAX] = '\0';
	publish(name, 5);
	got("\"code\": 0");
	for (int i = 0; i < 4; i++) {
		name[0] = (char)('a' + i);
		publish(name, PUBLISHED_MAX / 4 - 1000);
		got("\"code\": 0");
	}
	publish("more", 4000);
	got("\"code\": 17000");
	publish("data", 3);
	got("\"code\": 0");
	for (int i = 0; i < 100; i++) { /* what is kept beside the bytes counts */
		snprintf(name, sizeof(name), "small %d", i);
		publish(name, 0);
	}
	got("\"code\": 17000");
	end();
}

/* past modules/task-manager/task-manager.h EVENTS_MAX */
static void test_too_many_events(void)
{
	char body[100];

	begin(true);
	enter();
	spawn(0);
	answered(0);
	for (int i = 0; i < EVENTS_MAX; i++) {
		snprintf(body, sizeof(body), OWN "event = %d; task = 2; node = 0;", i + 10);
		CU_ASSERT_EQUAL_FATAL(ask("tm_obit", body), 0);
	}
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 9; task = 2; node = 0;"), TM_ESYSTEM);
	part_events->task_over(listener, &part, 2, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(stream.parts, EVENTS_MAX + 2);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 9; task = 2; node = 0;"), 0);
	end();
}

/* past modules/task-manager/task-manager.h CLIENTS_MAX */
static void test_too_many_clients(void)
{
	static struct keel_mock_reply streams[CLIENTS_MAX];

	begin(true);
	for (int i = 0; i < CLIENTS_MAX; i++)
		keel_mock_request(mock, &user, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;", &streams[i]);
	CU_ASSERT_EQUAL(ask("tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;"), TM_ESYSTEM);
	part_events->gone(listener, "7.svr", 1, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(streams[0].told);
	CU_ASSERT_EQUAL(streams[0].code, TM_ENOTCONNECTED);
	enter();
	end();
}

/* past modules/task-manager/task-manager.h TASKS_MAX */
static void test_too_many_tasks(void)
{
	struct job *j;

	begin(true);
	enter();
	j = job_find(mod->state, "7.svr", 1);
	for (uint32_t i = 0; i < TASKS_MAX; i++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(task_add(j, i + 100, "a"));
	spawn(0);
	got("\"code\": 17000");
	part_events->task_over(listener, &part, 100, 0);
	spawn(0);
	answered(0);
	got("\"task\": ");
	CU_ASSERT_EQUAL(HASH_COUNT(j->tasks), TASKS_MAX);
	end();
}

/* What it waits for goes with it; what a service works on ends later. */
static void test_client_gone(void)
{
	struct job *j;

	begin(true);
	enter();
	spawn(0);
	answered(0);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 0;"), 0);
	spawn(0);
	j = job_find(mod->state, "7.svr", 1);
	CU_ASSERT_EQUAL(j->n_events, 2);
	keel_mock_client_gone(program);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(j->n_events, 1);
	CU_ASSERT_EQUAL(j->n_clients, 0);
	answered(0);
	CU_ASSERT_EQUAL(j->n_events, 0);
	part_events->task_over(listener, &part, 2, 0);
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 2; node = 0;"), TM_ENOTCONNECTED);
	end();
}

/* The job is over while a service works on an event. */
static void test_job_gone(void)
{
	begin(true);
	enter();
	spawn(0);
	part_events->gone(listener, "7.svr", 2, false); /* another run */
	keel_mock_advance(mock, 0);
	CU_ASSERT_FALSE(stream.told);
	part_events->gone(listener, "7.svr", 1, false);
	keel_mock_advance(mock, 0);
	CU_ASSERT_TRUE(stream.told);
	CU_ASSERT_EQUAL(stream.code, TM_ENOTCONNECTED);
	answered(0);
	end();
}

/* A client that reads too slowly gets its events later. */
static void test_slow_client(void)
{
	uint32_t n;

	begin(true);
	enter();
	keel_mock_client_slow(program, true);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 6; node = 0;"), 0); /* taken all the same */
	n = stream.parts;
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 7; node = 0;"), 0);
	CU_ASSERT_EQUAL(ask("tm_taskinfo", OWN "event = 8; node = 0;"), 0);
	CU_ASSERT_EQUAL(stream.parts, n);
	keel_mock_client_slow(program, false);
	keel_mock_advance(mock, 1);
	got("\"event\": 8");
	end();
}

/* past modules/task-manager/task-manager.h UNREAD_MAX */
static void test_client_that_never_reads(void)
{
	const struct job *j;

	begin(true);
	enter();
	publish("data", PUBLISHED_MAX / 4 * 3);
	j = job_find(mod->state, "7.svr", 1);
	keel_mock_client_slow(program, true);
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	CU_ASSERT(j->n_unread > UNREAD_MAX / 2);
	CU_ASSERT(j->n_unread < UNREAD_MAX + 20 * 100); /* errors are short */
	CU_ASSERT_EQUAL(j->n_events, 19); /* the first was taken */
	keel_mock_client_slow(program, false);
	keel_mock_advance(mock, 1);
	got("\"code\": 17000");
	CU_ASSERT_EQUAL(j->n_unread, 0);
	CU_ASSERT_EQUAL(ask("tm_subscribe", OWN "event = 7; task = 1; name = \"data\";"), 0);
	got("\"code\": 0");
	end();
}

/* Tasks of before the daemon's start are not known: their ends are waited for, or remembered, and numbers stay unique. */
static void test_found_at_start(void)
{
	struct job *j;

	begin(true);
	mod = keel_mock_restart(mod, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	j = job_find(mod->state, "7.svr", 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(j);
	part_events->task_over(listener, &part, 17, 3);
	enter();
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 6; task = 17; node = 0;"), 0);
	got("\"status\": 3");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 7; task = 18; node = 0;"), 0);
	part_events->task_over(listener, &part, 18, 4);
	got("\"status\": 4");
	CU_ASSERT_EQUAL(ask("tm_obit", OWN "event = 8; task = 19; node = 4;"), 0); /* its host has another number now */
	part_events->task_over(listener, &part, 19, 5);
	got("\"status\": 5");
	CU_ASSERT(spawn(0) >= 2);
	answered(0);
	end();
}

static void test_attach(void)
{
	char body[100];

	begin(true);
	snprintf(body, sizeof(body), "job = \"7.svr\"; pid = %d;", (int)getpid());
	CU_ASSERT_EQUAL(ask("tm_attach", body), TM_EOWNER); /* this process is not of the job's user */
	CU_ASSERT_EQUAL(ask_as(&other, "tm_attach", body), TM_EUSER);
	part.uid = user.uid = geteuid();
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"8.svr\"; pid = 77;"), TM_ENOTFOUND);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; pid = 1;"), TM_ENOPROC);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; pid = -4;"), TM_ENOPROC);
	CU_ASSERT_EQUAL(ask("tm_attach", "job = \"7.svr\"; cookie = \"no\"; pid = 77;"), TM_ENOTCONNECTED);
	CU_ASSERT_EQUAL(asked.n, 0);
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	CU_ASSERT_EQUAL(asked.pid, getpid());
	answered(TM_ESESSION);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, TM_ESESSION);
	snprintf(body, sizeof(body), "pid = %d;", (int)getpid()); /* the user's only job */
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	answered(0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.json, "\"task\""));
	CU_ASSERT_EQUAL(ask("tm_attach", body), -1);
	answered(PBSE_HOOK_REJECT);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(reply.code, TM_EHOOK);
	CU_ASSERT_EQUAL(keel_mock_reconf(mod, "attach = false;", NULL), 0);
	CU_ASSERT_EQUAL(ask("tm_attach", body), TM_ENOTIMPLEMENTED);
	end();
}

TESTS_MAIN("task-manager", TEST(test_who_is_refused), TEST(test_greeting), TEST(test_life_of_a_task), TEST(test_elsewhere), TEST(test_slots),
	   TEST(test_without_sisters), TEST(test_listings), TEST(test_values), TEST(test_too_many_events),
	   TEST(test_too_many_clients), TEST(test_too_many_tasks), TEST(test_client_gone), TEST(test_job_gone),
	   TEST(test_slow_client), TEST(test_client_that_never_reads), TEST(test_found_at_start), TEST(test_attach))
