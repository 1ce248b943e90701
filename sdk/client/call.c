/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c - sends one request and receives its reply.
 *
 * Replies to older requests, whose caller did not wait, are dropped by their correlation id. After a malformed frame or
 * a lost peer every call on the connection fails with PBSE_PROTOCOL. Static functions return 0 or a negative errno,
 * unless a comment says otherwise.
 */
#include "call.h"

#include <errno.h>
#include <stdlib.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "connection.h"
#include "frame.h"
#include "pbs_error.h"

/* Most replies are small; a long one is received in large pieces. */
#define READ_FIRST (16u * 1024u)
#define READ_CHUNK (256u * 1024u)

/* Pauses between attempts to reconnect: the first and the longest; and how long a server that restarts is waited for. */
#define AGAIN_FIRST_NS 50000000L
#define AGAIN_MOST_NS 999000000L
#define AGAIN_SECONDS 60

/* Bytes received while a request is being sent: more is a protocol error. */
#define UNREAD_MAX (2 * (size_t)WIRE_BODY_MAX)

static int receive_some(struct connection *conn, bool stop_at_signal)
{
	size_t len, want = conn->reader.size == 0 ? READ_FIRST : READ_CHUNK;
	char *room;
	ssize_t n;

	if (frame_reader_room(&conn->reader, want, &room, &len) < 0)
		return -ENOMEM;
	do {
		n = recv(conn->fd, room, len, 0);
	} while (n < 0 && errno == EINTR && !stop_at_signal);
	if (n <= 0)
		return n == 0 ? -ECONNRESET : -errno;
	frame_reader_added(&conn->reader, (size_t)n);
	return 0;
}

/* The socket's buffer is full: the server may be blocked until its replies are read. */
static int wait_to_send(struct connection *conn)
{
	struct pollfd poller = { .fd = conn->fd, .events = POLLIN | POLLOUT };

	if (poll(&poller, 1, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if ((poller.revents & POLLIN) == 0)
		return 0;
	if (conn->reader.end - conn->reader.start > UNREAD_MAX)
		return -EPROTO;
	return receive_some(conn, false);
}

static int send_all(struct connection *conn, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(conn->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		int failed = 0;

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			failed = wait_to_send(conn);
		} else if (n < 0 && errno != EINTR) {
			failed = -errno;
		}
		if (failed < 0)
			return failed;
	}
	return 0;
}

static int pong_send(struct connection *conn, uint64_t corr)
{
	char frame[WIRE_HEADER_SIZE + 1];

	frame_header(frame, WIRE_PONG, corr, 1);
	frame[WIRE_HEADER_SIZE] = (char)0x80; /* an empty map */
	return send_all(conn, frame, sizeof(frame));
}

static int goodbye_take(struct connection *conn, const struct frame *frame)
{
	struct pack body;

	conn->left = true;
	if (pack_open(&body, frame->body, frame->len) == 0) {
		conn->stopped = pack_int(&body.root, "stop", 0) != 0;
		pack_fini(&body);
	}
	return -ESHUTDOWN;
}

/* Receives the next PART or REPLY for the last request; replies to pings. */
static int next_frame(struct connection *conn, bool stop_at_signal, struct frame *ret)
{
	int got, failed = 0;

	for (;;) {
		got = frame_next(&conn->reader, ret);
		if (got < 0)
			return got;
		if (got == 0)
			failed = receive_some(conn, stop_at_signal);
		else if (ret->type == WIRE_PING)
			failed = pong_send(conn, ret->corr);
		else if (ret->type == WIRE_GOODBYE)
			return goodbye_take(conn, ret);
		else if ((ret->type == WIRE_PART || ret->type == WIRE_REPLY) &&
			 ret->corr == conn->corr)
			return 0;
		if (failed < 0)
			return failed;
	}
}

/* Sets pbs_errno and the text for a negative errno; returns the PBSE number or errno for the caller. */
static int call_failed(struct connection *conn, int error)
{
	switch (error) {
	case -EINTR:
		return connection_fail_code(conn, EINTR);
	case -ENOMEM:
	case -EMSGSIZE:
		return connection_fail(conn, PBSE_SYSTEM, strerror(-error));
	case -ESHUTDOWN: /* a request without a reply was not read, if it has received nothing */
		conn->repeat = !conn->parts;
		return connection_fail(conn, PBSE_SVRDOWN, "The server restarts: its answer is incomplete");
	case -ECONNRESET: /* kill -9 of the daemon, for one; the request may have been served */
		conn->lost = true;
		return connection_fail(conn, PBSE_PROTOCOL, "Batch protocol error: the daemon hung up before it answered; "
				       "look whether it was done");
	default:
		conn->lost = true;
		return connection_fail_code(conn, PBSE_PROTOCOL);
	}
}

/* Returns the reply's code, with the server's text or that of the code, or the error of the caller's callback. */
static int reply_take(struct connection *conn, const struct pack_value *body,
		      const struct listener *l)
{
	int64_t code = pack_int(body, "code", -1);
	char *text;
	int ret = 0;

	if (code < 0 || code > INT32_MAX)
		return call_failed(conn, -EPROTO);
	conn->repeat = code != 0 && !conn->parts && pack_int(body, "again", 0) != 0;
	if (code != 0) {
		text = pack_strdup(pack_get(body, "text"));
		if (text == NULL)
			return connection_fail_code(conn, (int)code);
		connection_fail(conn, (int)code, text);
		free(text);
		return (int)code;
	}
	if (l != NULL && l->reply != NULL)
		ret = l->reply(body, l->arg);
	return ret < 0 ? call_failed(conn, ret) : 0;
}

/* Receives everything up to the REPLY; returns as call(). */
static int receive_reply(struct connection *conn, const struct listener *l)
{
	bool stop_at_signal = l != NULL && l->stop_at_signal;
	bool skip = l == NULL || l->part == NULL;
	struct frame frame;
	struct pack body;
	int ret, failed = 0;

	for (;;) {
		ret = next_frame(conn, stop_at_signal, &frame);
		if (ret < 0)
			return call_failed(conn, ret);
		conn->parts = conn->parts || frame.type == WIRE_PART;
		if (frame.type == WIRE_PART && skip)
			continue;
		ret = pack_open(&body, frame.body, frame.len);
		if (ret < 0)
			return call_failed(conn, ret);
		if (frame.type == WIRE_REPLY)
			break;
		conn->in_callback = true;
		ret = l->part(&body.root, l->arg);
		conn->in_callback = false;
		pack_fini(&body);
		skip = ret != 0;
		failed = ret < 0 ? ret : failed;
	}
	connection_clear(conn); /* the callback may have called the library */
	ret = reply_take(conn, &body.root, failed == 0 ? l : NULL);
	pack_fini(&body);
	return failed == 0 ? ret : call_failed(conn, failed);
}

/* Finds the connection and sends; returns as call(). A send that failed is only noted in conn->lost. */
static int call_send(int c, const char *name, const struct arg *args, size_t n,
		     struct connection **ret_conn)
{
	struct connection *conn = connection_find(c);
	struct buf rq;
	int ret;

	if (conn == NULL)
		return connection_fail_code(NULL, PBSE_IVALREQ);
	if (conn->in_callback)
		return connection_fail(conn, PBSE_IVALREQ, "The connection is busy with an answer");
	connection_clear(conn);
	conn->repeat = conn->left;
	conn->parts = false;
	if (conn->left || conn->lost)
		return connection_fail_code(conn, conn->left ? PBSE_SVRDOWN : PBSE_PROTOCOL);
	ret = request_init(&rq, name, args, n, ++conn->corr);
	/* No error yet: a server that refuses the request and hangs up may have sent a reply with the reason. */
	if (ret == 0)
		conn->lost = send_all(conn, rq.data, rq.len) < 0;
	buf_fini(&rq);
	if (ret < 0)
		return call_failed(conn, ret);
	*ret_conn = conn;
	return 0;
}

static int call_once(int c, const char *name, const struct arg *args, size_t n, const struct listener *l)
{
	struct connection *conn;
	int ret;

	ret = call_send(c, name, args, n, &conn);
	return ret != 0 ? ret : receive_reply(conn, l);
}

static int64_t clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* One call that waits for a server that restarts. */
struct patience {
	struct timespec pause; /* before the next attempt */
	int64_t until_s;       /* 0: it has not begun to wait */
	bool stop_at_signal, endless;
};

/* Connects again when there is no connection any more, and tries until a server is there. Returns 0, or the error. */
static int server_await(struct connection *conn, struct patience *p)
{
	int failed = 0;

	if (p->until_s == 0)
		p->until_s = clock_s() + AGAIN_SECONDS;
	do {
		if (failed != 0 && conn->stopped && !p->endless)
			return connection_fail(conn, failed, "Cannot connect to the server: it has stopped");
		if (clock_s() > p->until_s && !p->endless)
			return connection_fail(conn, PBSE_NOSERVER, "The server restarts, and is not there yet");
		if (p->pause.tv_nsec > 0 && nanosleep(&p->pause, NULL) < 0 && p->stop_at_signal)
			return connection_fail_code(conn, EINTR);
		if (p->pause.tv_nsec == 0)
			p->pause.tv_nsec = AGAIN_FIRST_NS;
		else
			p->pause.tv_nsec = p->pause.tv_nsec < AGAIN_MOST_NS / 2 ? p->pause.tv_nsec * 2 : AGAIN_MOST_NS;
	} while ((conn->lost || conn->left) && (failed = connection_reopen(conn)) != 0);
	return 0;
}

int call(int c, const char *name, const struct arg *args, size_t n, const struct listener *l)
{
	struct connection *conn = connection_find(c);
	bool only_waits = l != NULL && l->again;
	struct patience p = { .endless = only_waits, .stop_at_signal = l != NULL && l->stop_at_signal };
	int ret = call_once(c, name, args, n, l);

	while (conn != NULL && !conn->in_callback &&
	       (conn->repeat || (only_waits && (conn->lost || ret == PBSE_TRYAGAIN || ret == PBSE_SVRDOWN)))) {
		ret = server_await(conn, &p);
		if (ret != 0)
			break;
		ret = call_once(c, name, args, n, l);
	}
	return ret;
}

/* Drops replies without a caller: a server whose replies are never read hangs up. */
static void drop_replies(struct connection *conn)
{
	struct frame frame;
	int got = 0;
	char byte;

	do {
		while (!conn->left && (got = frame_next(&conn->reader, &frame)) > 0) {
			if (frame.type == WIRE_GOODBYE)
				goodbye_take(conn, &frame);
			if (frame.type == WIRE_PING)
				pong_send(conn, frame.corr);
		}
	} while (!conn->left && got == 0 && recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 &&
		 receive_some(conn, false) == 0);
}

int call_without_reply(int c, const char *name, const struct arg *args, size_t n)
{
	struct connection *conn = connection_find(c);
	struct patience p = { 0 };
	int ret = 0;

	do {
		if (conn != NULL && !conn->lost && !conn->in_callback)
			drop_replies(conn);
		if (conn != NULL && conn->left)
			ret = server_await(conn, &p);
		if (ret == 0)
			ret = call_send(c, name, args, n, &conn);
		if (ret == 0 && conn->lost)
			drop_replies(conn); /* there may be a goodbye */
	} while (ret == 0 && conn->lost && conn->left);
	return ret == 0 && conn->lost ? call_failed(conn, -EPIPE) : ret;
}
