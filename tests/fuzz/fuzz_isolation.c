/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_isolation.c - whatever the process of an isolated module says, the daemon stands: its messages, its questions while a
 * call of it is open, its description of itself.
 *
 * The input is read as a program: each message begins with a byte that says what it is, its values are chosen by the bytes
 * behind it, from a few that mean something and from the input itself.
 */
#include "isolation/test_process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tape {
	const uint8_t *at, *end;
};

static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static void put_any(struct talk *m, struct tape *t)
{
	static const char *const words[] = { "job", "1.svr", "2.svr", "comment", "Priority", "", "7", "x" };
	uint8_t kind = next(t), byte;

	if (kind < 96) {
		talk_str(m, words[kind % 8]);
	} else if (kind < 160) {
		talk_int(m, kind - 100);
	} else if (kind < 176) {
		talk_str(m, NULL);
	} else if (kind < 192) {
		talk_int(m, (int64_t)(UINT64_C(0x8000000000000000) >> (next(t) % 64)));
	} else if (kind < 224) {
		uint32_t len = next(t);

		len = len < (size_t)(t->end - t->at) ? len : (uint32_t)(t->end - t->at);
		talk_bytes(m, t->at, len);
		t->at += len;
	} else {
		byte = next(t);
		talk_plain(m, &byte, 1); /* perhaps nonsense */
	}
}

/* Values as the letters want them, or as they come. */
static void put_values(struct talk *m, const char *letters, struct tape *t)
{
	uint8_t n = next(t);

	if (n % 4 == 0) {
		for (n = next(t) % 12; n > 0; n--)
			put_any(m, t);
		return;
	}
	for (; *letters; letters++) {
		uint8_t byte = next(t);

		if (*letters == 'i')
			talk_int(m, byte % 2 ? (int64_t)(iso->calls.used + byte) << 16 : byte);
		else if (*letters != 'b')
			talk_str(m, byte % 5 ? (const char *const[]){ "job", "1.svr", "comment", "x" }[byte % 4] : NULL);
		else
			talk_bytes(m, t->at, byte < t->end - t->at ? byte : 0);
	}
}

static void message(struct tape *t)
{
	uint8_t what = next(t) % (UP_LAST + 2);
	struct talk m = { .data = NULL };

	talk_int(&m, what);
	if (what > UP_REPLY && what < UP_LAST && what != UP_TOLD) {
		talk_int(&m, next(t) % 2 ? (int64_t)1 << 16 : next(t)); /* the call that is open */
		put_values(&m, up_arguments[what], t);
	} else {
		for (uint8_t n = next(t) % 4; n > 0; n--)
			put_any(&m, t);
	}
	process_says(&m);
	free(m.data);
}

static void serve(struct tape *t)
{
	struct keel_mock_outcome out;

	isolated_offer();
	keel_mock_raise(mock, KEEL_POINT_job_submit,
			KEEL_EVENT(job_submit, .id = "1.svr", .job = keel_mock_object(mock, "job", "1.svr"), .who = "me"), &out);
	keel_mock_attr(mock, "job", "comment", "string");
	while (t->at < t->end && process.lost[0] == '\0') {
		message(t);
		keel_mock_advance(mock, 1);
	}
	process.o.ended(process.mod, process.o.arg, "it is over", 0);
	keel_mock_advance(mock, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };
	struct talk m = next(&t) % 8 ? description(KEEL_POINT_job_submit, "ATTR") : (struct talk){ .data = NULL };
	struct keel_err err;

	for (int n = m.len > 0 ? 0 : 60; n > 0; n--)
		put_any(&m, &t);
	daemon_begin();
	isolated_open(&m, &err);
	if (iso && isolated_start())
		serve(&t);
	daemon_end();
	free(m.data);
	return 0;
}
