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

/* Returns whether the value of `name` ends at the comma: a list of words does only before a name and =. */
static bool comma_ends(const char *name, size_t len, const char *comma, bool words)
{
	const char *next = comma + 1 + strspn(comma + 1, " \t");
	size_t n = resource_name_len(next);

	return words ? n > 0 && next[n] == '=' : !resource_goes_on(name, len, next);
}

/* Returns the end of the value at `text`. NULL: a quote is not closed. */
static const char *value_end(const char *name, size_t len, const char *text, bool words)
{
	char quote = '\0';

	for (; *text; text++) {
		if (quote) {
			quote = *text == quote ? '\0' : quote;
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
		} else if (*text == ',' && comma_ends(name, len, text, words)) {
			break;
		}
	}
	return quote ? NULL : text;
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

/* Parses one item at *at and moves *at behind it. `attribute` NULL: the item's name is an attribute. */
static int item_take(struct attr_list *l, const char *attribute, const char **at)
{
	const char *name, *value, *end;
	char *n, *v;
	size_t len;
	int ret = -ENOMEM;

	*at += strspn(*at, " \t");
	name = *at;
	len = resource_name_len(name);
	value = name + len + (name[len] == '=');
	if (len == 0 || (name[len] != '=' && (!attribute || (name[len] && name[len] != ','))))
		return -EINVAL;
	end = value_end(name, len, value, !attribute);
	if (!end)
		return -EINVAL;
	n = strndup(name, len);
	v = strndup(value, (size_t)(end - value));
	if (n && v) {
		if (attribute)
			resource_unquote(n, v);
		else
			quotes_remove(v);
		ret = attr_list_set(l, attribute ? attribute : n, attribute ? n : NULL, v);
	}
	free(n);
	free(v);
	*at = end;
	return ret;
}

static int items_take(struct attr_list *l, const char *attribute, const char *text)
{
	int ret;

	for (;;) {
		ret = item_take(l, attribute, &text);
		if (ret < 0 || *text == '\0')
			return ret;
		text++;
	}
}

int attr_list_resources(struct attr_list *l, const char *attribute, const char *text)
{
	return items_take(l, attribute, text);
}

int attr_list_words(struct attr_list *l, const char *text)
{
	return items_take(l, NULL, text);
}
