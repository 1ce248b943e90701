/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the process' end of the socket: frames in, frames out, questions.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "host.h"

#define READ_MIN 65536u
#define OUT_TOGETHER 16384u /* frames wait for company, as long as there is something to read */
#define LINGER_US 60   /* longer than it takes to wake a processor that sleeps */

void *own(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

int32_t fail_with(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	err->code = code > 0 ? code : 0;
	return code;
}

/* Is it ready at once, or nearly? A process that is called often does not sleep between two calls. */
static bool soon(short events)
{
	struct pollfd p = { .fd = host.fd, .events = events };
	int64_t until = host_core.clock_us(&host.mod) + LINGER_US;

	do {
		if (poll(&p, 1, 0) != 0)
			return true;
	} while (host_core.clock_us(&host.mod) < until);
	return false;
}

static void wait_for(short events)
{
	struct pollfd p = { .fd = host.fd, .events = events };

	if (!soon(events))
		poll(&p, 1, -1);
}

bool line_soon(void)
{
	return soon(POLLIN);
}

/* ---- out ------------------------------------------------------------------------------------------- */
/* The daemon always reads, so this does not wait for long. */
void line_flush(void)
{
	uint32_t at = 0;

	if (host.out.failed)
		abort(); /* in the middle of a sentence */
	while (at < host.out.len && !host.over) {
		ssize_t n = send(host.fd, host.out.data + at, host.out.len - at, MSG_NOSIGNAL);

		if (n >= 0)
			at += (uint32_t)n;
		else if (errno == EAGAIN)
			wait_for(POLLOUT);
		else if (errno != EINTR)
			host.over = true;
	}
	host.out.len = 0;
}

static void frame_room(void)
{
	static const char room[sizeof(uint32_t)];

	host.frame = host.out.len;
	talk_plain(&host.out, room, sizeof(room));
}

struct talk *frame_begin(int kind)
{
	frame_room();
	talk_int(&host.out, kind);
	return &host.out;
}

void reply_begin(void)
{
	frame_begin(UP_REPLY);
}

void frame_end(void)
{
	uint32_t len = host.out.len - host.frame - (uint32_t)sizeof(len);

	if (!host.out.failed)
		memcpy(host.out.data + host.frame, &len, sizeof(len));
	if (host.out.len > OUT_TOGETHER || host.out.failed)
		line_flush();
}

static void say(enum up what, va_list values)
{
	frame_room();
	talk_int(&host.out, what);
	talk_int(&host.out, host.current ? host.current->number : 0);
	talk_values(&host.out, up_arguments[what], values);
}

void told(enum up what, ...)
{
	va_list values;

	va_start(values, what);
	say(what, values);
	va_end(values);
	frame_end();
}

void host_log(uint32_t event, const char *text)
{
	told(UP_log, (int64_t)event, "Module", host.name, text);
}

/* ---- in -------------------------------------------------------------------------------------------- */
static void frames_cut(void)
{
	uint32_t at = 0, len;

	while (host.in.len - at >= sizeof(len)) {
		struct message *m;

		memcpy(&len, host.in.data + at, sizeof(len));
		if (host.in.len - at - sizeof(len) < len)
			break;
		m = own(malloc(sizeof(*m) + len));
		m->len = len;
		memcpy(m->bytes, host.in.data + at + sizeof(len), len);
		DL_APPEND(host.queue, m);
		at += (uint32_t)sizeof(len) + len;
	}
	memmove(host.in.data, host.in.data + at, host.in.len - at);
	host.in.len -= at;
}

bool line_read(void)
{
	char chunk[READ_MIN];
	ssize_t n = recv(host.fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		host.over = true;
		return false;
	}
	talk_plain(&host.in, chunk, (uint32_t)n);
	if (host.in.failed)
		abort();
	frames_cut();
	return true;
}

struct message *line_next(void)
{
	struct message *m = host.queue;

	if (m)
		DL_DELETE(host.queue, m);
	return m;
}

/* *ret: the answer, if it is there; else NULL. */
static bool answer_find(struct answer *ret)
{
	DL_FOREACH(host.queue, ret->m) {
		ret->in = (struct talk_in){ .at = ret->m->bytes, .end = ret->m->bytes + ret->m->len };
		if (take_int(&ret->in) == DOWN_REPLY && !ret->in.bad)
			break;
	}
	if (ret->m)
		DL_DELETE(host.queue, ret->m);
	return ret->m != NULL;
}

static void ask_wait(struct answer *ret)
{
	frame_end();
	line_flush();
	while (!answer_find(ret)) {
		wait_for(POLLIN);
		if (!line_read())
			_Exit(0); /* there will be no answer */
	}
}

void ask(struct answer *ret, enum up what, ...)
{
	va_list values;

	va_start(values, what);
	say(what, values);
	va_end(values);
	ask_wait(ret);
}

void ask_end(struct answer *a)
{
	free(a->m);
}

int64_t ask_code(enum up what, ...)
{
	struct answer a;
	va_list values;
	int64_t code;

	va_start(values, what);
	say(what, values);
	va_end(values);
	ask_wait(&a);
	code = take_int(&a.in);
	ask_end(&a);
	return code;
}

int32_t step_take(struct answer *a, struct keel_err *err)
{
	int32_t code = (int32_t)take_int(&a->in), pbse = (int32_t)take_int(&a->in);
	const char *text = take_str(&a->in);

	if (a->in.bad) {
		code = -ENOENT;
		text = "there is no such object or attribute any more";
	}
	if (code != 0 && err) {
		fail_with(err, code, "%s", text ? text : "");
		err->code = pbse;
	}
	ask_end(a);
	return code;
}

int32_t text_take(struct answer *a, char *buf, uint32_t len)
{
	int32_t code = (int32_t)take_int(&a->in);
	const char *text = take_str(&a->in);

	if (a->in.bad)
		code = -ENOENT;
	if (code >= 0 && len > 0)
		snprintf(buf, len, "%s", text ? text : "");
	ask_end(a);
	return code;
}
