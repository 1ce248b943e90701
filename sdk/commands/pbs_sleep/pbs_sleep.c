/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_sleep.c - a program for jobs that only hold their place: it sleeps.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd.h"

static const struct cmd pbs_sleep = {
	.name = "pbs_sleep",
	.usage = "usage: pbs_sleep seconds\n"
		 "       pbs_sleep --version\n",
	.usage_exit = 2,
};

int main(int argc, char **argv)
{
	unsigned long seconds;
	unsigned left;
	char *end;

	if (cmd_begin(&pbs_sleep, argc, argv))
		return 0;
	if (argc != 2)
		return cmd_usage(&pbs_sleep);
	seconds = strtoul(argv[1], &end, 10);
	if (argv[1][0] < '0' || argv[1][0] > '9' || *end != '\0' || seconds > 1000000000)
		return cmd_usage(&pbs_sleep);
	for (left = (unsigned)seconds; left > 0;)
		left = sleep(left);
	return 0;
}
