/* SPDX-License-Identifier: Apache-2.0
 *
 * server_defaults.c - options that the server adds to every submission.
 */
#include "server_defaults.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "words.h"

static int options_take(struct submission *s, const char *text)
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

int server_defaults_read(struct submission *s, int c)
{
	static char name[] = ATTR_dfltqsubargs, empty[] = "";
	struct attrl wanted = { .name = name, .value = empty };
	struct batch_status *server = pbs_statserver(c, &wanted, NULL);
	int ret = 0;

	if (server != NULL && server->attribs != NULL && server->attribs->value != NULL &&
	    strcmp(server->attribs->name, name) == 0)
		ret = options_take(s, server->attribs->value);
	pbs_statfree(server);
	return ret;
}
