/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_python_hooks.c - whatever a process of a script says, the daemon stands, and each call has one end.
 *
 * The input is read twice. As a frame: refused, or a value that can be walked to its end and is the same when it is written again.
 * And as a program: each message begins with a byte that says what it is, its values are chosen by the bytes behind it.
 */
#define CU_ASSERT_EQUAL(a, b) ((a) == (b) ? (void)0 : abort())

#include "python-hooks/test_process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tape {
	const uint8_t *at, *end;
};

/* ---- a frame ------------------------------------------------------------------------------------------------ */
static void copy(struct pack *p, const struct value *v)
{
	const char *at = v->at;
	struct value inner;
	uint32_t open, n = 0;

	if (v->kind == 'n') {
		pack_nothing(p);
	} else if (v->kind == 'i') {
		pack_int(p, v->i);
	} else if (v->kind == 's') {
		pack_bytes(p, v->s, v->len);
	} else {
		open = v->kind == 'l' ? pack_open_list(p) : pack_open_map(p);
		for (; value_next(v, &at, &inner); n++)
			copy(p, &inner);
		pack_close(p, open, v->kind == 'l' ? n : n / 2);
	}
}

static void look(const struct value *v)
{
	struct value inner;

	value_find(v, "how", &inner);
	value_nth(v, 2, &inner);
	value_int(v, "us", 0);
	free(value_text(&inner));
}

static void read_frame(const uint8_t *data, size_t size)
{
	char *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees what is read behind it */
	struct pack again = { .data = NULL };
	struct value v;

	if (!exact)
		abort();
	if (size > 0)
		memcpy(exact, data, size);
	if (value_read(exact, (uint32_t)size, &v)) {
		look(&v);
		copy(&again, &v);
		if (again.len != size || memcmp(again.data, exact, size) != 0)
			abort();
	}
	pack_fini(&again);
	free(exact);
}

/* ---- a process ---------------------------------------------------------------------------------------------- */
static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static void put_any(struct pack *p, struct tape *t, int depth)
{
	static const char *const words[] = { "how", "accept", "reject", "changes", "retire", "text", "job", "1.svr", "comment", "object",
					     "list", "check", "keep", "release", "node", "queue", "server", "resv", "Priority", "7", "" };
	uint8_t kind = next(t), n;
	uint32_t open;

	if (kind < 140) {
		pack_text(p, words[kind % KEEL_COUNT(words)]);
	} else if (kind < 170) {
		pack_int(p, kind < 160 ? kind - 150 : (int64_t)(UINT64_C(0x8000000000000000) >> (next(t) % 64)));
	} else if (kind < 190) {
		pack_nothing(p);
	} else if (kind < 215 || depth == 0) {
		n = (uint8_t)(next(t) % 32);
		n = n < t->end - t->at ? n : (uint8_t)(t->end - t->at);
		pack_bytes(p, t->at, n);
		t->at += n;
	} else {
		n = (uint8_t)(next(t) % 5);
		open = kind % 2 ? pack_open_list(p) : pack_open_map(p);
		for (uint8_t i = 0; i < n; i++) {
			if (kind % 2 == 0)
				pack_key(p, words[next(t) % KEEL_COUNT(words)]);
			put_any(p, t, depth - 1);
		}
		pack_close(p, open, n);
	}
}

static void put_result(struct pack *p, struct tape *t)
{
	uint32_t map = pack_open_map(p);

	pack_pair_text(p, "how", next(t) % 2 ? "accept" : "exception");
	pack_key(p, "changes");
	put_any(p, t, 4);
	pack_key(p, "text");
	put_any(p, t, 1);
	pack_close(p, map, 3);
}

static void message(uint32_t n, struct tape *t)
{
	static const char *const words[] = { "result", "result", "log", "ask", "ask", "ask", "up", "broken", "answer", "" };
	struct pack p = { .data = NULL };
	const char *word = words[next(t) % KEEL_COUNT(words)];
	uint32_t open = pack_open_list(&p), values = 1;

	pack_text(&p, word);
	if (strcmp(word, "result") == 0 && next(t) % 4 != 0) {
		pack_int(&p, number_of(n, fakes.all[n].n_sent - 1));
		put_result(&p, t);
		values = 3;
	} else {
		for (uint8_t more = next(t) % 6; more > 0; more--, values++)
			put_any(&p, t, 3);
	}
	pack_close(&p, open, values);
	fakes.all[n].deaf = strcmp(word, "ask") == 0;
	says(n, &p);
	fakes.all[n].deaf = false;
}

static uint32_t n_ends;

static void ended(struct run *r, struct result *result)
{
	(void)r, (void)result;
	n_ends++;
}

/* A call, and messages until it has its end, or there are no more. */
static void call(struct hook *h, struct tape *t)
{
	struct going g = { .run = { .st = &st, .hook = h, .event = &events[EVENT_queuejob] } };
	struct pack event = { .data = NULL };
	struct ask *a;

	n_ends = 0;
	pack_nothing(&event);
	a = pool_ask(&g.run, &event, ended);
	pack_fini(&event);
	keel_mock_advance(mock, 10);
	if (fakes.n > 0 && !fakes.all[fakes.n - 1].up)
		comes_up(fakes.n - 1);
	while (n_ends == 0 && t->at < t->end && fakes.n > 0 && fakes.all[fakes.n - 1].lost[0] == '\0')
		message(fakes.n - 1, t);
	if (n_ends > 1)
		abort();
	if (n_ends == 0 && a)
		ask_cancel(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };
	struct hook *h;

	read_frame(data, size);
	daemon_begin();
	server_start(&st, NULL);
	keel_mock_attr(mock, "job", "comment", "string");
	keel_mock_object(mock, "job", "1.svr");
	conf.processes = 1;
	h = hook_make("h1");
	for (int i = 0; i < 8 && t.at < t.end; i++) {
		call(h, &t);
		if (fakes.n > 0 && fakes.all[fakes.n - 1].lost[0] && !fakes.all[fakes.n - 1].gone)
			ends(fakes.n - 1);
	}
	hook_free(&st, h);
	server_stop(&st);
	daemon_end();
	return 0;
}
