/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_isolate.c - whatever the process of an isolated module says, the daemon stands: its messages, its
 * questions while a call of it is open, its description of itself.
 *
 * The input is read as a program: each message begins with a byte that says what it is, its values are
 * chosen by the bytes behind it, from a few that mean something and from the input itself.
 */
#include "isolated.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- messages from the input ----------------------------------------------------------------------------- */
struct tape {
	const uint8_t *at, *end;
};

static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static void put_any(struct buf *m, struct tape *t)
{
	static const char *const words[] = { "job", "1.svr", "2.svr", "comment", "Priority", "", "7", "x" };
	uint8_t kind = next(t);

	if (kind < 96) {
		talk_put_str(m, words[kind % 8]);
	} else if (kind < 160) {
		talk_put_int(m, kind - 100);
	} else if (kind < 176) {
		pack_nil(m);
	} else if (kind < 192) {
		talk_put_int(m, (int64_t)(UINT64_C(0x8000000000000000) >> (next(t) % 64)));
	} else if (kind < 224) {
		uint32_t len = next(t);
		size_t left = (size_t)(t->end - t->at);

		len = len < left ? len : (uint32_t)left;
		talk_put_bytes(m, t->at, len);
		t->at += len;
	} else {
		mp_byte(m, next(t)); /* perhaps nonsense */
	}
}

static void message(struct isolate *iso, struct tape *t)
{
	uint8_t what = next(t), n = next(t) % 12;
	struct buf m = { 0 };
	struct frame f = { .type = what % 4 < 2 ? WIRE_REQUEST : what % 4 == 2 ? WIRE_EVENT : WIRE_REPLY,
			   .corr = next(t) % 4 };

	if (f.type == WIRE_REQUEST) {
		talk_put_int(&m, what / 4 % (ASK_LAST + 1));
		talk_put_int(&m, next(t) % 3); /* call 1 is open */
	} else if (f.type == WIRE_EVENT) {
		talk_put_int(&m, TALK_LOG + what / 4 % 7);
	}
	while (n-- > 0)
		put_any(&m, t);
	f.body = m.data != NULL ? m.data : "";
	f.len = (uint32_t)m.len;
	heard(iso->now, &f);
	buf_fini(&m);
}

static void described(struct tape *t)
{
	struct isolate iso = { .parts = &parts, .name = (char *)"fuzzed" };
	struct buf m = { 0 };
	struct keel_err err;
	struct talk_in in;

	talk_put_int(&m, 0);
	while (t->at < t->end)
		put_any(&m, t);
	talk_open(&in, m.data, (uint32_t)m.len);
	described_take(&iso, &in, m.data, (uint32_t)m.len, &err);
	described_fini(&iso);
	buf_fini(&m);
}

/* True at the second look. */
static bool turned(void *arg)
{
	bool *looked = arg, was = *looked;

	*looked = true;
	return was;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };
	struct keel_obj *draft;
	struct isolate iso;
	int ends[2];

	if (parts.loop == NULL)
		kernel_make();
	if (size > 0 && data[0] % 4 == 0) {
		t.at++;
		described(&t);
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	draft = object->draft(&base.pub, "job", "2.svr", NULL);
	isolate_make(&iso, ends[0]);
	call_open(draft);
	while (t.at < t.end && iso.now->lost[0] == '\0')
		message(&iso, &t);
	isolate_drop(&iso);
	close(ends[1]);
	object->destroy(draft);
	loop_run_until(parts.loop, turned, &(bool){ false }, 1000); /* what was cancelled is freed */
	return 0;
}
