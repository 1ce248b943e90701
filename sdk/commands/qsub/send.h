/* SPDX-License-Identifier: Apache-2.0
 *
 * send.h - submit, and say what came of it.
 */
#ifndef QSUB_SEND_H
#define QSUB_SEND_H

#include "submission.h"

/* Connect to the server of the destination. 0, or the exit status after a message. */
int send_connect(const struct submission *s, int *ret_c);

/* Submit over connection `c`; `script` is a path, or NULL. The exit status. */
int send_submission(int c, struct submission *s, const char *script);

#endif
