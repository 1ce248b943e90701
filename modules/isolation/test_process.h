/* SPDX-License-Identifier: Apache-2.0
 *
 * test_process.h - a daemon that isolates a module whose process is the test: a service "supervise" of its own, which keeps
 * what the daemon sends and delivers what the test makes the process say.
 */
#ifndef ISOLATION_TEST_PROCESS_H
#define ISOLATION_TEST_PROCESS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"
#include "keel/mock.h"

static struct {
	struct keel_supervise_opts o;
	struct keel_mod *mod;
	struct talk sent; /* the last frame */
	uint32_t n_sent;
	bool deaf; /* what is sent is queued */
	char lost[128]; /* why it was given up */
	struct talk answers; /* frames, each behind its length, that wait() delivers */
	bool up;
	uint32_t owed;
} process;

static void process_hears(struct talk *frame, const void *bytes, uint32_t len)
{
	frame->len = 0;
	talk_plain(frame, bytes, len);
}

static struct keel_supervised *fake_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *o,
					  struct keel_err *err)
{
	(void)self, (void)err;
	process.o = *o;
	process.mod = mod;
	o->begins(mod, o->arg);
	return (struct keel_supervised *)&process;
}

static int32_t fake_send(struct keel_supervised *p, const void *bytes, uint32_t len)
{
	(void)p;
	process_hears(&process.sent, bytes, len);
	process.n_sent++;
	return process.deaf;
}

static void fake_owes(struct keel_supervised *p)
{
	(void)p;
	process.owed++;
}

static void fake_paid(struct keel_supervised *p)
{
	(void)p;
	process.owed--;
}

static void fake_up(struct keel_supervised *p)
{
	(void)p;
	process.up = true;
}

static void fake_look(struct keel_supervised *p)
{
	(void)p;
}

/* It says this frame. */
static void process_says(const struct talk *m)
{
	char *exact = malloc(m->len > 0 ? m->len : 1); /* so that a sanitizer sees what is read behind it */

	memcpy(exact, m->data, m->len);
	process.o.frame(process.mod, process.o.arg, exact, m->len);
	free(exact);
}

static int32_t fake_wait(struct keel_supervised *p, bool (*done)(void *arg), void *arg, int64_t ms)
{
	struct talk m = process.answers;
	uint32_t len, at = 0;

	(void)p, (void)ms;
	process.answers = (struct talk){ .data = NULL };
	while (!done(arg) && m.len - at > sizeof(len) && process.lost[0] == '\0') {
		memcpy(&len, m.data + at, sizeof(len));
		process_says(&(struct talk){ .data = m.data + at + sizeof(len), .len = len });
		at += (uint32_t)sizeof(len) + len;
	}
	free(m.data);
	return done(arg) ? 0 : -ETIMEDOUT;
}

static void fake_give_up(struct keel_supervised *p, const char *why)
{
	(void)p;
	if (process.lost[0] == '\0')
		snprintf(process.lost, sizeof(process.lost), "%s", why);
}

static void fake_stop(struct keel_supervised *p)
{
	(void)p;
}

static int32_t fake_text(const struct keel_supervised *p, char *buf, uint32_t len)
{
	(void)p;
	return snprintf(buf, len, "process 7 up");
}

static const struct keel_supervise_api fake = {
	.size = sizeof(fake), .start = fake_start, .send = fake_send, .owes = fake_owes, .paid = fake_paid, .up = fake_up,
	.look = fake_look, .wait = fake_wait, .give_up = fake_give_up, .stop = fake_stop, .text = fake_text,
};

static const struct keel_service_def fake_service = { .size = sizeof(fake_service), .name = "supervise", .doc = "a test",
						      .table = &fake };
static const struct keel_contrib fake_rows[] = { KEEL_ROW(SERVICE, fake_service) };
static const struct keel_module fake_module = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_ABI_MINOR,
						.size = sizeof(fake_module), .name = "supervise", .version = "1",
						.summary = "a test", .roles = KEEL_ANY, .contribs = fake_rows,
						.n_contribs = KEEL_COUNT(fake_rows) };

/* ---- what the process says -------------------------------------------------------------------------------- */
/* An answer that wait() will deliver. */
static void will_answer(const struct talk *m)
{
	talk_plain(&process.answers, &m->len, sizeof(m->len));
	talk_plain(&process.answers, m->data, m->len);
}

static struct talk reply_begin(void)
{
	struct talk m = { .data = NULL };

	talk_int(&m, UP_REPLY);
	return m;
}

static void will_agree(void) /* to a step */
{
	struct talk m = reply_begin();

	talk_int(&m, 0);
	talk_int(&m, 0);
	talk_str(&m, "");
	will_answer(&m);
	free(m.data);
}

/* Its description: a tap of that point, a row of that kind. */
static struct talk description(uint32_t point, const char *kind)
{
	struct talk m = reply_begin();

	talk_int(&m, 0); /* it could be opened */
	talk_str(&m, NULL);
	talk_str(&m, "fuzzed");
	talk_str(&m, "1");
	talk_str(&m, NULL);
	talk_str(&m, "a test");
	talk_int(&m, KEEL_SERVER);
	talk_int(&m, 8);
	talk_int(&m, 0);
	talk_int(&m, 0); /* rules */
	talk_int(&m, 1); /* rows */
	talk_str(&m, kind);
	talk_int(&m, KEEL_ATTR_SAVE);
	talk_str(&m, "job");
	talk_str(&m, "fuzzed");
	talk_str(&m, "string");
	talk_str(&m, "an attribute");
	talk_int(&m, KEEL_EVERYBODY);
	talk_int(&m, KEEL_EVERYBODY);
	talk_int(&m, 900);
	talk_str(&m, NULL);
	talk_int(&m, 1); /* taps */
	talk_int(&m, point);
	talk_str(&m, "on_it");
	talk_int(&m, 0);
	talk_int(&m, 0);
	talk_str(&m, NULL);
	talk_str(&m, NULL);
	talk_int(&m, 0); /* requires */
	talk_int(&m, 0); /* conflicts */
	return m;
}

/* ---- the daemon ------------------------------------------------------------------------------------------- */
extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *owner, module;
static const struct keel_loader_def *loader;
static struct isolated *iso; /* NULL: it was refused */
static struct keel_mod *offered; /* isolated_offer() */
static void *its_state;

static void daemon_begin(void)
{
	struct keel_err err = { .code = 0 };

	memset(&process, 0, sizeof(process));
	mock = keel_mock_new(KEEL_SERVER);
	if (keel_mock_load(mock, &fake_module, "", &err))
		owner = keel_mock_load(mock, &keel_module, "", &err);
	loader = owner ? keel_mock_row(mock, "LOADER", 0, NULL) : NULL;
	if (!loader) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	module = *keel_mock_self(mock);
	module.state = NULL;
}

/* Isolate the module of that description. NULL: it was; else why not. */
static const char *isolated_open(const struct talk *m, struct keel_err *err)
{
	static const struct limits limits = { .memory = 1 << 30, .deadline = 250, .deaths = 5, .within = 60000, .user = "nobody" };
	struct keel_mod *self = keel_mock_self(mock);
	void *before = self->state;
	const struct keel_module *d;

	will_answer(m);
	d = loader->open(owner, &(struct keel_load){ .size = sizeof(struct keel_load), .name = "fuzzed", .path = "/fuzzed.so",
						     .mod = self, .values = &limits }, err);
	iso = d ? self->state : NULL;
	module.state = iso;
	self->state = before;
	return d ? NULL : err->text;
}

/* Up to start(). */
static bool isolated_start(void)
{
	static const char conf[8];

	will_agree();
	if (loader->check(owner, &module, conf, NULL) != 0)
		return false;
	module.conf = conf;
	will_agree();
	if (iso->desc.init(&module, NULL) != 0)
		return false;
	will_agree();
	return iso->desc.start(&module, NULL) == 0;
}

/* Its rows and taps are the daemon's. */
static void isolated_offer(void)
{
	static struct keel_module rows;

	rows = iso->desc;
	rows.init = rows.start = NULL;
	rows.busy = NULL;
	rows.stop = rows.fini = NULL;
	offered = keel_mock_load(mock, &rows, "", NULL);
	if (!offered)
		abort();
	its_state = offered->state;
	offered->state = iso;
}

static void daemon_end(void)
{
	if (offered) {
		offered->state = its_state;
		keel_mock_unload(offered, NULL); /* its rows are the description's */
	}
	offered = NULL;
	if (iso && iso->process)
		process.o.ended(process.mod, process.o.arg, "it ends", 0); /* what waits for it does not any more */
	keel_mock_advance(mock, 1);
	if (iso)
		loader->close(owner, &module);
	iso = NULL;
	free(process.sent.data);
	free(process.answers.data);
	keel_mock_free(mock);
}

#endif
