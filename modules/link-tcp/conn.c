/* SPDX-License-Identifier: Apache-2.0
 *
 * conn.c - one TCP connection to another daemon: chunks of bytes, sealed once the two know each other.
 *
 *	CONNECTING -> HELLO -> HEADER -> PROOF -------------> UP
 *	              (greet.c, one chunk each) '-> RIVAL -'   messages in sealed chunks
 *
 * A chunk is a length (4 bytes, big-endian) and that many bytes, at most 64 KiB, before UP much less. A message is one sealed
 * chunk or several, the last with the tag PUSH; a chunk of nothing is a ping, with the tag PUSH a pong.
 * A connection that is not UP at its deadline is dropped. What a turn sends is written together.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "link-tcp.h"

#define BUF_KEEP (1u << 20)
#define MORE crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
#define LAST crypto_secretstream_xchacha20poly1305_TAG_PUSH

static void flush_soon(struct conn *c);

/* ---- bytes ------------------------------------------------------------------------------------- */
static int bytes_add(struct bytes *b, const void *data, size_t len)
{
	size_t size = b->size > 0 ? b->size : 4096;
	uint8_t *grown;

	while (size - b->len < len)
		size *= 2;
	if (size != b->size) {
		grown = realloc(b->data, size);
		if (grown == NULL)
			return -ENOMEM;
		b->data = grown;
		b->size = size;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

static void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

static void bytes_reset(struct bytes *b)
{
	b->len = 0;
	if (b->size > BUF_KEEP)
		bytes_free(b);
}

/* ---- life ------------------------------------------------------------------------------------ */
static void on_ready(struct keel_mod *m, void *arg);

static void too_slow(struct keel_mod *m, void *arg)
{
	struct conn *c = arg;

	(void)m;
	c->deadline = NULL;
	conn_drop(c, c->state == CONN_CONNECTING ? "no answer" : "the handshake took too long");
}

void address_show(const struct sockaddr *sa, socklen_t len, char address[ADDRESS_MAX])
{
	char host[96], port[16];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(address, ADDRESS_MAX, "an unknown address");
	else
		snprintf(address, ADDRESS_MAX, "%s port %s", host, port);
}

struct conn *conn_create(struct link *l, int fd, struct way *w, const struct sockaddr *sa, socklen_t len)
{
	struct conn *c = malloc(sizeof(*c));
	int on = 1;

	if (c == NULL)
		return NULL;
	memset(c, 0, offsetof(struct conn, in));
	memset(&c->in_len, 0, sizeof(*c) - offsetof(struct conn, in_len));
	c->link = l;
	c->fd = fd;
	c->opened = w != NULL;
	c->way = w;
	c->state = c->opened ? CONN_CONNECTING : CONN_HELLO;
	c->events = c->opened ? KEEL_WRITABLE : KEEL_READABLE;
	c->heard_ms = keel_now_ms(l->mod);
	address_show(sa, len, c->address);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->deadline = keel_timer(l->mod, l->limits.greet_ms, too_slow, c);
	c->watch = keel_watch_fd(l->mod, fd, on_ready, c);
	if (c->deadline == NULL || c->watch == NULL || keel_watch_for(c->watch, c->events) < 0) {
		keel_timer_cancel(c->deadline);
		keel_watch_cancel(c->watch);
		free(c);
		return NULL;
	}
	hello_init(&c->greeting, &l->me, NULL, 0);
	DL_APPEND(l->conns, c);
	l->n_half_open += !c->opened;
	return c;
}

struct conn *conn_named(const struct link *l, const char *name)
{
	struct conn *c;

	HASH_FIND_STR(l->up, name, c);
	return c;
}

static void log_drop(const struct conn *c, const char *why)
{
	struct link *l = c->link;

	if (c->state == CONN_UP)
		keel_log(l->mod, KEEL_LOG_SYSTEM, "Link", c->name, "link with %s lost: %s", c->address, why);
	else if (!c->opened)
		refused_log(c, why);
}

static void conn_free(struct conn *c)
{
	keel_timer_cancel(c->deadline);
	keel_watch_cancel(c->watch);
	close(c->fd);
	bytes_free(&c->message);
	bytes_free(&c->out);
	sodium_memzero(c, offsetof(struct conn, in));
	free(c);
}

/* `why` NULL: the module stops. */
void conn_drop(struct conn *c, const char *why)
{
	struct link *l = c->link;
	bool was_up = c->state == CONN_UP;
	bool lasted = was_up && keel_now_ms(l->mod) - c->up_ms >= l->limits.backoff_max_ms;
	struct way *w = was_up ? way_find(l, c->name) : c->way;
	char name[KEY_HOST_MAX + 1];

	strcpy(name, c->name);
	if (why != NULL)
		log_drop(c, why);
	else
		conn_write(c); /* what the socket takes now is not lost */
	DL_DELETE(l->conns, c);
	l->n_half_open -= !c->opened && !was_up;
	if (was_up) {
		HASH_DEL(l->up, c);
		keel_carry_lost(l->mod, c->name);
	}
	if (w != NULL && w->address != NULL && l->running)
		dial_again(w, lasted, c->address, was_up ? NULL : why);
	conn_free(c);
	if (was_up && l->running)
		rivals_take(l, name);
}

void conn_break(struct conn *c, const char *why)
{
	c->broken = why;
	flush_soon(c);
}

void conn_up(struct conn *c)
{
	struct link *l = c->link;
	struct conn *other = conn_named(l, c->name);
	struct way *w = way_find(l, c->name);
	int64_t after_s = -1;
	char words[64] = "";

	keel_timer_cancel(c->deadline);
	c->deadline = NULL;
	hello_fini(&c->greeting);
	if (other != NULL)
		conn_drop(other, "the same daemon linked again");
	HASH_ADD_STR(l->up, name, c);
	if (c->hh.tbl == NULL) {
		c->broken = "no memory";
		return;
	}
	l->n_half_open -= !c->opened;
	c->state = CONN_UP;
	c->up_ms = keel_now_ms(l->mod);
	if (w != NULL)
		after_s = dial_done(w);
	if (after_s >= 0)
		snprintf(words, sizeof(words), ", after %lld s without a link", (long long)after_s);
	keel_log(l->mod, KEEL_LOG_SYSTEM, "Link", c->name, "linked with %s%s", c->address, words);
	refused_forget(c);
	if (keel_carry_up(l->mod, c->name, c->daemon, conf_of(l)->grace) < 0)
		c->broken = "this daemon cannot take it";
}

/* ---- out ------------------------------------------------------------------------------------- */
static size_t out_waiting(const struct conn *c)
{
	return c->out.len - c->out_off;
}

void conn_chunk(struct conn *c, const void *bytes, size_t len)
{
	uint8_t head[4] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
			    (uint8_t)len };

	if (bytes_add(&c->out, head, sizeof(head)) < 0 || bytes_add(&c->out, bytes, len) < 0)
		c->broken = "no memory";
	flush_soon(c);
}

void conn_seal(struct conn *c, const void *bytes, size_t len, uint8_t tag)
{
	uint8_t sealed[CHUNK_MAX];
	unsigned long long sealed_len;

	crypto_secretstream_xchacha20poly1305_push(&c->push, sealed, &sealed_len, bytes, len, NULL, 0, tag);
	conn_chunk(c, sealed, sealed_len);
}

/* What was written leaves the buffer when it is all, or most of it. */
static void out_written(struct conn *c, size_t n)
{
	c->out_off += n;
	if (c->out_off == c->out.len) {
		c->out_off = 0;
		bytes_reset(&c->out);
	} else if (c->out_off > BUF_KEEP && c->out_off > c->out.len / 2) {
		c->out.len -= c->out_off;
		memmove(c->out.data, c->out.data + c->out_off, c->out.len);
		c->out_off = 0;
	}
}

void conn_write(struct conn *c)
{
	if (c->state == CONN_CONNECTING)
		return;
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
	uint32_t events;

	if (c->broken != NULL) {
		conn_drop(c, c->broken);
	} else {
		events = c->state == CONN_CONNECTING ? KEEL_WRITABLE : KEEL_READABLE;
		if (c->full)
			events |= KEEL_WRITABLE;
		if (events != c->events && keel_watch_for(c->watch, events) == 0)
			c->events = events;
	}
}

static void flush(struct keel_mod *m, void *arg)
{
	struct link *l = m->state;
	struct conn *c, *next;

	(void)arg;
	l->flushing = false;
	DL_FOREACH_SAFE(l->conns, c, next) {
		if (!c->flush)
			continue;
		c->flush = false;
		conn_write(c);
		settle(c);
	}
}

/* Without memory for it: the next heartbeat comes here again. */
static void flush_soon(struct conn *c)
{
	struct link *l = c->link;

	c->flush = true;
	if (!l->flushing)
		l->flushing = keel_defer(l->mod, flush, NULL) == 0;
}

void conn_message(struct keel_mod *m, const char *peer, const void *bytes, uint32_t len)
{
	struct link *l = m->state;
	struct conn *c = conn_named(l, peer);

	if (c == NULL || c->broken != NULL)
		return;
	if (out_waiting(c) > 0 && out_waiting(c) + len > l->limits.queue_max) {
		conn_break(c, "it does not read: too many bytes wait for it");
	} else {
		for (size_t at = 0; at < len && c->broken == NULL; at += PLAIN_MAX) {
			size_t n = len - at < PLAIN_MAX ? len - at : PLAIN_MAX;

			conn_seal(c, bytes + at, n, at + n == len ? LAST : MORE);
		}
	}
}

/* ---- in -------------------------------------------------------------------------------------- */
static void on_plain(struct conn *c, const uint8_t *bytes, size_t len, unsigned char tag)
{
	struct link *l = c->link;
	int32_t ret;

	if (len == 0 && tag == LAST) {
		c->pongs++;
		rivals_answered(c);
		return;
	}
	if (len == 0) {
		conn_seal(c, NULL, 0, LAST);
		return;
	}
	if (c->message.len + len > l->limits.queue_max) {
		c->broken = "a message that is too long";
		return;
	}
	if (tag != LAST || c->message.len > 0) {
		if (bytes_add(&c->message, bytes, len) < 0)
			c->broken = "no memory";
		bytes = c->message.data;
		len = c->message.len;
	}
	if (tag != LAST || c->broken != NULL)
		return;
	ret = keel_carry_in(l->mod, c->name, bytes, (uint32_t)len);
	if (ret < 0)
		c->broken = ret == -EPROTO ? "a message that cannot be read" : "this daemon takes no messages now";
	bytes_reset(&c->message);
}

static void on_sealed(struct conn *c, const uint8_t *bytes, size_t len)
{
	uint8_t plain[CHUNK_MAX];
	unsigned long long n;
	unsigned char tag;

	if (crypto_secretstream_xchacha20poly1305_pull(&c->pull, plain, &n, &tag, bytes, len, NULL,
						       0) != 0)
		c->broken = "bytes that were not sealed by it";
	else
		on_plain(c, plain, n, tag);
}

/* The length of the chunk that begins at `at`, 0: it is not one. */
static size_t chunk_len(const struct conn *c, const uint8_t *at)
{
	size_t len = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];

	return len <= (c->state == CONN_UP ? (size_t)CHUNK_MAX : (size_t)GREET_MAX) ? len : 0;
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
	struct link *l = c->link;

	for (uint32_t i = 0; i < l->limits.reads_per_turn && c->broken == NULL; i++) {
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
		c->heard_ms = keel_now_ms(l->mod);
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

static void on_ready(struct keel_mod *m, void *arg)
{
	struct conn *c = arg;

	(void)m;
	if (c->state == CONN_CONNECTING)
		connected(c);
	else if (c->broken == NULL)
		conn_read(c);
	if (c->broken == NULL && c->full)
		conn_write(c);
	settle(c);
}

/* ---- heartbeat ----------------------------------------------------------------------------------- */
void conn_ping(struct conn *c)
{
	c->pings++;
	conn_seal(c, NULL, 0, MORE);
}

void conn_heartbeat(struct link *l)
{
	int64_t now_ms = keel_now_ms(l->mod), beat_ms = conf_of(l)->heartbeat;
	bool we_slept = now_ms - l->beat_ms > 2 * beat_ms;
	struct conn *c, *next;

	l->beat_ms = now_ms;
	DL_FOREACH_SAFE(l->conns, c, next) {
		if (c->state != CONN_UP)
			continue;
		if (we_slept)
			c->heard_ms = now_ms; /* it had no chance to be heard */
		if (now_ms - c->heard_ms > l->limits.silent_beats * beat_ms)
			conn_drop(c, "no sign of life");
		else
			conn_ping(c);
	}
}
