/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c - the attributes of objects as text.
 */
#include <string.h>

#include "run.h"

#define LINE_WIDTH 80

static const char *const titles[MGR_OBJ_LAST] = {
	[MGR_OBJ_SERVER] = "Server", [MGR_OBJ_QUEUE] = "Queue", [MGR_OBJ_NODE] = "Node", [MGR_OBJ_RSC] = "Resource",
	[MGR_OBJ_SCHED] = "Sched",   [MGR_OBJ_HOOK] = "Hook",	 [MGR_OBJ_PBS_HOOK] = "Hook",
};

/* Items of a comma list up to the column; the first that passes it and each one after it begin a
 * line of their own. */
static void value_print(const char *value, size_t column)
{
	const char *item = value;

	while (*item) {
		size_t len = strcspn(item, ",");

		len += item[len] == ',';
		column += len;
		if (column > LINE_WIDTH && item != value)
			fputs("\n\t", stdout);
		for (; len > 0; item++, len--) /* what is not printable as ^X */
			if ((unsigned char)*item < ' ' && *item != '\t')
				printf("^%c", *item ^ 0x40);
			else
				putchar(*item);
	}
	putchar('\n');
}

static void attribute_print(const struct attrl *a, void *arg)
{
	int n;

	(void)arg;
	if (a->resource && *a->resource)
		n = printf("    %s.%s = ", a->name, a->resource);
	else
		n = printf("    %s = ", a->name);
	value_print(a->value ? a->value : "", n > 0 ? (size_t)n : 0);
}

static void object_print(const struct batch_status *object, void *arg)
{
	const struct command *q = arg;

	printf("%s %s\n", titles[q->object], object->name);
	attributes_each(object, q->attributes, attribute_print, NULL);
	putchar('\n');
}

int list_run(struct session *s, const struct command *q, const struct target *t)
{
	return objects_each(s, t, q->object, q->attributes, object_print, (void *)q);
}
