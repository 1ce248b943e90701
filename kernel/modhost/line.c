/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the process' end of the socket: frames in, frames out, questions.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <utlist.h>

#include "modhost/host.h"

#define READ_MIN 65536u

#define LINGER_NS 60000 /* longer than it takes to wake a processor that sleeps */

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Is it ready at once, or nearly? Whoever is called often does not sleep between two calls. */
static bool soon(const struct host *h, short events)
{
	struct pollfd p = { .fd = h->fd, .events = events };
	int64_t until = clock_ns() + LINGER_NS;

	do {
		if (poll(&p, 1, 0) != 0)
			return true;
	} while (clock_ns() < until);
	return false;
}

static void wait_for(const struct host *h, short events)
{
	struct pollfd p = { .fd = h->fd, .events = events };

	if (!soon(h, events))
		poll(&p, 1, -1);
}

void host_wait(const struct host *h)
{
	wait_for(h, POLLIN);
}

bool host_lingers(const struct host *h)
{
	return soon(h, POLLIN);
}

/* ---- out ------------------------------------------------------------------------------------------- */
/* The daemon always reads, so this does not wait for long. */
void host_send(struct host *h)
{
	size_t at = 0;

	if (h->out.failed)
		abort(); /* out of memory in the middle of a sentence: it is started again */
	while (at < h->out.len && !h->over) {
		ssize_t n = send(h->fd, h->out.data + at, h->out.len - at, MSG_NOSIGNAL);

		if (n >= 0)
			at += (size_t)n;
		else if (errno == EAGAIN)
			wait_for(h, POLLOUT);
		else if (errno != EINTR)
			h->over = true;
	}
	h->out.len = 0;
}

void host_reply(struct host *h, uint64_t corr)
{
	talk_end(&h->out, 0, WIRE_REPLY, corr);
	host_send(h);
}

void host_event(struct host *h)
{
	talk_end(&h->out, 0, WIRE_EVENT, 0);
	host_send(h);
}

/* ---- in -------------------------------------------------------------------------------------------- */
static void queue_add(struct host *h, const struct frame *f)
{
	struct message *m = malloc(sizeof(*m) + f->len + 1);

	if (m == NULL)
		abort();
	m->f = *f;
	memcpy(m->body, f->body, f->len);
	m->f.body = m->body;
	DL_APPEND(h->queue, m);
}

static void frames_cut(struct host *h)
{
	struct frame f;
	int ret;

	while ((ret = frame_next(&h->in, &f)) == 1)
		queue_add(h, &f);
	if (ret < 0)
		h->over = true;
}

bool host_read(struct host *h)
{
	char *room;
	size_t len;
	ssize_t n;

	if (frame_reader_room(&h->in, READ_MIN, &room, &len) < 0)
		abort();
	n = recv(h->fd, room, len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		h->over = true;
		return false;
	}
	frame_reader_added(&h->in, (size_t)n);
	frames_cut(h);
	return !h->over;
}

struct message *host_next(struct host *h)
{
	struct message *m = h->queue;

	if (m != NULL)
		DL_DELETE(h->queue, m);
	return m;
}

/* ---- questions --------------------------------------------------------------------------------------- */
void ask_begin(struct host *h, enum talk_ask what)
{
	talk_begin(&h->out);
	talk_put_int(&h->out, what);
	talk_put_int(&h->out, h->current != NULL ? (int64_t)h->current->number : 0);
}

static struct message *reply_of(struct host *h, uint64_t corr)
{
	struct message *m;

	DL_FOREACH(h->queue, m) {
		if (m->f.type == WIRE_REPLY && m->f.corr == corr)
			break;
	}
	if (m != NULL)
		DL_DELETE(h->queue, m);
	return m;
}

void ask(struct host *h, struct answer *ret)
{
	uint64_t corr = ++h->next_ask;

	talk_end(&h->out, 0, WIRE_REQUEST, corr);
	host_send(h);
	while ((ret->m = reply_of(h, corr)) == NULL) {
		wait_for(h, POLLIN);
		if (!host_read(h))
			_Exit(0); /* nobody will answer */
	}
	talk_open(&ret->in, ret->m->f.body, ret->m->f.len);
}

void ask_end(struct answer *a)
{
	free(a->m);
}

int64_t ask_code(struct host *h)
{
	struct answer a;
	int64_t code;

	ask(h, &a);
	code = talk_int(&a.in);
	ask_end(&a);
	return code;
}

void host_log(struct host *h, uint32_t event, const char *text)
{
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_LOG);
	talk_put_int(&h->out, event);
	talk_put_str(&h->out, "Module");
	talk_put_str(&h->out, h->owner.pub.name);
	talk_put_str(&h->out, text);
	host_event(h);
}
