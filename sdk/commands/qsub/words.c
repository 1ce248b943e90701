/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - an option string as words.
 */
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n\v\f\r"

static char program[] = "qsub";

int word_copy(const char **at, char **out, const char *ends)
{
	char quote = '\0';

	for (; **at != '\0' && (quote != '\0' || strchr(ends, **at) == NULL); ++*at) {
		if (**at == '\\' && (*at)[1] != '\0')
			*(*out)++ = *++*at;
		else if (quote == '\0' && (**at == '"' || **at == '\''))
			quote = **at;
		else if (quote != '\0' && **at == quote)
			quote = '\0';
		else
			*(*out)++ = **at;
	}
	*(*out)++ = '\0';
	return quote == '\0' ? 0 : -EINVAL;
}

static int words_read(struct words *w, const char *at)
{
	char *out = w->bytes;
	int ret;

	for (;;) {
		at += strspn(at, BLANKS);
		if (*at == '\0')
			return 0;
		if (w->n > WORDS_MAX)
			return -E2BIG;
		w->word[w->n++] = out;
		ret = word_copy(&at, &out, BLANKS);
		if (ret < 0)
			return ret;
	}
}

int words_split(struct words *w, const char *text)
{
	int ret;

	*w = (struct words){ .n = 1, .word = { program } };
	w->bytes = malloc(strlen(text) + 2);
	if (w->bytes == NULL)
		return -ENOMEM;
	ret = words_read(w, text);
	if (ret < 0)
		words_fini(w);
	return ret;
}

void words_fini(struct words *w)
{
	free(w->bytes);
	w->bytes = NULL;
	w->n = 0;
}
