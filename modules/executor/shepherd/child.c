/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - the first process of a task, from fork to exec.
 *
 * Files and directories are touched only after the privileges are gone, with the user's own rights,
 * except the removal of a left-over spool file, which may belong to somebody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shepherd.h"

#define PROGRAM_MISSING 254

static _Noreturn void give_up(int fd, enum trouble_stage stage, int error, const char *what)
{
	struct trouble t = { .stage = stage, .error = error };
	ssize_t n;

	snprintf(t.what, sizeof(t.what), "%s", what);
	n = write(fd, &t, sizeof(t));
	_exit(n == (ssize_t)sizeof(t) ? PROGRAM_MISSING : 1);
}

int privileges_drop(const struct spec *s)
{
	if (setgroups(s->n_groups, s->groups) < 0 || setresgid(s->gid, s->gid, s->gid) < 0 ||
	    setresuid(s->uid, s->uid, s->uid) < 0)
		return -errno;
	if (getuid() != s->uid || geteuid() != s->uid || getgid() != s->gid || getegid() != s->gid)
		return -EPERM;
	if (s->uid != 0 && (setuid(0) == 0 || seteuid(0) == 0))
		return -EPERM;
	return 0;
}

static void signals_restore(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int limits_apply(const struct spec *s)
{
	for (size_t i = 0; i < s->n_limits; i++) {
		struct rlimit l = { s->limits[i].value, s->limits[i].value };

		if (setrlimit(s->limits[i].resource, &l) < 0)
			return -errno;
	}
	return 0;
}

/* A left-over of an earlier run, or something a stranger has put there: his directory is out of the way. */
static void spool_clear(const struct spec_stream *stream)
{
	char aside[PATH_MAX];

	if (!stream->run || stream->keep || unlink(stream->run) == 0 || errno == ENOENT)
		return;
	if (snprintf(aside, sizeof(aside), "%s.%d", stream->run, (int)getpid()) < (int)sizeof(aside))
		(void)rename(stream->run, aside);
}

static int stream_open(const struct spec_stream *stream)
{
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC;
	int fd = open(stream->run,
		      flags | (stream->keep ? O_TRUNC | O_NONBLOCK : O_EXCL | O_NOFOLLOW), 0666);

	if (fd >= 0 && stream->keep)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* stdout and stderr; a stream without a file of its own joins the other. */
static void output_open(struct spec *s, int trouble_fd)
{
	int r = spec_settle(s), out, err;

	if (r < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, -r, "standard output");
	out = s->out.run ? stream_open(&s->out) : -1;

	if (s->out.run && out < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, s->out.run);
	err = s->err.run ? stream_open(&s->err) : out;
	if (err < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, s->err.run);
	if (out < 0)
		out = err;
	if (dup2(out, 1) < 0 || dup2(err, 2) < 0)
		give_up(trouble_fd, TROUBLE_SETUP, errno, "standard output");
}

/* A directory of ours: made now, or ours already. */
static void directory_make(const char *path, int trouble_fd)
{
	struct stat st;

	if (!path)
		return;
	if (mkdir(path, 0700) < 0 &&
	    (errno != EEXIST || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	     st.st_uid != geteuid()))
		give_up(trouble_fd, TROUBLE_HOME, errno ? errno : EEXIST, path);
}

static void directories_enter(const struct spec *s, int trouble_fd)
{
	const char *start = s->sandbox ? s->sandbox : s->dir ? s->dir : s->home;

	if (chdir(s->home) < 0)
		give_up(trouble_fd, TROUBLE_HOME, errno, s->home);
	directory_make(s->tmpdir, trouble_fd);
	directory_make(s->sandbox, trouble_fd);
	if (chdir(start) < 0)
		give_up(trouble_fd, TROUBLE_HOME, errno, start);
}

/* The shell runs the script as a command, so the script's own death is the shell's to report (128+N)
 * and `#!` lines work. stdin: one line with the quoted path, then end of file. */
static void shell_feed(const struct spec *s, int trouble_fd)
{
	char line[4096];
	int fds[2], len = snprintf(line, sizeof(line), "'%s'\n", s->script);

	if (len < 0 || (size_t)len >= sizeof(line) || strpbrk(s->script, "'\n!"))
		give_up(trouble_fd, TROUBLE_SETUP, EINVAL, s->script);
	if (pipe2(fds, O_CLOEXEC) < 0 || write(fds[1], line, (size_t)len) != len ||
	    dup2(fds[0], 0) < 0)
		give_up(trouble_fd, TROUBLE_SETUP, errno, "standard input");
}

static void shell_exec(const struct spec *s)
{
	const char *base = strrchr(s->shell, '/');
	char login[256];
	char *argv[2] = { login, NULL };

	snprintf(login, sizeof(login), "-%s", base ? base + 1 : s->shell);
	execve(s->shell, argv, s->env);
}

_Noreturn void child_run(struct spec *s, int trouble_fd)
{
	const char *what = s->script ? s->shell : s->args[0];
	int r;

	setsid();
	signals_restore();
	r = limits_apply(s);
	if (r < 0)
		give_up(trouble_fd, TROUBLE_SETUP, -r, "resource limits");
	spool_clear(&s->out);
	spool_clear(&s->err);
	if (s->drop && (r = privileges_drop(s)) < 0)
		give_up(trouble_fd, TROUBLE_USER, -r, s->user);
	umask(s->umask);
	directories_enter(s, trouble_fd);
	output_open(s, trouble_fd);
	if (s->script)
		shell_feed(s, trouble_fd);
	if (s->script)
		shell_exec(s);
	else
		execve(s->args[0], s->args, s->env); /* as it is named: no PATH is searched */
	r = errno;
	dprintf(2, "%s: %s\n", what, strerror(r));
	give_up(trouble_fd, TROUBLE_PROGRAM, r, what);
}
