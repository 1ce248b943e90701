/* SPDX-License-Identifier: Apache-2.0
 *
 * test_world.h - the module in the mock: the test is the parts of this host, the carrier, and the other hosts.
 */
#ifndef SISTERS_TEST_WORLD_H
#define SISTERS_TEST_WORLD_H

#include "sisters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness.h"
#include "keel/mock.h"
#include "wire/pack.h"

extern const struct keel_module keel_module;

static char *dir;
static struct keel_mock *mock;
static struct keel_mod *mod;

/* ---- parts ------------------------------------------------------------------------------------------------ */
static struct keel_part_host part_hosts[3] = {
	{ sizeof(struct keel_part_host), 1, "a", "10.0.0.1:15003", "KA", "(a:ncpus=1)" },
	{ sizeof(struct keel_part_host), 1, "b", "10.0.0.2:15003", "KB", "(b:ncpus=1)" },
	{ sizeof(struct keel_part_host), 1, "c", "10.0.0.3:15003", "KC", "(c:ncpus=1)" },
};
static struct keel_part part;
static bool there;
static struct keel_part_events parts_heard;
static struct keel_mod *parts_me;
static char added[256], written[256], source[2][256];
static int fails, ends, failed_status;
static struct { char name[32]; uint32_t number; keel_part_done *done; void *arg; int n; } waiting; /* signal, spawn, prologue */

static int32_t fake_listen(struct keel_mod *m, struct keel_mod *me, const struct keel_part_events *e)
{
	(void)m;
	parts_me = me;
	parts_heard = e ? *e : (struct keel_part_events){ 0 };
	return 0;
}
static inline const struct keel_part *fake_find(struct keel_mod *m, const char *id)
{
	(void)m;
	return there && strcmp(id, part.id) == 0 ? &part : NULL;
}
static void fake_each(struct keel_mod *m, void (*fn)(struct keel_mod *, const struct keel_part *, void *), struct keel_mod *me, void *arg)
{
	(void)m;
	if (there)
		fn(me, &part, arg);
}
static void fake_wait(const char *name, uint32_t number, keel_part_done *done, void *arg)
{
	snprintf(waiting.name, sizeof(waiting.name), "%s", name);
	waiting.number = number;
	waiting.done = done;
	waiting.arg = arg;
	waiting.n++;
}
static void fake_spawn(struct keel_mod *m, const char *id, const struct keel_part_task *t, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id, (void)me;
	fake_wait(t->argv[0], t->number, done, arg);
}
static void fake_signal(struct keel_mod *m, const char *id, uint32_t number, const char *name, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id, (void)me;
	fake_wait(name, number, done, arg);
}
static void fake_prologue(struct keel_mod *m, const char *id, struct keel_mod *me, keel_part_done *done, void *arg)
{
	(void)m, (void)id, (void)me;
	fake_wait("prologue", 0, done, arg);
}
static inline void wait_over(int32_t code, const char *text)
{
	keel_part_done *done = waiting.done;

	waiting.done = NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(done);
	done(mod, waiting.arg, code, text);
	keel_mock_advance(mock, 0);
}
static int32_t fake_end(struct keel_mod *m, const char *id, int64_t delay)
{
	(void)m, (void)id, (void)delay;
	ends++;
	return 0;
}
static int32_t fake_abort(struct keel_mod *m, const char *id)
{
	return fake_end(m, id, 0);
}
static int32_t fake_fail(struct keel_mod *m, const char *id, int32_t status, const char *line)
{
	(void)m, (void)id, (void)line;
	fails++;
	failed_status = status;
	return 0;
}
static int32_t fake_add(struct keel_mod *m, const char *id, const char *host, const char *const *items, uint32_t n)
{
	(void)m, (void)id;
	snprintf(added, sizeof(added), "%s %s %u", host, n ? items[0] : "", n);
	return 0;
}
static int64_t fake_write(struct keel_mod *m, const char *id, int32_t stream, const void *bytes, uint32_t len)
{
	(void)m, (void)id;
	snprintf(written + strlen(written), sizeof(written) - strlen(written), "%d:%.*s ", stream, (int)len, (const char *)bytes);
	return len;
}
static int64_t fake_read(struct keel_mod *m, const char *id, int32_t stream, int64_t at, void *buf, uint32_t len)
{
	int64_t n = (int64_t)strlen(source[stream - 1]) - at;

	(void)m, (void)id;
	n = n > len ? len : n > 0 ? n : 0;
	memcpy(buf, source[stream - 1] + at, (size_t)n);
	return n;
}
static const struct keel_part_api parts = {
	.size = sizeof(parts), .listen = fake_listen, .find = fake_find, .each = fake_each, .spawn = fake_spawn, .signal = fake_signal,
	.end = fake_end, .fail = fake_fail, .add = fake_add, .write = fake_write, .read = fake_read, .admit = fake_prologue, .abort = fake_abort,
};

/* ---- the carrier: what is sent, as "peer name key=value ..." -------------------------------------------------- */
static char sent[64][512];
static int n_sent;
static char expected[512];

static void fake_send(struct keel_mod *m, const char *peer, const void *bytes, uint32_t len)
{
	struct pack p;
	char *to = sent[n_sent % 64], *msg;
	size_t at;

	(void)m;
	CU_ASSERT_EQUAL_FATAL(pack_open(&p, bytes, len), 0);
	msg = pack_strdup(pack_get(&p.root, "msg"));
	at = (size_t)snprintf(to, 512, "%s %s", peer, msg);
	free(msg);
	for (uint32_t i = 0; i < p.root.n && at < 400; i++) {
		const struct pack_value *k = &p.root.at[2 * i], *v = k + 1;

		if (k->n == 3 && memcmp(k->text, "msg", 3) == 0)
			continue;
		if (v->kind == PACK_INT)
			at += (size_t)snprintf(to + at, 512 - at, " %.*s=%lld", (int)k->n, k->text, (long long)v->i);
		else if (v->kind == PACK_STR || v->kind == PACK_BIN)
			at += (size_t)snprintf(to + at, 512 - at, " %.*s=%.*s", (int)k->n, k->text, (int)v->n, v->text);
	}
	pack_fini(&p);
	n_sent++;
}
static int32_t fake_expect(struct keel_mod *m, const char *host, const char *address, const char *key)
{
	(void)m;
	snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%s%s%s%s ", key ? "+" : "-", host,
		 address ? "@" : "", address ? address : "", key ? key : "");
	return 0;
}
static const struct keel_carrier_api carrier = { .size = sizeof(carrier), .send = fake_send, .expect = fake_expect };

/* The newest message that contains `text`; NULL: none. */
static inline const char *said(const char *text)
{
	for (int i = n_sent - 1; i >= 0 && i > n_sent - 64; i--)
		if (strstr(sent[i % 64], text))
			return sent[i % 64];
	return NULL;
}
static inline void sent_clear(void)
{
	memset(sent, 0, sizeof(sent));
	n_sent = 0;
}
static inline int64_t number_of(const char *message, const char *key)
{
	char word[32];
	const char *at;

	snprintf(word, sizeof(word), " %s=", key);
	at = message ? strstr(message, word) : NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return strtoll(at + strlen(word), NULL, 10);
}

static inline const struct keel_carry_api *carry(void)
{
	return keel_mock_group(mock, "carry");
}
static inline void up(const char *peer)
{
	CU_ASSERT_EQUAL(carry()->up(keel_mock_self(mock), peer, KEEL_MOM, 1000), 0);
	keel_mock_advance(mock, 0);
}
static inline void lose(const char *peer)
{
	carry()->lost(keel_mock_self(mock), peer);
	keel_mock_advance(mock, 0);
}

/* A message from a peer: pairs of key and value, numbers as "#5", a value "[x" begins an array of one. */
static inline void hear(const char *peer, const char *name, const char *const *pairs)
{
	struct buf b;
	size_t map;
	uint32_t n = 3;

	buf_init(&b);
	map = pack_open_map(&b);
	pack_key_str(&b, "msg", name);
	pack_key_str(&b, "id", "1.svr");
	pack_key_int(&b, "run", 1);
	for (; pairs && pairs[0]; pairs += 2, n++) {
		if (pairs[1][0] == '#') {
			pack_key_int(&b, pairs[0], strtoll(pairs[1] + 1, NULL, 10));
		} else if (pairs[1][0] == '[') {
			pack_str(&b, pairs[0]);
			pack_array(&b, 1);
			pack_str(&b, pairs[1] + 1);
		} else if (pairs[1][0] == '=') {
			pack_str(&b, pairs[0]);
			pack_bin(&b, pairs[1] + 1, strlen(pairs[1] + 1));
		} else {
			pack_key_str(&b, pairs[0], pairs[1]);
		}
	}
	pack_close(&b, map, n);
	CU_ASSERT_EQUAL(carry()->in(keel_mock_self(mock), peer, b.data, (uint32_t)b.len), 0);
	buf_fini(&b);
	keel_mock_advance(mock, 0);
}
#define HEAR(peer, name, ...) hear(peer, name, (const char *const[]){ __VA_ARGS__, NULL, NULL })

/* ---- set up ------------------------------------------------------------------------------------------------------ */
static inline void begin(uint32_t index, uint32_t state)
{
	static struct keel_module alone;
	struct keel_err err = { 0 };
	char path[256];

	dir = scratch_new();
	snprintf(path, sizeof(path), "%s/mom_priv", dir);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	part = (struct keel_part){ .size = sizeof(part), .index = index, .state = state, .n_hosts = 3, .id = "1.svr", .run = 1,
				   .user = "u", .hosts = part_hosts, .tolerate = "" };
	there = state != 0;
	memset(source, 0, sizeof(source));
	memset(&waiting, 0, sizeof(waiting));
	added[0] = written[0] = expected[0] = '\0';
	fails = ends = 0;
	mock = keel_mock_new(KEEL_MOM);
	keel_mock_home(mock, dir);
	keel_mock_host(mock, part_hosts[index].name);
	keel_mock_service(mock, "part", &parts);
	keel_mock_service(mock, "carrier", &carrier);
	alone = keel_module;
	alone.requires_modules = NULL;
	mod = keel_mock_load(mock, &alone, "max_poll_downtime = \"30s\";", &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	sent_clear();
}

static inline void end(void)
{
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	scratch_remove(dir);
	free(dir);
}

static struct keel_mock_outcome out;

static inline keel_verdict raise(uint32_t point, const void *event, struct keel_mock_outcome *ret)
{
	keel_verdict v;

	*ret = (struct keel_mock_outcome){ 0 };
	v = keel_mock_raise(mock, point, event, ret);
	keel_mock_advance(mock, 0); /* messages leave */
	return v;
}
static inline keel_verdict raise_begin(void)
{
	there = true;
	return raise(KEEL_POINT_task_begin, KEEL_EVENT(task_begin, .id = "1.svr", .user = "u"), &out);
}
static inline keel_verdict raise_prologue(void)
{
	return raise(KEEL_POINT_task_prologue, KEEL_EVENT(task_prologue, .id = "1.svr", .user = "u"), &out);
}
static inline keel_verdict raise_act(const char *name, struct keel_mock_outcome *ret)
{
	return raise(KEEL_POINT_task_act, KEEL_EVENT(task_act, .id = "1.svr", .name = name), ret);
}

static inline void answer(const char *host, int32_t code, const char *text)
{
	char prefix[64], number[32], word[16];
	const char *order;

	snprintf(prefix, sizeof(prefix), "%s sister.order", host);
	order = said(prefix);
	snprintf(number, sizeof(number), "#%lld", (long long)number_of(order, "number"));
	snprintf(word, sizeof(word), "#%d", code);
	HEAR(host, "sister.answer", "number", number, "code", word, "text", text);
}

/* The job of all three hosts runs, this one is its primary. */
static inline void run(void)
{
	begin(0, 0);
	part.state = KEEL_PART_BEGIN;
	CU_ASSERT_EQUAL(raise_begin(), KEEL_WAIT);
	up("b");
	up("c");
	hear("b", "sister.joined", NULL);
	hear("c", "sister.joined", NULL);
	CU_ASSERT_EQUAL(raise_prologue(), KEEL_WAIT);
	answer("b", 0, "");
	answer("c", 0, "");
	CU_ASSERT(out.told && out.verdict != KEEL_REJECT);
	part.state = KEEL_PART_READY;
	part.started = true;
	parts_heard.started(parts_me, &part);
	sent_clear();
}

/* This host is a sister, its part is ready. */
static inline void follow(void)
{
	begin(1, KEEL_PART_READY);
	up("a");
}

#endif
