/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c - last words of a dying daemon.
 *
 * Everything the handler says was prepared before: it calls only what is safe in a signal handler.
 * Then the signal takes its usual course, so a core is written and the parent sees the truth.
 */
#include "main/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hook/hooks.h"

#define FRAMES_MAX 64
#define STACK_SIZE (64u * 1024u)

static int copy_fd = -1;
static char *modules_text;

static void say_to(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
}

static void say(const char *text)
{
	say_to(STDERR_FILENO, text);
	if (copy_fd >= 0)
		say_to(copy_fd, text);
}

static void crashed(int signum)
{
	struct hooks_crumb crumb;
	const char *where = hooks_crumb(&crumb) ? crumb.tap : NULL;
	const char *modules = modules_text;
	void *frames[FRAMES_MAX];
	int n = backtrace(frames, FRAMES_MAX);

	say("keelsond: fatal signal ");
	say(sigabbrev_np(signum) == NULL ? "?" : sigabbrev_np(signum));
	say(" in ");
	say(where == NULL || where[0] == '\0' ? "the kernel" : where);
	say("; modules:\n");
	say(modules == NULL ? "(none)\n" : modules);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	if (copy_fd >= 0)
		backtrace_symbols_fd(frames, n, copy_fd);
	raise(signum); /* SA_RESETHAND: the default action now */
}

void crash_init(int log_fd)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction act = { .sa_handler = crashed,
				 .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };
	stack_t stack = { .ss_size = STACK_SIZE };
	void *warm[1];

	copy_fd = log_fd;
#ifdef KEELSON_SANITIZED
	return;
#endif
	backtrace(warm, 1); /* loads what it needs now, not in the handler */
	stack.ss_sp = malloc(STACK_SIZE);
	if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) < 0)
		act.sa_flags &= ~SA_ONSTACK;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
}

void crash_modules(char *text)
{
	char *old = modules_text;

	modules_text = text;
	free(old);
}
