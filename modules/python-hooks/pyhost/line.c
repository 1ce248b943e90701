/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the socket to the daemon: frames in, frames out.
 *
 * Scripts may close descriptors, and fork. The socket is kept on a high descriptor, which is closed by exec and in a child
 * of fork, and before anything is written it is made sure that it still is that socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utlist.h>

#include "pyhost.h"

#define READ_AT_ONCE 65536u
#define FRAME_IN_MAX (64u * 1024u * 1024u)
#define LINE_FD_MAX 1000
#define LINGER_US 60 /* longer than it takes to wake a processor that sleeps */

static struct {
	int fd;
	dev_t dev;
	ino_t ino;
	bool gone; /* this process is a child of the one that has the line */
	char *data;
	size_t len, size, at; /* `at`: taken from the front */
	struct frame *kept;
} line = { .fd = -1 };

void leave(int status)
{
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

static void in_child(void)
{
	if (line.fd >= 0)
		close(line.fd);
	line.gone = true;
}

int line_open(int fd)
{
	struct rlimit files = { .rlim_cur = LINE_FD_MAX };
	struct stat st;
	int from;

	if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode))
		return -1;
	getrlimit(RLIMIT_NOFILE, &files);
	from = files.rlim_cur <= LINE_FD_MAX ? (int)files.rlim_cur - 1 : LINE_FD_MAX;
	line.fd = fcntl(fd, F_DUPFD_CLOEXEC, from);
	if (line.fd < 0 || pthread_atfork(NULL, NULL, in_child) != 0)
		return -1;
	close(fd);
	line.dev = st.st_dev;
	line.ino = st.st_ino;
	return 0;
}

void line_check(void)
{
	struct stat st;

	if (line.gone)
		_exit(0);
	if (line.fd >= 0 && (fstat(line.fd, &st) < 0 || st.st_dev != line.dev || st.st_ino != line.ino))
		_exit(1);
}

/* Is it ready at once, or nearly? A process that is called often does not sleep between two calls. */
static bool soon(struct pollfd *p)
{
	int64_t until = now_us() + LINGER_US;

	do {
		if (poll(p, 1, 0) != 0)
			return true;
	} while (now_us() < until);
	return false;
}

/* Other threads of a script go on meanwhile. */
static void wait_for(short events)
{
	struct pollfd p = { .fd = line.fd, .events = events };

	Py_BEGIN_ALLOW_THREADS
	if (!soon(&p))
		poll(&p, 1, -1);
	Py_END_ALLOW_THREADS
	line_check();
}

/* ---- out -------------------------------------------------------------------------------------------------- */
/* What the socket takes of it, in one piece: the daemon wakes once. */
static size_t send_some(struct iovec *part, size_t n)
{
	struct msghdr m = { .msg_iov = part, .msg_iovlen = n };
	ssize_t sent = sendmsg(line.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent >= 0)
		return (size_t)sent;
	if (errno == EAGAIN)
		wait_for(POLLOUT);
	else if (errno != EINTR)
		_exit(1);
	return 0;
}

void line_send(const struct pack *p)
{
	uint32_t len = p->len;
	struct iovec parts[] = { { &len, sizeof(len) }, { p->data, len } };
	size_t left = sizeof(len) + len;

	line_check();
	if (p->failed)
		_exit(1); /* no memory, in the middle of a sentence */
	while (left > 0) {
		size_t sent = send_some(parts, 2);

		left -= sent;
		for (int i = 0; i < 2; i++) {
			size_t of_it = sent < parts[i].iov_len ? sent : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + of_it;
			parts[i].iov_len -= of_it;
			sent -= of_it;
		}
	}
}

/* ---- in --------------------------------------------------------------------------------------------------- */
static void room_for(size_t len)
{
	size_t size = line.size > 0 ? line.size : READ_AT_ONCE;
	char *more;

	if (line.at > 0) {
		memmove(line.data, line.data + line.at, line.len - line.at);
		line.len -= line.at;
		line.at = 0;
	}
	while (size - line.len < len)
		size *= 2;
	if (size == line.size)
		return;
	more = realloc(line.data, size);
	if (!more)
		_exit(1);
	line.data = more;
	line.size = size;
}

static void read_more(size_t want)
{
	ssize_t n;

	room_for(want > READ_AT_ONCE ? want : READ_AT_ONCE);
	line_check();
	n = recv(line.fd, line.data + line.len, line.size - line.len, MSG_DONTWAIT);
	if (n > 0)
		line.len += (size_t)n;
	else if (n < 0 && errno == EAGAIN)
		wait_for(POLLIN);
	else if (n == 0 || errno != EINTR)
		_exit(0); /* the daemon is gone */
}

static struct frame *read_frame(void)
{
	struct frame *f;
	uint32_t len;

	while (line.len - line.at < sizeof(len))
		read_more(sizeof(len));
	memcpy(&len, line.data + line.at, sizeof(len));
	if (len > FRAME_IN_MAX)
		_exit(1);
	while (line.len - line.at < sizeof(len) + len)
		read_more(sizeof(len) + len);
	f = malloc(sizeof(*f) + len);
	if (!f)
		_exit(1);
	f->len = len;
	memcpy(f->bytes, line.data + line.at + sizeof(len), len);
	line.at += sizeof(len) + len;
	return f;
}

struct frame *line_next(void)
{
	struct frame *f = line.kept;

	if (!f)
		return read_frame();
	DL_DELETE(line.kept, f);
	return f;
}

static bool is_answer(const struct frame *f)
{
	struct value v, what;

	if (!value_read(f->bytes, f->len, &v) || !value_nth(&v, 0, &what))
		_exit(1); /* the daemon does not say such things */
	return value_is(&what, "answer");
}

struct frame *line_answer(void)
{
	struct frame *f;

	while (f = read_frame(), !is_answer(f))
		DL_APPEND(line.kept, f);
	return f;
}
