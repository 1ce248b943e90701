/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c - interactive input: line editing, and a history in a file.
 */
#include "terminal.h"

#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY_LINES 500
#define HISTORY_FILE ".pbs_qmgr_history"

void terminal_init(struct terminal *t, bool is_one)
{
	const char *home = getenv("HOME");

	*t = (struct terminal){ .is_one = is_one };
	if (!is_one)
		return;
	using_history();
	stifle_history(HISTORY_LINES);
	if (home && asprintf(&t->history_file, "%s/" HISTORY_FILE, home) < 0)
		t->history_file = NULL;
	if (t->history_file)
		read_history(t->history_file);
}

void terminal_fini(struct terminal *t)
{
	if (t->history_file)
		write_history(t->history_file);
	free(t->history_file);
	t->history_file = NULL;
}

char *terminal_read(struct terminal *t, FILE *in, const char *prompt)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (t->is_one)
		return readline(prompt);
	n = getline(&line, &size, in);
	if (n < 0) {
		free(line);
		return NULL;
	}
	if (n > 0 && line[n - 1] == '\n')
		line[n - 1] = '\0';
	return line;
}

static void history_show(const char *count)
{
	int n = *count ? atoi(count) : history_length, first = history_length - n;

	if (first < 0)
		first = 0;
	for (int i = first; i < history_length; i++) {
		HIST_ENTRY *entry = history_get(history_base + i);

		if (entry)
			printf("%d\t%s\n", i + 1, entry->line);
	}
}

static bool recall(char **line)
{
	const char *which = *line + 1;
	int n = *which == '!' ? history_length : atoi(which);
	HIST_ENTRY *entry = n > 0 && n <= history_length ? history_get(history_base + n - 1) : NULL;
	char *copy = entry ? strdup(entry->line) : NULL;

	if (!copy) {
		fprintf(stderr, "qmgr: %s: no such command in the history\n", *line);
		return false;
	}
	printf("%s\n", copy);
	free(*line);
	*line = copy;
	return true;
}

bool terminal_command(struct terminal *t, char **line)
{
	size_t n;
	bool shows;

	if (!t->is_one || !**line)
		return false;
	if (**line == '!' && !recall(line))
		return true;
	n = strcspn(*line, " \t");
	shows = n >= 2 && n <= 7 && strncmp("history", *line, n) == 0;
	add_history(*line);
	if (shows)
		history_show(*line + n + strspn(*line + n, " \t"));
	return shows;
}
