/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.h - names stored per thread; the pointers are valid as long as the thread.
 */
#ifndef CLIENT_THREAD_H
#define CLIENT_THREAD_H

void thread_set_server(const char *name);
char *thread_keep_default(const char *name);

#endif
