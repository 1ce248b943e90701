/* SPDX-License-Identifier: Apache-2.0
 *
 * send.h - submit, and say what came of it.
 */
#ifndef QSUB_SEND_H
#define QSUB_SEND_H

#include "submission.h"

/* Submit to the server of the destination; `script` is a path, or NULL. The exit status. */
int send_submission(struct submission *s, const char *script);

#endif
