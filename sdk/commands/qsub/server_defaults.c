/* SPDX-License-Identifier: Apache-2.0
 *
 * server_defaults.c - options that the server adds to every submission.
 *
 * They are not requested first: the submission names those it used (none, at first), and a server
 * that has others refuses it. Then they are read, and all settings are collected again.
 */
#include "server_defaults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "words.h"

int server_defaults_take(struct submission *s, const char *text)
{
	int operand, ret;
	bool dashes;
	struct words w;

	ret = words_split(&w, text);
	if (ret < 0) {
		fprintf(stderr, "qsub: the server's default_qsub_arguments cannot be read: %s\n", text);
		return -EINVAL;
	}
	ret = options_read(s, w.n, w.word, FROM_SERVER_DEFAULT, &operand, &dashes);
	words_fini(&w);
	return ret;
}

char *server_defaults_read(int c)
{
	static char name[] = ATTR_dfltqsubargs, empty[] = "";
	struct attrl wanted = { .name = name, .value = empty };
	struct batch_status *server = pbs_statserver(c, &wanted, NULL);
	char *text = NULL;

	if (server != NULL && server->attribs != NULL && server->attribs->value != NULL &&
	    strcmp(server->attribs->name, name) == 0)
		text = strdup(server->attribs->value);
	pbs_statfree(server);
	return text;
}
