/* SPDX-License-Identifier: Apache-2.0
 *
 * hold_switch.c - put holds on jobs, or take them off.
 */
#include "hold_switch.h"

#include <unistd.h>

#include "pbs_ifl.h"

struct hold_change {
	hold_request *request;
	const char *holds;
};

static int job_request(int c, const char *id, void *arg)
{
	const struct hold_change *a = arg;

	return a->request(c, id, a->holds, NULL);
}

int hold_switch_main(const struct cmd *cmd, hold_request *request, int argc, char **argv)
{
	struct hold_change change = { request, USER_HOLD };
	bool bad = false;
	int letter;

	if (cmd_begin(cmd, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "h:")) != -1) {
		if (letter != 'h')
			bad = true;
		else if (cmd_holds_ok(optarg))
			change.holds = optarg;
		else
			bad |= cmd_illegal(cmd, 'h');
	}
	if (bad || optind >= argc)
		return cmd_usage(cmd);
	return cmd_each_job(cmd, argc - optind, argv + optind, job_request, &change);
}
