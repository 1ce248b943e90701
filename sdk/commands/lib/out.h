/* SPDX-License-Identifier: Apache-2.0
 *
 * out.h - a buffered writer.
 *
 * A listing of a hundred thousand jobs is written byte by byte through these calls, so the short
 * ones are inline and none of them formats. After a failed write all further output is dropped;
 * out_fini() returns the error.
 */
#ifndef KEELSON_COMMANDS_OUT_H
#define KEELSON_COMMANDS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OUT_SIZE (128u * 1024u)

struct out {
	char *buf; /* owned, OUT_SIZE bytes */
	size_t len;
	int fd; /* borrowed */
	int error; /* errno of the first failed write, 0 */
};

/* Returns 0, or -ENOMEM; `fd` stays the caller's. */
int out_init(struct out *o, int fd);

/* Writes the buffer; returns 0 or -errno of the first write that failed. */
int out_flush(struct out *o);

/* Flushes and frees; returns as out_flush(). */
int out_fini(struct out *o);

/* Writes any number of bytes, also more than the buffer holds. An error is kept for out_flush(). */
void out_long(struct out *o, const char *bytes, size_t n);

/* Returns whether text[i] is a control character above ASCII, or a byte of one. */
bool out_is_c1(const char *text, size_t i, size_t len);
/* Writes text that must stay on its line: control characters become blanks. */
void out_in_line(struct out *o, const char *text, size_t n);

/* Writes one formatted text, for rare lines only; without memory for a long one it is dropped. */
void out_printf(struct out *o, const char *form, ...) __attribute__((format(printf, 2, 3)));

static inline void out_bytes(struct out *o, const char *bytes, size_t n)
{
	if (n > OUT_SIZE - o->len) {
		out_long(o, bytes, n);
		return;
	}
	memcpy(o->buf + o->len, bytes, n);
	o->len += n;
}

static inline void out_str(struct out *o, const char *text)
{
	out_bytes(o, text, strlen(text));
}

static inline void out_char(struct out *o, char c)
{
	if (o->len == OUT_SIZE)
		out_flush(o);
	o->buf[o->len++] = c;
}

static inline void out_repeat(struct out *o, char c, size_t n)
{
	while (n-- > 0)
		out_char(o, c);
}

/* `text` in a column of `width`, filled with blanks after or before it; never cut. */
static inline void out_left(struct out *o, const char *text, size_t width)
{
	size_t n = strlen(text);

	out_bytes(o, text, n);
	if (n < width)
		out_repeat(o, ' ', width - n);
}

static inline void out_right(struct out *o, const char *text, size_t width)
{
	size_t n = strlen(text);

	if (n < width)
		out_repeat(o, ' ', width - n);
	out_bytes(o, text, n);
}

#endif
