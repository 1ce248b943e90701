/* SPDX-License-Identifier: Apache-2.0
 *
 * notify.h - tell whoever waits that the daemon is ready: systemd by its socket, a shell by the end of
 * the process it started.
 */
#ifndef KEELSON_NOTIFY_H
#define KEELSON_NOTIFY_H

/* Take the address out of the environment, so that children do not inherit it. Once, early. */
void notify_init(void);
/* Send a state ("READY=1"); nothing happens without a supervisor. */
void notify_send(const char *state);

/* Go on in a child in the background. The parent waits and exits with 0 when background_ready() was
 * called, else with what the child exited with. 0 in the child, -errno. */
int background_begin(void);
void background_ready(void);

#endif
