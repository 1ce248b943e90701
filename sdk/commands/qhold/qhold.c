/* SPDX-License-Identifier: Apache-2.0
 *
 * qhold.c - put holds on jobs.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qhold = {
	.name = "qhold",
	.usage = "usage: qhold [-h hold_list] job_identifier...\n"
		 "       qhold --version\n",
	.usage_exit = 2,
};

static int ask(int c, const char *id, void *arg)
{
	const char *holds = arg;

	return pbs_holdjob(c, id, holds, NULL);
}

int main(int argc, char **argv)
{
	char user[] = USER_HOLD, *holds = user;
	bool bad = false;
	int letter;

	if (cmd_begin(&qhold, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "h:")) != -1) {
		if (letter != 'h')
			bad = true;
		else if (cmd_holds_ok(optarg))
			holds = optarg;
		else
			bad |= cmd_illegal(&qhold, 'h');
	}
	if (bad || optind >= argc)
		return cmd_usage(&qhold);
	return cmd_each_job(&qhold, argc - optind, argv + optind, ask, holds);
}
