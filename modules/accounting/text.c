/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - a growing text, and the `key=value ` items of records.
 *
 * A value can never end its line: control characters become blanks.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_grow(struct text *t, size_t more)
{
	size_t room = t->room ? t->room : 512;
	char *bigger;

	while (room < t->n + more + 1)
		room *= 2;
	if (room == t->room)
		return true;
	bigger = realloc(t->at, room);
	if (!bigger) {
		t->broken = true;
		return false;
	}
	t->at = bigger;
	t->room = room;
	return true;
}

void text_add(struct text *t, const char *bytes, size_t n)
{
	if (!text_grow(t, n))
		return;
	memcpy(t->at + t->n, bytes, n);
	t->n += n;
	t->at[t->n] = '\0';
}

void text_printf(struct text *t, const char *fmt, ...)
{
	char buf[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		text_add(t, buf, (size_t)n < sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
}

void text_clean(struct text *t, const char *value)
{
	size_t from = t->n;

	text_add(t, value, strlen(value));
	for (; from < t->n; from++)
		if ((unsigned char)t->at[from] < ' ' || t->at[from] == 0x7f)
			t->at[from] = ' ';
}

void text_item(struct text *t, const char *key, const char *value, bool always)
{
	const char *quote = always || strpbrk(value, " \t\r\n\v\f") ? "\"" : "";

	if (*quote && strchr(value, '"'))
		quote = "'";
	text_clean(t, key);
	text_add(t, "=", 1);
	text_add(t, quote, strlen(quote));
	text_clean(t, value);
	text_add(t, quote, strlen(quote));
	text_add(t, " ", 1);
}

void text_trim(struct text *t)
{
	while (t->n && t->at[t->n - 1] == ' ')
		t->at[--t->n] = '\0';
}

void text_fini(struct text *t)
{
	free(t->at);
	memset(t, 0, sizeof(*t));
}
