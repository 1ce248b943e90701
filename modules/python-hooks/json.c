/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - a value as JSON: for records (record.c), and for programs that know nothing of frames (keelson hook).
 */
#include <inttypes.h>
#include <stdio.h>

#include "talk.h"

static void text_write(FILE *f, const struct value *v)
{
	fputc('"', f);
	for (uint32_t i = 0; i < v->len; i++) {
		unsigned char c = (unsigned char)v->s[i];

		if (c < ' ')
			fprintf(f, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void value_write(FILE *f, const struct value *v)
{
	static const char brackets[] = "{}[]";
	const char *around = v->kind == 'm' ? brackets : brackets + 2, *at = v->at;
	struct value inner;
	uint32_t n = 0;

	if (v->kind == 'i') {
		fprintf(f, "%" PRId64, v->i);
	} else if (v->kind == 's') {
		text_write(f, v);
	} else if (v->kind != 'l' && v->kind != 'm') {
		fputs("null", f);
	} else {
		fputc(around[0], f);
		for (; value_next(v, &at, &inner); n++) {
			fputs(n == 0 ? "" : v->kind == 'm' && n % 2 == 1 ? ": " : ", ", f);
			value_write(f, &inner);
		}
		fputc(around[1], f);
	}
}

void json_write(FILE *f, const struct pack *p)
{
	struct value v;

	value_read(p->data, p->len, &v);
	value_write(f, &v);
}
