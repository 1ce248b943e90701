/* SPDX-License-Identifier: Apache-2.0
 *
 * qmove.c - move jobs to another queue or server.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qmove = {
	.name = "qmove",
	.usage = "usage: qmove destination job_identifier...\n"
		 "       qmove --version\n",
	.usage_exit = 2,
};

static int job_request(int c, const char *id, void *arg)
{
	const char *destination = arg;

	return pbs_movejob(c, id, destination, NULL);
}

int main(int argc, char **argv)
{
	struct operand destination;
	bool bad = false;

	if (cmd_begin(&qmove, argc, argv))
		return 0;
	while (getopt(argc, argv, "") != -1)
		bad = true;
	if (bad || argc - optind < 2)
		return cmd_usage(&qmove);
	if (operand_destination(argv[optind], &destination) < 0) {
		cmd_bad_destination(&qmove, argv[optind]);
		return 2;
	}
	return cmd_each_job(&qmove, argc - optind - 1, argv + optind + 1, job_request, argv[optind]);
}
