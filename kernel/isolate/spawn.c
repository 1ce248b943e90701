/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - the process of an isolated module, started.
 */
#include "isolate/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "isolate/talk.h"

static int spawn(const char *program, char *const argv[], int theirs, pid_t *ret_pid)
{
	/* Nothing of the daemon's surroundings but this: no secret of it is in there. */
	static char *const surroundings[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C",
#if defined(__SANITIZE_ADDRESS__) /* which would hide what it was killed by */
					      "ASAN_OPTIONS=handle_segv=0",
#endif
					      NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int ret;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, theirs, TALK_FD);
	posix_spawn_file_actions_addclosefrom_np(&files, TALK_FD + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	ret = posix_spawn(ret_pid, program, &files, &attr, argv, surroundings);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -ret;
}

/* Neither end may be TALK_FD itself, which would stay closed on exec, or be written over. */
static int high_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, TALK_FD + 1), ret = -errno;

	close(fd);
	return high < 0 ? ret : high;
}

int talk_spawn(const char *program, char *const argv[], pid_t *ret_pid, int *ret_fd)
{
	int ends[2], ours, theirs, ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	ours = high_fd(ends[0]);
	theirs = high_fd(ends[1]);
	ret = ours < 0 ? ours : theirs < 0 ? theirs : spawn(program, argv, theirs, ret_pid);
	if (theirs >= 0)
		close(theirs);
	if (ret == 0)
		*ret_fd = ours;
	else if (ours >= 0)
		close(ours);
	return ret;
}
