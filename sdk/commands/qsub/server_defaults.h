/* SPDX-License-Identifier: Apache-2.0
 *
 * server_defaults.h - options that the server adds to every submission.
 */
#ifndef QSUB_SERVER_DEFAULTS_H
#define QSUB_SERVER_DEFAULTS_H

#include "submission.h"

/* Read the server's default_qsub_arguments over connection `c`. 0, or -EINVAL after a message. A
 * server that does not tell has none. */
int server_defaults_read(struct submission *s, int c);

#endif
