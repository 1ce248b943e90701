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
static void (*then)(void);
static struct modfile_note own;

static void say_to(int fd, const char *text)
{
	(void)!write(fd, text, strlen(text));
}

void crash_say(const char *text)
{
	say_to(STDERR_FILENO, text);
	if (copy_fd >= 0 && copy_fd != STDERR_FILENO)
		say_to(copy_fd, text);
}

void crash_say_number(uint64_t n)
{
	char text[24], *at = text + sizeof(text) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	crash_say(at);
}

static void say_call(const struct hooks_crumb *c)
{
	if (c->is_tap) {
		crash_say(c->name);
		crash_say(" at ");
		crash_say(c->what);
		crash_say(c->object != NULL ? " of " : "");
		crash_say(c->object != NULL ? c->object : "");
		return;
	}
	crash_say(c->what);
	crash_say(" of module ");
	crash_say(c->name);
	crash_say(c->object != NULL ? " (" : "");
	crash_say(c->object != NULL ? c->object : "");
	crash_say(c->object != NULL ? ")" : "");
}

static void say_crumbs(void)
{
	const struct crumb *outer = crumb_top;
	struct hooks_crumb c;

	if (!hooks_crumb(outer, &c)) {
		crash_say("the kernel");
		return;
	}
	say_call(&c);
	for (uint32_t i = 0; i < OUTSIDE && hooks_crumb(outer = outer->outer, &c); i++) {
		crash_say(i > 0 ? ", " : "; called from ");
		crash_say(c.name);
	}
}

void crash_say_where(void)
{
	const char *modules = modules_text;
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES);

	crash_say(" in ");
	say_crumbs();
	crash_say("\nkeelsond " KEELSON_VERSION_TEXT ", build ");
	crash_say(own.build_id[0] != '\0' ? own.build_id : "unknown");
	crash_say("; modules:\n");
	crash_say(modules == NULL ? "(none)\n" : modules);
	backtrace_symbols_fd(frames, n, STDERR_FILENO);
	if (copy_fd >= 0 && copy_fd != STDERR_FILENO)
		backtrace_symbols_fd(frames, n, copy_fd);
}

static void crashed(int signum)
{
	crash_say("keelsond: fatal signal ");
	crash_say(sigabbrev_np(signum) == NULL ? "?" : sigabbrev_np(signum));
	crash_say_where();
	if (then != NULL)
		then();
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
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction act = { .sa_handler = crashed,
				 .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };
	stack_t stack = { .ss_size = STACK_SIZE };
	void *warm[1];

	copy_fd = log_fd;
	dl_iterate_phdr(look_at_self, NULL);
	backtrace(warm, 1); /* loads what it needs now, not in the handler */
#ifdef KEELSON_SANITIZED
	return;
#endif
	stack.ss_sp = malloc(STACK_SIZE);
	if (stack.ss_sp == NULL || sigaltstack(&stack, NULL) < 0)
		act.sa_flags &= ~SA_ONSTACK;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &act, NULL);
}

void crash_then(void (*fn)(void))
{
	then = fn;
}

void crash_modules(char *text)
{
	char *old = modules_text;

	modules_text = text;
	free(old);
}
