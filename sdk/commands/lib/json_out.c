/* SPDX-License-Identifier: Apache-2.0
 *
 * json_out.c - streaming JSON writer.
 *
 * A listing spends most of its time in jout_string(): runs of bytes that need no care are found
 * eight at a time and copied whole.
 */
#include "json_out.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static size_t plain_run(const char *text, size_t len)
{
	size_t i = 0;
	uint64_t w, quote, slash;

	for (; len - i >= sizeof(w); i += sizeof(w)) {
		/* the high bit of each byte that is a control character, quote, backslash or above ASCII */
		memcpy(&w, text + i, sizeof(w));
		quote = w ^ (ONES * '"');
		slash = w ^ (ONES * '\\');
		if ((w | ((w - ONES * 0x20) & ~w) | ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash)) & HIGHS)
			break;
	}
	while (i < len && (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x80 &&
	       text[i] != '"' && text[i] != '\\')
		i++;
	return i;
}

/* Length of the UTF-8 sequence at `p` (2..4), 0 when it is none: no overlong forms, no surrogates,
 * nothing above U+10FFFF. */
static size_t utf8_sequence(const unsigned char *p, size_t len)
{
	unsigned char lowest = 0x80, highest = 0xbf;
	size_t need = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2, i;

	if (p[0] < 0xc2 || p[0] > 0xf4 || len < need)
		return 0;
	if (p[0] == 0xe0)
		lowest = 0xa0;
	else if (p[0] == 0xed)
		highest = 0x9f;
	else if (p[0] == 0xf0)
		lowest = 0x90;
	else if (p[0] == 0xf4)
		highest = 0x8f;
	if (p[1] < lowest || p[1] > highest)
		return 0;
	for (i = 2; i < need; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return need;
}

size_t jout_replaced(const char *text, size_t len, char *to)
{
	size_t n = 0, one;

	for (; len > 0; text += one, len -= one) {
		one = (unsigned char)*text < 0x80 ? 1 : utf8_sequence((const unsigned char *)text, len);
		memcpy(to + n, one ? text : "\xef\xbf\xbd", one ? one : JOUT_REPLACED);
		n += one ? one : JOUT_REPLACED;
		one = one ? one : 1;
	}
	return n;
}

static void put_escape(struct out *o, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	const char *s;
	char text[6] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

	for (s = shorts; *s; s += 2)
		if ((unsigned char)*s == c) {
			out_char(o, '\\');
			out_char(o, s[1]);
			return;
		}
	out_bytes(o, text, sizeof(text));
}

void jout_string(struct json_out *j, const char *text, size_t len)
{
	struct out *o = j->out;
	size_t n;

	out_char(o, '"');
	for (;;) {
		n = plain_run(text, len);
		out_bytes(o, text, n);
		text += n;
		len -= n;
		if (len == 0)
			break;
		n = 1;
		if ((unsigned char)*text < 0x80)
			put_escape(o, (unsigned char)*text);
		else if ((n = utf8_sequence((const unsigned char *)text, len)) > 0)
			out_bytes(o, text, n);
		else
			out_bytes(o, "\xef\xbf\xbd", 3);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	out_char(o, '"');
}

static void indent(struct json_out *j)
{
	static const char tabs[JSON_DEPTH + 1] = "\t\t\t\t\t\t\t\t";

	out_bytes(j->out, tabs, (size_t)j->depth);
}

void jout_begin(struct json_out *j, struct out *out)
{
	*j = (struct json_out){ .out = out, .depth = 1 };
	out_char(out, '{');
}

void jout_key(struct json_out *j, const char *key, size_t len)
{
	bool *filled = &j->filled[j->depth - 1];

	if (*filled)
		out_bytes(j->out, ",\n", 2);
	else
		out_char(j->out, '\n');
	*filled = true;
	indent(j);
	jout_string(j, key, len);
	out_bytes(j->out, ":\t", 2);
}

void jout_open(struct json_out *j, const char *key)
{
	jout_key(j, key, strlen(key));
	out_char(j->out, '{');
	j->filled[j->depth++] = false;
}

void jout_close(struct json_out *j)
{
	j->depth--;
	if (j->filled[j->depth]) {
		out_char(j->out, '\n');
		indent(j);
	}
	out_char(j->out, '}');
}

void jout_end(struct json_out *j)
{
	jout_close(j);
	out_char(j->out, '\n');
}

void jout_raw(struct json_out *j, const char *text, size_t len)
{
	out_bytes(j->out, text, len);
}

void jout_integer(struct json_out *j, long long n)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%lld", n);

	jout_raw(j, text, (size_t)len);
}

/* "-"? digits, no more than fit 64 bits: the usual number. Zeros in front are cut off. */
static bool put_integer(struct json_out *j, const char *text, size_t len)
{
	size_t i = len > 0 && text[0] == '-', zeros;

	if (i == len || len - i > 18)
		return false;
	zeros = i;
	for (; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	i = text[0] == '-';
	while (zeros + 1 < len && text[zeros] == '0')
		zeros++;
	if (i == 1 && text[zeros] != '0')
		out_char(j->out, '-');
	out_bytes(j->out, text + zeros, len - zeros);
	return true;
}

/* digits [. digits] [e digits]; written as 1000 for "1e3". */
static bool put_real(struct json_out *j, const char *text, size_t len)
{
	char copy[64], shown[64], *end;
	double d;
	int n;

	if (len == 0 || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strspn(copy, "0123456789+-.eE") != len || *copy == '+' || *copy == '.' || strncmp(copy, "-.", 2) == 0)
		return false;
	d = strtod(copy, &end);
	if (*end || end[-1] == '.' || strstr(copy, ".e") || strstr(copy, ".E") || !isfinite(d))
		return false;
	if (!strpbrk(copy, ".eE")) { /* more digits than a double keeps */
		const char *digits = copy + (copy[0] == '-');

		if (digits[0] == '0')
			return false;
		jout_raw(j, copy, len);
		return true;
	}
	n = snprintf(shown, sizeof(shown), "%.15g", d);
	if (strtod(shown, NULL) != d)
		n = snprintf(shown, sizeof(shown), "%.17g", d);
	jout_raw(j, shown, (size_t)n);
	return true;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

void jout_number(struct json_out *j, const char *text, size_t len)
{
	if (!put_integer(j, text, len) && !put_real(j, text, len))
		jout_string(j, text, len);
}

void jout_guess(struct json_out *j, const char *text, size_t len)
{
	char first = len > 0 ? text[0] : '\0', *shown = NULL;
	json_t *parsed;

	if (first == '-' || (first >= '0' && first <= '9')) {
		jout_number(j, text, len);
		return;
	}
	if (is_word(text, len, "true") || is_word(text, len, "false") ||
	    is_word(text, len, "null")) {
		jout_raw(j, text, len);
		return;
	}
	if (first == '"' || first == '[' || first == '{') { /* a value that a user wrote as JSON */
		parsed = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
		shown = parsed ? json_dumps(parsed, JSON_ENCODE_ANY) : NULL;
		json_decref(parsed);
	}
	if (shown)
		out_str(j->out, shown);
	else
		jout_string(j, text, len);
	free(shown);
}
