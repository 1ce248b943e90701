/* SPDX-License-Identifier: Apache-2.0
 *
 * directives.c - options written in the script.
 *
 * The scan ends at the first line that would be executed: not empty, and beginning neither with ':'
 * nor with '#'. A directive that ends in '\' goes on in the next line.
 */
#include "directives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "words.h"

static int complain(const struct words *w)
{
	fputs("qsub: directive error: ", stderr);
	for (int i = 1; i < w->n; i++)
		fprintf(stderr, "%s ", w->word[i]);
	fputc('\n', stderr);
	return -EINVAL;
}

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
	if (ret < 0 || operand < w.n)
		ret = complain(&w);
	words_fini(&w);
	return ret;
}

/* Copy the line at *at, joined with those it goes on in, to `line`; *at moves behind. A line that it
 * goes on in may repeat the prefix, so that a shell takes it for a comment too. */
static void line_join(const char **at, const char *prefix, char *line)
{
	for (;;) {
		size_t len = strcspn(*at, "\n");
		bool goes_on = len > 0 && (*at)[len - 1] == '\\';
		bool more = (*at)[len] == '\n';

		memcpy(line, *at, len);
		line += len - (goes_on ? 1 : 0);
		*at += len + (more ? 1 : 0);
		if (!goes_on || !more)
			break;
		if (strncmp(*at, prefix, strlen(prefix)) == 0)
			*at += strlen(prefix);
	}
	*line = '\0';
}

/* Is the line at `at` one that a shell would run? */
static bool is_executable(const char *at)
{
	return *at != '\n' && *at != '\0' && *at != ':' && *at != '#';
}

static int scan(struct submission *s, const char *at, const char *prefix, char *scratch)
{
	size_t len = strlen(prefix);
	int ret = 0;

	while (*at != '\0' && ret == 0) {
		const char *line = at + strspn(at, " \t");

		if (strncmp(line, prefix, len) == 0) {
			at = line + len;
			line_join(&at, prefix, scratch);
			ret = directive_read(s, scratch, FROM_DIRECTIVE);
		} else if (is_executable(line)) {
			break;
		} else {
			at = line + strcspn(line, "\n");
			at += *at == '\n' ? 1 : 0;
		}
	}
	return ret;
}

int directives_read(struct submission *s, const char *text, const char *prefix)
{
	char *scratch;
	int ret;

	if (*prefix == '\0')
		return 0;
	scratch = malloc(strlen(text) + 1);
	if (scratch == NULL) {
		fprintf(stderr, "qsub: out of memory\n");
		return -EINVAL;
	}
	ret = scan(s, text, prefix, scratch);
	free(scratch);
	return ret;
}
