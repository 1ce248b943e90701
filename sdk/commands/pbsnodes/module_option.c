/* SPDX-License-Identifier: Apache-2.0
 *
 * module_option.c - options of modules: "pbsnodes --OPTION [-C comment] NODE...".
 *
 * Sends one request for each node; the module does the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "manifest.h"
#include "pbsnodes.h"
#include "reach.h"

struct call {
	const struct manifest *option;
	const char *comment, *server;
	bool quiet;
	char **names; /* into argv */
	int n;
};

static void help(const struct manifest *list, int n, FILE *out)
{
	int i;

	for (i = 0; i < n; i++)
		fprintf(out, "\tpbsnodes --%s%s\n\t\t%s%s%s%s\n", list[i].option,
			list[i].takes_operands ? " [-C comment] node node ..." : "", list[i].help,
			list[i].privilege[0] ? " (" : "", list[i].privilege,
			list[i].privilege[0] ? ")" : "");
}

/* Moves operands to the front of argv. Returns 0 or -1. */
static int read_words(int argc, char **argv, const char *option, struct call *call)
{
	const char **value;
	int i;

	call->names = argv + 1;
	for (i = 1; i < argc; i++) {
		if (argv[i] == option)
			continue;
		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			call->names[call->n++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "-q") == 0) {
			call->quiet = true;
			continue;
		}
		value = argv[i][1] == 'C' ? &call->comment :
			argv[i][1] == 's' ? &call->server : NULL;
		if (!value || (argv[i][2] == '\0' && i + 1 == argc))
			return -1;
		*value = argv[i][2] ? argv[i] + 2 : argv[++i];
	}
	return call->option->takes_operands == (call->n > 0) ? 0 : -1;
}

/* Returns the error, or 0. */
static int node_request(const struct call *call, int c, char *node)
{
	char *args[] = { node, node ? (char *)call->comment : NULL, NULL };
	char **lines = pbs_admin(c, call->option->request, args, NULL);
	const char *text = lines ? NULL : pbs_geterrmsg(c), *name = node ? node : "";
	int error = lines ? 0 : pbs_errno;

	if (error != 0 && !call->quiet && text && *text)
		fprintf(stderr, "pbsnodes: %s%s%s\n", text, *name ? " " : "", name);
	else if (error != 0 && !call->quiet)
		fprintf(stderr, "pbsnodes: Server returned error %d for %s\n", error, name);
	cmd_lines_print(lines);
	fflush(stdout);
	return error;
}

static int run(const struct call *call)
{
	int c = reach_connect(call->server), error, last = 0, i;

	if (c < 0) {
		fprintf(stderr, "pbsnodes: cannot connect to server %s, error=%d\n",
			*call->server ? call->server : reach_default_name(), pbs_errno);
		return 1;
	}
	if (!call->option->takes_operands)
		last = node_request(call, c, NULL);
	for (i = 0; i < call->n; i++) {
		error = node_request(call, c, call->names[i]);
		last = error ? error : last;
	}
	pbs_disconnect(c);
	return reach_exit_status(last);
}

void module_options_help(void)
{
	struct manifest *list;
	int n = manifest_read("pbsnodes", &list);

	help(list, n, stdout);
	free(list);
}

int module_option(int argc, char **argv)
{
	const char *option;
	struct call call = { .server = "" };
	struct manifest *list;
	int n, status = -1, i = 1;

	while (i < argc && strncmp(argv[i], "--", 2) != 0)
		i++;
	if (i >= argc || argv[i][2] == '\0')
		return -1;
	option = argv[i];
	n = manifest_read("pbsnodes", &list);
	call.option = n > 0 ? manifest_find(list, n, option) : NULL;
	if (call.option && read_words(argc, argv, option, &call) == 0)
		status = run(&call);
	else if (!call.option && strcmp(option, "--help") != 0)
		fprintf(stderr, "pbsnodes: unrecognized option '%s'\n", option);
	if (status < 0) {
		status = misuse();
		help(list, n, stderr);
	}
	free(list);
	return status;
}
