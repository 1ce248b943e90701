/* SPDX-License-Identifier: Apache-2.0
 *
 * nursery.c - the daemon's side of the nursery: starts it, requests shepherds.
 *
 * One question at a time: the lock is held until the pid is there, which takes a fork.
 */
#include "nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void nursery_init(struct nursery *n)
{
	pthread_mutex_init(&n->lock, NULL);
	n->fd = -1;
}

static void end(struct nursery *n)
{
	if (n->fd < 0)
		return;
	close(n->fd); /* it leaves */
	while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
		;
	n->fd = -1;
}

void nursery_fini(struct nursery *n)
{
	end(n);
	pthread_mutex_destroy(&n->lock);
}

/* Its second word has room for an id: shepherds show theirs there. */
static int spawn(struct nursery *n, const char *program, int fd)
{
	char room[NURSERY_ID_MAX + 1], *argv[] = { (char[]){ "keelson-shepherd" }, room, NULL };
	char *envp[] = { NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int r;

	memset(room, ' ', sizeof(room) - 1);
	room[sizeof(room) - 1] = '\0';
	memcpy(room, NURSERY_WORD, strlen(NURSERY_WORD));
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&at);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&fa);
	r = posix_spawn_file_actions_adddup2(&fa, fd, 100); /* it may be 3 itself */
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, 100, NURSERY_TALK);
	r = r ? r : posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, 0, 1);
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, 0, 2);
	r = r ? r : posix_spawn_file_actions_addclosefrom_np(&fa, NURSERY_TALK + 1);
	r = r ? r : posix_spawn(&n->pid, program, &fa, &at, argv, envp);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return -r;
}

static int begin(struct nursery *n, const char *program)
{
	int fds[2], r;

	if (n->fd >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	r = spawn(n, program, fds[1]);
	close(fds[1]);
	if (r < 0)
		close(fds[0]);
	else
		n->fd = fds[0];
	return r;
}

static pid_t ask(struct nursery *n, const char *id, int spec_fd, int talk_fd)
{
	int fds[2] = { spec_fd, talk_fd };
	union {
		char room[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec text = { (char *)id, strlen(id) };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int32_t answer;
	ssize_t got;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	if (sendmsg(n->fd, &m, MSG_NOSIGNAL) < 0)
		return -EPIPE;
	do
		got = recv(n->fd, &answer, sizeof(answer), 0);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(answer) ? answer : -EPIPE;
}

pid_t nursery_fork(struct nursery *n, const char *program, const char *id, int spec_fd, int talk_fd)
{
	pid_t pid = -EPIPE;

	if (strlen(id) > NURSERY_ID_MAX)
		return -ENAMETOOLONG;
	pthread_mutex_lock(&n->lock);
	for (int tries = 0; tries < 2 && pid == -EPIPE; tries++) {
		int r = begin(n, program);

		pid = r < 0 ? r : ask(n, id, spec_fd, talk_fd);
		if (pid == -EPIPE)
			end(n);
	}
	pthread_mutex_unlock(&n->lock);
	return pid;
}
