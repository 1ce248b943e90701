/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - a growing text, and the `key=value ` items of records.
 *
 * A value can never end its line, nor be taken for further items: control characters become blanks, what has blanks or quotes
 * is quoted.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *t, const char *bytes, size_t n)
{
	size_t room = t->room ? t->room : 512;
	char *bigger;

	while (room < t->n + n + 1)
		room *= 2;
	if (room != t->room) {
		bigger = realloc(t->at, room);
		if (!bigger) {
			t->broken = true;
			return;
		}
		t->at = bigger;
		t->room = room;
	}
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

/* C0, DEL and C1, whose two bytes of UTF-8 are c2 80 to c2 9f; terminals obey them. */
static bool is_control(const char *text, const char *at)
{
	unsigned char c = (unsigned char)*at, next = c ? (unsigned char)at[1] : 0,
		      before = at > text ? (unsigned char)at[-1] : 0;

	return c < ' ' || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0) ||
	       (c >= 0x80 && c < 0xa0 && (before < 0x80 || before == 0xc2));
}

void text_clean(struct text *t, const char *value)
{
	size_t from = t->n;
	const char *at;

	text_add(t, value, strlen(value));
	for (at = value; *at && from < t->n; at++, from++)
		if (is_control(value, at))
			t->at[from] = ' ';
}

/* Would a reader who splits at blanks and knows quotes take something of it for another item? */
static bool needs_quotes(const char *value)
{
	const char *at;

	for (at = value; *at; at++)
		if (*at == ' ' || *at == '"' || *at == '\'' || is_control(value, at))
			return true;
	return false;
}

/* A value with both quotes has one of them changed: with an escape a simple reader would see its end there. */
void text_value(struct text *t, const char *value, bool always)
{
	const char *quote = always || needs_quotes(value) ? "\"" : "";
	bool both = strchr(value, '"') && strchr(value, '\'');
	size_t from;

	if (*quote && strchr(value, '"') && !both)
		quote = "'";
	text_add(t, quote, strlen(quote));
	from = t->n;
	text_clean(t, value);
	for (; both && from < t->n; from++)
		if (t->at[from] == '"')
			t->at[from] = '\'';
	text_add(t, quote, strlen(quote));
}

void text_item(struct text *t, const char *key, const char *value, bool always)
{
	text_clean(t, key);
	text_add(t, "=", 1);
	text_value(t, value, always);
	text_add(t, " ", 1);
}

void text_fini(struct text *t)
{
	free(t->at);
	memset(t, 0, sizeof(*t));
}
