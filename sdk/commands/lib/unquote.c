/* SPDX-License-Identifier: Apache-2.0
 *
 * unquote.c - see unquote.h.
 */
#include "unquote.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool needs_quotes(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(":+=,\"' \t()", at[i]) != NULL)
			return true;
	return len == 0;
}

/* Returns whether one pair of quotes holds the whole value. */
static bool is_wrapped(const char *value)
{
	size_t len = strlen(value);

	return len > 1 && (*value == '"' || *value == '\'') && strchr(value + 1, *value) == value + len - 1;
}

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
	bool all = strcmp(name, "select") != 0 || is_wrapped(value);
	char *to = value;

	for (const char *at = value; *at != '\0';) {
		const char *end = *at == '"' || *at == '\'' ? strchr(at + 1, *at) : NULL;
		bool keep = end != NULL && !all && needs_quotes(at + 1, (size_t)(end - at) - 1);
		size_t len = end == NULL ? 1 : (size_t)(end - at) - 1;

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
