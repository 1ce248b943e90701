/* SPDX-License-Identifier: Apache-2.0
 *
 * daemon.h - one kernel: its parts from start to end.
 */
#ifndef KEELSON_DAEMON_H
#define KEELSON_DAEMON_H

#include "main/options.h"
#include "util/buf.h"
#include "util/owner.h"

/* Start, serve until asked to stop, end. Returns the exit code of the process. */
int daemon_run(const struct options *o);

/* Look at configuration and modules and start nothing; print what was found. Exit code. */
int daemon_check(const struct options *o);

/* Ask a running daemon to stop in an orderly way, soon. */
void daemon_stop(struct parts *parts);

/* Read the configuration again and make the running modules those that it names: one line per change
 * to `out`. On failure the old configuration stays in force. */
int daemon_reload(struct parts *parts, struct buf *out, struct keel_err *err);

#endif
