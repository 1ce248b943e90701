/* SPDX-License-Identifier: Apache-2.0
 *
 * host_socket.h - the sockets of this host's daemons.
 */
#ifndef CLIENT_HOST_SOCKET_H
#define CLIENT_HOST_SOCKET_H

#include "conf.h"

#define HOST_SOCKET_PATH 108 /* bytes, with the end */

/* Connects to the Unix socket at `path`. Returns the descriptor, which is above 2, or -errno. */
int host_socket_open(const char *path);

/* Connects to `name` in the folder run of the home that `key` names. *ret_path is where it is, "" without a home. */
int host_socket_open_below(enum conf_key key, const char *name, char ret_path[HOST_SOCKET_PATH]);

/* Connects to the daemon that this host has without being the server: KEELSON_MOM_SOCKET, else mom.sock below PBS_MOM_HOME
 * and PBS_HOME. Returns the descriptor or -errno; *ret_path is what was tried last. */
int host_socket_open_mom(char ret_path[HOST_SOCKET_PATH]);

#endif
