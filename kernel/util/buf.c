/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.c - a growing byte buffer.
 *
 * While `data` is not NULL, data[len] is the terminator and len < size.
 */
#include "util/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 256

void buf_init(struct buf *b)
{
	*b = (struct buf){ 0 };
}

void buf_fini(struct buf *b)
{
	if (b == NULL)
		return;
	free(b->data);
	buf_init(b);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data != NULL)
		b->data[0] = '\0';
}

/* Makes room for `more` bytes and the terminator. Returns false when an allocation failed, now or before. */
static bool room(struct buf *b, size_t more)
{
	size_t size = b->size < SIZE_FIRST ? SIZE_FIRST : b->size;
	char *data;

	if (b->failed || more > SIZE_MAX / 4 || b->len > SIZE_MAX / 4) {
		b->failed = true;
		return false;
	}
	if (b->data != NULL && b->len + more < b->size)
		return true;
	while (size <= b->len + more)
		size *= 2;
	data = realloc(b->data, size);
	if (data == NULL) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->size = size;
	b->data[b->len] = '\0';
	return true;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	if (!room(b, len))
		return;
	if (len > 0)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	if (!room(b, 0))
		return;
	va_copy(again, ap);
	len = vsnprintf(b->data + b->len, b->size - b->len, fmt, ap);
	if (len >= 0 && (size_t)len >= b->size - b->len && room(b, (size_t)len))
		len = vsnprintf(b->data + b->len, b->size - b->len, fmt, again);
	va_end(again);
	if (len < 0)
		b->failed = true;
	if (b->failed)
		b->data[b->len] = '\0';
	else
		b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

char *buf_take(struct buf *b, size_t *ret_len)
{
	char *data = NULL;

	if (room(b, 0)) {
		data = b->data;
		if (ret_len != NULL)
			*ret_len = b->len;
		b->data = NULL;
	}
	buf_fini(b);
	return data;
}
