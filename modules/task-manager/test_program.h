/* SPDX-License-Identifier: Apache-2.0
 *
 * test_program.h - a program of a job and what it gets, in the mock: the services are played, with what they are asked for.
 */
#ifndef TASK_MANAGER_TEST_PROGRAM_H
#define TASK_MANAGER_TEST_PROGRAM_H

#pragma GCC diagnostic ignored "-Wunused-function" /* each test needs some of it */
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

#endif
