/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-tree: the parent of one supervised program and of all that it leaves behind.
 *
 *	keelson-tree PROFILE USER MEMORY PROCESSES CAPTURED DIR -- PROGRAM [ARGUMENT]...
 *
 * It is the subreaper: what the program starts and forsakes becomes its child. When the program ends, or the daemon closes
 * the control socket, or is gone, everything below it is killed; then it reports how the program ended, and ends.
 *
 * A script of root's daemon is in a pid namespace: the first process there does nothing but end when this one does, and all
 * others with it. The program is this process's own child beside it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keel/service/supervise.h"
#include "tree.h"
#include "program/version_word.h"

static void settle(int fd, int as)
{
	if (fd != as)
		dup2(fd, as);
	fcntl(as, F_SETFD, 0);
}

/* ---- the namespace ---------------------------------------------------------------------------------- */
/* The first process of it: what is forsaken there becomes its child, and vanishes by itself. Its end ends them all. */
static void be_first(int alive)
{
	char c;

	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_NAME, "keelson-first");
	dup2(alive, 0);
	close_range(1, ~0U, 0);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* Programs that are started from now on are in a namespace of their own. The pid of its first process; 0: none can be made. */
static pid_t namespace_make(void)
{
	int alive[2];
	pid_t pid;

	if (geteuid() != 0 || pipe2(alive, O_CLOEXEC) < 0)
		return 0;
	pid = unshare(CLONE_NEWPID) < 0 ? -1 : fork();
	if (pid == 0) {
		close(alive[1]);
		be_first(alive[0]);
	}
	close(alive[0]); /* the other end is open until this process ends */
	return pid > 0 ? pid : 0;
}

/* ---- the program ------------------------------------------------------------------------------------ */
/* The child: never returns. An error is written to `report`, which is closed by a successful exec. */
static void execute(const struct tree_order *o, char **argv, int report)
{
	char error[sizeof(((struct tree_end *)0)->error)] = "";
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (o->captured) {
		settle(TREE_DATA, 1);
		settle(TREE_DATA, 2);
		settle(TREE_INPUT, 0);
		close(TREE_DATA);
	}
	close(TREE_CONTROL);
	close(TREE_INPUT);
	errno = o->profile == KEEL_PROFILE_HOST ? -group_enter() : 0;
	if (errno != 0)
		snprintf(error, sizeof(error), "it cannot enter its cgroup: %s", strerror(errno));
	else if (confine(o, error, sizeof(error))) {
		execv(argv[0], argv);
		snprintf(error, sizeof(error), "%.200s: %s", argv[0], strerror(errno));
	}
	if (write(report, error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

/* Its pid; -1: `error` says why not. */
static pid_t start(const struct tree_order *o, char **argv, char error[sizeof(((struct tree_end *)0)->error)])
{
	int report[2] = { -1, -1 };
	pid_t pid = pipe2(report, O_CLOEXEC) < 0 ? -1 : fork();

	if (pid == 0) {
		int high = fcntl(report[1], F_DUPFD_CLOEXEC, TREE_INPUT + 1);

		execute(o, argv, high);
	}
	close(report[1]);
	if (pid < 0)
		snprintf(error, sizeof(((struct tree_end *)0)->error), "%s", strerror(errno));
	else if (read(report[0], error, sizeof(((struct tree_end *)0)->error)) <= 0)
		error[0] = '\0';
	close(report[0]);
	return pid;
}

/* Reap what ended. Has the program? */
static bool is_over(pid_t program, int *ret_status)
{
	bool over = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != program)
			continue;
		*ret_status = status;
		over = true;
	}
	return over;
}

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Until the program or the daemon ends. The program's status; if it did not end by itself, that of a kill. */
static int wait_for(pid_t program, int signals)
{
	struct pollfd fds[2] = { { .fd = signals, .events = POLLIN }, { .fd = TREE_CONTROL, .events = POLLIN } };
	struct signalfd_siginfo info;
	int status = SIGKILL;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return status;
		while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if (info.ssi_signo != SIGCHLD)
				return status;
		if (is_over(program, &status) || fds[1].revents != 0)
			return status;
	}
}

/* What the program needs around it; `why` says what it has to do without. */
static pid_t surround(const struct tree_order *o, char *why, int len)
{
	if (o->profile != KEEL_PROFILE_HOST || group_make(o, why, len))
		why[0] = '\0';
	return o->profile == KEEL_PROFILE_SCRIPT ? namespace_make() : 0;
}

int main(int argc, char **argv)
{
	struct tree_end begin = { .status = 0 }, end = { .status = 0 };
	struct tree_order order;
	int signals = signals_open();
	pid_t program, init;

	if (version_word(argc, argv))
		return 0;
	if (argc < 9 || strcmp(argv[7], "--") != 0 || fcntl(TREE_CONTROL, F_GETFD) < 0) {
		fprintf(stderr, "keelson-tree is started by keelsond, for programs that it supervises\n");
		return 2;
	}
	order = (struct tree_order){ .profile = atoi(argv[1]), .user = argv[2], .memory = atoll(argv[3]),
				     .processes = atoi(argv[4]), .captured = atoi(argv[5]), .dir = argv[6] };
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	init = surround(&order, begin.error, sizeof(begin.error));
	program = start(&order, argv + 8, end.error);
	close(TREE_DATA); /* its end is the program's own now */
	close(TREE_INPUT);
	begin.pid = program;
	if (program > 0 && write(TREE_CONTROL, &begin, sizeof(begin)) > 0)
		end.status = wait_for(program, signals);
	group_kill();
	kill_all(init);
	group_remove();
	_exit(write(TREE_CONTROL, &end, sizeof(end)) < 0); /* nothing runs behind the last word, no leak checker either */
}
