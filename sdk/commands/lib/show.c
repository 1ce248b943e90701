/* SPDX-License-Identifier: Apache-2.0
 *
 * show.c - the attributes of one object as text.
 *
 * Wrapping: a value is a row of pieces that end in commas. A piece that ends before column 78 is
 * printed whole; another one begins a new line (unless it is the first) and is broken at the edge,
 * in the middle of words where it must be. New lines begin with a TAB, which counts as 8 columns.
 */
#include "show.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WHOLE_BEFORE 78 /* a piece that ends before this column is not broken */
#define EDGE 79 /* no line of a broken piece gets longer */
#define TAB_COLUMNS 8
#define MOVED_COLUMNS 9 /* where a moved piece begins to count */

int show_init(struct show *s, struct out *out, bool dates)
{
	*s = (struct show){ .out = out, .dates = dates };
	return trait_index_init(&s->traits);
}

void show_fini(struct show *s)
{
	trait_index_fini(&s->traits);
	free(s->scratch);
	s->scratch = NULL;
}

int show_format_find(const char *word, enum show_format *ret)
{
	static const char *const words[] = { "default", "dsv", "json" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(word, words[i]) == 0) {
			*ret = (enum show_format)i;
			return 0;
		}
	return -EINVAL;
}

static char *scratch(struct show *s, size_t size)
{
	char *more;

	if (size <= s->scratch_size)
		return s->scratch;
	more = realloc(s->scratch, size);
	if (!more)
		return NULL;
	s->scratch = more;
	s->scratch_size = size;
	return more;
}

/* All digits, at most 18 of them. */
static bool epoch_seconds(const char *text, int64_t *ret_when)
{
	int64_t when = 0;
	size_t n;

	for (n = 0; text[n] >= '0' && text[n] <= '9' && n < 19; n++)
		when = when * 10 + (text[n] - '0');
	if (n == 0 || n > 18 || text[n] != '\0')
		return false;
	*ret_when = when;
	return true;
}

static const struct {
	const char *code;
	size_t len;
	char plain;
} entities[] = {
	{ "&lt;", 4, '<' },  { "&gt;", 4, '>' },    { "&amp;", 5, '&' },
	{ "&quot;", 6, '"' }, { "&apos;", 6, '\'' },
};

/* "<t>a</t><t>b</t>" as "a b". Text that has not this form is shown as it is. */
static const char *decode_words(struct show *s, const char *text, size_t *ret_len)
{
	size_t len = strlen(text), n = 0;
	char *to = *text == '<' ? scratch(s, len + 1) : NULL;
	const char *at = text, *end;

	*ret_len = len;
	if (!to)
		return text;
	while (*at == '<') {
		at = strchr(at, '>');
		if (!at)
			return text;
		if (n > 0)
			to[n++] = ' ';
		for (at++; *at && *at != '<';) {
			size_t i = 0, known = sizeof(entities) / sizeof(entities[0]);

			while (i < known && strncmp(at, entities[i].code, entities[i].len) != 0)
				i++;
			to[n++] = i < known ? entities[i].plain : *at;
			at += i < known ? entities[i].len : 1;
		}
		end = strchr(at, '>');
		if (at[0] != '<' || at[1] != '/' || !end)
			return text;
		at = end + 1;
	}
	if (*at)
		return text;
	*ret_len = n;
	return to;
}

const char *show_value(struct show *s, const struct attrl *a, size_t *ret_len,
		       enum trait *ret_kind)
{
	const char *value = a->value ? a->value : "";
	int64_t when;

	*ret_kind = trait_find(&s->traits, a->name, a->resource);
	if (*ret_kind == TRAIT_TIME && s->dates && epoch_seconds(value, &when)) {
		if (when != 0 || !a->resource || !*a->resource)
			return clock_text(&s->clock, when, ret_len);
		*ret_len = strlen("UNKNOWN"); /* an estimate that was not made */
		return "UNKNOWN";
	}
	if (*ret_kind == TRAIT_WORDS)
		return decode_words(s, value, ret_len);
	*ret_len = strlen(value);
	return value;
}

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* ASCII without control characters; eight bytes at a time. */
static bool printable(const char *text, size_t len)
{
	uint64_t w, delete, bad = 0;

	for (; len >= sizeof(w); text += sizeof(w), len -= sizeof(w)) {
		memcpy(&w, text, sizeof(w));
		delete = w ^ (ONES * 0x7f);
		bad |= w | ((w - ONES * 0x20) & ~w) | ((delete - ONES) & ~delete);
	}
	if (bad & HIGHS)
		return false; /* perhaps: the caller checks byte by byte */
	for (; len > 0; text++, len--)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

/* `text` with control characters as ^X, those of C1 as M-^X; in `s` when there are any. */
static const char *make_visible(struct show *s, const char *text, size_t *len, bool escape_lines)
{
	size_t i, n = 0;
	char *copy = NULL, *to;

	if (printable(text, *len))
		return text;
	if (text == s->scratch) { /* it holds the decoded words */
		copy = malloc(*len + 1);
		if (!copy)
			return text;
		memcpy(copy, text, *len);
		text = copy;
	}
	to = scratch(s, *len * 4 + 1);
	for (i = 0; to && i < *len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (escape_lines && (c == '\n' || c == '\f')) {
			to[n++] = '\\';
			to[n++] = c == '\n' ? 'n' : 'f';
		} else if (c < 0x20 || c == 0x7f) {
			to[n++] = '^';
			to[n++] = (char)(c ^ 0x40);
		} else if (out_is_c1(text, i, *len)) {
			if (c == 0xc2)
				continue;
			memcpy(to + n, "M-^", 3);
			to[n + 3] = (char)((c & 0x7f) ^ 0x40);
			n += 4;
		} else {
			to[n++] = (char)c;
		}
	}
	free(copy);
	*len = n;
	if (to)
		to[n] = '\0';
	return to ? to : "";
}

/* Breaks at the edge; returns the column after it. */
static size_t broken(struct out *o, const char *piece, size_t len, size_t column)
{
	size_t room;

	for (;;) {
		room = column < EDGE ? EDGE - column : 0;
		if (len <= room) {
			out_bytes(o, piece, len);
			return column + len;
		}
		out_bytes(o, piece, room);
		out_bytes(o, "\n\t", 2);
		piece += room;
		len -= room;
		column = TAB_COLUMNS;
	}
}

/* Split as the full format does; `column` is where it begins. */
static void put_wrapped(struct out *o, const char *text, size_t len, size_t column)
{
	const char *at = text, *end = text + len, *comma;
	size_t n;

	while (at < end) {
		comma = memchr(at, ',', (size_t)(end - at));
		n = comma ? (size_t)(comma - at) : (size_t)(end - at);
		if (column + n < WHOLE_BEFORE) {
			out_bytes(o, at, n);
			column += n;
		} else if (at == text) {
			column = broken(o, at, n, column);
		} else {
			out_bytes(o, "\n\t", 2);
			column = broken(o, at, n, MOVED_COLUMNS);
		}
		if (!comma)
			return;
		out_char(o, ',');
		column++;
		for (at = comma; at < end && *at == ',';)
			at++;
	}
}

static size_t put_name(struct out *o, const struct attrl *a)
{
	size_t n = strlen(a->name), m = 0;

	out_bytes(o, a->name, n);
	if (a->resource && *a->resource) {
		m = strlen(a->resource) + 1;
		out_char(o, '.');
		out_bytes(o, a->resource, m - 1);
	}
	return n + m;
}

void show_attributes(struct show *s, const struct attrl *list, bool wrapped)
{
	const struct attrl *a;
	const char *text;
	enum trait kind;
	size_t len, width;

	if (!wrapped) {
		show_attributes_plain(s, list, 4);
		return;
	}
	for (a = list; a; a = a->next) {
		out_bytes(s->out, "    ", 4);
		width = put_name(s->out, a);
		out_bytes(s->out, " = ", 3);
		text = show_value(s, a, &len, &kind);
		text = make_visible(s, text, &len, false);
		put_wrapped(s->out, text, len, width + 7);
		out_char(s->out, '\n');
	}
}

void show_attributes_plain(struct show *s, const struct attrl *list, size_t indent)
{
	const struct attrl *a;
	const char *text;
	enum trait kind;
	size_t len;

	for (a = list; a; a = a->next) {
		out_repeat(s->out, ' ', indent);
		put_name(s->out, a);
		out_bytes(s->out, " = ", 3);
		text = show_value(s, a, &len, &kind);
		text = make_visible(s, text, &len, true);
		out_bytes(s->out, text, len);
		out_char(s->out, '\n');
	}
}

void show_dsv_text(struct out *o, const char *text, size_t len, const char *delim)
{
	size_t n = strlen(delim), run;

	for (;;) {
		for (run = 0; run < len && text[run] != *delim && text[run] != '\n' && text[run] != '\f';)
			run++; /* bytes before the next one that may need an escape */
		out_bytes(o, text, run);
		text += run;
		len -= run;
		if (len == 0)
			return;
		if (n > 0 && len >= n && memcmp(text, delim, n) == 0)
			out_char(o, '\\');
		if (*text == '\n')
			out_bytes(o, "\\n", 2);
		else if (*text == '\f')
			out_bytes(o, "\\f", 2);
		else
			out_char(o, *text);
		text++;
		len--;
	}
}

void show_dsv(struct show *s, const struct attrl *list, const char *delim,
	      const char *skip_blanks_of)
{
	const struct attrl *a;
	const char *text;
	enum trait kind;
	size_t len;

	for (a = list; a; a = a->next) {
		out_str(s->out, delim);
		put_name(s->out, a);
		out_char(s->out, '=');
		text = show_value(s, a, &len, &kind);
		text = make_visible(s, text, &len, true);
		if (skip_blanks_of && strcmp(a->name, skip_blanks_of) == 0)
			for (const char *end; *text; text = *end ? end + 1 : end) {
				end = text + strcspn(text, " ");
				show_dsv_text(s->out, text, (size_t)(end - text), delim);
			}
		else
			show_dsv_text(s->out, text, len, delim);
	}
}
