/* SPDX-License-Identifier: Apache-2.0
 *
 * tm_link.c - the connection of a program to the daemon of its host: a Unix socket, frames.
 */
#include "tm_link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_socket.h"

#define READ_SIZE (16u * 1024u)
#define UNREAD_MAX (4u << 20) /* while a request is being sent */

/* ---- open ------------------------------------------------------------------------------------------------------- */
int tm_link_open(struct tm_link *l)
{
	const char *named = getenv("KEELSON_MOM_SOCKET");
	char path[HOST_SOCKET_PATH];

	l->fd = host_socket_open_mom(path);
	if (l->fd < 0 && (named == NULL || *named == '\0')) /* one daemon is both */
		l->fd = host_socket_open_below(CONF_PBS_HOME, "server.sock", path);
	if (l->fd < 0)
		return l->fd;
	frame_reader_init(&l->reader, WIRE_BODY_MAX);
	return 0;
}

void tm_link_close(struct tm_link *l)
{
	if (l->fd < 0)
		return;
	close(l->fd);
	frame_reader_fini(&l->reader);
	l->fd = -1;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */
int tm_link_read(struct tm_link *l, int wait_ms)
{
	struct pollfd poller = { .fd = l->fd, .events = POLLIN };
	size_t len;
	char *room;
	ssize_t n;

	if (poll(&poller, 1, wait_ms) <= 0)
		return 0;
	if (frame_reader_room(&l->reader, READ_SIZE, &room, &len) < 0)
		return -ENOMEM;
	n = recv(l->fd, room, len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return n == 0 ? -ECONNRESET : -errno;
	frame_reader_added(&l->reader, (size_t)n);
	return 1;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */
static int bytes_send(struct tm_link *l, const char *bytes, size_t len)
{
	struct pollfd poller = { .fd = l->fd, .events = POLLIN | POLLOUT };

	while (len > 0) {
		ssize_t n = send(l->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		int ret = 0;

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return n == 0 ? -EPIPE : -errno;
		/* The daemon may be waiting until its events are read. */
		if (poll(&poller, 1, -1) > 0 && (poller.revents & POLLIN))
			ret = l->reader.end - l->reader.start > UNREAD_MAX ? -EPROTO : tm_link_read(l, 0);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int tm_link_send(struct tm_link *l, const char *name, const struct arg *args, size_t n, uint64_t corr)
{
	struct buf b;
	int ret = request_init(&b, name, args, n, corr);

	if (ret == 0)
		ret = bytes_send(l, b.data, b.len);
	buf_fini(&b);
	return ret;
}

int tm_link_next(struct tm_link *l, struct frame *ret)
{
	char frame[WIRE_HEADER_SIZE + 1];
	int got;

	while ((got = frame_next(&l->reader, ret)) == 1 && ret->type == WIRE_PING) {
		frame_header(frame, WIRE_PONG, ret->corr, 1);
		frame[WIRE_HEADER_SIZE] = (char)0x80; /* an empty map */
		if (bytes_send(l, frame, sizeof(frame)) < 0)
			return -EPROTO;
	}
	return got;
}
