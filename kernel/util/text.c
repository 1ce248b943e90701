/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - small work on strings.
 */
#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
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

uint64_t bytes_hash(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(1099511628211);
	return hash;
}

/* Returns the next item of a comma list and moves *at behind it. False at the end. */
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

bool list_has(const char *list, const char *word)
{
	const char *item;
	size_t len, wanted = strlen(word);

	while (item_next(&list, &item, &len))
		if (len == wanted && memcmp(item, word, len) == 0)
			return true;
	return false;
}
