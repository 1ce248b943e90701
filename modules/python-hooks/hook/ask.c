/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c - questions to the server, as `keelson` asks those of any module.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pbs_error.h>
#include <pbs_ifl.h>

#include "hook_cmd.h"

#define VERB "hook" /* request keelson.hook: ../times.c */

static void lines_free(char **lines)
{
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
}

static int refused(int c)
{
	const char *why = pbs_geterrmsg(c);

	if (pbs_errno == PBSE_UNKREQ)
		return complain("the server runs without module python-hooks, which replies to this: write `python-hooks: { enabled = true; };` "
				"in its modules.d, then `keelson reload`, or restart the daemon");
	return complain("%s", why ? why : "the server refused and did not say why");
}

/* NULL: it was said why. */
static char **ask(char **words)
{
	int c = pbs_connect(NULL);
	char **lines;

	if (c <= 0) {
		complain("cannot connect to the server (errno=%d)", pbs_errno);
		return NULL;
	}
	lines = pbs_admin(c, VERB, words, NULL);
	if (!lines)
		refused(c);
	pbs_disconnect(c);
	return lines;
}

int ask_print(char **words)
{
	char **lines = ask(words);

	if (!lines)
		return 1; /* as keelson(8) says */
	for (char **line = lines; *line; line++)
		puts(*line);
	lines_free(lines);
	return 0;
}

char *ask_file(const char *dir)
{
	char word[] = "tables", *words[] = { word, NULL }, *path;
	char **lines = ask(words);
	struct text text;

	if (!lines)
		return NULL;
	text = (struct text){ lines[0], lines[0] ? strlen(lines[0]) : 0 };
	path = path_of(dir, "tables.json");
	if (file_write(path, &text) != 0) {
		free(path);
		path = NULL;
	}
	lines_free(lines);
	return path;
}
