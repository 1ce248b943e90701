/* SPDX-License-Identifier: Apache-2.0
 *
 * birth.c - a new process of a task, in its cgroup, until it has become its program: what it says when it could not, and
 * whose doing that is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../diary.h"
#include "../group.h"
#include "shepherd.h"

#define NO_SUCH_PROGRAM 254

/* A process that is born in the task's cgroup, where it has one: moving in later costs more. */
static pid_t fork_into(const char *cgroup)
{
	struct clone_args how = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	int fd = cgroup ? open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	pid_t pid = -1;

	if (fd >= 0) {
		how.cgroup = (uint64_t)fd;
		pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
		close(fd);
	}
	if (pid >= 0 || (pid = fork()) != 0)
		return pid;
	if (cgroup)
		group_enter(cgroup);
	return 0;
}

pid_t birth(struct spec *s, const struct order *o, child_fn *fn, int *ret_fd)
{
	int fds[2], r;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork_into(s->cgroup);
	r = -errno;
	if (pid == 0 && s->bound)
		group_enter(s->bound);
	if (pid == 0)
		fn(s, o, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return r;
	}
	*ret_fd = fds[0];
	return pid;
}

void trouble_read(int fd, struct trouble *ret)
{
	if (read(fd, ret, sizeof(*ret)) != sizeof(*ret)) /* an exec that succeeds says nothing */
		*ret = (struct trouble){ .stage = TROUBLE_NONE };
	ret->what[sizeof(ret->what) - 1] = '\0';
}

void trouble_wait(const struct spec *s, int fd, pid_t pid, struct trouble *ret)
{
	int n, limit = s->start_ms && s->start_ms < INT_MAX ? (int)s->start_ms : -1;

	do
		n = poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, limit);
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		kill(pid, SIGKILL);
		*ret = (struct trouble){ TROUBLE_LATE, ETIME, "start (executor.start_limit)" };
	} else {
		trouble_read(fd, ret);
	}
}

/* By whose doing a start fails. The errors of a user's own files and limits are the user's to choose: none of them
 * makes a host look as if it lacked something. */
enum whose { WHOSE_JOB, WHOSE_USER /* a limit of the user's is reached: later it may not be */, WHOSE_HOST };

static enum whose whose(const struct trouble *t)
{
	static const struct {
		int error;
		enum whose as_root, as_user;
	} rows[] = {
		{ EAGAIN, WHOSE_HOST, WHOSE_JOB },  { ENOSPC, WHOSE_HOST, WHOSE_JOB },
		{ EMFILE, WHOSE_HOST, WHOSE_JOB },  { EIO, WHOSE_HOST, WHOSE_JOB },
		{ EROFS, WHOSE_HOST, WHOSE_JOB },   { ENOMEM, WHOSE_HOST, WHOSE_USER },
		{ ENFILE, WHOSE_HOST, WHOSE_USER }, { EDQUOT, WHOSE_USER, WHOSE_JOB },
	};

	if (t->stage == TROUBLE_NONE)
		return WHOSE_JOB;
	if (t->error == EAGAIN && (t->stage == TROUBLE_USER || t->stage == TROUBLE_PROGRAM))
		return WHOSE_USER; /* becoming the user, and exec, count its processes */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (t->error == rows[i].error)
			return t->stage < TROUBLE_USER ? rows[i].as_root : rows[i].as_user;
	return t->stage == TROUBLE_SPOOL ? WHOSE_HOST : WHOSE_JOB;
}

/* The job runs, or its program says why it does not. */
bool has_begun(const struct trouble *t)
{
	return t->stage == TROUBLE_NONE || (t->stage == TROUBLE_PROGRAM && whose(t) == WHOSE_JOB);
}

/* System codes of a start that failed, by stage. */
int trouble_status(const struct trouble *t)
{
	static const int codes[] = {
		[TROUBLE_SETUP] = -1, [TROUBLE_SPOOL] = -2, [TROUBLE_TMPDIR] = -2, [TROUBLE_USER] = KEEL_TASK_BAD_USER,
		[TROUBLE_HOME] = -2, [TROUBLE_OUTPUT] = -2, [TROUBLE_LATE] = -2, [TROUBLE_PROGRAM] = NO_SUCH_PROGRAM,
	};

	if (whose(t) != WHOSE_JOB)
		return KEEL_TASK_RETRY;
	return t->stage > TROUBLE_NONE && t->stage <= TROUBLE_PROGRAM ? codes[t->stage] : -1;
}

void trouble_text(const struct spec *s, const struct trouble *t, pid_t pid, char record[512], char talk[512])
{
	char what[sizeof(t->what)];

	snprintf(what, sizeof(what), "%s", t->what);
	diary_plain(what); /* paths are the user's */
	if (has_begun(t))
		snprintf(record, 512, "started %d", (int)pid);
	else if (t->stage == TROUBLE_HOME && strcmp(t->what, s->home) == 0)
		snprintf(record, 512, "refused %d Could not chdir to Home directory", trouble_status(t));
	else
		snprintf(record, 512, "refused %d %s: %s", trouble_status(t), what, strerror(t->error));
	snprintf(talk, 512, "%s", record);
	if (whose(t) == WHOSE_HOST)
		snprintf(talk, 512, "short %d %s: %s", KEEL_TASK_RETRY, what, strerror(t->error));
}
