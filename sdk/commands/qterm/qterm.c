/* SPDX-License-Identifier: Apache-2.0
 *
 * qterm.c - ends servers, and optionally the scheduler and the hosts' daemons.
 */
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

#define FAILED 2

static const struct cmd qterm = {
	.name = "qterm",
	.usage = "Usage: qterm [-t immediate|delay|[quick]] [-m] [-s] [-f|-i] [server ...]\n"
		 "       qterm --version\n",
	.usage_exit = 1,
	.unreached = CMD_COULD_NOT_CONNECT,
	.unreached_exit = FAILED,
	.failed_exit = FAILED,
};

static const struct {
	const char *word;
	int manner;
} manners[] = {
	{ "immediate", SHUT_IMMEDIATE },
	{ "delay", SHUT_DELAY },
	{ "quick", SHUT_QUICK },
};

static const struct {
	char letter;
	int which;
} others[] = {
	{ 's', SHUT_WHO_SCHED },      { 'm', SHUT_WHO_MOM },	    { 'f', SHUT_WHO_SECDRY },
	{ 'F', SHUT_WHO_SECDONLY }, { 'i', SHUT_WHO_IDLESECDRY },
};

/* Reads an option into the manner, or the set of others that end; false: it is none. */
static bool option_read(int letter, int *manner, int *which)
{
	for (size_t i = 0; letter == 't' && i < sizeof(manners) / sizeof(manners[0]); i++) {
		if (strcmp(manners[i].word, optarg) == 0) {
			*manner = manners[i].manner;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i].letter == letter) {
			*which |= others[i].which;
			return true;
		}
	}
	return false;
}

static int end_server(const char *server, int manner)
{
	struct cmd_link link = { 0 };
	int status = 0;

	if (cmd_link_open(&qterm, &link, server) < 0)
		return cmd_unreached_status(&qterm);
	if (pbs_terminate(link.c, manner, NULL) != 0)
		status = cmd_complain(&qterm, link.c, server);
	cmd_link_close(&link);
	return status;
}

int main(int argc, char **argv)
{
	int letter, manner = SHUT_QUICK, which = 0, secondary, status = 0;
	bool bad = false;

	if (cmd_begin(&qterm, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "t:smfFi")) != -1)
		bad |= !option_read(letter, &manner, &which);
	/* -f, -F and -i say different things about the same server */
	secondary = which & (SHUT_WHO_SECDRY | SHUT_WHO_SECDONLY | SHUT_WHO_IDLESECDRY);
	if (bad || (secondary & (secondary - 1)) != 0)
		return cmd_usage(&qterm);
	if (optind >= argc)
		return end_server("", manner | which);
	for (; optind < argc; optind++)
		if (end_server(argv[optind], manner | which) != 0)
			status = FAILED;
	return status;
}
