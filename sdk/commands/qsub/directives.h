/* SPDX-License-Identifier: Apache-2.0
 *
 * directives.h - options written in the script.
 */
#ifndef QSUB_DIRECTIVES_H
#define QSUB_DIRECTIVES_H

#include "script.h"
#include "submission.h"

#define DIRECTIVE_PREFIX "#PBS"

/* Reads the directives of the script, and joins continuation lines; an empty `prefix` means there
 * are none. Returns 0 or -EINVAL after a message. */
int directives_read(struct submission *s, struct script *script, const char *prefix);

/* Parses one option string. Returns 0 or -EINVAL after a message. */
int directive_read(struct submission *s, const char *options, enum source source);

#endif
