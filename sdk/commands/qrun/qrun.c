/* SPDX-License-Identifier: Apache-2.0
 *
 * qrun.c - run jobs now.
 *
 * Without -H the scheduler is asked to run the job; with -H the server takes the vnodes named, and
 * "-H -" those of the reservation or of the last run.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

struct manner {
	const char *location; /* "": the scheduler chooses */
	bool at_once; /* do not wait for the host's answer */
};

/* A node that is not known is named as the user wrote it. */
static const char *subject(int error, const char *id, void *arg)
{
	const struct manner *manner = arg;

	return error == PBSE_UNKNODE && *manner->location ? manner->location : id;
}

static const struct cmd qrun = {
	.name = "qrun",
	.usage = "Usage: qrun [-a] [-H vnode_specification ] job_identifier_list\n"
		 "       qrun [-a] [-H - ] job_identifier_list\n"
		 "       qrun --version\n",
	.usage_exit = 1,
	.unreached = CMD_COULD_NOT_CONNECT,
	.unreached_exit = 2,
	.failed_exit = 2,
	.subject = subject,
};

static int ask(int c, const char *id, void *arg)
{
	const struct manner *manner = arg;

	if (manner->at_once)
		return pbs_asyrunjob(c, id, manner->location, NULL);
	return pbs_runjob(c, id, manner->location, NULL);
}

int main(int argc, char **argv)
{
	struct manner manner = { .location = "" };
	bool bad = false;
	int letter;

	if (cmd_begin(&qrun, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "aH:")) != -1) {
		if (letter == 'a')
			manner.at_once = true;
		else if (letter == 'H' && *optarg)
			manner.location = optarg;
		else
			bad = true;
	}
	if (bad || optind >= argc)
		return cmd_usage(&qrun);
	return cmd_each_job(&qrun, argc - optind, argv + optind, ask, &manner);
}
