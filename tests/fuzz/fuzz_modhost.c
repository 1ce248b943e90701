/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_modhost.c - the other direction of fuzz_isolate: whatever a daemon says, the process of a module does not touch
 * memory that is not its own. The module is the fixture survey, which asks for everything; each of its questions is
 * answered out of the input, too.
 *
 * Here stands what is in line.c in the program: there is no socket.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modhost/host.h"
#include "mock/virtual.h"
#include "util/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct host h;
enum { TURN = 998 }; /* of the loop; no word of the daemon */
static int64_t told; /* durables */
static enum talk_ask asked;
static struct tape {
	const uint8_t *at, *end;
} tape;

static uint8_t next(void)
{
	return tape.at < tape.end ? *tape.at++ : 0;
}

static void put_any(struct buf *m)
{
	static const char *const words[] = { "job", "1.svr", "2.svr", "comment", "Priority", "", "7", "x" };
	uint8_t kind = next();

	if (kind < 96) {
		talk_put_str(m, words[kind % 8]);
	} else if (kind < 176) {
		talk_put_int(m, kind - 100);
	} else if (kind < 184) {
		pack_nil(m);
	} else if (kind < 200) {
		talk_put_int(m, (int64_t)(UINT64_C(0x8000000000000000) >> (next() % 64)));
	} else if (kind < 232) {
		uint32_t len = next();
		size_t left = (size_t)(tape.end - tape.at);

		len = len < left ? len : (uint32_t)left;
		talk_put_bytes(m, tape.at, len);
		tape.at += len;
	} else {
		mp_byte(m, next()); /* perhaps nonsense */
	}
}

/* ---- instead of line.c ----------------------------------------------------------------------------------- */
void host_send(struct host *host)
{
	host->out.len = 0;
}

void host_reply(struct host *host, uint64_t corr)
{
	(void)corr;
	host_send(host);
}

void host_event(struct host *host)
{
	host_send(host);
}

void ask_begin(struct host *host, enum talk_ask what)
{
	(void)host;
	asked = what;
}

void ask(struct host *host, struct answer *ret)
{
	struct buf m = { 0 };

	host_send(host);
	if (asked == ASK_ATTR || next() % 4 > 0) /* the fixture relies on its attributes */
		talk_put_int(&m, 1);
	for (unsigned n = next() % 8; n > 0; n--)
		put_any(&m);
	ret->m = malloc(sizeof(*ret->m) + m.len + 1);
	if (ret->m == NULL)
		abort();
	memcpy(ret->m->body, m.data != NULL ? m.data : "", m.len);
	talk_open(&ret->in, ret->m->body, (uint32_t)m.len);
	buf_fini(&m);
}

void ask_end(struct answer *a)
{
	free(a->m);
}

int64_t ask_code(struct host *host)
{
	struct answer a;
	int64_t code;

	ask(host, &a);
	code = talk_int(&a.in);
	ask_end(&a);
	return code;
}

void host_log(struct host *host, uint32_t event, const char *text)
{
	(void)host, (void)event;
	if (strlen(text) > 1u << 20)
		abort();
}

/* ---- messages ---------------------------------------------------------------------------------------------- */
static void say(int64_t what, struct buf *m)
{
	struct talk_in in;

	talk_open(&in, m->data != NULL ? m->data : "", (uint32_t)m->len);
	handles_end(&h);
	switch (what) {
	case TALK_CALL: call_run(&h, &in, 1); break;
	case TALK_RESUME: call_resume(&h, &in, 1); break;
	case TALK_NOTE: note_run(&h, &in); break;
	case TALK_CANCEL: call_cancel(&h, &in); break;
	case TALK_ASKED: req_take(&h, &in); break;
	case TALK_GONE: req_gone_told(&h, &in); break;
	case TALK_DRAINED: req_drained_told(&h, &in); break;
	case TALK_DURABLE: durable_told(&h, &in); break;
	case TURN: loop_turn(h.parts.loop, loop_now_ms(h.parts.loop) + 10); break;
	default: life(&h, what, &in, 1); break;
	}
	handles_end(&h);
	buf_fini(m);
}

/* Opened, configured, started: then the input has the word. */
static void host_make(void)
{
	char path[4096 + 64];
	ssize_t n = readlink("/proc/self/exe", path, 4096);
	struct buf m = { 0 };

	path[n < 0 ? 0 : n] = '\0';
	for (int up = 0; up < 2 && strrchr(path, '/') != NULL; up++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/fixtures/survey.so");
	h.owner.pub.name = "survey";
	h.owner.parts = &h.parts;
	if (loop_create_virtual(&(struct loop_virtual){ .now_ms = 1000 }, &h.parts.loop) < 0)
		abort();
	talk_put_int(&m, TALK_VERSION);
	talk_put_str(&m, KEELSON_VERSION_TEXT);
	talk_put_str(&m, path);
	talk_put_int(&m, KEEL_SERVER);
	for (int i = 0; i < 4; i++)
		talk_put_str(&m, "fuzz");
	say(TALK_OPEN, &m);
	if (h.desc == NULL) {
		fprintf(stderr, "%s cannot be opened\n", path);
		abort();
	}
	say(TALK_CONF, &m);
	say(TALK_INIT, &m);
	say(TALK_START, &m);
}

/* Time passes and everything is on disk: each request is answered. */
static void finish_all(void)
{
	loop_turn(h.parts.loop, loop_now_ms(h.parts.loop) + 10);
	for (; told < h.next_durable; told++) {
		struct buf m = { 0 };

		talk_put_int(&m, told + 1);
		say(TALK_DURABLE, &m);
	}
	if (h.reqs != NULL)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t kinds[] = { TALK_ASKED, TALK_ASKED, TALK_ASKED, TALK_CALL, TALK_RESUME, TALK_NOTE, TALK_CANCEL,
					 TALK_GONE, TALK_DRAINED, TALK_DURABLE, TURN, TURN, TURN, TALK_BUSY, TALK_CONF, TALK_RECONF, 999 };
	static int64_t number;

	tape = (struct tape){ data, data + size };
	if (h.desc == NULL)
		host_make();
	while (tape.at < tape.end) {
		int64_t what = kinds[next() % KEEL_COUNT(kinds)];
		bool is_right = next() % 4 > 0;
		struct buf m = { 0 };

		if (what == TALK_ASKED && is_right) { /* a request as it should be, but for its body */
			char body[] = "\x81\xa4" "args\x91\xa5" "1.svr";

			talk_put_int(&m, ++number);
			talk_put_int(&m, 0);
			talk_put_int(&m, 0);
			talk_put_bytes(&m, body, sizeof(body) - 1);
		}
		for (unsigned n = next() % 10; n > 0 && !(what == TALK_ASKED && is_right); n--)
			put_any(&m);
		say(what, &m);
	}
	finish_all();
	return 0;
}
