/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_task_manager.c - whatever programs of a job, and others, ask for: the daemon stands, no other user gets an answer, and
 * nothing is left at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/mock.h"
#include "task-manager/task-manager.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct keel_module keel_module;

struct tape {
	const uint8_t *at, *end;
};

static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

/* ---- the parts of this host: what is asked of them is answered when the input says so --------------------------------- */
static const uint32_t nodes[] = { 0, 0, 1, 2 };
static struct keel_part_host hosts[3];
static struct keel_part part;
static const struct keel_part_events *part_events;
static const struct keel_sister_events *sister_events;
static struct keel_mod *listener, *elsewhere;
static struct asked {
	keel_part_done *done;
	struct keel_mod *me;
	void *arg;
	uint32_t number;
} asked[64];
static uint32_t n_asked;

static int32_t part_listen(struct keel_mod *m, struct keel_mod *me, const struct keel_part_events *events)
{
	(void)m;
	listener = me;
	part_events = events;
	return 0;
}

static int32_t sister_listen(struct keel_mod *m, struct keel_mod *me, const struct keel_sister_events *events)
{
	(void)m;
	elsewhere = me;
	sister_events = events;
	return 0;
}

static const struct keel_part *part_find(struct keel_mod *m, const char *id)
{
	(void)m;
	return id != NULL && strcmp(id, "7.svr") == 0 ? &part : NULL;
}

static void part_each(struct keel_mod *m, void (*fn)(struct keel_mod *, const struct keel_part *, void *), struct keel_mod *me, void *arg)
{
	(void)m;
	fn(me, &part, arg);
}

static void ask(struct keel_mod *me, keel_part_done *done, void *arg, uint32_t number)
{
	if (n_asked < KEEL_COUNT(asked))
		asked[n_asked++] = (struct asked){ done, me, arg, number };
	else
		done(me, arg, TM_ESYSTEM, "busy");
}

static void part_spawn(struct keel_mod *m, const char *id, const struct keel_part_task *t, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id;
	ask(me, done, arg, t->number);
}

static void part_signal(struct keel_mod *m, const char *id, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id, (void)name;
	ask(me, done, arg, number);
}

static void part_attach(struct keel_mod *m, const char *id, uint32_t number, int64_t pid, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id, (void)pid;
	ask(me, done, arg, number);
}

static void sister_spawn(struct keel_mod *m, const char *id, uint32_t host, const struct keel_part_task *t, struct keel_mod *me, keel_part_done *done, void *arg)
{
	if (host >= part.n_hosts)
		abort();
	part_spawn(m, id, t, me, done, arg);
}

static void sister_signal(struct keel_mod *m, const char *id, uint32_t host, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg)
{
	if (host >= part.n_hosts)
		abort();
	part_signal(m, id, number, name, me, done, arg);
}

static const struct keel_part_api part_api = {
	.size = sizeof(part_api), .version = 1, .listen = part_listen, .find = part_find, .each = part_each,
	.spawn = part_spawn, .attach = part_attach, .signal = part_signal,
};
static const struct keel_sister_api sister_api = {
	.size = sizeof(sister_api), .version = 1, .listen = sister_listen, .spawn = sister_spawn, .signal = sister_signal,
};

/* ---- requests ---------------------------------------------------------------------------------------------------------- */
static struct keel_mock *mock;
static struct keel_session user, other;
static struct keel_mock_reply replies[256];
static struct keel_req *programs[4];

static void any_put(FILE *f, struct tape *t)
{
	static const char *const words[] = { "\"7.svr\"", "\"C00KIE\"", "\"prog\"", "\"A=1\"", "\"\"", "\"8.svr\"" };
	uint8_t kind = next(t);

	if (kind < 128)
		fprintf(f, "%d", kind % 8);
	else if (kind < 190)
		fputs(words[kind % KEEL_COUNT(words)], f);
	else if (kind < 220)
		fprintf(f, "[ \"prog\"%s ]", kind % 2 ? ", \"x\"" : "");
	else
		fprintf(f, "%lldL", (long long)(UINT64_C(1) << (next(t) % 64)));
}

/* What a program says when it is well, but where the input says otherwise. */
static void body_put(FILE *f, struct tape *t)
{
	static const struct { const char *key, *value; } keys[] = {
		{ "job", "\"7.svr\"" }, { "cookie", "\"C00KIE\"" }, { "client", "1" }, { "event", "5" }, { "task", "1" },
		{ "node", NULL }, { "signal", "15" }, { "argv", "[ \"prog\" ]" }, { "env", NULL }, { "name", "\"n\"" },
		{ "value", "\"v\"" }, { "pid", NULL },
	};

	for (size_t i = 0; i < KEEL_COUNT(keys); i++) {
		uint8_t byte = next(t);

		if (byte % 16 == 15)
			continue;
		fprintf(f, "%s = ", keys[i].key);
		if (byte < 64 || keys[i].value == NULL)
			any_put(f, t);
		else
			fputs(keys[i].value, f);
		fputs(";", f);
	}
}

static void request(struct tape *t, uint32_t n)
{
	static const char *const names[] = { "tm_init", "tm_spawn", "tm_kill", "tm_obit", "tm_taskinfo", "tm_rescinfo", "tm_publish",
					     "tm_subscribe", "tm_attach" };
	const char *name = names[next(t) % KEEL_COUNT(names)];
	bool strange = next(t) % 8 == 7;
	char *body = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&body, &len);
	struct keel_req *r;

	body_put(f, t);
	fclose(f);
	r = keel_mock_request(mock, strange ? &other : &user, name, body, &replies[n]);
	keel_mock_advance(mock, 0);
	if (strange && (replies[n].parts > 0 || (replies[n].told && replies[n].code == 0)))
		abort();
	if (strcmp(name, "tm_init") == 0 && !replies[n].told)
		programs[n % KEEL_COUNT(programs)] = r;
	free(body);
}

static void happen(struct tape *t)
{
	uint8_t what = next(t) % 8;
	struct keel_req **r = &programs[next(t) % KEEL_COUNT(programs)];

	if (what < 3 && n_asked > 0) {
		struct asked a = asked[--n_asked];

		a.done(a.me, a.arg, next(t) % 3 ? 0 : TM_ESYSTEM, "no");
	} else if (what == 3) {
		part_events->task_over(listener, &part, next(t) % 8, next(t));
	} else if (what == 4) {
		sister_events->task_over(elsewhere, "7.svr", 1, next(t) % 8, next(t) % 2 ? -1 : 0);
	} else if (what == 5 && *r != NULL) {
		keel_mock_client_gone(*r);
		*r = NULL;
	} else if (what == 6) {
		part.n_hosts = 1 + next(t) % 3;
	} else if (what == 7 && next(t) % 4 == 0) {
		part_events->gone(listener, "7.svr", 1, false);
		memset(programs, 0, sizeof(programs));
	}
}

static void begin(void)
{
	static const char *const names[] = { "a", "b", "c" };

	for (int i = 0; i < 3; i++)
		hosts[i] = (struct keel_part_host){ .size = sizeof(hosts[i]), .name = names[i], .vnodes = "(v1:ncpus=1)" };
	part = (struct keel_part){
		.size = sizeof(part), .state = KEEL_PART_READY, .n_hosts = 3, .n_nodes = 4, .id = "7.svr", .run = 1,
		.user = "u1", .cookie = "C00KIE", .uid = 77, .hosts = hosts, .nodes = nodes,
	};
	memset(replies, 0, sizeof(replies));
	memset(programs, 0, sizeof(programs));
	n_asked = 0;
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_host(mock, "a");
	keel_mock_service(mock, "part", &part_api);
	keel_mock_service(mock, "sister", &sister_api);
	if (keel_mock_load(mock, &keel_module, NULL, NULL) == NULL)
		abort();
	user = *keel_mock_session(mock, "u1", KEEL_USER);
	user.uid = (uint32_t)part.uid;
	other = *keel_mock_session(mock, "u2", KEEL_USER);
	other.uid = user.uid + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };

	begin();
	keel_mock_request(mock, &user, "tm_init", "job = \"7.svr\"; cookie = \"C00KIE\"; task = 1;", &replies[0]);
	for (uint32_t n = 1; t.at < t.end && n < KEEL_COUNT(replies); n++) {
		if (next(&t) % 3)
			request(&t, n);
		else
			happen(&t);
		keel_mock_advance(mock, 0);
	}
	part_events->gone(listener, "7.svr", 1, false);
	while (n_asked > 0) {
		struct asked a = asked[--n_asked];

		a.done(a.me, a.arg, 0, NULL);
	}
	if (keel_mock_free(mock) != 0)
		abort();
	return 0;
}
