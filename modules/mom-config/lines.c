/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.c - see lines.h.
 *
 * A line is a name and, behind blanks, its value; one that is empty or begins with `#` is none.
 */
#include "lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

static void blanks_trim(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && strchr(BLANKS, text[len - 1]))
		text[--len] = '\0';
}

/* `whole` and `words` are two copies of one line; `words` is cut. */
static int line_add(struct lines *l, uint32_t number, char *whole, char *words)
{
	char *name = words + strspn(words, BLANKS), *value;
	struct line *more;

	blanks_trim(whole);
	blanks_trim(name);
	if (*name == '\0' || *name == '#')
		return 0;
	if (l->n == LINES_MAX)
		return -E2BIG;
	more = realloc(l->at, (l->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->at = more;
	value = name + strcspn(name, BLANKS);
	if (*value) {
		*value++ = '\0';
		value += strspn(value, BLANKS);
	}
	l->at[l->n++] = (struct line){ .number = number, .whole = whole + strspn(whole, BLANKS), .name = name, .value = value };
	return 0;
}

int lines_split(struct lines *ret, const char *text)
{
	size_t len = strlen(text) + 1;
	char *whole, *words;
	int r = 0;

	*ret = (struct lines){ .text = malloc(2 * len) };
	if (!ret->text)
		return -ENOMEM;
	whole = memcpy(ret->text, text, len);
	words = memcpy(ret->text + len, text, len);
	for (uint32_t number = 1; r == 0; number++) {
		size_t end = strcspn(whole, "\n");
		bool more = whole[end] == '\n';

		whole[end] = words[end] = '\0';
		r = line_add(ret, number, whole, words);
		if (!more)
			break;
		whole += end + 1;
		words += end + 1;
	}
	if (r < 0)
		lines_free(ret);
	return r;
}

void lines_free(struct lines *lines)
{
	free(lines->at);
	free(lines->text);
	*lines = (struct lines){ .n = 0 };
}
