/* SPDX-License-Identifier: Apache-2.0
 *
 * arguments.c - words as one string from which they can be split again.
 */
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>

static void put_escaped(FILE *out, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		default:
			fputc(*text, out);
			break;
		}
	}
}

char *arguments_encode(const char *tag, char *const *words, int n)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	for (int i = 0; i < n; i++) {
		fprintf(out, "<jsdl-hpcpa:%s>", tag);
		put_escaped(out, words[i]);
		fprintf(out, "</jsdl-hpcpa:%s>", tag);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
