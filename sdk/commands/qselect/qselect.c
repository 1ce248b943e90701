/* SPDX-License-Identifier: Apache-2.0
 *
 * qselect.c - print the ids of jobs that match.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "criteria.h"
#include "out.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"

static const char usage[] =
	"usage: qselect [-a [op]date_time] [-A account_string] [-c [op]interval]\n"
	"\t[-h hold_list] [-H] [-J] [-l resource_list] [-N name] [-p [op]priority]\n"
	"\t[-q destination] [-r y|n] [-s states] [-t subopt[op]date_time] [-T] [-P project_name]\n"
	"\t[-x] [-u user_name]\n"
	"       qselect --version\n";

static int misuse(void)
{
	fputs(usage, stderr);
	return 2;
}

/* Returns the exit status for a wrong value, 0 for a good one. */
static int judge(int rc, int letter, const char *value)
{
	if (rc == 0)
		return 0;
	if (rc == -EDESTADDRREQ) {
		fprintf(stderr, "qselect: illegally formed destination: %s\n", value);
		return 2;
	}
	if (rc == -EINVAL) {
		fprintf(stderr, "qselect: illegal -%c value\n", letter);
		if (letter == 'l')
			fprintf(stderr, "resource_list: %s\n", value);
	} else if (rc == -ENOMEM) {
		fprintf(stderr, "qselect: out of memory\n");
		return 1;
	}
	return misuse();
}

static int refused(int c)
{
	const char *text = pbs_geterrmsg(c);
	int error = pbs_errno;

	if (error == PBSE_UNKQUE) /* printed without the name */
		text = "Unknown queue destination";
	if (text && *text)
		fprintf(stderr, "qselect: %s\n", text);
	else
		fprintf(stderr, "qselect: Server returned error %d\n", error);
	return error == PBSE_JOBHISTNOTSET ? 0 : reach_exit_status(error);
}

static int print_ids(char **ids)
{
	struct out out;
	char **id;
	int rc = out_init(&out, STDOUT_FILENO);

	for (id = ids; *id; id++) {
		if (rc == 0) {
			out_str(&out, *id);
			out_char(&out, '\n');
		}
		free(*id);
	}
	free(ids);
	if (rc == 0)
		rc = out_fini(&out);
	if (rc < 0)
		fprintf(stderr, "qselect: cannot write the ids: %s\n", strerror(-rc));
	return rc < 0;
}

static int run(const struct criteria *want)
{
	char extend[3] = { 0 }, **ids;
	size_t n = 0;
	int c, status;

	c = reach_connect(want->where.server);
	if (c < 0) {
		int error = pbs_errno;

		fprintf(stderr, "qselect: cannot connect to server %s (errno=%d)\n",
			reach_default_name(), error);
		return reach_exit_status(error);
	}
	if (want->expand)
		extend[n++] = 'T';
	if (want->history)
		extend[n++] = 'x';
	ids = pbs_selectjob(c, want->first, n > 0 ? extend : NULL);
	status = ids ? print_ids(ids) : pbs_errno != 0 ? refused(c) : 0;
	pbs_disconnect(c);
	return status;
}

int main(int argc, char **argv)
{
	struct criteria want;
	int letter, status = 0;

	if (reach_asked(argc, argv, usage))
		return 0;
	argv[0] = (char *)"qselect";
	criteria_init(&want);
	while (status == 0 &&
	       (letter = getopt(argc, argv, "a:A:c:h:HJl:N:p:q:r:s:t:Tu:xP:")) != -1)
		status = judge(criteria_take(&want, letter, optarg ? optarg : ""), letter, optarg);
	if (status == 0 && optind < argc)
		status = misuse();
	if (status == 0)
		status = run(&want);
	criteria_fini(&want);
	return status;
}
