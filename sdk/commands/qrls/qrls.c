/* SPDX-License-Identifier: Apache-2.0
 *
 * qrls.c - take holds off jobs.
 */
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qrls = {
	.name = "qrls",
	.usage = "usage: qrls [-h hold_list] job_identifier...\n"
		 "       qrls --version\n",
	.usage_exit = 2,
};

static int ask(int c, const char *id, void *arg)
{
	const char *holds = arg;

	return pbs_rlsjob(c, id, holds, NULL);
}

int main(int argc, char **argv)
{
	char user[] = USER_HOLD, *holds = user;
	bool bad = false;
	int letter;

	if (cmd_begin(&qrls, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "h:")) != -1) {
		if (letter != 'h')
			bad = true;
		else if (cmd_holds_ok(optarg))
			holds = optarg;
		else
			bad |= cmd_illegal(&qrls, 'h');
	}
	if (bad || optind >= argc)
		return cmd_usage(&qrls);
	return cmd_each_job(&qrls, argc - optind, argv + optind, ask, holds);
}
