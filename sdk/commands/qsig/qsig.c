/* SPDX-License-Identifier: Apache-2.0
 *
 * qsig.c - send a signal to jobs.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qsig = {
	.name = "qsig",
	.usage = "usage: qsig [-s signal] job_identifier...\n"
		 "       qsig --version\n",
	.usage_exit = 2,
};

static int job_request(int c, const char *id, void *arg)
{
	const char *signal = arg;

	return pbs_sigjob(c, id, signal, NULL);
}

int main(int argc, char **argv)
{
	char term[] = "SIGTERM", *signal = term;
	bool bad = false;
	int letter;

	if (cmd_begin(&qsig, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "s:")) != -1) {
		if (letter == 's')
			signal = optarg;
		else
			bad = true;
	}
	if (bad || optind >= argc)
		return cmd_usage(&qsig);
	return cmd_each_job(&qsig, argc - optind, argv + optind, job_request, signal);
}
