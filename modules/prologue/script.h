/* SPDX-License-Identifier: Apache-2.0
 *
 * script.h - a program of the site is run once, as the user of the daemon, without a shell.
 */
#ifndef PROLOGUE_SCRIPT_H
#define PROLOGUE_SCRIPT_H

#include <stdint.h>

#include "keel/keel.h"

#define OUTPUT_MAX (1024 * 1024) /* bytes of each stream that are kept */

enum { SCRIPT_OUT, SCRIPT_ERR, SCRIPT_STREAMS };

struct script;

/* status: its exit status; SCRIPT_KILLED, SCRIPT_LATE. fds: its two streams, closed by the caller's return. */
#define SCRIPT_KILLED (-3) /* by a signal */
#define SCRIPT_LATE (-4)   /* by us: it took too long */
typedef void script_done(struct keel_mod *mod, void *arg, int status, const int fds[SCRIPT_STREAMS]);

/* May it be run: a file of root's (of the daemon's user, where that is not root), readable and executable for it, not writable
 * for others? */
bool script_permitted(const char *path);
/* Runs it in that directory; done() is called once, later. NULL with *err: it is not called. */
struct script *script_run(struct keel_mod *mod, char *const argv[], const char *dir, int64_t limit_ms, script_done *done,
			  void *arg, struct keel_err *err);
/* Kills it; done() is not called. NULL is fine. */
void script_cancel(struct script *s);
/* What it wrote, at most OUTPUT_MAX bytes; the caller frees it. NULL: nothing, or no memory. */
char *script_output(int fd, uint32_t *ret_len);

#endif
