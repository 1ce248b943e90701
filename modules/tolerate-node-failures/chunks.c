/* SPDX-License-Identifier: Apache-2.0
 *
 * chunks.c - reads selects and exec_vnodes into tables. Pure.
 *
 * exec_vnode := chunk ('+' chunk)*, chunk := '(' vnode ('+' vnode)* ')', vnode := name (':' res=value)*
 * A first pass counts, so that there is one block of each kind; the second cuts a copy of the text.
 */
#include "chunks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	char *at;
	struct chunks *c;
	uint32_t n_values;
};

void chunks_fini(struct chunks *c)
{
	free(c->part);
	free(c->value);
	free(c->text);
	*c = (struct chunks){ 0 };
}

static int32_t begin(const char *text, struct chunks *c, struct reader *r)
{
	size_t parts = 1, values = 1;

	for (const char *p = text; *p; p++) {
		parts += *p == '+';
		values += *p == '=';
	}
	*c = (struct chunks){ .part = calloc(parts, sizeof(*c->part)), .value = calloc(values, sizeof(*c->value)),
			      .text = strdup(text) };
	*r = (struct reader){ .at = c->text, .c = c };
	return c->part && c->value && c->text ? 0 : -ENOMEM;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

size_t chunk_span(const char *text, const char *stops)
{
	char quote = '\0';
	size_t n = 0;

	for (; text[n]; n++) {
		if (quote)
			quote = text[n] == quote ? '\0' : quote;
		else if (is_quote(text[n]))
			quote = text[n];
		else if (strchr(stops, text[n]))
			break;
	}
	return n;
}

/* The word up to one of `stops` outside of quotes, cut off; *ret_stop gets what followed it. */
static char *cut(struct reader *r, const char *stops, char *ret_stop)
{
	char *word = r->at;

	r->at += chunk_span(r->at, stops);
	*ret_stop = *r->at;
	if (*r->at)
		*r->at++ = '\0';
	return word;
}

/* A number with, for sizes, its unit: bytes; `w` words of 8. */
static bool number_of(const char *text, double *ret)
{
	static const char units[] = "kmgtp";
	const char *unit;
	char *end;

	if (!isdigit((unsigned char)*text) && !(*text == '-' && isdigit((unsigned char)text[1])))
		return false;
	if (strpbrk(text, "xXnN"))
		return false;
	*ret = strtod(text, &end);
	if (*end && (unit = strchr(units, tolower((unsigned char)*end)))) {
		for (; unit >= units; unit--)
			*ret *= 1024;
		end++;
	}
	if (*end == 'w' || *end == 'W')
		*ret *= 8;
	end += *end && strchr("bBwW", *end);
	return !*end;
}

/* `name=value`, which the part gets. */
static int32_t value_read(struct reader *r, struct chunk_part *part, const char *stops, char *ret_stop)
{
	char *word = cut(r, stops, ret_stop), *sign = strchr(word, '=');
	struct chunk_value *v = &r->c->value[r->n_values];

	if (!sign || sign == word || !sign[1])
		return -EINVAL;
	*sign = '\0';
	*v = (struct chunk_value){ .name = word, .text = sign + 1 };
	v->word = !number_of(v->text, &v->n);
	r->n_values++;
	if (part->n++ == 0)
		part->v = v;
	return 0;
}

static struct chunk_part *part_add(struct reader *r, const char *vnode, uint32_t count)
{
	struct chunk_part *part = &r->c->part[r->c->n_parts++];

	*part = (struct chunk_part){ .vnode = vnode, .chunk = r->c->n, .count = count };
	return part;
}

/* The vnodes of a parenthesis, and it. */
static int32_t chunk_read(struct reader *r)
{
	struct chunk_part *part;
	char stop = '+';
	int32_t code = *r->at++ == '(' ? 0 : -EINVAL;

	while (!code && stop == '+') {
		part = part_add(r, cut(r, ":+)", &stop), 1);
		code = *part->vnode ? 0 : -EINVAL;
		while (!code && stop == ':')
			code = value_read(r, part, ":+)", &stop);
	}
	r->c->n++;
	return code ? code : stop == ')' ? 0 : -EINVAL;
}

int32_t chunks_of_exec(const char *exec_vnode, struct chunks *c)
{
	struct reader r;
	int32_t code = begin(exec_vnode, c, &r);

	while (!code) {
		code = chunk_read(&r);
		if (code || !*r.at)
			break;
		code = *r.at++ == '+' ? 0 : -EINVAL;
	}
	return code;
}

static int32_t item_read(struct reader *r, char *ret_stop)
{
	struct chunk_part *part = part_add(r, NULL, 1);
	size_t digits = strspn(r->at, "0123456789");

	*ret_stop = ':';
	if (digits && digits < 10 && (!r->at[digits] || strchr(":+", r->at[digits])))
		part->count = (uint32_t)strtoul(cut(r, ":+", ret_stop), NULL, 10);
	while (*ret_stop == ':')
		if (value_read(r, part, ":+", ret_stop) < 0)
			return -EINVAL;
	r->c->n++;
	return 0;
}

int32_t chunks_of_select(const char *select, struct chunks *c)
{
	struct reader r;
	int32_t code = begin(select, c, &r);
	char stop = '+';

	while (!code && stop == '+')
		code = item_read(&r, &stop);
	return code;
}

const struct chunk_value *chunk_get(const struct chunk_part *part, const char *name)
{
	for (uint32_t i = 0; i < part->n; i++)
		if (strcmp(part->v[i].name, name) == 0)
			return &part->v[i];
	return NULL;
}

bool chunk_same_word(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (is_quote(*a))
			a++;
		while (is_quote(*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}
