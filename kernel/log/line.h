/* SPDX-License-Identifier: Apache-2.0
 *
 * line.h - one record as a line of text.
 */
#ifndef KEELSON_LOG_LINE_H
#define KEELSON_LOG_LINE_H

#include <stdarg.h>
#include <stdint.h>

#include "wire/buf.h"

struct record {
	const char *stamp; /* MM/DD/YYYY HH:MM:SS[.uuuuuu] */
	uint32_t event;
	const char *daemon, *klass, *object, *text;
};

/* Append the record and '\n'. Control characters of object and text are written as \n, \x1b ... so that a
 * record is always one line. */
void line_pbs(struct buf *out, const struct record *r);
void line_json(struct buf *out, const struct record *r);

#endif
