/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.h - names stored per thread; the pointers are valid as long as the thread.
 */
#ifndef CLIENT_THREAD_H
#define CLIENT_THREAD_H

/* Stores the name that pbs_server returns; a longer one than the library takes is cut. */
void thread_set_server(const char *name);

/* Stores the name that pbs_default() returns, and returns it. */
char *thread_keep_default(const char *name);

/* Why the last connection of this thread failed; "" : no more is known than the number. */
__attribute__((format(printf, 1, 2))) void thread_set_text(const char *format, ...);
char *thread_text(void);

#endif
