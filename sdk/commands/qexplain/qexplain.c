/* SPDX-License-Identifier: Apache-2.0
 *
 * qexplain.c - why a job does not start: all checks, with numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qexplain = {
	.name = "qexplain",
	.usage = "usage: qexplain job_identifier...\n"
		 "       qexplain --version\n",
	.usage_exit = 2,
};

static int job_request(int c, const char *id, void *arg)
{
	char *copy = strdup(id), *args[] = { copy, NULL };
	char **lines = copy ? pbs_admin(c, "explain", args, NULL) : NULL;

	(void)arg;
	free(copy);
	if (!lines)
		return pbs_errno ? pbs_errno : 1;
	cmd_lines_print(lines);
	return 0;
}

int main(int argc, char **argv)
{
	if (cmd_begin(&qexplain, argc, argv))
		return 0;
	if (getopt(argc, argv, "") != -1 || optind >= argc)
		return cmd_usage(&qexplain);
	return cmd_each_job(&qexplain, argc - optind, argv + optind, job_request, NULL);
}
