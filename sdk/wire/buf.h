/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.h - a growing byte buffer. An allocation failure is remembered (`failed`), later writes do
 * nothing, so that a caller checks once at the end.
 */
#ifndef KEELSON_BUF_H
#define KEELSON_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
	char *data; /* terminated after each function but buf_room(), when not NULL */
	size_t len, size;
	bool failed;
};

void buf_init(struct buf *b);
void buf_fini(struct buf *b);
void buf_reset(struct buf *b); /* keeps the memory */
bool buf_grow(struct buf *b, size_t more);

/* Returns room for `n` bytes and a terminator behind the last byte; the caller adds to `len` what it wrote. NULL: failed. */
static inline char *buf_room(struct buf *b, size_t n)
{
	if (b->size - b->len <= n && !buf_grow(b, n))
		return NULL;
	return b->data + b->len;
}

static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	char *at = buf_room(b, n);

	if (!at || b->failed)
		return;
	if (n > 0)
		memcpy(at, bytes, n);
	at[n] = '\0';
	b->len += n;
}

void buf_str(struct buf *b, const char *text);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Returns the bytes, owned by the caller (free()); NULL: failed. The buffer is empty again. */
char *buf_take(struct buf *b, size_t *ret_len);

#endif
