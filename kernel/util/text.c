/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - small work on strings.
 */
#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t"

char *text_format(const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	return len < 0 ? NULL : text;
}

char *path_join(const char *dir, const char *name)
{
	size_t len = strlen(dir);

	if (name[0] == '/' || len == 0)
		return strdup(name);
	return text_format("%s%s%s", dir, dir[len - 1] == '/' ? "" : "/", name);
}

/* The next item of a comma list: *at moves behind it. False at the end. */
static bool item_next(const char **at, const char **ret_item, size_t *ret_len)
{
	while (**at != '\0') {
		const char *item = *at + strspn(*at, BLANKS);
		size_t len = strcspn(item, ",");

		*at = item + len + (item[len] == ',');
		while (len > 0 && strchr(BLANKS, item[len - 1]) != NULL)
			len--;
		if (len == 0)
			continue;
		*ret_item = item;
		*ret_len = len;
		return true;
	}
	return false;
}

char **list_split(const char *text, size_t *ret_n)
{
	const char *at = text, *item;
	size_t len, n = 0, bytes = 0, i = 0;
	char **list, *copy;

	while (item_next(&at, &item, &len)) {
		n++;
		bytes += len + 1;
	}
	list = malloc((n + 1) * sizeof(*list) + bytes);
	if (list == NULL)
		return NULL;
	copy = (char *)(list + n + 1);
	for (at = text; item_next(&at, &item, &len); copy += len + 1) {
		memcpy(copy, item, len);
		copy[len] = '\0';
		list[i++] = copy;
	}
	list[n] = NULL;
	if (ret_n != NULL)
		*ret_n = n;
	return list;
}

bool list_has(const char *list, const char *word)
{
	const char *item;
	size_t len, wanted = strlen(word);

	while (item_next(&list, &item, &len))
		if (len == wanted && memcmp(item, word, len) == 0)
			return true;
	return false;
}
