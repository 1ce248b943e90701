/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - small work on strings.
 */
#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
