/* SPDX-License-Identifier: Apache-2.0
 *
 * check_process.c - what belongs to the whole process, and is not a module's to change.
 *
 * Some of it is compared: before a module is loaded and after it was unloaded. The rest are calls that no callback may make;
 * each is a finding with the function that makes it.
 */
#include "check_process.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_child.h"
#include "check_watch.h"

#define CALLER __builtin_return_address(0)

/* ---- what can be looked at ------------------------------------------------------------------------------ */
static uint64_t mixed(uint64_t sum, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n-- > 0)
		sum = (sum ^ *at++) * 1099511628211U;
	return sum;
}

static uint64_t mixed_text(uint64_t sum, const char *text)
{
	return text == NULL ? sum : mixed(sum, text, strlen(text) + 1);
}

static uint64_t handlers(void)
{
	struct sigaction act;
	sigset_t blocked;
	uint64_t sum = 1;

	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &act) == 0)
			sum = mixed(sum, &act.sa_handler, sizeof(act.sa_handler));
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int i = 1; i < NSIG; i++)
		sum = sum * 31 + (uint64_t)(sigismember(&blocked, i) == 1);
	return sum;
}

static uint64_t limits(void)
{
	struct rlimit limit;
	uint64_t sum = 1;

	for (int i = 0; i < RLIM_NLIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
			sum = mixed(sum, &limit, sizeof(limit));
	return sum;
}

static const char *const parts[PROCESS_PARTS] = { "working directory", "umask", "locale", "way with signals", "environment",
						  "set of limits", "priority", "user", "name" };

static void parts_see(uint64_t ret[PROCESS_PARTS])
{
	const uid_t ids[] = { getuid(), geteuid(), getgid(), getegid() };
	const mode_t mask = umask(0);
	char path[4096], name[16] = "";
	uint64_t variables = 1;

	umask(mask);
	prctl(PR_GET_NAME, name);
	for (char **at = environ; at != NULL && *at != NULL; at++)
		variables = mixed_text(variables, *at);
	ret[0] = mixed_text(1, getcwd(path, sizeof(path)));
	ret[1] = mask;
	ret[2] = mixed_text(1, setlocale(LC_ALL, NULL));
	ret[3] = handlers();
	ret[4] = variables;
	ret[5] = limits();
	ret[6] = (uint64_t)(getpriority(PRIO_PROCESS, 0) + 100);
	ret[7] = mixed(1, ids, sizeof(ids));
	ret[8] = mixed_text(1, name);
}

/* ---- files ---------------------------------------------------------------------------------------------- */
static void files_see(struct process *p)
{
	struct stat st;

	for (int fd = 0; fd < PROCESS_FILES; fd++)
		p->file[fd] = fstat(fd, &st) == 0 ? mixed(mixed(1, &st.st_dev, sizeof(st.st_dev)), &st.st_ino, sizeof(st.st_ino)) : 0;
}

/* ---- before and after ----------------------------------------------------------------------------------- */
void process_see(struct process *p)
{
	parts_see(p->part);
	files_see(p);
	fflush(stdout);
	p->said = lseek(STDERR_FILENO, 0, SEEK_END);
}

/* Reported once: it stays changed for all cases that follow. */
void process_judge(const struct process *p, const char *after)
{
	static bool reported[PROCESS_PARTS];
	char text[120] = ""; /* of standard output and error, which are one file */
	struct process now;
	ssize_t n;

	parts_see(now.part);
	files_see(&now);
	for (size_t i = 0; i < PROCESS_PARTS; i++)
		if (!reported[i] && now.part[i] != p->part[i]) {
			reported[i] = true;
			finding(RULE_calls_process, "the %s of the process is another one after %s", parts[i], after);
		}
	for (int fd = 0; fd < PROCESS_FILES; fd++)
		if (p->file[fd] != 0 && now.file[fd] != p->file[fd])
			finding(RULE_calls_process, "file descriptor %d, which is not its own, is closed after %s", fd, after);
	fflush(stdout);
	n = pread(STDERR_FILENO, text, sizeof(text) - 1, p->said);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (n > 0)
		finding(RULE_calls_output, "it prints '%s', before the end of %s", text, after);
}

/* ---- calls that no callback makes -------------------------------------------------------------- */
static time_t my_time(time_t *ret)
{
	(void)watch_odd(RULE_calls_clock, "time", CALLER);
	return time(ret);
}

static int my_gettimeofday(struct timeval *ret, void *zone)
{
	(void)watch_odd(RULE_calls_clock, "gettimeofday", CALLER);
	return gettimeofday(ret, zone);
}

/* Time that was worked is no time of day. */
static int my_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID)
		(void)watch_odd(RULE_calls_clock, "clock_gettime", CALLER);
	return clock_gettime(clock, ret);
}

#define NOT_DONE(name, type, parameters, call)                                               \
	static type my_##name parameters                                                     \
	{                                                                                    \
		return watch_odd(RULE_calls_process, #name, CALLER) ? 0 : call;              \
	}
extern int __cxa_atexit(void (*)(void *), void *, void *);
NOT_DONE(alarm, unsigned, (unsigned s), alarm(s))
NOT_DONE(setitimer, int, (int which, const struct itimerval *t, struct itimerval *was),
	 setitimer((__itimer_which_t)which, t, was))
/* Its code may be gone by then. */
NOT_DONE(atexit, int, (void (*fn)(void *arg), void *arg, void *file), __cxa_atexit(fn, arg, file))

/* A descriptor that is closed twice is another module's the second time. */
static int my_close(int fd)
{
	int ret = close(fd), no = errno;

	if (ret < 0 && no == EBADF && fd >= 0 && watch_in_loop())
		finding(RULE_calls_process, "%s closes descriptor %d, which is not open, %s", watch_function(CALLER), fd,
			child_last_step());
	errno = no;
	return ret;
}

static void my_exit(int status)
{
	child_ends_in(CALLER);
	_exit(status);
}

const struct watched watch_process_calls[] = {
	{ "time", my_time }, { "gettimeofday", my_gettimeofday }, { "clock_gettime", my_clock_gettime },
	{ "alarm", my_alarm }, { "setitimer", my_setitimer }, { "__cxa_atexit", my_atexit }, { "close", my_close },
	{ "exit", my_exit }, { "_exit", my_exit }, { "_Exit", my_exit }, { "quick_exit", my_exit },
	{ NULL, NULL },
};
