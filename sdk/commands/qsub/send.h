/* SPDX-License-Identifier: Apache-2.0
 *
 * send.h - submits, and prints the id or the error.
 */
#ifndef QSUB_SEND_H
#define QSUB_SEND_H

#include "submission.h"

/* Connects to the server of the destination. Returns 0, or the exit status after a message. */
int send_connect(const struct submission *s, int *ret_c);

/* The server has other defaults than the submission used; nothing was printed. */
#define SEND_DEFAULTS_CHANGED (-1)

/* Submits over connection `c`; `script` is a path, or NULL; `defaults` are the server's that were
 * used, "" none. Returns the exit status, or SEND_DEFAULTS_CHANGED. */
int send_submission(int c, struct submission *s, const char *script, const char *defaults);

#endif
