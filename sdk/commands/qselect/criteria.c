/* SPDX-License-Identifier: Apache-2.0
 *
 * criteria.c - the criteria of a selection.
 *
 * Most letters are one attribute compared with one value: a row of a table. A value may begin with
 * .eq. .ne. .ge. .gt. .le. or .lt. where its row says so.
 */
#include "criteria.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "date.h"

static const struct {
	const char *word;
	enum batch_op op;
} operators[] = {
	{ ".eq.", EQ }, { ".ne.", NE }, { ".ge.", GE },
	{ ".gt.", GT }, { ".le.", LE }, { ".lt.", LT },
};

typedef int (*take_fn)(struct criteria *c, const char *attribute, const char *value,
		       enum batch_op op);

void criteria_init(struct criteria *c)
{
	*c = (struct criteria){ .now = time(NULL) };
	c->end = &c->first;
}

void criteria_fini(struct criteria *c)
{
	struct attr_list all = { c->first };

	attr_list_fini(&all);
	criteria_init(c);
}

static int add(struct criteria *c, const char *attribute, const char *resource, const char *value,
	       enum batch_op op)
{
	struct attropl *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	*c->end = a;
	c->end = &a->next;
	a->name = strdup(attribute);
	a->resource = resource ? strdup(resource) : NULL;
	a->value = strdup(value);
	a->op = op;
	return a->name && a->value && (!resource || a->resource) ? 0 : -ENOMEM;
}

/* The operator that `*text` begins with; *text moves behind it. */
static bool take_operator(const char **text, enum batch_op *ret)
{
	size_t i;

	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (strncmp(*text, operators[i].word, 4) == 0) {
			*text += 4;
			*ret = operators[i].op;
			return true;
		}
	return false;
}

static int take_text(struct criteria *c, const char *attribute, const char *value, enum batch_op op)
{
	return *value ? add(c, attribute, NULL, value, op) : -EINVAL;
}

static int take_letters(struct criteria *c, const char *attribute, const char *value,
			enum batch_op op)
{
	const char *letters = strcmp(attribute, ATTR_h) == 0 ? "uospn" : "BEFHMQRSTUWX";

	if (!*value || value[strspn(value, letters)])
		return -EINVAL;
	return add(c, attribute, NULL, value, op);
}

static int add_date(struct criteria *c, const char *attribute, const char *resource, const char *value, enum batch_op op)
{
	char text[24];
	long long when;

	if (date_parse(value, c->now, &when) < 0)
		return -EINVAL;
	snprintf(text, sizeof(text), "%lld", when);
	return add(c, attribute, resource, text, op);
}

static int take_time(struct criteria *c, const char *attribute, const char *value, enum batch_op op)
{
	return add_date(c, attribute, NULL, value, op);
}

static int take_checkpoint(struct criteria *c, const char *attribute, const char *value,
			   enum batch_op op)
{
	if (strlen(value) == 1 ? !strchr("nscwu", *value) :
	    (strncmp(value, "c=", 2) != 0 && strncmp(value, "w=", 2) != 0) || !value[2] ||
		    value[2 + strspn(value + 2, "0123456789")])
		return -EINVAL;
	return add(c, attribute, NULL, value, op);
}

static int take_number(struct criteria *c, const char *attribute, const char *value,
		       enum batch_op op)
{
	const char *digits = value + (*value == '-' || *value == '+');

	if (!*digits || digits[strspn(digits, "0123456789")])
		return -EINVAL;
	return add(c, attribute, NULL, value, op);
}

static int take_rerunable(struct criteria *c, const char *attribute, const char *value,
			  enum batch_op op)
{
	if (strcmp(value, "y") != 0 && strcmp(value, "n") != 0)
		return -EINVAL;
	return add(c, attribute, NULL, *value == 'y' ? "TRUE" : "FALSE", op);
}

/* -q: the server, and the queue. */
static int take_destination(struct criteria *c, const char *attribute, const char *value,
			    enum batch_op op)
{
	if (operand_destination(value, &c->where) < 0 ||
	    (c->where.named && strlen(c->where.id) > PBS_MAXQUEUENAME))
		return -EDESTADDRREQ;
	return c->where.id[0] ? add(c, attribute, NULL, c->where.id, op) : 0;
}

/* name.op.value,... of resources. A comma followed by no "name.op." belongs to the value. */
static int take_resources(struct criteria *c, const char *attribute, const char *value,
			  enum batch_op op)
{
	char name[64], text[1024];
	const char *at = value, *end;
	size_t n;
	int rc = *value ? 0 : -EINVAL;

	while (*at && rc == 0) {
		n = strcspn(at, ".,=");
		end = at + n;
		if (n == 0 || n >= sizeof(name) || !take_operator(&end, &op))
			return -EINVAL;
		memcpy(name, at, n);
		name[n] = '\0';
		n = strcspn(end, ",");
		if (n == 0 || n >= sizeof(text))
			return -EINVAL;
		memcpy(text, end, n);
		text[n] = '\0';
		rc = add(c, attribute, name, text, op);
		at = end + n;
		if (*at == ',' && !*++at)
			return -EINVAL;
	}
	return rc;
}

/* -t X[op]T */
static const struct {
	char letter;
	const char *attribute, *resource;
} times[] = {
	{ 'a', ATTR_a, NULL },	   { 'c', ATTR_ctime, NULL }, { 'e', ATTR_etime, NULL },
	{ 'g', ATTR_eligible_time, NULL }, { 'm', ATTR_mtime, NULL }, { 'q', ATTR_qtime, NULL },
	{ 's', ATTR_stime, NULL }, { 't', ATTR_estimated, "start_time" },
};

/* Eligible time is a duration; anything else is a date. */
static int take_times(struct criteria *c, const char *attribute, const char *value, enum batch_op op)
{
	size_t i = 0;

	(void)attribute;
	while (i < sizeof(times) / sizeof(times[0]) && *value != times[i].letter)
		i++;
	if (i == sizeof(times) / sizeof(times[0]))
		return -EINVAL;
	value++;
	take_operator(&value, &op);
	if (times[i].letter != 'g')
		return add_date(c, times[i].attribute, times[i].resource, value, op);
	if (!*value || value[strspn(value, "0123456789:")])
		return -EINVAL;
	return add(c, times[i].attribute, NULL, value, op);
}

/* letter, attribute, may an operator stand in front, what is done with the value, the value of
 * letters that have none */
static const struct {
	char letter;
	const char *attribute;
	bool compares;
	take_fn take;
	const char *value;
} rows[] = {
	{ 'a', ATTR_a, true, take_time, NULL },
	{ 'A', ATTR_A, false, take_text, NULL },
	{ 'c', ATTR_c, true, take_checkpoint, NULL },
	{ 'h', ATTR_h, false, take_letters, NULL },
	{ 'H', ATTR_state, false, take_text, "FMX" },
	{ 'J', ATTR_array, false, take_text, "True" },
	{ 'l', ATTR_l, false, take_resources, NULL },
	{ 'N', ATTR_N, false, take_text, NULL },
	{ 'p', ATTR_p, true, take_number, NULL },
	{ 'P', ATTR_project, false, take_text, NULL },
	{ 'q', ATTR_q, false, take_destination, NULL },
	{ 'r', ATTR_r, false, take_rerunable, NULL },
	{ 's', ATTR_state, false, take_letters, NULL },
	{ 't', NULL, false, take_times, NULL },
	{ 'u', ATTR_owner, false, take_text, NULL },
};

int criteria_take(struct criteria *c, int letter, const char *value)
{
	enum batch_op op = EQ;
	size_t i;

	c->history = c->history || letter == 'x' || letter == 'H';
	c->expand = c->expand || letter == 'T';
	if (letter == 'x' || letter == 'T')
		return 0;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].letter != letter)
			continue;
		if (rows[i].value)
			value = rows[i].value;
		if (rows[i].compares)
			take_operator(&value, &op);
		return rows[i].take(c, rows[i].attribute, value, op);
	}
	return -ENOTSUP;
}
