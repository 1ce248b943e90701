/* SPDX-License-Identifier: Apache-2.0
 *
 * option_resources.c - "-l name[=value][,name[=value]...]".
 *
 * Quotes (" or ') protect a comma, and preempt_targets may have some without; they are removed, except where a value
 * inside select needs them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "unquote.h"

/* Prints the error, and a mark under its place. */
static int complain(const char *list, const char *at, const char *what)
{
	fprintf(stderr, "qsub: illegal -l value\n <%s>:\n%s\n%*s^\n", what, list,
		(int)(at - list), "");
	return -EALREADY;
}

/* Length of a value up to a comma that ends it; *ret_open: a quote was not closed. */
static size_t value_len(const char *name, size_t len, const char *at, const char **ret_open)
{
	const char *open = NULL;
	size_t n;

	for (n = 0; at[n] != '\0' &&
		    (open != NULL || at[n] != ',' || resource_goes_on(name, len, at + n + 1)); n++) {
		if (open != NULL && at[n] == *open)
			open = NULL;
		else if (open == NULL && (at[n] == '"' || at[n] == '\''))
			open = at + n;
	}
	*ret_open = open;
	return n;
}

static int set(struct submission *s, const char *name, size_t len, const char *value, size_t size,
	       enum source source)
{
	char *n = strndup(name, len), *v = strndup(value, size);
	int ret = n == NULL || v == NULL ? -ENOMEM : 0;

	if (ret == 0) {
		resource_unquote(n, v);
		ret = submission_set(s, ATTR_l, n, v, source);
	}
	free(n);
	free(v);
	return ret;
}

/* Parses one "name[=value]" at *at and moves *at behind it. */
static int item_take(struct submission *s, const char *list, const char **at, enum source source)
{
	const char *name, *open = NULL;
	size_t len, size = 0;
	int ret;

	*at += strspn(*at, " \t");
	name = *at;
	len = resource_name_len(name);
	if (len == 0 || (name[len] != '=' && name[len] != ',' && name[len] != '\0'))
		return complain(list, name + len, "illegal character");
	*at = name + len;
	if (**at == '=')
		size = value_len(name, len, ++*at, &open);
	if (open != NULL)
		return complain(list, open, "no closing quote");
	ret = set(s, name, len, *at, size, source);
	*at += size;
	return ret;
}

int option_resources(struct submission *s, const char *value, enum source source)
{
	const char *at = value;
	int ret;

	for (;;) {
		ret = item_take(s, value, &at, source);
		if (ret < 0 || *at == '\0')
			return ret;
		at++;
	}
}
