/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.c - the attributes with errors found before sending, with the error of each.
 */
#include "refused.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
	return text == NULL ? NULL : strdup(text);
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
	kept = calloc(1, sizeof(*kept));
	if (kept == NULL)
		return -ENOMEM;
	kept->op = attribute->op;
	kept->name = copy(attribute->name);
	kept->resource = copy(attribute->resource);
	kept->value = copy(attribute->value);
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
		struct attropl *a = list->ecl_attrerr[i].ecl_attribute;

		free(a->name);
		free(a->resource);
		free(a->value);
		free(a);
		free(list->ecl_attrerr[i].ecl_errmsg);
	}
	free(list->ecl_attrerr);
	free(list);
}
