/* SPDX-License-Identifier: Apache-2.0
 *
 * buf.c - a growing byte buffer.
 *
 * While `data` is not NULL, len < size: there is room for the terminator.
 */
#include "wire/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Returns false when an allocation failed, now or before. */
bool buf_grow(struct buf *b, size_t more)
{
	size_t size = b->size < SIZE_FIRST ? SIZE_FIRST : b->size;
	char *data = NULL;

	while (size <= SIZE_MAX / 2 && size - b->len <= more)
		size *= 2;
	if (!b->failed && size - b->len > more)
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

void buf_str(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	if (buf_room(b, 0) == NULL || b->failed)
		return;
	va_copy(again, ap);
	len = vsnprintf(b->data + b->len, b->size - b->len, fmt, ap);
	if (len >= 0 && (size_t)len >= b->size - b->len && buf_room(b, (size_t)len) != NULL)
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

	if (!b->failed && buf_room(b, 0) != NULL) {
		data = b->data;
		data[b->len] = '\0';
		if (ret_len != NULL)
			*ret_len = b->len;
		b->data = NULL;
	}
	buf_fini(b);
	return data;
}
