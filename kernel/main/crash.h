/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h - last words of a dying daemon: the signal, the call of a module that ran, the modules, a backtrace.
 */
#ifndef KEELSON_CRASH_H
#define KEELSON_CRASH_H

#include <stdint.h>

/* `log_fd`: where besides standard error; -1 nowhere. Sanitizers keep their own handlers. */
void crash_init(int log_fd);
/* What is called after the last words, instead of the end; NULL: the end. Safe in a signal handler. */
void crash_then(void (*fn)(void));
/* What to say about the loaded modules; moved. */
void crash_modules(char *text);
/* For signal handlers, to standard error and the log: a text; a number; " in ", what runs on this thread, a line about the
 * daemon, the modules, a backtrace. */
void crash_say(const char *text);
void crash_say_number(uint64_t n);
void crash_say_where(void);

#endif
