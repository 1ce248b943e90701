/* SPDX-License-Identifier: Apache-2.0
 *
 * values.c - the attributes of a qmgr command.
 *
 *   attr[.resource] OP value, ...          create and set; OP is one of = += -=
 *   attr[.resource], ...                   unset, list and print
 *
 * A value ends at a blank or comma unless it is quoted. Limits are lists of [type:name=number], so
 * blanks and commas between brackets belong to them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "command.h"

static size_t identifier_len(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' ||
	       (text[n] == '-' && text[n + 1] != '='))
		n++;
	return n;
}

size_t attribute_name_len(const char *text, size_t *ret_len)
{
	size_t n = identifier_len(text), m;

	*ret_len = n;
	if (n == 0 || text[n] != '.')
		return n;
	m = identifier_len(text + n + 1);
	return m > 0 ? n + 1 + m : 0;
}

/* Parses a name, canonical when it is known, as a new attribute of the command. */
static int name_parse(struct reader *r, struct attropl **ret)
{
	const char *text = r->line + r->at;
	const struct attribute *known;
	size_t len, whole = attribute_name_len(text, &len);
	struct attropl *a, **tail = &r->command->attributes;

	if (whole == 0)
		return reader_fault(r, FAULT_ATTRIBUTE, r->at);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	while (*tail)
		tail = &(*tail)->next;
	*tail = a;
	known = attribute_find(r->command->object, text, len);
	a->name = known ? strdup(known->name) : strndup(text, len);
	if (whole > len)
		a->resource = strndup(text + len + 1, whole - len - 1);
	if (!a->name || (whole > len && !a->resource))
		return -ENOMEM;
	r->at += whole;
	reader_blanks(r);
	*ret = a;
	return 0;
}

static int operator_parse(struct reader *r, enum batch_op *ret)
{
	const char *text = r->line + r->at;

	if (*text == '=')
		*ret = SET;
	else if (text[0] == '+' && text[1] == '=')
		*ret = INCR;
	else if (text[0] == '-' && text[1] == '=')
		*ret = DECR;
	else
		return reader_fault(r, FAULT_ATTRIBUTE, r->at);
	r->at += *ret == SET ? 1 : 2;
	reader_blanks(r);
	return 0;
}

/* Length of "[type:name]" or "[type:name=number]" at `text`, 0 when it is none. */
static size_t limit_len(const char *text)
{
	size_t n, end = strcspn(text, "]");

	if (*text != '[' || text[end] != ']')
		return 0;
	n = 1 + strspn(text + 1, " \t");
	if (!text[n] || !strchr("ugpo", text[n]) || text[n + 1] != ':' || n + 2 == end)
		return 0;
	return end + 1;
}

/* Length of a list of limits; *ret_bad is where the error is when the result is 0. */
static size_t limits_len(const char *text, size_t *ret_bad)
{
	size_t n = 0, one, gap;

	for (;;) {
		one = limit_len(text + n);
		if (one == 0) {
			*ret_bad = n;
			return 0;
		}
		n += one;
		gap = strspn(text + n, " \t");
		if (text[n + gap] != ',')
			return n;
		gap += 1 + strspn(text + n + gap + 1, " \t");
		if (text[n + gap] != '[')
			return n;
		n += gap;
	}
}

/* The extent of the value at the cursor: [*ret_begin, *ret_end), *ret_next behind it. */
static int value_extent(struct reader *r, enum attribute_kind kind, size_t *ret_begin, size_t *ret_end,
			size_t *ret_next)
{
	const char *text = r->line + r->at;
	char quotes[2] = { *text == '"' || *text == '\'' ? *text : '\0', '\0' };
	bool limit = kind == ATTRIBUTE_LIMIT;
	size_t len, bad = 0;

	*ret_begin = r->at + (*quotes != '\0');
	if (*quotes)
		len = strcspn(text + 1, quotes);
	else if (limit)
		len = limits_len(text, &bad);
	else if (kind == ATTRIBUTE_WORDS)
		for (len = strcspn(text, ","); len > 0 && strchr(" \t", text[len - 1]);)
			len--; /* without the blanks at its end */
	else
		len = strcspn(text, " \t,");
	if (*quotes && text[len + 1] != *quotes)
		return reader_fault(r, FAULT_ATTRIBUTE, strlen(r->line));
	if (len == 0 && !*quotes)
		return reader_fault(r, FAULT_ATTRIBUTE, r->at + bad);
	if (*quotes && limit && len > 0 && limits_len(text + 1, &bad) != len)
		return reader_fault(r, FAULT_ATTRIBUTE, *ret_begin + bad);
	*ret_end = *ret_begin + len;
	*ret_next = *ret_end + (*quotes != '\0');
	return 0;
}

static int value_parse(struct reader *r, struct attropl *a)
{
	enum attribute_kind kind = attribute_kind(r->command->object, a->name);
	size_t begin = 0, end = 0, next = 0;
	const char *bad;
	int ret = value_extent(r, kind, &begin, &end, &next);

	if (ret < 0)
		return ret;
	bad = memchr(r->line + begin, '&', end - begin);
	if (bad)
		return reader_fault(r, FAULT_ATTRIBUTE, (size_t)(bad - r->line));
	a->value = strndup(r->line + begin, end - begin);
	if (!a->value)
		return -ENOMEM;
	r->at = next;
	if (r->line[next] && !strchr(" \t,", r->line[next]))
		return reader_fault(r, FAULT_ATTRIBUTE, next);
	reader_blanks(r);
	return 0;
}

static int attribute_parse(struct reader *r)
{
	struct attropl *a = NULL;
	int ret = name_parse(r, &a);

	if (ret < 0)
		return ret;
	if (r->command->verb != MGR_CMD_CREATE && r->command->verb != MGR_CMD_SET) {
		a->op = r->command->verb == MGR_CMD_UNSET ? UNSET : SET;
		a->value = strdup("");
		return a->value ? 0 : -ENOMEM;
	}
	ret = operator_parse(r, &a->op);
	return ret < 0 ? ret : value_parse(r, a);
}

int attributes_parse(struct reader *r)
{
	int ret;

	for (;;) {
		ret = attribute_parse(r);
		if (ret < 0)
			return ret;
		if (reader_at_end(r))
			return 0;
		if (r->line[r->at] != ',')
			return reader_fault(r, FAULT_ATTRIBUTE, r->at);
		r->at++;
		reader_blanks(r);
	}
}
