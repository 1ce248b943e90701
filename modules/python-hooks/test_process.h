/* SPDX-License-Identifier: Apache-2.0
 *
 * test_process.h - a daemon with hooks whose processes are the test: a service "supervise" that keeps what is sent to them, and
 * says what the test wants them to say.
 */
#ifndef PYTHON_HOOKS_TEST_PROCESS_H
#define PYTHON_HOOKS_TEST_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keel/mock.h"
#include "pool.h"
#include "run.h"

extern const struct keel_module keel_module;

#define FAKES 80
struct keel_supervised {
	struct keel_supervise_opts o;
	struct keel_mod *mod;
	struct pack sent[16]; /* frames behind the setup */
	uint32_t n_sent, n_setups;
	bool up, gone, deaf; /* gone: stop() was called; deaf: what is sent is not kept */
	char lost[200];
};
static struct {
	struct keel_supervised all[FAKES];
	uint32_t n;
	bool refuses; /* no process can be started */
} fakes;

static struct keel_mock *mock;
static struct state st;
static struct conf conf;
static char home[64];

/* ---- service supervise ------------------------------------------------------------------------------------ */
static struct keel_supervised *fake_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *o,
					  struct keel_err *err)
{
	struct keel_supervised *p = &fakes.all[fakes.n];

	(void)self;
	if (fakes.refuses) {
		snprintf(err->text, sizeof(err->text), "no more processes");
		return NULL;
	}
	if (fakes.n++ == FAKES)
		abort();
	p->o = *o;
	p->mod = mod;
	return p;
}

static int32_t fake_send(struct keel_supervised *p, const void *bytes, uint32_t len)
{
	struct value v, word;

	if (p->gone || p->lost[0] || !value_read(bytes, len, &v) || !value_nth(&v, 0, &word))
		abort();
	if (value_is(&word, "setup")) {
		p->n_setups++;
		return 0;
	}
	if (p->deaf)
		return 0;
	if (p->n_sent == KEEL_COUNT(p->sent))
		abort();
	p->sent[p->n_sent].data = malloc(len);
	memcpy(p->sent[p->n_sent].data, bytes, len);
	p->sent[p->n_sent++].len = len;
	return 0;
}

static void fake_up(struct keel_supervised *p)
{
	p->up = true;
}

static void (*on_look)(struct keel_supervised *p);
static void fake_look(struct keel_supervised *p)
{
	if (on_look)
		on_look(p);
}

static void fake_give_up(struct keel_supervised *p, const char *why)
{
	if (p->lost[0] == '\0')
		snprintf(p->lost, sizeof(p->lost), "%s", why);
}

static void fake_stop(struct keel_supervised *p)
{
	if (p)
		p->gone = true;
}

static const struct keel_supervise_api fake = { .size = sizeof(fake), .start = fake_start, .send = fake_send, .up = fake_up,
						.look = fake_look, .give_up = fake_give_up, .stop = fake_stop, .drop = fake_stop };

/* ---- what a process says ---------------------------------------------------------------------------------- */
static void says(uint32_t n, struct pack *p)
{
	struct keel_supervised *s = &fakes.all[n];
	char *exact = malloc(p->len > 0 ? p->len : 1); /* a sanitizer sees what is read behind it */

	if (p->len > 0)
		memcpy(exact, p->data, p->len);
	s->o.frame(s->mod, s->o.arg, exact, p->len);
	free(exact);
	pack_fini(p);
}

static inline void says_word(uint32_t n, const char *word, const char *text)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, word);
	if (text)
		pack_text(&p, text);
	pack_close(&p, open, text ? 2 : 1);
	says(n, &p);
}

/* The number of the i-th call or check that a process got; 0: there is none. */
static int64_t number_of(uint32_t n, uint32_t i)
{
	struct value v;

	if (i >= fakes.all[n].n_sent || !value_read(fakes.all[n].sent[i].data, fakes.all[n].sent[i].len, &v) || !value_nth(&v, 1, &v))
		return 0;
	return v.i;
}

static inline void says_result(uint32_t n, int64_t number, const char *how, const char *text, bool retire)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p), map;

	pack_text(&p, "result");
	pack_int(&p, number);
	map = pack_open_map(&p);
	pack_pair_text(&p, "how", how);
	pack_pair_text(&p, "text", text);
	pack_pair_int(&p, "retire", retire);
	pack_close(&p, map, 3);
	pack_close(&p, open, 3);
	says(n, &p);
}

static void dies(uint32_t n, const char *why)
{
	struct keel_supervised *s = &fakes.all[n];

	s->o.ended(s->mod, s->o.arg, why, -1);
}

/* Its end is on the way: it has come. */
static void ends(uint32_t n)
{
	dies(n, fakes.all[n].lost);
}

/* ---- a daemon --------------------------------------------------------------------------------------------- */
static void daemon_begin(void)
{
	struct keel_mod *self;
	struct keel_err err;

	memset(&fakes, 0, sizeof(fakes));
	memset(&st, 0, sizeof(st));
	on_look = NULL;
	conf = (struct conf){ .processes = 2, .memory = 1 << 30, .idle = 60000, .user = "nobody" };
	snprintf(home, sizeof(home), "/tmp/keelson-hooks.XXXXXX");
	if (!mkdtemp(home))
		abort();
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_home(mock, home);
	keel_mock_service(mock, "supervise", &fake);
	keel_mock_use(mock, &keel_module);
	self = keel_mock_self(mock);
	self->state = &st;
	self->conf = &conf;
	st.mod = self;
	st.started = true;
	if (pools_start(&st, &err) < 0 || runs_start(&st, &err) < 0)
		abort();
}

static void daemon_end(void)
{
	char path[128];

	runs_stop(&st);
	pools_stop(&st);
	keel_mock_advance(mock, 10);
	for (uint32_t i = 0; i < FAKES; i++)
		for (uint32_t j = 0; j < fakes.all[i].n_sent; j++)
			free(fakes.all[i].sent[j].data);
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
	tables_free(&st);
	snprintf(path, sizeof(path), "%s/hooks_tmp", home);
	CU_ASSERT_EQUAL(rmdir(path), 0); /* nothing is left in there */
	rmdir(home);
}

static inline struct hook *hook_make(const char *name)
{
	struct hook *h = hook_new(&st, name);

	h->script = strdup("pass");
	h->script_len = 4;
	return h;
}

/* The n-th process is up, after what has to be done before it is started. */
static void comes_up(uint32_t n)
{
	keel_mock_advance(mock, 0);
	if (n >= fakes.n || fakes.all[n].n_setups != 1)
		abort();
	says_word(n, "up", NULL);
}

#endif
