/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_sisters.c - whatever other hosts of a job say, in whatever order, to its primary or to a sister: the daemon stands, and
 * has nothing left of it at the end.
 *
 * The input is read as a program: what happens next, who says it, and its values, from words that mean something and from the input.
 */
#include "harness.h"

#undef CU_ASSERT
#undef CU_ASSERT_EQUAL
#undef CU_ASSERT_EQUAL_FATAL
#undef CU_ASSERT_STRING_EQUAL
#undef CU_ASSERT_PTR_NOT_NULL_FATAL
#define CU_ASSERT(is) ((is) ? (void)0 : abort())
#define CU_ASSERT_EQUAL(a, b) CU_ASSERT((a) == (b))
#define CU_ASSERT_EQUAL_FATAL(a, b) CU_ASSERT((a) == (b))
#define CU_ASSERT_STRING_EQUAL(a, b) CU_ASSERT(strcmp(a, b) == 0)
#define CU_ASSERT_PTR_NOT_NULL_FATAL(a) CU_ASSERT((a) != NULL)

#include "sisters/test_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tape {
	const uint8_t *at, *end;
};

static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static const char *word(struct tape *t)
{
	static const char *const words[] = { "a", "b", "c", "x", "", "suspend", "resume", "end", "abort", "admit", "KILL", "prog" };

	return words[next(t) % KEEL_COUNT(words)];
}

static int64_t number(struct tape *t)
{
	uint8_t byte = next(t);

	if (byte < 192)
		return byte % 8;
	return byte < 224 ? (int64_t)(UINT64_C(1) << (byte % 64)) - (byte & 1) : -(int64_t)byte;
}

static void put_value(struct buf *b, struct tape *t)
{
	uint8_t kind = next(t), n;

	if (kind < 110) {
		pack_number(b, number(t));
	} else if (kind < 200) {
		pack_str(b, word(t));
	} else if (kind < 230) {
		n = next(t) % 5;
		pack_array(b, n);
		for (uint8_t i = 0; i < n; i++)
			pack_str(b, word(t));
	} else {
		n = next(t);
		n = n < t->end - t->at ? n : (uint8_t)(t->end - t->at);
		pack_bin(b, (const char *)t->at, n);
		t->at += n;
	}
}

/* The keys that this message has, and perhaps others. */
static void say(struct tape *t)
{
	static const struct { const char *name, *keys[6]; } messages[] = {
		{ "join", { NULL } }, { "order", { "number", "name" } }, { "got", { "stream", "at" } }, { "lost", { "host" } },
		{ "joined", { "stopped" } }, { "none", { NULL } }, { "failed", { "status", "code", "text" } },
		{ "answer", { "number", "code", "text" } }, { "used", { "items" } }, { "ended", { "items" } },
		{ "output", { "stream", "at", "bytes" } }, { "spawn", { "call", "from", "to", "task", "argv", "env" } },
		{ "signal", { "call", "from", "to", "task", "name" } }, { "spawned", { "call", "to", "code", "text" } },
		{ "over", { "from", "to", "task", "status" } }, { "known", { "from", "to", "task" } }, { "x", { NULL } },
	};
	static const char *const peers[] = { "a", "b", "c", "b", "c", "server", "x" };
	const char *const *keys, *peer = peers[next(t) % KEEL_COUNT(peers)];
	size_t which = next(t) % KEEL_COUNT(messages), map;
	char name[32];
	struct buf b;
	uint32_t n = 3;

	keys = messages[which].keys;
	snprintf(name, sizeof(name), "sister.%s", messages[which].name);
	buf_init(&b);
	map = pack_open_map(&b);
	pack_key_str(&b, "msg", name);
	pack_key_str(&b, "id", next(t) % 16 ? "1.svr" : "2.svr");
	pack_key_int(&b, "run", next(t) % 16 ? 1 : 2);
	for (int i = 0; i < 6 && keys[i] && next(t) % 16; i++, n++) {
		pack_str(&b, keys[i]);
		put_value(&b, t);
	}
	pack_close(&b, map, n);
	carry()->in(keel_mock_self(mock), peer, b.data, (uint32_t)b.len);
	buf_fini(&b);
}

/* What was asked of the part of this host, and is not answered yet. */
static struct asked {
	keel_part_done *done;
	void *arg;
} asked[64];
static uint32_t n_asked;

static void answer_one(int32_t code)
{
	struct asked a = asked[--n_asked];

	a.done(mod, a.arg, code, "no");
}

static void asked_note(void)
{
	if (waiting.done == NULL)
		return;
	if (n_asked == KEEL_COUNT(asked))
		answer_one(17000);
	asked[n_asked++] = (struct asked){ waiting.done, waiting.arg };
	waiting.done = NULL;
}

static void host_ends(void)
{
	static const char *const items[] = { "cput=00:00:01" };

	if (part.index)
		parts_heard.ended(parts_me, &part, items, 1);
}

/* Something that happens on this host, or to its links. */
static void happen(struct tape *t)
{
	static const char *const peers[] = { "a", "b", "c" };
	const char *peer = peers[next(t) % 3];

	switch (next(t) % 8) {
	case 0:
	case 1:
		if (strcmp(peer, part_hosts[part.index].name) != 0)
			carry()->up(keel_mock_self(mock), peer, KEEL_MOM, 1000);
		break;
	case 2:
		carry()->lost(keel_mock_self(mock), peer);
		break;
	case 3:
		if (n_asked > 0)
			answer_one(next(t) % 2 ? 0 : 17000);
		break;
	case 4:
		parts_heard.task_over(parts_me, &part, (uint32_t)number(t), 0);
		break;
	case 5:
		strcpy(source[0], "one\ntwo\nthree");
		keel_mock_advance(mock, 7000);
		break;
	case 6:
		host_ends();
		break;
	default:
		keel_mock_advance(mock, 40000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };

	if (next(&t) % 2)
		run();
	else
		follow();
	for (int n = 0; t.at < t.end && n < 200; n++) {
		if (next(&t) % 4)
			say(&t);
		else
			happen(&t);
		keel_mock_advance(mock, 0);
		asked_note();
		waiting.n = written[0] = expected[0] = '\0';
	}
	while (n_asked > 0)
		answer_one(0);
	end();
	return 0;
}
