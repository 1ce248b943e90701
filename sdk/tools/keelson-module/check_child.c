/* SPDX-License-Identifier: Apache-2.0
 *
 * check_child.c - a forked child, its deadline, and the report of its crash.
 *
 * A child writes what it is about to do into memory that its parent shares; a handler of fatal signals
 * adds where it was in the module. So the parent reports the step and the function.
 */
#include "check_child.h"

#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "check_watch.h"
#include "modfile/elf_names.h"

enum { FRAMES = 32, STACK_SIZE = 65536, NULL_PAGE = 4096, CRASHES_MAX = 8 };

/* Shared with the child. */
struct last_words {
	char step[256];
	int signum;
	uint64_t fault; /* the address that was not there */
	uint64_t pc;    /* where: an address of the module's file, 0 elsewhere */
	uint64_t from;  /* the innermost function of the module, the same way */
	bool jumped;    /* it called an address that is none */
	char module[64]; /* the callback belongs to it; "": no callback ran */
	bool is_done;   /* the child came to its own end */
	unsigned at;    /* of child_cases(): which one */
};
static struct last_words *last;

void child_step(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(last->step, sizeof(last->step), fmt, args);
	va_end(args);
}

const char *child_last_step(void)
{
	return last->step;
}

/* ---- in the child -------------------------------------------------------------------------------- */
/* Returns where it was; *ret_caller: where a call that went nowhere came from. */
static uint64_t place_of(const ucontext_t *u, const void **ret_caller)
{
#if defined(__x86_64__)
	*ret_caller = *(const void *const *)(uintptr_t)u->uc_mcontext.gregs[REG_RSP];
	return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	*ret_caller = (const void *)(uintptr_t)u->uc_mcontext.regs[30];
	return u->uc_mcontext.pc;
#else
	(void)u;
	*ret_caller = NULL;
	return NULL_PAGE;
#endif
}

static void crashed(int signum, siginfo_t *info, void *context)
{
	const void *caller;
	uint64_t pc = place_of(context, &caller);
	void *frames[FRAMES];
	int n = 0;

	last->signum = signum;
	snprintf(last->module, sizeof(last->module), "%s", watch_inside());
	last->fault = (uint64_t)(uintptr_t)info->si_addr;
	last->jumped = pc < NULL_PAGE;
	last->pc = watch_offset((const void *)(uintptr_t)pc);
	last->from = last->jumped ? watch_offset(caller) : last->pc;
	if (last->from == 0)
		n = backtrace(frames, FRAMES);
	for (int i = 0; i < n && last->from == 0; i++)
		last->from = watch_offset(frames[i]);
	_exit(128 + signum);
}

static void handlers_set(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
	struct sigaction act = { .sa_sigaction = crashed,
				 .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };
	stack_t stack = { .ss_size = STACK_SIZE, .ss_sp = malloc(STACK_SIZE) };
	void *warm[1];

	backtrace(warm, 1); /* loads what it needs now, not in the handler */
	if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) < 0)
		act.sa_flags &= ~SA_ONSTACK;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
}

static void child_main(void (*fn)(void *arg), void *arg, int deadline_s, int said)
{
	static const struct rlimit no_core = { 0, 0 };
	struct rlimit cpu = { (rlim_t)deadline_s, (rlim_t)deadline_s + 2 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN); /* as in a daemon */
	if (said >= 0 && dup2(said, STDERR_FILENO) >= 0)
		dup2(said, STDOUT_FILENO); /* what a module prints is no line of TAP */
	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &cpu);
	handlers_set();
	fn(arg);
	last->is_done = true;
	fflush(stdout);
	_exit(0);
}

void child_ends_in(const void *address)
{
	last->from = watch_offset(address);
}

/* ---- in the parent ------------------------------------------------------------------------------- */
/* Returns false when it was killed at its deadline. */
static bool wait_for(pid_t pid, int deadline_s)
{
	struct pollfd ends = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int n;

	do
		n = poll(&ends, 1, deadline_s * 1000);
	while (n < 0 && errno == EINTR);
	close(ends.fd);
	if (n > 0)
		return true;
	kill(pid, SIGKILL);
	return false;
}

static const char *last_words(int status, int said)
{
	static char text[800];
	char where[128], line[256] = "";
	ssize_t have = said < 0 ? 0 : pread(said, line, sizeof(line) - 1, 0);
	size_t from;
	int n, signum = last->signum != 0 ? last->signum : WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signum != 0)
		n = snprintf(text, sizeof(text), "SIG%s", sigabbrev_np(signum) == NULL ? "?" : sigabbrev_np(signum));
	else
		n = snprintf(text, sizeof(text), "it ends the whole process with exit %d", WEXITSTATUS(status));
	if (last->signum == SIGSEGV)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " at address %#llx%s", (unsigned long long)last->fault,
			      (unsigned long long)last->fault < 4096 ?
				      " (NULL: an object that may be absent? a service that may be absent?)" : "");
	if (elf_function_at(watch_path(), last->from, where, sizeof(where)))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " in %s()", where);
	if (last->module[0] != '\0')
		n += snprintf(text + n, sizeof(text) - (size_t)n, " of the module %s", last->module);
	n += snprintf(text + n, sizeof(text) - (size_t)n, ", %.255s", last->step);
	/* The first line of what it said: a failed assertion, a sanitizer's report, the mock host's error. */
	line[have > 0 ? have : 0] = '\0';
	from = strspn(line, "=\n ");
	line[from + strcspn(line + from, "\n")] = '\0';
	if (line[from] != '\0' && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, "; it said: %s", line + from);
	return text;
}

static void words_open(void)
{
	if (last == NULL)
		last = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (last == MAP_FAILED) {
		fprintf(stderr, "keelson-module: no memory for a child\n");
		exit(2);
	}
}

enum child_end child_run(void (*fn)(void *arg), void *arg, int deadline_s, const char **ret_why)
{
	int status = 0, said;
	bool ended;
	pid_t pid;

	*ret_why = "there was no process for it";
	words_open();
	last->signum = 0;
	last->from = last->pc = 0;
	last->module[0] = '\0';
	last->is_done = false;
	last->step[0] = '\0';
	fflush(stdout);
	said = memfd_create("said", MFD_CLOEXEC);
	pid = fork();
	if (pid == 0)
		child_main(fn, arg, deadline_s, said);
	ended = pid > 0 && wait_for(pid, deadline_s);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = -1;
	if (pid > 0)
		kill(-pid, SIGKILL); /* what it started */
	if (status > 0 || (status == 0 && !last->is_done))
		*ret_why = last_words(status, said);
	close(said);
	if (status < 0 || (status == 0 && last->is_done))
		return status == 0 ? CHILD_DONE : CHILD_NONE;
	if (!ended || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGPROF ||
					       WTERMSIG(status) == SIGALRM)))
		return CHILD_HUNG;
	return CHILD_CRASHED;
}

/* ---- cases --------------------------------------------------------------------------------------- */
struct cases {
	bool (*fn)(void *arg, unsigned i);
	void *arg;
};

static void cases_run(void *arg)
{
	const struct itimerval work = { .it_value.tv_sec = CASE_SECONDS };
	const struct cases *c = arg;
	bool more = true;

	while (more) {
		setitimer(ITIMER_PROF, &work, NULL);
		alarm(STILL_SECONDS);
		more = c->fn(c->arg, last->at);
		last->at++;
	}
}

void child_cases(bool (*fn)(void *arg, unsigned i), void *arg, enum rule crash, enum rule hang)
{
	struct cases c = { .fn = fn, .arg = arg };
	const char *why;

	words_open();
	last->at = 0;
	for (int tries = 0; tries < CRASHES_MAX; tries++) {
		switch (child_run(cases_run, &c, 30 * STILL_SECONDS, &why)) {
		case CHILD_DONE: return;
		case CHILD_HUNG: finding(hang, "it does not come back: %s", why); break;
		default: finding(crash, "%s", why); break;
		}
		last->at++;
	}
}
