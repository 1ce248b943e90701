/* SPDX-License-Identifier: Apache-2.0
 *
 * notify.h - notify that the daemon is ready: systemd by its socket, a shell by the end of the process that it started.
 */
#ifndef KEELSON_NOTIFY_H
#define KEELSON_NOTIFY_H

/* Read the socket's address and remove it from the environment, so that children do not inherit it. Once, early. */
void notify_init(void);
/* The address, for the next image of this process; NULL: none. */
const char *notify_socket(void);
/* Send a state ("READY=1") to systemd, if that started the daemon. */
void notify_send(const char *state);

/* Fork into the background. The parent exits with 0 when background_ready() was called, else with the child's exit
 * code. Returns 0 in the child, or -errno. */
int background_begin(void);
void background_ready(void);

#endif
