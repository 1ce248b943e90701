/* SPDX-License-Identifier: Apache-2.0
 *
 * qrun.c - run jobs now.
 *
 * Without -H the scheduler places the job; with -H the server takes the vnodes named, and
 * "-H -" those of the reservation or of the last run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

struct manner {
	const char *location; /* "": the scheduler chooses */
	char *quoted;	      /* as it is shown: a list of vnodes in quotes */
	bool at_once; /* do not wait for the host's reply */
};

/* The error for an unknown node names it as the user wrote it. */
static const char *subject(int error, const char *id, void *arg)
{
	const struct manner *manner = arg;

	if (error != PBSE_UNKNODE || !*manner->location)
		return id;
	return manner->quoted ? manner->quoted : manner->location;
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

/* A value that cannot be a place is refused before anything is sent. */
static bool location_take(struct manner *manner, const char *value)
{
	int open = 0;

	for (const char *at = value; *at && open >= 0 && open <= 1; at++)
		open += (*at == '(') - (*at == ')');
	if (open != 0 || *value == '\0' || strpbrk(value, " \t")) {
		fprintf(stderr, "qrun: illegal -H value\n");
		return false;
	}
	free(manner->quoted);
	manner->location = value;
	manner->quoted = NULL;
	if (strpbrk(value, "(+") && asprintf(&manner->quoted, "'%s'", value) < 0)
		manner->quoted = NULL;
	return true;
}

static int job_request(int c, const char *id, void *arg)
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
	int letter, status;

	if (cmd_begin(&qrun, argc, argv))
		return 0;
	while ((letter = getopt(argc, argv, "aH:")) != -1) {
		if (letter == 'a')
			manner.at_once = true;
		else if (letter != 'H' || !location_take(&manner, optarg))
			bad = true;
	}
	status = bad || optind >= argc ? cmd_usage(&qrun)
				       : cmd_each_job(&qrun, argc - optind, argv + optind, job_request, &manner);
	free(manner.quoted);
	return status;
}
