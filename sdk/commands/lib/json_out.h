/* SPDX-License-Identifier: Apache-2.0
 *
 * json_out.h - streaming JSON writer, indented with TABs.
 *
 * The output is valid for any input bytes: controls are escaped, bytes that are not UTF-8
 * become U+FFFD. The caller gives each key of an object once (names.h helps).
 */
#ifndef KEELSON_COMMANDS_JSON_OUT_H
#define KEELSON_COMMANDS_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "out.h"

#define JSON_DEPTH 8

struct json_out {
	struct out *out; /* borrowed */
	int depth;
	bool filled[JSON_DEPTH]; /* something was written at this depth */
};

/* Begins the root object. Errors of writing are kept in `out`. */
void jout_begin(struct json_out *j, struct out *out);
/* Ends it, with a newline. */
void jout_end(struct json_out *j);

void jout_open(struct json_out *j, const char *key); /* an object in the object */
void jout_close(struct json_out *j);

void jout_key(struct json_out *j, const char *key, size_t len);
/* Copies bytes that need no escape, those that are not UTF-8 replaced. `to` has room for
 * JOUT_REPLACED times `len`; returns the number of bytes written. */
#define JOUT_REPLACED 3
size_t jout_replaced(const char *text, size_t len, char *to);
/* Values; each after one jout_key(). */
void jout_string(struct json_out *j, const char *text, size_t len);
void jout_raw(struct json_out *j, const char *text, size_t len); /* valid JSON already */
void jout_integer(struct json_out *j, long long n);
/* Writes a number, literal, object or array if the text is one, else a string. */
void jout_guess(struct json_out *j, const char *text, size_t len);
/* Writes a number if the text is one, else a string. */
void jout_number(struct json_out *j, const char *text, size_t len);

#endif
