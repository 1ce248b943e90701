/* SPDX-License-Identifier: Apache-2.0
 *
 * nursery.c - forks a shepherd for each message of the daemon: the job's id, and the descriptors of its
 * spec and of its talk. Ends when the daemon's end of the socket is closed.
 */
#include "../nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shepherd.h"

/* Both descriptors of a message, or 0: it is none of ours. */
static ssize_t message(char *id, size_t len, int fds[2])
{
	union {
		char room[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec text = { id, len - 1 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(NURSERY_TALK, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return 0;
	memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
	id[n] = '\0';
	return n;
}

int nursery_run(char *title)
{
	signal(SIGCHLD, SIG_IGN); /* shepherds are reaped by the kernel; the daemon watches them by pidfd */
	for (;;) {
		char id[NURSERY_ID_MAX + 1];
		int fds[2], spec, talk;
		int32_t pid;

		if (!message(id, sizeof(id), fds))
			return NURSERY_OVER;
		pid = fork();
		if (pid == 0) { /* what a program start would have given it */
			signal(SIGCHLD, SIG_DFL);
			strncpy(title, id, NURSERY_ID_MAX);
			setsid();
			/* Out of the way first: either may be 3 or 4 itself. */
			spec = fcntl(fds[0], F_DUPFD, SPEC_TALK + 1);
			talk = fcntl(fds[1], F_DUPFD, SPEC_TALK + 1);
			if (spec < 0 || talk < 0 || dup2(spec, SPEC_FD) < 0 || dup2(talk, SPEC_TALK) < 0 ||
			    close_range(SPEC_TALK + 1, ~0U, 0) < 0)
				return NURSERY_OVER;
			return NURSERY_CHILD;
		}
		if (pid < 0)
			pid = -errno;
		close(fds[0]);
		close(fds[1]);
		if (send(NURSERY_TALK, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
			return NURSERY_OVER;
	}
}
