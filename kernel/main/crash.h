/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.h - last words of a dying daemon: the signal, the tap that ran, the modules, a backtrace.
 */
#ifndef KEELSON_CRASH_H
#define KEELSON_CRASH_H

/* `log_fd`: where besides standard error; -1 nowhere. Sanitizers keep their own handlers. */
void crash_init(int log_fd);
/* What to say about the loaded modules; moved. */
void crash_modules(char *text);

#endif
