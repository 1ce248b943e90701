/* SPDX-License-Identifier: Apache-2.0
 *
 * core.c - the group "core" but for what clock.c does: log, names, the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "inside.h"

/* ---- the log ---------------------------------------------------------------------------------------- */
static void record(struct keel_mock *mock, const char *klass, const char *object, const char *fmt, va_list ap)
{
	struct record *r = make(sizeof(*r));
	char *words;

	if (vasprintf(&words, fmt, ap) < 0)
		die("no memory");
	r->text = print_text("%s;%s;%s", klass != NULL ? klass : "", object != NULL ? object : "", words);
	free(words);
	r->next = mock->records;
	mock->records = r;
}

void host_log(struct keel_mock *mock, uint32_t event, const char *klass, const char *object,
	      const char *fmt, ...)
{
	va_list ap;

	(void)event;
	va_start(ap, fmt);
	record(mock, klass, object, fmt, ap);
	va_end(ap);
}

static void core_log(struct keel_mod *pub, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	struct mod *m = mod_in(pub, "core", "log");
	va_list ap;

	(void)event;
	if (m == NULL)
		return;
	va_start(ap, fmt);
	record(mock_of(m), klass, object, fmt, ap);
	va_end(ap);
}

const char *keel_mock_logged(struct keel_mock *mock, const char *text)
{
	for (const struct record *r = mock->records; r != NULL; r = r->next)
		if (strstr(r->text, text) != NULL)
			return r->text;
	return NULL;
}

const char *keel_mock_log(struct keel_mock *mock, uint32_t i)
{
	const struct record *r = mock->records;
	int n = 0;

	LL_COUNT(mock->records, r, n);
	if (i >= (uint32_t)n)
		return NULL;
	for (r = mock->records; i + 1 < (uint32_t)n; n--)
		r = r->next;
	return r->text;
}

void keel_mock_log_clear(struct keel_mock *mock)
{
	while (mock->records != NULL) {
		struct record *r = mock->records;

		mock->records = r->next;
		keep(mock, r->text);
		free(r);
	}
}

static int32_t core_error(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(err, code, fmt, ap);
	va_end(ap);
	return code;
}

/* ---- who and when -------------------------------------------------------------------------------------- */
static int64_t core_now_ms(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "core", "now_ms");

	return m != NULL ? mock_of(m)->now : 0;
}

static int64_t core_time(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "core", "time");

	return m != NULL ? mock_of(m)->epoch + (mock_of(m)->now - BEGIN_MS) / 1000 : 0;
}

/* The one clock that goes on during a callback. */
static int64_t core_clock_us(struct keel_mod *pub)
{
	struct timespec t;

	(void)mod_in(pub, "core", "clock_us");
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static uint32_t core_daemon(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "core", "daemon");

	return m != NULL ? mock_of(m)->daemon : 0;
}

#define WORD(function, text)                                                                       \
	static const char *core_##function(struct keel_mod *pub)                                   \
	{                                                                                          \
		struct mod *m = mod_in(pub, "core", #function);                                    \
                                                                                                   \
		return m != NULL ? text : "";                                                      \
	}
WORD(home, mock_of(m)->home)
WORD(exec_dir, "/usr")
WORD(server_name, "svr")
WORD(host_name, mock_of(m)->host)
WORD(version_text, "keelson mock")

void keel_mock_host(struct keel_mock *mock, const char *name)
{
	mock->host = keep(mock, dup_text(name));
}

void keel_mock_home(struct keel_mock *mock, const char *path)
{
	mock->home = keep(mock, dup_text(path));
}

void keel_mock_epoch(struct keel_mock *mock, int64_t seconds)
{
	mock->epoch = seconds;
}

static void core_stop(struct keel_mod *pub)
{
	struct mod *m = mod_in(pub, "core", "stop");

	if (m != NULL)
		mock_of(m)->stopped = true;
}

bool keel_mock_stopped(struct keel_mock *mock)
{
	return mock->stopped;
}

const struct keel_mod *keel_mock_inside(struct keel_mock *mock)
{
	return mock->frame != NULL ? &mock->frame->mod->pub : NULL;
}

static void core_log_events(struct keel_mod *pub, uint32_t mask)
{
	(void)mod_in(pub, "core", "log_events");
	(void)mask;
}

static void core_keep(struct keel_mod *other)
{
	struct mod *m = other != NULL ? mod_in(other, "core", "keep") : NULL;

	if (m != NULL)
		m->kept++;
}

static void core_let_go(struct keel_mod *other)
{
	struct mod *m = other != NULL ? mod_in(other, "core", "let_go") : NULL;

	if (m != NULL && m->kept > 0)
		m->kept--;
}

const struct keel_core_api core_api = {
	.size = sizeof(core_api), .log = core_log, .error = core_error, .pbse_text = pbse_text,
	.now_ms = core_now_ms, .time = core_time, .daemon = core_daemon, .home = core_home,
	.exec_dir = core_exec_dir, .server_name = core_server_name, .host_name = core_host_name,
	.version_text = core_version_text, .timer = core_timer, .timer_cancel = core_timer_cancel,
	.defer = core_defer, .post = core_post, .work = core_work, .watch_fd = core_watch,
	.watch_cancel = core_watch_cancel, .stop = core_stop, .log_events = core_log_events,
	.clock_us = core_clock_us, .when_durable = core_when_durable, .watch_for = core_watch_for,
	.keep = core_keep, .let_go = core_let_go,
};
