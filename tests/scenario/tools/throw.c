/* SPDX-License-Identifier: Apache-2.0
 *
 * throw.c - a rude client for stories: sends any bytes to a socket and tells how the peer took them.
 *
 *	throw [-d] SECONDS unix:PATH|tcp:HOST:PORT <bytes     -d: deaf, reads no answer
 *	throw frame LENGTH TYPE FLAGS                         a frame's header on stdout
 *
 * Exit 0: the peer closed the connection, 3: it was still open after SECONDS, 2: it could not be asked.
 * The bytes of the answer are counted on stdout.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CLOSED = 0, UNASKED = 2, OPEN = 3 };

struct load {
	char *bytes;
	size_t len, sent;
};

static int fail(const char *what)
{
	fprintf(stderr, "throw: %s: %s\n", what, strerror(errno));
	exit(UNASKED);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void put_be(uint64_t value, int n)
{
	while (n-- > 0)
		putchar((int)(value >> (8 * n) & 0xff));
}

static int frame(char **args)
{
	put_be(strtoull(args[0], NULL, 0), 4);
	put_be(strtoull(args[1], NULL, 0), 2);
	put_be(strtoull(args[2], NULL, 0), 2);
	put_be(1, 8);
	return 0;
}

static struct load load_read(void)
{
	struct load l = { 0 };
	size_t size = 0, n;

	do {
		if (l.len == size && !(l.bytes = realloc(l.bytes, size += 1 << 16)))
			fail("memory");
		n = fread(l.bytes + l.len, 1, size - l.len, stdin);
		l.len += n;
	} while (n > 0);
	return l;
}

static int connect_unix(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(to.sun_path))
		errno = ENAMETOOLONG, fail(path);
	strcpy(to.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		fail(path);
	return fd;
}

static int connect_tcp(char *host)
{
	const struct addrinfo how = { .ai_socktype = SOCK_STREAM };
	char *port = strrchr(host, ':');
	struct addrinfo *found;
	int fd;

	if (!port)
		errno = EINVAL, fail(host);
	*port++ = '\0';
	if (getaddrinfo(host, port, &how, &found) != 0)
		errno = ENOENT, fail(host);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0)
		fail(host);
	freeaddrinfo(found);
	return fd;
}

/* One step in one direction; false: the peer is gone. */
static bool give(int fd, struct load *l)
{
	ssize_t n = send(fd, l->bytes + l->sent, l->len - l->sent, MSG_NOSIGNAL);

	if (n > 0)
		l->sent += (size_t)n;
	return n > 0 || errno == EAGAIN;
}

static bool take(int fd, size_t *answered)
{
	char room[4096];
	ssize_t n = read(fd, room, sizeof(room));

	if (n > 0)
		*answered += (size_t)n;
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static int talk(int fd, struct load *l, bool deaf, int64_t until_ms, size_t *answered)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		struct pollfd p = { .fd = fd, .events = (short)((deaf ? 0 : POLLIN) |
								(l->sent < l->len ? POLLOUT : 0)) };
		int64_t left_ms = until_ms - now_ms();

		if (left_ms <= 0 || poll(&p, 1, (int)left_ms) == 0)
			return OPEN;
		if ((p.revents & POLLIN) && !take(fd, answered))
			return CLOSED;
		if ((p.revents & (POLLHUP | POLLERR)) && (deaf || !(p.revents & POLLIN)))
			return CLOSED;
		if ((p.revents & POLLOUT) && l->sent < l->len && !give(fd, l))
			return CLOSED;
	}
}

int main(int argc, char **argv)
{
	bool deaf = argc > 1 && strcmp(argv[1], "-d") == 0;
	char **args = argv + 1 + deaf;
	size_t answered = 0;
	struct load l;
	int fd, end;

	if (argc == 5 && strcmp(argv[1], "frame") == 0)
		return frame(argv + 2);
	if (argc - deaf != 3 || (strncmp(args[1], "unix:", 5) && strncmp(args[1], "tcp:", 4))) {
		fprintf(stderr, "usage: throw [-d] SECONDS unix:PATH|tcp:HOST:PORT\n"
				"       throw frame LENGTH TYPE FLAGS\n");
		return UNASKED;
	}
	l = load_read();
	fd = args[1][0] == 'u' ? connect_unix(args[1] + 5) : connect_tcp(args[1] + 4);
	end = talk(fd, &l, deaf, now_ms() + 1000 * atoll(args[0]), &answered);
	printf("%s, %zu bytes answered\n", end == CLOSED ? "closed" : "open", answered);
	free(l.bytes);
	close(fd);
	return end;
}
