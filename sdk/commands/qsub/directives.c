/* SPDX-License-Identifier: Apache-2.0
 *
 * directives.c - options written in the script.
 *
 * The scan ends at the first line that would be executed: not empty, and beginning neither with ':'
 * nor with '#'. A directive that ends in '\' continues in the next line; in the script that is sent they are one.
 */
#include "directives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "words.h"

int directive_read(struct submission *s, const char *options, enum source source)
{
	int operand, ret;
	bool dashes;
	struct words w;

	ret = words_split(&w, options);
	if (ret < 0) {
		fprintf(stderr, "qsub: directive error: %s \n", options);
		return -EINVAL;
	}
	ret = options_read(s, w.n, w.word, source, &operand, &dashes);
	if (ret < 0 || operand < w.n) {
		fputs("qsub: directive error: ", stderr);
		for (int i = 1; i < w.n; i++)
			fprintf(stderr, "%s ", w.word[i]);
		fputc('\n', stderr);
		ret = -EINVAL;
	}
	words_fini(&w);
	return ret;
}

/* Joins the line at `at`, in the script, with its continuation lines, which a shell would run as commands. A
 * continuation line may repeat the prefix. Returns the length of the line. */
static size_t line_join(struct script *script, char *at, const char *prefix)
{
	size_t len = strcspn(at, "\n");

	while (len > 0 && at[len - 1] == '\\' && at[len] == '\n') {
		char *next = at + len + 1;

		if (strncmp(next, prefix, strlen(prefix)) == 0)
			next += strlen(prefix);
		memmove(at + len - 1, next, (size_t)(script->text + script->len - next) + 1);
		script->len -= (size_t)(next - (at + len - 1));
		len = strcspn(at, "\n");
	}
	return len;
}

/* The directive at `at`, behind its prefix, as one line; *ret_len is that of the line. */
static int directive_take(struct submission *s, struct script *script, char *at, const char *prefix,
			  size_t *ret_len)
{
	char *options;
	int ret;

	*ret_len = line_join(script, at, prefix);
	options = strndup(at, *ret_len);
	if (options == NULL) {
		fprintf(stderr, "qsub: out of memory\n");
		return -EINVAL;
	}
	if (*ret_len > 0 && options[*ret_len - 1] == '\\')
		options[*ret_len - 1] = '\0'; /* there is no next line */
	ret = directive_read(s, options, FROM_DIRECTIVE);
	free(options);
	return ret;
}

int directives_read(struct submission *s, struct script *script, const char *prefix)
{
	size_t len, prefix_len = strlen(prefix);
	char *at = script->text;
	int ret = 0;

	if (prefix_len == 0)
		return 0;
	while (*at != '\0' && ret == 0) {
		char *line = at + strspn(at, " \t");

		if (strncmp(line, prefix, prefix_len) == 0) {
			at = line + prefix_len;
			ret = directive_take(s, script, at, prefix, &len);
		} else if (*line != '\n' && *line != '\0' && *line != ':' && *line != '#') {
			break; /* a shell would run it */
		} else {
			at = line;
			len = strcspn(at, "\n");
		}
		at += len + (at[len] == '\n');
	}
	return ret;
}
