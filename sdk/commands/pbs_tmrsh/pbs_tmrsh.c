/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_tmrsh.c - run a program on a host of the job, called as rsh and ssh are: for launchers that know those.
 */
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd.h"
#include "task.h"

#define OWN_ERROR 255

static const struct cmd pbs_tmrsh = {
	.name = "pbs_tmrsh",
	.usage = "usage: pbs_tmrsh [-n][-l username] host [-n][-l username] command\n"
		 "       pbs_tmrsh --version\n",
	.usage_exit = OWN_ERROR,
};

/* ---- the command line --------------------------------------------------------------------------------------------- */
/* Options of rsh, and of ssh those that change nothing here. Returns false for wrong ones. */
static bool options_parse(int argc, char **argv)
{
	const struct passwd *pw = getpwuid(getuid());
	bool bad = false;
	int letter;

	while ((letter = getopt(argc, argv, "+nqxTl:")) != -1) {
		if (letter == 'l' && (pw == NULL || strcmp(pw->pw_name, optarg) != 0)) {
			fprintf(stderr, "pbs_tmrsh: bad user \"%s\"\n", optarg);
			return false;
		}
		bad = bad || letter == '?';
	}
	return !bad;
}

/* What launchers write for the shell of the other host, when the first word is no name of a program: the words, as rsh would join
 * them. NULL: they are a program and its arguments. */
static char *shell_text(int argc, char **argv)
{
	size_t len = 1;
	char *text, *at;

	if (argv[0][strcspn(argv[0], " \t\n;&|<>()$`\\\"'*?[]#~%={}!")] == '\0')
		return NULL;
	for (int i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	text = malloc(len);
	if (text == NULL)
		return NULL;
	at = text;
	for (int i = 0; i < argc; i++) {
		at = stpcpy(at, argv[i]);
		*at++ = ' ';
	}
	at[-1] = '\0';
	return text;
}

/* ---- where -------------------------------------------------------------------------------------------------------- */
static struct addrinfo *address_of(const char *name, int flags)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags }, *list = NULL;

	return getaddrinfo(name, NULL, &hints, &list) == 0 ? list : NULL;
}

/* Is the address `wanted` one of this name's? */
static bool has_address(const char *name, const struct addrinfo *wanted)
{
	struct addrinfo *list = wanted != NULL ? address_of(name, 0) : NULL;
	bool same = false;

	for (const struct addrinfo *i = list; i != NULL; i = i->ai_next)
		same |= i->ai_addrlen == wanted->ai_addrlen && memcmp(i->ai_addr, wanted->ai_addr, i->ai_addrlen) == 0;
	if (list != NULL)
		freeaddrinfo(list);
	return same;
}

/* The node of a host, by its name as it stands in the node file, or by its address. -1 after a message. */
static int node_find(const char *host, int n_nodes)
{
	const char *path = getenv("PBS_NODEFILE");
	FILE *f = path != NULL ? fopen(path, "re") : NULL;
	struct addrinfo *wanted = address_of(host, AI_NUMERICHOST);
	char *line = NULL;
	size_t size = 0;
	int n = 0, found = -1;

	if (f == NULL)
		fputs("pbs_tmrsh: cannot find PBS_NODEFILE\n", stderr);
	for (; f != NULL && found < 0 && getline(&line, &size, f) >= 0; n++) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, host) == 0 || has_address(line, wanted))
			found = n;
	}
	if (f != NULL && found < 0)
		fprintf(stderr, "pbs_tmrsh: host \"%s\" is not a node in job <%s>\n", host, getenv("PBS_JOBID"));
	if (found >= n_nodes) {
		fprintf(stderr, "pbs_tmrsh: PBS_NODEFILE contains %d entries, only %d nodes in job\n", n, n_nodes);
		found = -1;
	}
	free(line);
	if (f != NULL)
		fclose(f);
	if (wanted != NULL)
		freeaddrinfo(wanted);
	return found;
}

/* ---- the task ------------------------------------------------------------------------------------------------------ */
/* Waits for the one event there is. A signal goes to the task, as soon as there is one, and ends this program. */
static int event_wait(const tm_task_id *task, bool started)
{
	static int signal;
	tm_event_t event;
	int error = TM_SUCCESS, ret;

	do {
		ret = signal != 0 && started ? TM_ENOEVENT : task_poll(&event, &error, &signal);
	} while (ret == TM_ENOEVENT && !started);
	if (ret == TM_ENOEVENT) {
		task_kill_all(task, 1, signal);
		exit(128 + signal);
	}
	return ret != TM_SUCCESS ? ret : error;
}

static int run(int argc, char **argv, int node, const char *host)
{
	tm_task_id task = TM_NULL_TASK;
	tm_event_t event;
	int status = 0, ret = tm_spawn(argc, argv, NULL, node, &task, &event);

	if (ret == TM_SUCCESS)
		ret = event_wait(&task, false);
	if (ret != TM_SUCCESS) {
		fprintf(stderr, "pbs_tmrsh: tm_spawn: host \"%s\" err %s\n", host, task_error(ret));
		return OWN_ERROR;
	}
	ret = tm_obit(task, &status, &event);
	if (ret == TM_SUCCESS)
		ret = event_wait(&task, true);
	if (ret != TM_SUCCESS) {
		fprintf(stderr, "pbs_tmrsh: tm_obit: host \"%s\" err %s\n", host, task_error(ret));
		return OWN_ERROR;
	}
	return status < 256 ? status : 128 + (status - 256) % 128;
}

int main(int argc, char **argv)
{
	struct tm_roots roots;
	const char *host;
	char *text, *shell[3] = { "/bin/sh", "-c", NULL };
	int node, ret;

	if (cmd_begin(&pbs_tmrsh, argc, argv))
		return 0;
	if (!options_parse(argc, argv) || optind >= argc)
		return cmd_usage(&pbs_tmrsh);
	host = argv[optind++];
	if (!options_parse(argc, argv) || optind >= argc)
		return cmd_usage(&pbs_tmrsh);
	if (getenv("PBS_ENVIRONMENT") == NULL) {
		fputs("pbs_tmrsh: not executing under PBS\n", stderr);
		return OWN_ERROR;
	}
	if (getenv("PBS_JOBID") == NULL) {
		fputs("pbs_tmrsh: PBS jobid not in environment\n", stderr);
		return OWN_ERROR;
	}
	task_signals_catch();
	ret = tm_init(NULL, &roots);
	if (ret != TM_SUCCESS) {
		fprintf(stderr, "pbs_tmrsh: tm_init: %s\n", task_error(ret));
		return OWN_ERROR;
	}
	node = node_find(host, roots.tm_nnodes);
	if (node < 0)
		return OWN_ERROR;
	text = shell_text(argc - optind, argv + optind);
	shell[2] = text;
	ret = text != NULL ? run(3, shell, node, host) : run(argc - optind, argv + optind, node, host);
	free(text);
	tm_finalize();
	return ret;
}
