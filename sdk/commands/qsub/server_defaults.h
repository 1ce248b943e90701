/* SPDX-License-Identifier: Apache-2.0
 *
 * server_defaults.h - options that the server adds to every submission.
 */
#ifndef QSUB_SERVER_DEFAULTS_H
#define QSUB_SERVER_DEFAULTS_H

#include "submission.h"

/* The server's default_qsub_arguments over connection `c`: to be freed. NULL: it has none, or does not
 * tell. */
char *server_defaults_read(int c);

/* Take them into the submission. 0, or -EINVAL after a message. */
int server_defaults_take(struct submission *s, const char *text);

#endif
