/* SPDX-License-Identifier: Apache-2.0
 *
 * crumbs.h - what a daemon that dies in a callback of a module would say: the callback raises a signal in a child, whose
 * handler reads the breadcrumb of its thread, as kernel/main/crash.c does.
 */
#ifndef TESTS_CRUMBS_H
#define TESTS_CRUMBS_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook/hooks.h"

static int last_words; /* of the child */

static inline void say_last_words(int signum)
{
	struct hooks_crumb c;
	char text[256];
	int len = snprintf(text, sizeof(text), "the kernel");

	(void)signum;
	if (hooks_crumb(crumb_top, &c))
		len = snprintf(text, sizeof(text), "%s of %s%s%s", c.what, c.name, c.object != NULL ? ", " : "",
			       c.object != NULL ? c.object : "");
	_exit(write(last_words, text, (size_t)len) == len ? 0 : 1);
}

/* The last words of a child that does `fault`; borrowed until the next call. */
static inline const char *last_words_of(void (*fault)(void))
{
	static char text[256];
	ssize_t len;
	int ends[2];
	pid_t child;

	if (pipe(ends) < 0)
		return "no pipe";
	child = fork();
	if (child == 0) {
		last_words = ends[1];
		signal(SIGSEGV, say_last_words);
		fault();
		_exit(1);
	}
	close(ends[1]);
	len = read(ends[0], text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	close(ends[0]);
	waitpid(child, NULL, 0);
	return text;
}

#endif
