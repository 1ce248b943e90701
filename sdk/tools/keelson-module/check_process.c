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

static uint64_t folder(void)
{
	char path[4096];

	return mixed_text(1, getcwd(path, sizeof(path)));
}

static uint64_t mask(void)
{
	mode_t now = umask(0);

	umask(now);
	return now;
}

static uint64_t language(void)
{
	return mixed_text(1, setlocale(LC_ALL, NULL));
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

static uint64_t variables(void)
{
	uint64_t sum = 1;

	for (char **at = environ; at != NULL && *at != NULL; at++)
		sum = mixed_text(sum, *at);
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

static uint64_t priority(void)
{
	return (uint64_t)(getpriority(PRIO_PROCESS, 0) + 100);
}

static uint64_t account(void)
{
	const uid_t ids[] = { getuid(), geteuid(), getgid(), getegid() };

	return mixed(1, ids, sizeof(ids));
}

static uint64_t title(void)
{
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	return mixed_text(1, name);
}

static const struct {
	const char *what;
	uint64_t (*now)(void);
} parts[PROCESS_PARTS] = {
	{ "working directory", folder }, { "umask", mask }, { "locale", language }, { "way with signals", handlers },
	{ "environment", variables }, { "set of limits", limits }, { "priority", priority }, { "user", account },
	{ "name", title },
};

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
	for (size_t i = 0; i < PROCESS_PARTS; i++)
		p->part[i] = parts[i].now();
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

	for (size_t i = 0; i < PROCESS_PARTS; i++)
		if (!reported[i] && parts[i].now() != p->part[i]) {
			reported[i] = true;
			finding(RULE_calls_process, "the %s of the process is another one after %s", parts[i].what, after);
		}
	files_see(&now);
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

static unsigned my_alarm(unsigned s)
{
	return watch_odd(RULE_calls_process, "alarm", CALLER) ? 0 : alarm(s);
}

static int my_setitimer(int which, const struct itimerval *t, struct itimerval *was)
{
	return watch_odd(RULE_calls_process, "setitimer", CALLER) ? 0 : setitimer((__itimer_which_t)which, t, was);
}

/* Its code may be gone by then. */
static int my_atexit(void (*fn)(void *arg), void *arg, void *file)
{
	extern int __cxa_atexit(void (*)(void *), void *, void *);

	return watch_odd(RULE_calls_process, "atexit", CALLER) ? 0 : __cxa_atexit(fn, arg, file);
}

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
