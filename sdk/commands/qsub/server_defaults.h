/* SPDX-License-Identifier: Apache-2.0
 *
 * server_defaults.h - options that the server adds to every submission.
 */
#ifndef QSUB_SERVER_DEFAULTS_H
#define QSUB_SERVER_DEFAULTS_H

#include "submission.h"

/* Returns the server's default_qsub_arguments, over connection `c`; the caller frees them. NULL: none, or an error. */
char *server_defaults_read(int c);

/* Adds them to the submission. Returns 0, or -EINVAL after a message. */
int server_defaults_take(struct submission *s, const char *text);

#endif
