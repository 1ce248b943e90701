/* SPDX-License-Identifier: Apache-2.0
 *
 * pbsfs.c - shares and usage of fairshare: shown and changed.
 *
 * Each option is one verb of the server's request; it answers in lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"

#define FAILED 1

static const struct cmd pbsfs = {
	.name = "pbsfs",
	.usage = "Usage: pbsfs [-I sched] [-p | -t | -d | -e]\n"
		 "       pbsfs [-I sched] -g entity | -s entity usage | -c entity entity\n"
		 "       pbsfs --version\n",
	.usage_exit = 1,
};

/* Letters, verbs, how many words they take. */
static const struct verb {
	char letter;
	int args;
	const char *name;
} verbs[] = {
	{ 'p', 0, "print" }, { 't', 0, "tree" }, { 'd', 0, "decay" },	{ 'e', 0, "trim" },
	{ 'g', 1, "get" },   { 's', 2, "set" },	 { 'c', 2, "compare" },
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static int refused(int c)
{
	const char *text = cmd_error_text(c);

	if (reach_unknown(c) || pbs_errno == PBSE_NOSUP)
		text = "fairshare is not there: the server's module is switched off";
	fprintf(stderr, "pbsfs: %s\n", text ? text : "the server refused and did not say why");
	return FAILED;
}

static int verb_request(const struct verb *verb, char **args)
{
	char request[] = "fairshare", *words[4] = { NULL, NULL, NULL, NULL };
	int c = pbs_connect(NULL), status = 0;
	char **lines;

	if (c <= 0 && pbs_geterrmsg(c)) {
		fprintf(stderr, "pbsfs: %s\n", pbs_geterrmsg(c));
		return FAILED;
	}
	if (c <= 0) {
		fprintf(stderr, "pbsfs: cannot connect to server %s (errno=%d)\n", reach_default_name(),
			pbs_errno);
		return FAILED;
	}
	words[0] = (char *)(uintptr_t)verb->name;
	for (int i = 0; i < verb->args; i++)
		words[i + 1] = args[i];
	lines = pbs_admin(c, request, words, NULL);
	if (lines)
		cmd_lines_print(lines);
	else
		status = refused(c);
	pbs_disconnect(c);
	return status;
}

int main(int argc, char **argv)
{
	const struct verb *verb = NULL, *one;
	bool bad = false;
	int letter;

	if (cmd_begin(&pbsfs, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "+ptdegscI:")) != -1) {
		if (letter == 'I')
			continue; /* there is one tree, whatever scheduler looks at it */
		for (one = verbs; one < verbs + N_VERBS && one->letter != letter;)
			one++;
		bad |= one == verbs + N_VERBS || verb;
		verb = one;
	}
	if (!verb)
		verb = &verbs[0];
	if (bad || argc - optind != verb->args)
		return cmd_usage(&pbsfs);
	return verb_request(verb, argv + optind);
}
