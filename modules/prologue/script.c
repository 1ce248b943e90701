/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c - see script.h.
 *
 * It is the leader of a session, which is killed as a whole when it takes too long. What it leaves running in the background
 * stays: a site may start its services so.
 */
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct script {
	struct keel_mod *mod;
	pid_t pid;
	int pidfd, fds[SCRIPT_STREAMS];
	struct keel_watch *watch;
	struct keel_timer *timer;
	bool late;
	script_done *done;
	void *arg;
};

bool script_permitted(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IRUSR | S_IXUSR)) == (S_IRUSR | S_IXUSR) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void script_free(struct script *s)
{
	keel_watch_cancel(s->watch);
	keel_timer_cancel(s->timer);
	if (s->pidfd >= 0)
		close(s->pidfd);
	for (int i = 0; i < SCRIPT_STREAMS; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	free(s);
}

static void ended(struct keel_mod *mod, void *arg)
{
	struct script *s = arg;
	int raw = 0;

	if (waitpid(s->pid, &raw, WNOHANG) == 0)
		return;
	s->done(mod, s->arg, s->late ? SCRIPT_LATE : WIFEXITED(raw) ? WEXITSTATUS(raw) : SCRIPT_KILLED, s->fds);
	script_free(s);
}

static void too_long(struct keel_mod *mod, void *arg)
{
	struct script *s = arg;

	(void)mod;
	s->timer = NULL;
	s->late = true;
	kill(-s->pid, SIGKILL);
}

/* 0 or an errno. Files above 2 close by themselves. */
static int spawn(struct script *s, char *const argv[], const char *dir)
{
	char path[] = "PATH=/bin:/usr/bin", *env[] = { path, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	e = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	for (int i = 0; e == 0 && i < SCRIPT_STREAMS; i++)
		e = posix_spawn_file_actions_adddup2(&files, s->fds[i], i + 1);
	if (e == 0)
		e = posix_spawn_file_actions_addchdir_np(&files, dir);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	if (e == 0)
		e = posix_spawn(&s->pid, argv[0], &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return e;
}

static void end_now(struct script *s)
{
	kill(-s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

struct script *script_run(struct keel_mod *mod, char *const argv[], const char *dir, int64_t limit_ms, script_done *done,
			  void *arg, struct keel_err *err)
{
	struct script *s = calloc(1, sizeof(*s));
	int e = s ? 0 : ENOMEM;

	if (s) {
		*s = (struct script){ .mod = mod, .pidfd = -1, .done = done, .arg = arg };
		for (int i = 0; i < SCRIPT_STREAMS; i++) {
			s->fds[i] = memfd_create("output", MFD_CLOEXEC);
			e = s->fds[i] < 0 ? errno : e;
		}
	}
	if (e == 0)
		e = spawn(s, argv, dir);
	if (e == 0) {
		s->pidfd = pidfd_open(s->pid, 0);
		s->watch = s->pidfd < 0 ? NULL : keel_watch_fd(mod, s->pidfd, ended, s);
		s->timer = s->watch ? keel_timer(mod, limit_ms, too_long, s) : NULL;
		if (s->timer)
			return s;
		end_now(s);
		e = ENOMEM;
	}
	keel_error(err, -e, "%s cannot be run: %s", argv[0], strerror(e));
	if (s)
		script_free(s);
	return NULL;
}

void script_cancel(struct script *s)
{
	if (!s)
		return;
	end_now(s);
	script_free(s);
}

char *script_output(int fd, uint32_t *ret_len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	size_t len = size > OUTPUT_MAX ? OUTPUT_MAX : size > 0 ? (size_t)size : 0;
	char *bytes = len > 0 ? malloc(len) : NULL;
	ssize_t n = bytes ? pread(fd, bytes, len, 0) : 0;

	*ret_len = n > 0 ? (uint32_t)n : 0;
	return bytes;
}
