/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/text.h - a text being built: on the stack while it is short. Header only.
 *
 * An allocation failure is remembered (`failed`), later additions do nothing; a caller checks once.
 * (open_memstream() would do, but leaves a hole of 8 KiB in the heap per use.)
 */
#ifndef KEEL_TEXT_H
#define KEEL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keel_text {
	char *data; /* always terminated */
	size_t len, size;
	bool failed;
	char first[488];
};

/* An empty text; the caller calls keel_text_fini(). */
static inline void keel_text_init(struct keel_text *t)
{
	t->data = t->first;
	t->len = 0;
	t->size = sizeof(t->first);
	t->failed = false;
	t->first[0] = '\0';
}

static inline void keel_text_fini(struct keel_text *t)
{
	if (t->data != t->first)
		free(t->data);
	t->data = t->first;
}

/* Makes room for `more` bytes and the terminator, for a caller that writes them itself. False, and `failed`, without
 * memory. */
static inline bool keel_text_room(struct keel_text *t, size_t more)
{
	size_t size = t->size;
	char *bigger;

	if (t->failed || more < size - t->len)
		return !t->failed;
	while (size <= t->len + more)
		size *= 2;
	bigger = (char *)(t->data == t->first ? malloc(size) : realloc(t->data, size));
	if (!bigger) {
		t->failed = true;
		return false;
	}
	if (t->data == t->first)
		memcpy(bigger, t->first, t->len + 1);
	t->data = bigger;
	t->size = size;
	return true;
}

static inline void keel_text_add(struct keel_text *t, const char *bytes, size_t len)
{
	if (!keel_text_room(t, len))
		return;
	memcpy(t->data + t->len, bytes, len);
	t->len += len;
	t->data[t->len] = '\0';
}

static inline void keel_text_str(struct keel_text *t, const char *text)
{
	keel_text_add(t, text, strlen(text));
}

static inline __attribute__((format(printf, 2, 3))) void keel_text_printf(struct keel_text *t,
									  const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->data + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n < t->size - t->len) {
		t->len += n > 0 ? (size_t)n : 0;
		return;
	}
	if (!keel_text_room(t, (size_t)n)) {
		t->data[t->len] = '\0';
		return;
	}
	va_start(ap, fmt);
	t->len += (size_t)vsnprintf(t->data + t->len, t->size - t->len, fmt, ap);
	va_end(ap);
}

#endif
