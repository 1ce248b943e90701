/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_attach.c - make a process, or a program that it starts, part of a job.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "task.h"

static const struct cmd pbs_attach = {
	.name = "pbs_attach",
	.usage = "usage: pbs_attach [-j jobid] [-m port] -p pid\n"
		 "usage: pbs_attach [-j jobid] [-m port] [-P] [-s] cmd [arg1 ...]\n"
		 "usage: pbs_attach --version\n",
	.usage_exit = 2,
};

struct wish {
	char *job;
	pid_t pid; /* 0: a program is started */
	int port;
	bool parent, session;
};

static bool options_parse(int argc, char **argv, struct wish *w)
{
	bool bad = false;
	char *end;
	int letter;

	while ((letter = getopt(argc, argv, "+j:m:p:Ps")) != -1) {
		switch (letter) {
		case 'j':
			w->job = optarg;
			break;
		case 'm':
			w->port = atoi(optarg);
			break;
		case 'p':
			w->pid = (pid_t)strtol(optarg, &end, 10);
			if (*end == '\0' && w->pid > 0)
				break;
			fprintf(stderr, "bad pid: %s\n", optarg);
			bad = true;
			break;
		case 'P':
			w->parent = true;
			break;
		case 's':
			w->session = true;
			break;
		default:
			bad = true;
		}
	}
	if (bad || (w->pid > 0) == (optind < argc))
		fputs("must specify pid or command\n", stderr);
	return !bad && (w->pid > 0) != (optind < argc);
}

/* Returns whether it is part of the job now; `what` is for the message. */
static bool attach(const struct wish *w, pid_t pid, const char *what)
{
	char *own = getenv("PBS_JOBID"), *job = w->job != NULL ? w->job : own;
	char *cookie = own != NULL && job != NULL && strcmp(own, job) == 0 ? getenv("PBS_JOBCOOKIE") : NULL;
	tm_task_id task;
	int ret = tm_attach(job, cookie, pid, &task, NULL, w->port);

	if (ret != TM_SUCCESS)
		fprintf(stderr, "pbs_attach: %s: %s\n", what, task_error(ret));
	return ret == TM_SUCCESS;
}

int main(int argc, char **argv)
{
	struct wish w = { 0 };

	if (cmd_begin(&pbs_attach, argc, argv))
		return 0;
	if (!options_parse(argc, argv, &w))
		return cmd_usage(&pbs_attach);
	if (w.pid > 0)
		return attach(&w, w.pid, "tm_attach") ? 0 : 1;
	if (w.session)
		setsid();
	if (!attach(&w, getpid(), "tm_attach"))
		return 1;
	if (w.parent)
		attach(&w, getppid(), "tm_attach parent");
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "%s: %s\n", argv[optind], strerror(errno));
	return 255;
}
