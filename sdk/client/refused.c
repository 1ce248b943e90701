/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.c - the attributes with errors found before sending, with the error of each.
 */
#include "refused.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void attribute_free(struct attropl *a)
{
	if (a == NULL)
		return;
	free(a->name);
	free(a->resource);
	free(a->value);
	free(a);
}

static char *copy(const char *text)
{
	return text == NULL ? NULL : strdup(text);
}

static struct attropl *attribute_copy(const struct attropl *from)
{
	struct attropl *to = calloc(1, sizeof(*to));

	if (to == NULL)
		return NULL;
	to->op = from->op;
	to->name = copy(from->name);
	to->resource = copy(from->resource);
	to->value = copy(from->value);
	return to;
}

int refused_add(struct ecl_attribute_errors **list, const struct attropl *attribute, int code,
		const char *text)
{
	struct ecl_attribute_errors *l = *list;
	struct ecl_attrerr *grown;
	struct attropl *kept;

	if (l == NULL && (l = *list = calloc(1, sizeof(*l))) == NULL)
		return -ENOMEM;
	grown = realloc(l->ecl_attrerr, ((size_t)l->ecl_numerrors + 1) * sizeof(*grown));
	if (grown == NULL)
		return -ENOMEM;
	l->ecl_attrerr = grown;
	kept = attribute_copy(attribute);
	if (kept == NULL)
		return -ENOMEM;
	grown[l->ecl_numerrors++] = (struct ecl_attrerr){
		.ecl_attribute = kept,
		.ecl_errcode = code,
		.ecl_errmsg = copy(text),
	};
	return 0;
}

void refused_free(struct ecl_attribute_errors *list)
{
	if (list == NULL)
		return;
	for (int i = 0; i < list->ecl_numerrors; i++) {
		attribute_free(list->ecl_attrerr[i].ecl_attribute);
		free(list->ecl_attrerr[i].ecl_errmsg);
	}
	free(list->ecl_attrerr);
	free(list);
}
