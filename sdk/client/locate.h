/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.h - finds the server and connects to it.
 */
#ifndef CLIENT_LOCATE_H
#define CLIENT_LOCATE_H

/* The names of the default server, which the caller frees: a fail-over pair if PBS_PRIMARY and PBS_SECONDARY are set,
 * else one: PBS_SERVER_HOST_NAME or PBS_SERVER. Returns 0 or PBSE_NOSERVER (both NULL). */
int locate_defaults(char *ret_names[2]);

/* Connects to the server `name` (host[:port]). Returns 0 and *ret_fd, or a PBSE number with errno set for details. */
int locate_open(const char *name, int *ret_fd);

#endif
