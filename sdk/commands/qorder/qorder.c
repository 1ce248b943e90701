/* SPDX-License-Identifier: Apache-2.0
 *
 * qorder.c - exchange the places of two queued jobs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_ifl.h"

static const struct cmd qorder = {
	.name = "qorder",
	.usage = "usage: qorder job_identifier job_identifier\n"
		 "       qorder --version\n",
	.usage_exit = 2,
	.unreached_exit = 1,
};

static int exchange(const struct operand *one, const struct operand *other)
{
	struct cmd_link link = { 0 };
	char both[2 * sizeof(one->id) + sizeof(" or ")];
	int status = 0;

	if (cmd_link_open(&qorder, &link, *one->server ? one->server : other->server) < 0)
		return cmd_unreached_status(&qorder);
	if (pbs_orderjob(link.c, one->id, other->id, NULL) != 0) {
		snprintf(both, sizeof(both), "%s or %s", one->id, other->id);
		status = cmd_complain(&qorder, link.c, both);
	}
	cmd_link_close(&link);
	return status;
}

int main(int argc, char **argv)
{
	struct operand job[2];
	bool bad = false;
	int i;

	if (cmd_begin(&qorder, argc, argv))
		return 0;
	while (getopt(argc, argv, "") != -1)
		bad = true;
	if (bad || argc - optind != 2)
		return cmd_usage(&qorder);
	for (i = 0; i < 2; i++)
		if (operand_job(argv[optind + i], &job[i]) < 0)
			return cmd_bad_id(&qorder, argv[optind + i]);
	if (*job[0].server && *job[1].server && strcmp(job[0].server, job[1].server) != 0) {
		fprintf(stderr, "qorder: both jobs must be at one server\n");
		return 1;
	}
	return exchange(&job[0], &job[1]);
}
