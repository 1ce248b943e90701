/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_release_nodes.c - a running job gives up vnodes of its sister hosts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static const char *subject(int error, const char *id, void *arg)
{
	(void)arg;
	return error == PBSE_UNKJOBID ? id : "";
}

static const struct cmd command = {
	.name = "pbs_release_nodes",
	.usage = "usage: pbs_release_nodes [-j job_identifier] host_or_vnode1 host_or_vnode2 ...\n"
		 "       pbs_release_nodes [-j job_identifier] -a\n"
		 "       pbs_release_nodes [-j job_identifier] -k <select string>\n"
		 "       pbs_release_nodes [-j job_identifier] -k <node count>\n"
		 "       pbs_release_nodes --version\n",
	.usage_exit = 2,
	.subject = subject,
};

struct wish {
	const char *id;
	char *vnodes; /* with '+' between; "" all; owned */
	char *keep;   /* "keep_select=select=..."; NULL: no -k; owned */
	bool all;
};

static int job_request(int c, const char *id, void *arg)
{
	const struct wish *wish = arg;

	return pbs_relnodesjob(c, id, wish->vnodes, wish->keep);
}

/* A number of chunks is a select of as many that ask for nothing. */
static char *keep_text(const char *value)
{
	const bool number = *value && strspn(value, "0123456789") == strlen(value) && strspn(value, "0") < strlen(value);
	char *text;

	return asprintf(&text, "keep_select=%s%s", number ? "select=" : "", value) < 0 ? NULL : text;
}

static char *names_join(int n, char **names)
{
	size_t size = 1;
	char *text, *at;

	for (int i = 0; i < n; i++)
		size += strlen(names[i]) + 1;
	text = at = malloc(size);
	for (int i = 0; text && i < n; i++)
		at += sprintf(at, "%s%s", i ? "+" : "", names[i]);
	if (at)
		*at = '\0';
	return text;
}

static int complain(const char *text)
{
	fprintf(stderr, "%s: %s\n", command.name, text);
	return 2;
}

static int send(struct wish *wish)
{
	struct cmd_link link = { 0 };
	struct operand job;
	int status;

	if (operand_job(wish->id, &job) < 0) {
		cmd_bad_id(&command, wish->id);
		return 2;
	}
	if (!wish->vnodes)
		return complain("out of memory");
	status = cmd_job(&command, &link, wish->id, job_request, wish);
	cmd_link_close(&link);
	if (status == 0 && wish->keep)
		printf("%s: %s\n", command.name, wish->keep + strlen("keep_select="));
	return status;
}

/* Reads the words into *wish. False: the usage was printed. */
static bool words_read(int argc, char **argv, struct wish *wish)
{
	const char *keep = NULL;
	bool bad = false;
	int letter;

	while ((letter = getopt(argc, argv, "j:k:a")) != -1) {
		if (letter == 'j')
			wish->id = optarg;
		else if (letter == 'k')
			keep = optarg;
		else if (letter == 'a')
			wish->all = true;
		else
			bad = true;
	}
	if (!bad && wish->all && keep)
		bad = complain("-a and -k options cannot be used together");
	else if (!bad && keep && optind < argc)
		bad = complain("cannot supply node list with -k option");
	if (bad || (wish->all ? optind < argc : !keep && optind >= argc)) {
		cmd_usage(&command);
		return false;
	}
	wish->vnodes = names_join(argc - optind, argv + optind);
	wish->keep = keep ? keep_text(keep) : NULL;
	if (keep && !wish->keep) {
		free(wish->vnodes);
		wish->vnodes = NULL;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct wish wish = { .id = getenv("PBS_JOBID") };
	int status;

	if (cmd_begin(&command, argc, argv))
		return 0;
	if (!words_read(argc, argv, &wish))
		return command.usage_exit;
	status = wish.id && *wish.id ? send(&wish) : complain("No jobid given");
	free(wish.vnodes);
	free(wish.keep);
	return status;
}
