/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - one record as a line of text: the PBS format, or a JSON object.
 */
#include "log/line.h"

#include <stdbool.h>
#include <string.h>

#define EVENT_BITS 0x7fffu /* the FORCE bit is not shown */

static bool is_c1(unsigned char c)
{
	return c >= 0x80 && c < 0xa0;
}

/* C0, DEL, and C1: for terminals U+009B, in UTF-8 c2 9b, means ESC [. */
static bool is_control(const char *text, const char *at)
{
	unsigned char c = (unsigned char)*at, before = at > text ? (unsigned char)at[-1] : 0;

	return c < 0x20 || c == 0x7f || (c == 0xc2 && is_c1((unsigned char)at[1])) ||
	       (is_c1(c) && (before < 0x80 || before == 0xc2));
}

/* Appends the text: runs of plain bytes as they are, the others by `special`. */
static void add_escaped(struct buf *out, const char *text, bool (*is_special)(const char *text, const char *at),
			void (*special)(struct buf *, unsigned char))
{
	const char *from = text, *at;

	for (at = text; *at != '\0'; at++) {
		if (!is_special(text, at))
			continue;
		buf_add(out, from, (size_t)(at - from));
		special(out, (unsigned char)*at);
		from = at + 1;
	}
	buf_add(out, from, (size_t)(at - from));
}

static void special_pbs(struct buf *out, unsigned char c)
{
	if (c == '\n')
		buf_str(out, "\\n");
	else if (c == '\t')
		buf_str(out, "\t");
	else
		buf_printf(out, "\\x%02x", c);
}

void line_pbs(struct buf *out, const struct record *r)
{
	buf_printf(out, "%s;%04x;%s;", r->stamp, r->event & EVENT_BITS, r->daemon);
	add_escaped(out, r->klass, is_control, special_pbs);
	buf_add(out, ";", 1);
	add_escaped(out, r->object, is_control, special_pbs);
	buf_add(out, ";", 1);
	add_escaped(out, r->text, is_control, special_pbs);
	buf_add(out, "\n", 1);
}

/* UTF-8 is kept. In a text that is not UTF-8 every high byte is escaped, as if it were Latin-1, so that the line is
 * JSON. */
static bool is_json_special(const char *text, const char *at)
{
	return is_control(text, at) || *at == '"' || *at == '\\';
}

static void special_json(struct buf *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		buf_printf(out, "\\%c", c);
	else if (c != 0xc2) /* skip the first byte of a C1 */
		buf_printf(out, "\\u%04x", c);
}

/* Returns the length of the UTF-8 sequence at `at`; 0: invalid. */
static size_t utf8_length(const unsigned char *at)
{
	size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	uint32_t value = n == 1 ? at[0] : at[0] & (0xffu >> (n + 1));
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (at[0] >= 0xf5 || (at[0] >= 0x80 && at[0] < 0xc2))
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3fu);
	}
	if (value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	return n;
}

static bool is_utf8(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at != '\0') {
		size_t n = utf8_length(at);

		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

static bool is_json_special_or_high(const char *text, const char *at)
{
	return is_json_special(text, at) || (unsigned char)*at >= 0x80;
}

static void add_json(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":\"", key);
	add_escaped(out, text, is_utf8(text) ? is_json_special : is_json_special_or_high,
		    special_json);
	buf_add(out, "\"", 1);
}

void line_json(struct buf *out, const struct record *r)
{
	buf_printf(out, "{\"time\":\"%s\",\"event\":%u", r->stamp, r->event & EVENT_BITS);
	add_json(out, "daemon", r->daemon);
	add_json(out, "class", r->klass);
	add_json(out, "object", r->object);
	add_json(out, "text", r->text);
	buf_str(out, "}\n");
}
