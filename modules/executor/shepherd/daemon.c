/* SPDX-License-Identifier: Apache-2.0
 *
 * daemon.c - the shepherd's end of its talk with the daemon (../talk.h). It never waits long for the daemon: one that does not
 * read is taken for gone, and the next one learns all from the diary.
 */
#include "../talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shepherd.h"

#define SAY_MS 2000

static int home_open(const struct talk *t)
{
	return open(t->s->jobs_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void listener_end(struct talk *t)
{
	struct sockaddr_un at;
	int dir = t->listener < 0 ? -1 : home_open(t);

	if (t->listener >= 0)
		close(t->listener);
	t->listener = -1;
	if (dir < 0)
		return;
	talk_address(&at, dir, (int)getpid());
	unlink(at.sun_path);
	close(dir);
}

void daemon_listen(struct talk *t)
{
	int dir, fd;
	struct sockaddr_un at;

	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	if (t->listener >= 0)
		return;
	dir = home_open(t);
	fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0) {
		talk_address(&at, dir, (int)getpid());
		unlink(at.sun_path); /* of an earlier process of this number */
		t->listener = fd;
		if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 4) < 0)
			listener_end(t);
	}
	if (dir >= 0)
		close(dir);
}

void daemon_end(struct talk *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	listener_end(t);
}

void daemon_say(struct talk *t, const char *text)
{
	struct pollfd room = { .fd = t->fd, .events = POLLOUT };

	if (t->fd < 0 || send(t->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return;
	if (errno == EAGAIN && poll(&room, 1, SAY_MS) > 0 &&
	    send(t->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return;
	daemon_listen(t);
}

/* Only who could also kill us is a daemon of ours. */
static void daemon_take(struct talk *t)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	int fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || who.uid != geteuid()) {
		close(fd);
		return;
	}
	listener_end(t);
	t->fd = fd;
}

bool daemon_hear(struct talk *t, int fd, char word[32], int *ret_fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec text = { word, 31 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;

	*ret_fd = -1;
	if (fd == t->listener) {
		daemon_take(t);
		return false;
	}
	do
		n = recvmsg(t->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		daemon_listen(t);
		return false;
	}
	word[n] = '\0';
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return true;
}
