/* SPDX-License-Identifier: Apache-2.0
 *
 * conn.c - one TCP connection to another daemon: chunks of bytes, sealed once the two know each other.
 *
 *	CONNECTING -> HELLO -> HEADER -> PROOF -> UP
 *	              (greet.c, one chunk each)   frames inside sealed chunks
 *
 * A chunk is a length (4 bytes, big-endian) and that many bytes, at most 64 KiB, before UP much less.
 * A connection that is not UP at its deadline is dropped. Frames of a turn are sealed together.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utlist.h>

#include "link/inside.h"
#include "log/log.h"

#define BUF_KEEP (1u << 20)
#define STRANGER_LOG_MS 200

static void on_events(void *arg, int events);
static void conn_write(struct conn *c);
static void flush(void *arg);
static void flush_soon(struct conn *c);

/* ---- life ------------------------------------------------------------------------------------ */
static void too_slow(void *arg)
{
	struct conn *c = arg;

	c->deadline = NULL;
	conn_drop(c, c->state == CONN_CONNECTING ? "no answer" : "the handshake took too long");
}

static void name_address(struct conn *c, const struct sockaddr *sa, socklen_t len)
{
	char host[96], port[16];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(c->address, sizeof(c->address), "an unknown address");
	else
		snprintf(c->address, sizeof(c->address), "%s port %s", host, port);
}

struct conn *conn_create(struct links *l, int fd, bool opened, const struct sockaddr *sa, socklen_t len)
{
	struct conn *c = malloc(sizeof(*c));
	int on = 1, events = opened ? LOOP_WRITABLE : LOOP_READABLE;

	if (c == NULL)
		return NULL;
	memset(c, 0, offsetof(struct conn, in));
	memset(&c->in_len, 0, sizeof(*c) - offsetof(struct conn, in_len));
	c->links = l;
	c->fd = fd;
	c->opened = opened;
	c->state = opened ? CONN_CONNECTING : CONN_HELLO;
	c->events = events;
	c->heard_ms = loop_now_ms(l->parts->loop);
	frame_reader_init(&c->reader, (uint32_t)l->limits.queue_max);
	buf_init(&c->plain);
	buf_init(&c->out);
	name_address(c, sa, len);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->deadline = loop_timer(l->parts->loop, l->limits.greet_ms, too_slow, c);
	if (c->deadline == NULL ||
	    loop_watch(l->parts->loop, fd, events, on_events, c, &c->watch) < 0) {
		loop_timer_cancel(c->deadline);
		free(c);
		return NULL;
	}
	hello_init(&c->greeting, &l->me);
	DL_APPEND(l->conns, c);
	l->n_half_open += !opened;
	return c;
}

/* Strangers must not fill the log: one record in a while, and the number of those left out. */
static void log_stranger(const struct conn *c, const char *why)
{
	struct links *l = c->links;
	int64_t now_ms = loop_now_ms(l->parts->loop);

	if (now_ms - l->refused_log_ms < STRANGER_LOG_MS) {
		l->refused_untold++;
		return;
	}
	log_add(l->parts->log, KEEL_LOG_SECURITY, "Link",
		c->theirs.host[0] != '\0' ? c->theirs.host : "?",
		"link from %s refused: %s (%u more refused before)", c->address, why,
		l->refused_untold);
	l->refused_log_ms = now_ms;
	l->refused_untold = 0;
}

static void log_drop(const struct conn *c, const char *why)
{
	struct log *g = c->links->parts->log;

	if (c->state == CONN_UP)
		log_add(g, KEEL_LOG_SYSTEM, "Link", c->peer->name, "link with %s lost: %s", c->address, why);
	else if (!c->opened)
		log_stranger(c, why);
}

static void conn_free(struct conn *c)
{
	loop_timer_cancel(c->deadline);
	loop_watch_cancel(c->watch);
	close(c->fd);
	frame_reader_fini(&c->reader);
	buf_fini(&c->plain);
	buf_fini(&c->out);
	sodium_memzero(c, offsetof(struct conn, in));
	free(c);
}

/* `why` NULL: the daemon stops. */
void conn_drop(struct conn *c, const char *why)
{
	struct links *l = c->links;
	bool was_up = c->state == CONN_UP, opened = c->opened;
	struct peer *peer = c->peer;

	bool lasted = was_up && loop_now_ms(l->parts->loop) - c->up_ms >= l->limits.backoff_max_ms;

	if (why != NULL)
		log_drop(c, why);
	else
		conn_write(c); /* what the socket takes now is not lost */
	if (c->in_flush)
		loop_defer_cancel(l->parts->loop, flush, c);
	DL_DELETE(l->conns, c);
	l->n_half_open -= !opened && !was_up;
	conn_free(c);
	if (peer != NULL)
		peer_unlinked(peer);
	if (opened && l->running)
		dial_again(l, lasted, was_up ? NULL : why);
}

void conn_up(struct conn *c)
{
	struct links *l = c->links;
	const char *name = c->opened ? SERVER_PEER : c->theirs.host;
	struct peer *p = peer_get(l, name, c->theirs.daemon);

	if (p == NULL) {
		c->broken = "no memory";
		return;
	}
	loop_timer_cancel(c->deadline);
	c->deadline = NULL;
	hello_fini(&c->greeting);
	if (p->conn != NULL)
		conn_drop(p->conn, "the same daemon linked again");
	l->n_half_open -= !c->opened;
	c->state = CONN_UP;
	c->up_ms = loop_now_ms(l->parts->loop);
	c->peer = p;
	log_add(l->parts->log, KEEL_LOG_SYSTEM, "Link", p->name, "linked with %s", c->address);
	peer_linked(p, c);
}

/* ---- out ------------------------------------------------------------------------------------- */
static size_t out_waiting(const struct conn *c)
{
	return c->out.len - c->out_off;
}

static void rearm(struct conn *c)
{
	int events = c->state == CONN_CONNECTING ? LOOP_WRITABLE : LOOP_READABLE;

	if (c->full)
		events |= LOOP_WRITABLE;
	if (events != c->events && loop_watch_set(c->watch, events) == 0)
		c->events = events;
}

void conn_chunk(struct conn *c, const void *bytes, size_t len)
{
	uint8_t head[4] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
			    (uint8_t)len };

	buf_add(&c->out, head, sizeof(head));
	buf_add(&c->out, bytes, len);
	flush_soon(c);
}

void conn_seal(struct conn *c, const void *bytes, size_t len)
{
	uint8_t sealed[CHUNK_MAX];
	unsigned long long sealed_len;

	crypto_secretstream_xchacha20poly1305_push(&c->push, sealed, &sealed_len, bytes, len, NULL, 0,
						   crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
	conn_chunk(c, sealed, sealed_len);
}

static void seal_waiting(struct conn *c)
{
	size_t at = 0;

	if (c->state != CONN_UP)
		return;
	while (at < c->plain.len) {
		size_t n = c->plain.len - at < PLAIN_MAX ? c->plain.len - at : PLAIN_MAX;

		conn_seal(c, c->plain.data + at, n);
		at += n;
	}
	if (c->plain.size > BUF_KEEP)
		buf_fini(&c->plain);
	else
		buf_reset(&c->plain);
}

/* What was written leaves the buffer when it is all, or most of it. */
static void out_written(struct conn *c, size_t n)
{
	c->out_off += n;
	if (c->out_off == c->out.len) {
		c->out_off = 0;
		if (c->out.size > BUF_KEEP)
			buf_fini(&c->out);
		else
			buf_reset(&c->out);
	} else if (c->out_off > BUF_KEEP && c->out_off > c->out.len / 2) {
		c->out.len -= c->out_off;
		memmove(c->out.data, c->out.data + c->out_off, c->out.len);
		c->out_off = 0;
	}
}

static void conn_write(struct conn *c)
{
	if (c->state == CONN_CONNECTING)
		return;
	seal_waiting(c);
	if (c->plain.failed || c->out.failed)
		c->broken = "no memory";
	c->full = false;
	while (c->broken == NULL && out_waiting(c) > 0) {
		ssize_t n = send(c->fd, c->out.data + c->out_off, out_waiting(c), MSG_NOSIGNAL);

		if (n > 0) {
			out_written(c, (size_t)n);
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			c->full = true;
			return;
		} else if (n == 0 || errno != EINTR) {
			c->broken = "it closed the connection";
		}
	}
}

static void settle(struct conn *c)
{
	if (c->broken != NULL)
		conn_drop(c, c->broken);
	else
		rearm(c);
}

static void flush(void *arg)
{
	struct conn *c = arg;

	conn_write(c);
	c->in_flush = false;
	settle(c);
}

/* Without memory for it: the next heartbeat comes here again. */
static void flush_soon(struct conn *c)
{
	if (!c->in_flush)
		c->in_flush = loop_defer(c->links->parts->loop, flush, c) == 0;
}

void conn_send(struct conn *c, const void *frame, size_t len)
{
	size_t waiting = c->plain.len + out_waiting(c);

	if (frame == NULL || c->broken != NULL)
		return;
	if (waiting > 0 && waiting + len > c->links->limits.queue_max)
		c->broken = "it does not read: too many bytes wait for it";
	else
		buf_add(&c->plain, frame, len);
	flush_soon(c);
}

/* ---- in -------------------------------------------------------------------------------------- */
static void send_empty(struct conn *c, uint16_t type, uint64_t corr)
{
	char head[WIRE_HEADER_SIZE + 1];

	frame_header(head, type, corr, 1);
	head[WIRE_HEADER_SIZE] = (char)0x80; /* an empty map */
	conn_send(c, head, sizeof(head));
}

static void on_frame(struct conn *c, const struct frame *f)
{
	switch (f->type) {
	case WIRE_EVENT:
		if (dispatch(c->links, c->peer->name, c->peer->daemon, f->body, f->len) < 0)
			c->broken = "a message that cannot be read";
		break;
	case WIRE_PING:
		send_empty(c, WIRE_PONG, f->corr);
		break;
	case WIRE_PONG:
		break;
	default:
		c->broken = "a frame that does not belong here";
		break;
	}
}

static void on_sealed(struct conn *c, const uint8_t *bytes, size_t len)
{
	uint8_t plain[CHUNK_MAX];
	unsigned long long n;
	unsigned char tag;
	struct frame f;
	size_t room;
	char *at;
	int ret = 0;

	if (crypto_secretstream_xchacha20poly1305_pull(&c->pull, plain, &n, &tag, bytes, len, NULL,
						       0) != 0) {
		c->broken = "bytes that were not sealed by it";
		return;
	}
	if (frame_reader_room(&c->reader, n, &at, &room) < 0) {
		c->broken = "no memory";
		return;
	}
	memcpy(at, plain, n);
	frame_reader_added(&c->reader, n);
	while (c->broken == NULL && (ret = frame_next(&c->reader, &f)) == 1)
		on_frame(c, &f);
	if (ret < 0)
		c->broken = "not the wire format";
	if (c->reader.start == c->reader.end && c->reader.size > BUF_KEEP) {
		frame_reader_fini(&c->reader);
		frame_reader_init(&c->reader, (uint32_t)c->links->limits.queue_max);
	}
}

/* The length of the chunk that begins at `at`, 0: it is not one. */
static size_t chunk_len(const struct conn *c, const uint8_t *at)
{
	size_t len = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];

	return len <= (c->state == CONN_UP ? (size_t)CHUNK_MAX : (size_t)HELLO_MAX) ? len : 0;
}

static void chunks_in(struct conn *c)
{
	size_t at = 0;

	while (c->broken == NULL && c->in_len - at >= 4) {
		size_t len = chunk_len(c, c->in + at);

		if (len == 0) {
			c->broken = "not the link protocol";
			break;
		}
		if (c->in_len - at - 4 < len)
			break;
		if (c->state == CONN_UP)
			on_sealed(c, c->in + at + 4, len);
		else
			greet_chunk(c, c->in + at + 4, len);
		at += 4 + len;
	}
	memmove(c->in, c->in + at, c->in_len - at);
	c->in_len -= at;
}

static void conn_read(struct conn *c)
{
	for (uint32_t i = 0; i < c->links->limits.reads_per_turn && c->broken == NULL; i++) {
		ssize_t n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, 0);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return;
		if (n <= 0) {
			c->broken = c->state == CONN_UP || !c->opened ?
				"it closed the connection" :
				"it closed the connection during the handshake; is the key of this host "
				"enrolled there?";
			return;
		}
		c->in_len += (size_t)n;
		c->heard_ms = loop_now_ms(c->links->parts->loop);
		chunks_in(c);
	}
}

static void connected(struct conn *c)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error != 0) {
		c->broken = error != 0 ? strerrordesc_np(error) : "cannot connect";
		return;
	}
	c->state = CONN_HELLO;
	greet_open(c);
}

static void on_events(void *arg, int events)
{
	struct conn *c = arg;

	if (c->state == CONN_CONNECTING)
		connected(c);
	else if (events & LOOP_READABLE)
		conn_read(c);
	if (c->broken == NULL && (events & LOOP_WRITABLE))
		conn_write(c);
	settle(c);
}

/* ---- heartbeat ----------------------------------------------------------------------------------- */
void conn_heartbeat(struct links *l)
{
	int64_t now_ms = loop_now_ms(l->parts->loop);
	bool we_slept = now_ms - l->beat_ms > 2 * l->heartbeat_ms;
	struct conn *c, *next;

	l->beat_ms = now_ms;
	for (c = l->conns; c != NULL; c = next) {
		next = c->next;
		if (c->state != CONN_UP)
			continue;
		if (we_slept)
			c->heard_ms = now_ms; /* it had no chance to be heard */
		if (now_ms - c->heard_ms > l->limits.silent_beats * l->heartbeat_ms)
			conn_drop(c, "no sign of life");
		else
			send_empty(c, WIRE_PING, 0);
	}
}
