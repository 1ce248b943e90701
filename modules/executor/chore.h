/* SPDX-License-Identifier: Apache-2.0
 *
 * chore.h - what may take long for a user's sake: a program of its own with a deadline, watched by the loop. No
 * worker thread waits for it, and each user has a few at a time; further ones of the same user wait in order.
 */
#ifndef EXECUTOR_CHORE_H
#define EXECUTOR_CHORE_H

#include <stdint.h>

#include "keel/types.h"

#define CHORES_PER_USER 4
#define CHORE_NOT_RUN -1  /* `why` says it */
#define CHORE_TOO_LONG -2 /* it was killed */

struct keel_mod;

/* status: exit status, 256 + signal, or one of the above. */
typedef void chore_done(struct keel_mod *mod, void *arg, int status, const char *why);

/* `argv` is copied. `in` and `spec` become fd 0 and SPEC_FD of the program and are closed; -1: /dev/null, none.
 * `limit_ms` counts from its start. Returns 0, and done() is called once; fails with -ENOMEM, and done() is not called. */
int chore_begin(struct keel_mod *mod, const char *user, char *const *argv, int in, int spec, int64_t limit_ms,
		chore_done *done, void *arg);
/* Those that run are killed. done() is called with CHORE_NOT_RUN: the daemon ends, nothing can be sent any more. */
void chores_fini(struct keel_mod *mod);

#endif
