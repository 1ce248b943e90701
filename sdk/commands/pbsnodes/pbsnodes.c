/* SPDX-License-Identifier: Apache-2.0
 *
 * pbsnodes.c - list hosts and vnodes, and mark them.
 */
#include "pbsnodes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reach.h"

static const char usage[] =
	"usage:\tpbsnodes [-{o|r}][-C comment][-s server] host host ...\n"
	"\tpbsnodes -l [-s server]\n"
	"\tpbsnodes [-s server] -v vnode vnode ...\n"
	"\tpbsnodes -a[v][S[j][L]][-F format][-D delim][-s server]\n"
	"\tpbsnodes -[H][S[j][L]][-F format][-D delim] host host ...\n"
	"\tpbsnodes --version\n"
	"\n";

int misuse(void)
{
	fputs(usage, stderr);
	return 1;
}

static int run_listing(int c, const struct options *opt, char **names, int n)
{
	struct nodes l = { .opt = opt, .c = c, .default_server = reach_default_name() };
	int status, error;

	if (out_init(&l.out, STDOUT_FILENO) < 0 ||
	    show_init(&l.show, &l.out, opt->format == FORMAT_TEXT) < 0) {
		fprintf(stderr, "pbsnodes: out of memory\n");
		return 1;
	}
	names_init(&l.seen, false);
	json_show_init(&l.json_show, &l.json, &l.show);
	status = list_nodes(&l, names, n);
	json_show_fini(&l.json_show);
	names_fini(&l.seen);
	show_fini(&l.show);
	error = out_fini(&l.out);
	if (error < 0) {
		fprintf(stderr, "pbsnodes: cannot write the listing: %s\n", strerror(-error));
		status = 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options opt;
	int first, c, status;

	if (reach_asked(argc, argv, usage)) {
		if (strcmp(argv[1], "--help") == 0)
			module_options_help();
		return 0;
	}
	argv[0] = (char *)"pbsnodes";
	status = module_option(argc, argv);
	if (status >= 0)
		return status;
	if (options_read(argc, argv, &opt, &first) < 0)
		return misuse();
	c = reach_connect(opt.server);
	if (c < 0) {
		fprintf(stderr, "pbsnodes: cannot connect to server %s, error=%d\n",
			*opt.server ? opt.server : reach_default_name(), pbs_errno);
		return 1;
	}
	if (opt.mark != MARK_NONE)
		status = mark_nodes(c, &opt, argv + first, argc - first);
	else
		status = run_listing(c, &opt, argv + first, argc - first);
	pbs_disconnect(c);
	return status;
}
