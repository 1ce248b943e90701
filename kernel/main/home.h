/* SPDX-License-Identifier: Apache-2.0
 *
 * home.h - PBS_HOME: its directories, and the locks that let one daemon of a role run in it.
 */
#ifndef KEELSON_HOME_H
#define KEELSON_HOME_H

#include "keel/module.h"
#include "main/handover.h"

struct home_locks {
	int server, mom; /* fds, -1: not locked */
};
#define HOME_LOCKS_NONE { -1, -1 }
#define HOME_LOCK_SERVER "server.lock" /* also the names under which they are handed over */
#define HOME_LOCK_MOM "mom.lock"

/* Make missing directories and files for the roles (enum keel_daemon bits). Returns 0, or an error with *err. */
int home_make(const char *home, uint32_t roles, struct keel_err *err);
/* Take the lock of each role, until home_unlock() or the end of the process, and write the pid into it; those in `handed`
 * are taken already. Returns 0, or an error with *err: -EBUSY when another daemon holds one, with its pid. */
int home_lock(const char *home, uint32_t roles, struct handed *handed, struct home_locks *ret, struct keel_err *err);
void home_unlock(struct home_locks *locks);

#endif
