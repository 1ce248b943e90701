/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h - where commands come from.
 */
#ifndef QMGR_INPUT_H
#define QMGR_INPUT_H

#include "session.h"

/* Runs the commands of a text ("a; b"). Returns the status of the last error, or 0; *ret_quit: stop here. */
int input_text(struct session *s, const char *text, bool *ret_quit);

/* Runs the commands of standard input up to its end or quit. Returns the exit status of qmgr. */
int input_stream(struct session *s);

#endif
