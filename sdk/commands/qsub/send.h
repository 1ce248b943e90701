/* SPDX-License-Identifier: Apache-2.0
 *
 * send.h - submit, and say what came of it.
 */
#ifndef QSUB_SEND_H
#define QSUB_SEND_H

#include "submission.h"

/* Connect to the server of the destination. 0, or the exit status after a message. */
int send_connect(const struct submission *s, int *ret_c);

/* The server adds other options than the submission went by; nothing was said. */
#define SEND_DEFAULTS_CHANGED (-1)

/* Submit over connection `c`; `script` is a path, or NULL; `defaults` are the server's that were taken
 * in, "" none. The exit status, or SEND_DEFAULTS_CHANGED. */
int send_submission(int c, struct submission *s, const char *script, const char *defaults);

#endif
