/* SPDX-License-Identifier: Apache-2.0
 *
 * attr_list.c - lists of attributes: built from a command line, and found in a status.
 */
#include "attr_list.h"

#include "unquote.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same_resource(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

const char *status_value(const struct batch_status *object, const char *name, const char *resource)
{
	for (const struct attrl *a = object->attribs; a; a = a->next)
		if (strcmp(a->name, name) == 0 && same_resource(a->resource, resource))
			return a->value;
	return NULL;
}

static struct attropl *attribute_get(struct attr_list *l, const char *name, const char *resource)
{
	struct attropl **at;

	for (at = &l->first; *at; at = &(*at)->next)
		if (strcmp((*at)->name, name) == 0 && same_resource((*at)->resource, resource))
			return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->name = strdup(name);
	(*at)->resource = resource ? strdup(resource) : NULL;
	if ((*at)->name && (!resource || (*at)->resource))
		return *at;
	free((*at)->name);
	free((*at)->resource);
	free(*at);
	*at = NULL;
	return NULL;
}

int attr_list_set(struct attr_list *l, const char *name, const char *resource, const char *value)
{
	char *copy = strdup(value);
	struct attropl *a = copy ? attribute_get(l, name, resource) : NULL;

	if (!a) {
		free(copy);
		return -ENOMEM;
	}
	free(a->value);
	a->value = copy;
	a->op = SET;
	return 0;
}

void attr_list_fini(struct attr_list *l)
{
	while (l->first) {
		struct attropl *next = l->first->next;

		free(l->first->name);
		free(l->first->resource);
		free(l->first->value);
		free(l->first);
		l->first = next;
	}
}

/* Returns the end of the value at `text`: a list of words goes on behind a comma but before a name and =. *ret_open: the quote
 * that is not closed, NULL: none. */
static const char *value_end(const char *name, size_t len, const char *text, bool words, const char **ret_open)
{
	const char *open = NULL;

	for (; *text; text++) {
		const char *next = text + 1 + strspn(text + 1, " \t");
		size_t n = resource_name_len(next);

		if (!open && *text == ',' && (words ? n > 0 && next[n] == '=' : !resource_goes_on(name, len, next)))
			break;
		if (open && *text == *open)
			open = NULL;
		else if (!open && (*text == '"' || *text == '\''))
			open = text;
	}
	*ret_open = open;
	return text;
}

static void quotes_remove(char *text)
{
	char quote = '\0', *to = text;

	for (; *text; text++) {
		if (quote && *text == quote)
			quote = '\0';
		else if (!quote && (*text == '"' || *text == '\''))
			quote = *text;
		else
			*to++ = *text;
	}
	*to = '\0';
}

/* Parses one item at *at and moves *at behind it. */
static int item_take(const char **at, bool words, attr_item_fn *fn, void *arg, struct attr_fault *fault)
{
	const char *name, *value, *end, *open;
	size_t len;
	char *n, *v;
	int ret = -ENOMEM;

	*at += strspn(*at, " \t");
	name = *at;
	len = resource_name_len(name);
	value = name + len + (name[len] == '=');
	end = value_end(name, len, value, words, &open);
	if (len == 0 || (name[len] != '=' && (words || (name[len] && name[len] != ','))))
		*fault = (struct attr_fault){ name + len, "illegal character" };
	else if (open)
		*fault = (struct attr_fault){ open, "no closing quote" };
	if (fault->what)
		return -EINVAL;
	n = strndup(name, len);
	v = strndup(value, (size_t)(end - value));
	if (n && v) {
		if (words)
			quotes_remove(v);
		else
			resource_unquote(n, v);
		ret = fn(arg, n, v);
	}
	free(n);
	free(v);
	*at = end;
	return ret;
}

int attr_items(const char *text, bool words, attr_item_fn *fn, void *arg, struct attr_fault *ret_fault)
{
	int ret;

	*ret_fault = (struct attr_fault){ NULL, NULL };
	for (;;) {
		ret = item_take(&text, words, fn, arg, ret_fault);
		if (ret < 0 || *text == '\0')
			return ret;
		text++;
	}
}

struct target {
	struct attr_list *l;
	const char *attribute; /* NULL: the item's name is one */
};

static int item_set(void *arg, const char *name, const char *value)
{
	const struct target *t = arg;

	return t->attribute ? attr_list_set(t->l, t->attribute, name, value) : attr_list_set(t->l, name, NULL, value);
}

int attr_list_items(struct attr_list *l, const char *attribute, const char *text)
{
	struct attr_fault fault;

	return attr_items(text, !attribute, item_set, &(struct target){ l, attribute }, &fault);
}
