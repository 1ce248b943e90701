/* SPDX-License-Identifier: Apache-2.0
 *
 * qrerun.c - put running jobs back into their queue.
 */
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qrerun = {
	.name = "qrerun",
	.usage = "usage: qrerun [-W force] job_identifier...\n"
		 "       qrerun --version\n",
	.usage_exit = 2,
};

static int job_request(int c, const char *id, void *arg)
{
	const char *extend = arg;

	return pbs_rerunjob(c, id, extend);
}

int main(int argc, char **argv)
{
	bool bad = false;
	char *extend = NULL;
	int letter;

	if (cmd_begin(&qrerun, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "W:")) != -1) {
		if (letter != 'W')
			bad = true;
		else if (strcmp(optarg, FORCE) == 0)
			extend = optarg;
		else
			bad |= cmd_illegal(&qrerun, 'W');
	}
	if (bad || optind >= argc)
		return cmd_usage(&qrerun);
	return cmd_each_job(&qrerun, argc - optind, argv + optind, job_request, extend);
}
