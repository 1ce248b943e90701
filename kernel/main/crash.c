/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c - last words of a dying daemon, and what a daemon that stands still is at (watchdog.c).
 *
 * Everything a handler says was prepared before: it calls only what is safe in a signal handler.
 * After last words the signal takes its usual course, so a core is written and the parent sees the truth.
 */
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hook/hooks.h"
#include "main/inside.h"
#include "modfile/modfile.h"
#include "util/version.h"

#define FRAMES 64
#define OUTSIDE 16
#define STACK_SIZE (64u * 1024u)

static int copy_fd = -1;
static char *modules_text;
void (*crash_then)(void);
static struct modfile_note own;

void crash_say(const char *text, ...)
{
	va_list ap;

	va_start(ap, text);
	for (; text != NULL; text = va_arg(ap, const char *)) {
		(void)!write(STDERR_FILENO, text, strlen(text));
		if (copy_fd >= 0 && copy_fd != STDERR_FILENO)
			(void)!write(copy_fd, text, strlen(text));
	}
	va_end(ap);
}

static void say_crumbs(void)
{
	const struct crumb *outer = crumb_top;
	struct hooks_crumb c;

	if (!hooks_crumb(outer, &c))
		crash_say("the kernel", NULL);
	else if (c.is_tap)
		crash_say(c.name, " at ", c.what, c.object != NULL ? " of " : NULL, c.object, NULL);
	else
		crash_say(c.what, " of module ", c.name, c.object != NULL ? " (" : NULL, c.object, ")", NULL);
	for (uint32_t i = 0; outer != NULL && i < OUTSIDE && hooks_crumb(outer = outer->outer, &c); i++)
		crash_say(i > 0 ? ", " : "; called from ", c.name, NULL);
}

void crash_say_where(void)
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES);

	crash_say(" in ", NULL);
	say_crumbs();
	crash_say("\nkeelsond " KEELSON_VERSION_TEXT ", build ", own.build_id[0] != '\0' ? own.build_id : "unknown", "; modules:\n",
		  modules_text != NULL ? modules_text : "(none)\n", NULL);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	if (copy_fd >= 0 && copy_fd != STDERR_FILENO)
		backtrace_symbols_fd(frames, n, copy_fd);
}

static void crashed(int signum)
{
	crash_say("keelsond: fatal signal ", sigabbrev_np(signum) == NULL ? "?" : sigabbrev_np(signum), NULL);
	crash_say_where();
	if (crash_then != NULL)
		crash_then();
	raise(signum); /* SA_RESETHAND: the default action now */
}

/* The first object is the program: one look is enough. */
static int look_at_self(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE)
			modfile_notes((struct modfile_bytes){ (const unsigned char *)(info->dlpi_addr + p->p_vaddr),
							      p->p_memsz }, &own);
	}
	return 1;
}

void crash_init(int log_fd)
{
	static char stack_bytes[STACK_SIZE];
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction act = { .sa_handler = crashed,
				 .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };
	const stack_t stack = { .ss_sp = stack_bytes, .ss_size = sizeof(stack_bytes) };
	void *warm[1];

	copy_fd = log_fd;
	dl_iterate_phdr(look_at_self, NULL);
	backtrace(warm, 1); /* loads what it needs now, not in the handler */
#ifdef KEELSON_SANITIZED
	return;
#endif
	if (sigaltstack(&stack, NULL) < 0)
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
