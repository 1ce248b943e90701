/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-shepherd - watches over one task and outlives the daemon that started it.
 *
 *   nursery: fork one of us for each task of the daemon (nursery.c)
 *   wait for "go" (the daemon has recorded us) -> child: own session, user, files, exec
 *   -> report "started" -> reap everything -> end of the task in <id>.TK -> a child places its output -> exit
 *   or for "proceed": the task's shepherd was killed, do the rest for it (proceed.c)
 *   message: a program of its own, for a line into the output of a task (message.c)
 *
 * It adopts the orphans of its task, so the task's processes are exactly its descendants. Its last
 * message, in <id>.TK too, says which output could not be placed (bits of courier_run()). No name service is
 * used: all names were resolved to numbers by the daemon. It stays root, so that its user cannot stop it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../diary.h"
#include "../group.h"
#include "../message.h"
#include "../nursery.h"
#include "../proc.h"
#include "shepherd.h"

#define EXIT_BAD_SPEC 64 /* nothing was started */
#define NO_SUCH_PROGRAM 254
#define REAPED_AT_ONCE 10000 /* a pass over processes costs more than a thousand of them, zombies included */
#define PAUSE_LONGEST_NS 50000000

void signals_set(void (*handler)(int))
{
	static const int list[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1,
				    SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		signal(list[i], handler);
}

/* The daemon may die between our start and its record of us; then nothing may run. The first letter of what
 * it says: "go", "proceed"; else 0. */
static char go_wait(void)
{
	char go;
	ssize_t n;

	do
		n = recv(SPEC_TALK, &go, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 && (go == 'g' || go == 'p') ? go : 0;
}

static void tell(const char *text)
{
	ssize_t n = send(SPEC_TALK, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);

	(void)n; /* the daemon may be gone: it reads the files */
}

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

/* What the child says; an exec that succeeds says nothing. It is its user's by then, who may stop it, and has paths
 * that nothing answers for. */
static void trouble_read(int fd, pid_t pid, uint32_t limit_ms, struct trouble *ret)
{
	int n, limit = limit_ms && limit_ms < INT_MAX ? (int)limit_ms : -1;

	do
		n = poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, limit);
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		kill(pid, SIGKILL);
		*ret = (struct trouble){ TROUBLE_LATE, ETIME, "start (executor.start_limit)" };
	} else if (read(fd, ret, sizeof(*ret)) != sizeof(*ret)) {
		ret->stage = TROUBLE_NONE;
	}
}

static pid_t child_start(struct spec *s, struct trouble *ret_trouble)
{
	int fds[2];
	pid_t pid;

	*ret_trouble = (struct trouble){ 0 };
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork_into(s->cgroup)) < 0) {
		*ret_trouble = (struct trouble){ TROUBLE_SETUP, errno, "new process" };
		return -1;
	}
	if (pid == 0)
		child_run(s, fds[1]);
	close(fds[1]);
	trouble_read(fds[0], pid, s->start_ms, ret_trouble);
	close(fds[0]);
	return pid;
}

/* Some of those that have ended: there may always be more. False: there is no child any more. */
static bool reap(void)
{
	pid_t pid = 1;

	for (int n = 0; n < REAPED_AT_ONCE && pid > 0; n++)
		pid = waitpid(-1, NULL, WNOHANG);
	return pid >= 0 || errno == EINTR;
}

/* What the task has left behind: killed and looked for until there is no child any more. */
static void rest_end(const struct spec *s)
{
	struct timespec pause = { 0, 100000 };

	if (!reap())
		return;
	/* Before those that fork and exit in turn, however busy the machine is; the kernel leaves others a twentieth. */
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){ .sched_priority = 1 });
	do {
		if (s->cgroup)
			group_kill(s->cgroup);
		proc_kill_pass(getpid());
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_LONGEST_NS) /* what stays in the kernel */
			pause.tv_nsec += pause.tv_nsec / 8;
	} while (reap());
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

/* Reap until `main_pid` ended, then end what it left behind. */
static int status_wait(const struct spec *s, pid_t main_pid)
{
	int raw = 0;
	pid_t pid;

	do
		pid = wait4(-1, &raw, 0, NULL);
	while (pid != main_pid && (pid > 0 || errno == EINTR));
	if (pid != main_pid)
		return -1;
	rest_end(s);
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 256 + WTERMSIG(raw);
}

static uint64_t microseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_usec;
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
static bool has_begun(const struct trouble *t)
{
	return t->stage == TROUBLE_NONE || (t->stage == TROUBLE_PROGRAM && whose(t) == WHOSE_JOB);
}

/* System codes of a start that failed, by stage. */
static int trouble_status(const struct trouble *t)
{
	static const int codes[] = {
		[TROUBLE_SETUP] = -1, [TROUBLE_SPOOL] = -2, [TROUBLE_TMPDIR] = -2, [TROUBLE_USER] = KEEL_TASK_BAD_USER,
		[TROUBLE_HOME] = -2, [TROUBLE_OUTPUT] = -2, [TROUBLE_LATE] = -2, [TROUBLE_PROGRAM] = NO_SUCH_PROGRAM,
	};

	if (whose(t) != WHOSE_JOB)
		return KEEL_TASK_RETRY;
	return t->stage > TROUBLE_NONE && t->stage <= TROUBLE_PROGRAM ? codes[t->stage] : -1;
}

static void start_report(const struct spec *s, pid_t pid, struct trouble *t)
{
	char text[512];

	t->what[sizeof(t->what) - 1] = '\0';
	if (has_begun(t)) {
		snprintf(text, sizeof(text), "started %d", (int)pid);
	} else if (t->stage == TROUBLE_HOME && strcmp(t->what, s->home) == 0) {
		snprintf(text, sizeof(text), "refused %d Could not chdir to Home directory",
			 trouble_status(t));
	} else {
		snprintf(text, sizeof(text), "refused %d %s: %s", trouble_status(t), t->what,
			 strerror(t->error));
	}
	diary_plain(text); /* paths are the user's */
	diary_plain(t->what);
	record_append(s, text);
	if (whose(t) == WHOSE_HOST)
		snprintf(text, sizeof(text), "short %d %s: %s", KEEL_TASK_RETRY, t->what, strerror(t->error));
	tell(text);
}

/* From the first process to the last. False: there is no output, or nothing could be written down. */
static bool task_run(struct spec *s, struct outcome *o)
{
	const char *promised = s->tmpdir;
	struct rusage ru;
	struct trouble t;
	char line[4200];

	tmpdir_make(s);
	if (s->tmpdir != promised) {
		snprintf(line, sizeof(line), "tmpdir %s", s->tmpdir);
		record_append(s, line);
	}
	o->session = child_start(s, &t);
	start_report(s, o->session, &t);
	o->status = o->session > 0 ? status_wait(s, o->session) : -1;
	if (t.stage != TROUBLE_NONE)
		o->status = trouble_status(&t);
	if (getrusage(RUSAGE_CHILDREN, &ru) == 0) {
		o->cpu_us = microseconds(ru.ru_utime) + microseconds(ru.ru_stime);
		o->max_rss_kb = (uint64_t)ru.ru_maxrss;
	}
	if (outcome_write(s, o) < 0)
		return false;
	if (has_begun(&t))
		return true;
	courier_clean(s);
	return false;
}

static int shepherd(void)
{
	struct outcome o = { 0 };
	struct spec s;
	char last_words[32], go;

	signals_set(SIG_IGN);
	umask(077);
	if (spec_load(SPEC_FD, &s) < 0 || fcntl(SPEC_TALK, F_SETFD, FD_CLOEXEC) < 0)
		return EXIT_BAD_SPEC;
	close(SPEC_FD);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	go = go_wait();
	if (!go || (go == 'g' ? !task_run(&s, &o) : proceed(&s, &o) < 0))
		return EXIT_BAD_SPEC;
	snprintf(last_words, sizeof(last_words), "placed %d", courier_run(&s, o.status));
	if (s.cgroup)
		group_remove(s.cgroup); /* no daemon may come back */
	record_append(&s, last_words);
	tell(last_words);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], MESSAGE_WORD) == 0)
		_exit(message_append(atoi(argv[2]))); /* as below: no leak checker */
	if (argc != 2 || strncmp(argv[1], NURSERY_WORD, strlen(NURSERY_WORD)) != 0)
		return EXIT_BAD_SPEC;
	if (geteuid() == 0)
		prctl(PR_SET_DUMPABLE, 0); /* no core file; a task's own limit is what it was */
	/* Nothing runs behind the last words: who kills what is left of the task may meet the helper
	 * process of a leak checker, which would then wait for ever. */
	if (nursery_run(argv[1]) == NURSERY_CHILD)
		_exit(shepherd());
	return 0;
}
