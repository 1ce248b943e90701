/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.h - which server, and how to reach it.
 */
#ifndef CLIENT_LOCATE_H
#define CLIENT_LOCATE_H

/* The names of the default server, malloc'ed: a fail-over pair when PBS_PRIMARY and PBS_SECONDARY
 * are set, else one: PBS_SERVER_HOST_NAME or PBS_SERVER. 0 or PBSE_NOSERVER (both NULL). */
int locate_defaults(char *ret_names[2]);

/* Open a socket to the server called `name` (host[:port]). 0 and *ret_fd, or a PBSE number with
 * errno telling more. */
int locate_open(const char *name, int *ret_fd);

#endif
