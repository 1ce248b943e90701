/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.h - the process of an isolated module, started: by the daemon, and by keelson-module check.
 */
#ifndef KEELSON_SPAWN_H
#define KEELSON_SPAWN_H

#include <sys/types.h>

/* A program in a session of its own, with nothing of ours but its end of a socket, as TALK_FD. The other end, which does
 * not block, is *ret_fd. 0 or -errno; then nothing is changed. */
int talk_spawn(const char *program, char *const argv[], pid_t *ret_pid, int *ret_fd);

#endif
