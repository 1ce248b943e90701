/* SPDX-License-Identifier: Apache-2.0
 *
 * action.c - an action of a host, parsed; run by chore.c.
 */
#include "action.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_S 86400

static char **words_join(char *const *word, size_t n)
{
	size_t size = (n + 1) * sizeof(char *), i;
	char **all, *to;

	for (i = 0; i < n; i++)
		size += strlen(word[i]) + 1;
	all = calloc(1, size);
	to = all ? (char *)(all + n + 1) : NULL;
	for (i = 0; all && i < n; i++) {
		all[i] = to;
		to = stpcpy(to, word[i]) + 1;
	}
	return all;
}

char **action_parse(const char *line, const struct action_word *words, int64_t *ret_ms)
{
	char *copy = strdup(line), *rest = NULL, *save = NULL, *word;
	char **found = calloc(strlen(line) / 2 + 1, sizeof(*found));
	long seconds = copy ? strtol(copy, &rest, 10) : -1;
	char **argv = NULL;
	const struct action_word *w;
	size_t n = 0;

	if (copy && found && rest != copy && seconds > 0 && seconds <= LONGEST_S && strspn(rest, " \t") > 0) {
		rest += strspn(rest, " \t");
		word = *rest == '!' ? strtok_r(rest + 1, " \t", &save) : NULL;
		for (; word; word = strtok_r(NULL, " \t", &save)) {
			for (w = words; *word == '%' && w && w->name && strcmp(word + 1, w->name) != 0; w++)
				;
			found[n++] = *word == '%' && w && w->name ? (char *)(w->value ? w->value : "") : word;
		}
		if (n && found[0][0] == '/')
			argv = words_join(found, n);
		*ret_ms = seconds * 1000;
	}
	free(found);
	free(copy);
	return argv;
}
