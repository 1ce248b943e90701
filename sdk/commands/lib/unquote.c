/* SPDX-License-Identifier: Apache-2.0
 *
 * unquote.c - see unquote.h.
 */
#include "unquote.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

size_t resource_name_len(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
		n++;
	return n;
}

void resource_unquote(const char *name, char *value)
{
	const char *wrapped = *value == '"' || *value == '\'' ? strchr(value + 1, *value) : NULL;
	bool all = strcmp(name, "select") != 0 || (wrapped != NULL && wrapped[1] == '\0');
	char *to = value;

	for (const char *at = value; *at != '\0';) {
		const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
		size_t len = end == NULL ? 1 : (size_t)(end - at) - 1;
		/* an empty text, and one with a character that has a meaning, keeps its quotes */
		bool keep = end != NULL && !all && (len == 0 || strcspn(at + 1, ":+=,\"' \t()") < len);

		if (keep)
			len += 2;
		memmove(to, at + (end != NULL && !keep), len);
		to += len;
		at = end == NULL ? at + 1 : end + 1;
	}
	*to = '\0';
}

bool resource_goes_on(const char *name, size_t len, const char *next)
{
	static const char targets[] = "preempt_targets";

	next += strspn(next, " \t");
	return len == strlen(targets) && strncasecmp(name, targets, len) == 0 &&
	       (strncasecmp(next, "queue=", 6) == 0 || strncmp(next, "Resource_List.", 14) == 0);
}
