/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - the first process of a task, from fork to exec.
 *
 * Files and directories are touched only after the privileges are gone, with the user's own rights,
 * except those of the spool, where everybody may write: see spool.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../identity.h"
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
	return s->drop ? identity_become(s->uid, s->gid, s->groups, s->n_groups) : 0;
}

/* Kept where the user will find it: a file of that user, opened with the user's rights. `how`: O_TRUNC, or 0 to go on
 * in what is there. */
static int kept_open(const struct spec_stream *stream, int how)
{
	int fd = open(stream->run, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | how, 0666);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* stdout and stderr; a stream without a file of its own joins the other. */
static void output_open(struct spec *s, int how, int trouble_fd)
{
	int r = spec_settle(s), out = s->fds[0], err = s->fds[1];

	if (r < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, -r, "standard output");
	if (s->out.run && s->out.keep && (out = kept_open(&s->out, how)) < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, s->out.run);
	if (s->err.run && s->err.keep && (err = kept_open(&s->err, how)) < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, s->err.run);
	if (dup2(out < 0 ? err : out, 1) < 0 || dup2(err < 0 ? out : err, 2) < 0)
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, "standard output");
}

/* A directory of ours: made now, or ours already. */
static void directory_make(const char *path, enum trouble_stage stage, int trouble_fd)
{
	struct stat st;

	if (!path)
		return;
	if (mkdir(path, 0700) < 0 &&
	    (errno != EEXIST || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	     st.st_uid != geteuid()))
		give_up(trouble_fd, stage, errno ? errno : EEXIST, path);
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
		give_up(trouble_fd, TROUBLE_OUTPUT, errno, "standard input");
}

/* A session of its own, limits, the user; returns in its home directory. */
static void user_become(const struct spec *s, int trouble_fd)
{
	sigset_t none;
	int r;

	setsid();
	signals_set(SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < s->n_limits; i++)
		if (setrlimit(s->limits[i].resource,
			      &(struct rlimit){ s->limits[i].value, s->limits[i].value }) < 0)
			give_up(trouble_fd, TROUBLE_SETUP, errno, "resource limits");
	if ((r = privileges_drop(s)) < 0)
		give_up(trouble_fd, TROUBLE_USER, -r, s->user);
	umask(s->umask);
	if (chdir(s->home) < 0)
		give_up(trouble_fd, TROUBLE_HOME, errno, s->home);
}

_Noreturn void child_set_up(struct spec *s, const struct order *none, int trouble_fd)
{
	int r;

	(void)none;
	user_become(s, trouble_fd);
	directory_make(s->tmpdir, TROUBLE_TMPDIR, trouble_fd); /* where root may make none */
	directory_make(s->sandbox, TROUBLE_HOME, trouble_fd);
	if (s->sandbox && !s->index && (r = tree_mark(s->sandbox, s->run)) < 0)
		give_up(trouble_fd, TROUBLE_HOME, -r, s->sandbox);
	_exit(0);
}

static void directory_enter(const char *path, int trouble_fd)
{
	if (chdir(path) < 0)
		give_up(trouble_fd, TROUBLE_HOME, errno, path);
}

/* A script is fed to its shell, unless a module wants something else to be executed. */
static bool is_fed(const struct spec *s, const struct order *o)
{
	return s->script && (!o || (o->n_args == 2 && strcmp(o->args[0], s->shell) == 0 && strcmp(o->args[1], s->script) == 0));
}

static _Noreturn void program_failed(const char *what, int trouble_fd)
{
	int r = errno;

	dprintf(2, "%s: %s\n", what, strerror(r));
	give_up(trouble_fd, TROUBLE_PROGRAM, r, what);
}

_Noreturn void child_run(struct spec *s, const struct order *o, int trouble_fd)
{
	const char *base = strrchr(s->shell, '/');
	char login[256], *shell[2] = { login, NULL }, **args = o ? o->args : s->args;

	user_become(s, trouble_fd);
	directory_make(s->tmpdir, TROUBLE_TMPDIR, trouble_fd);
	directory_enter(o && o->dir ? o->dir : s->sandbox ? s->sandbox : s->dir ? s->dir : s->home, trouble_fd);
	output_open(s, O_TRUNC, trouble_fd);
	environ = o ? o->env : s->env;
	if (is_fed(s, o)) {
		shell_feed(s, trouble_fd);
		snprintf(login, sizeof(login), "-%s", base ? base + 1 : s->shell);
		execve(s->shell, shell, environ);
		program_failed(s->shell, trouble_fd);
	}
	if (o && (s->script || strcmp(args[0], s->args[0]) != 0))
		execvp(args[0], args);
	else
		execve(args[0], args, environ); /* as it is named: no PATH is searched */
	program_failed(args[0], trouble_fd);
}

_Noreturn void child_task(struct spec *s, const struct order *o, int trouble_fd)
{
	user_become(s, trouble_fd);
	directory_enter(o->dir ? o->dir : s->sandbox ? s->sandbox : s->dir ? s->dir : s->home, trouble_fd);
	output_open(s, 0, trouble_fd);
	environ = o->env;
	execvp(o->args[0], o->args); /* its own PATH */
	dprintf(2, "%s: %s\n", o->args[0], strerror(errno)); /* as a shell says it: the task was started, and ends */
	_exit(254);
}
