/* SPDX-License-Identifier: Apache-2.0
 *
 * qmgr.c - list and change servers, queues, nodes, resources, schedulers and hooks.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "input.h"

#define UNREACHED 3
#define BAD_SERVERS 4
#define OPEN_SERVERS_MAX 49

static const struct cmd qmgr = {
	.name = "qmgr",
	.usage = "Usage: qmgr [-a] [-c command] [-e] [-n] [-z] [server...]\n"
		 "       qmgr --version\n",
	.usage_exit = 1,
};

struct options {
	const char *command;
	bool silent;
};

static bool options_read(struct session *s, struct options *o, int argc, char **argv)
{
	bool good = true;
	int letter;

	while ((letter = getopt(argc, argv, "ac:enz")) != -1) {
		switch (letter) {
		case 'a':
			s->stop_at_error = true;
			break;
		case 'c':
			o->command = optarg;
			break;
		case 'e':
			s->echo = true;
			break;
		case 'n':
			s->check_only = true;
			break;
		case 'z':
			o->silent = true;
			break;
		default:
			good = false;
		}
	}
	return good;
}

static int servers_add(struct session *s, int n, char **names)
{
	struct operand server;

	if (n > OPEN_SERVERS_MAX) {
		fprintf(stderr, "qmgr: more than %d servers\n", OPEN_SERVERS_MAX);
		return BAD_SERVERS;
	}
	for (int i = 0; i < n; i++) {
		if (operand_server(names[i], &server) < 0) {
			fprintf(stderr, "qmgr: illegal server name: %s\n", names[i]);
			return BAD_SERVERS;
		}
		if (session_add_server(s, names[i]) < 0) {
			fprintf(stderr, "qmgr: %s\n", strerror(ENOMEM));
			return BAD_SERVERS;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	const struct object_name *server;
	struct session session;
	bool quit = false;
	int status;

	if (cmd_begin(&qmgr, argc, argv))
		return 0;
	session_init(&session);
	if (!options_read(&session, &options, argc, argv))
		return cmd_usage(&qmgr);
	if (options.silent && !freopen("/dev/null", "w", stderr))
		return 1;
	status = servers_add(&session, argc - optind, argv + optind);
	server = session.active[MGR_OBJ_SERVER];
	if (status == 0 && !session.check_only && !server && session_connect(&session, "") < 0)
		status = UNREACHED;
	for (; status == 0 && !session.check_only && server; server = server->next)
		if (session_connect(&session, server->server) < 0)
			status = UNREACHED;
	if (status == 0 && options.command) {
		status = input_text(&session, options.command, &quit);
	} else if (status == 0) {
		printf("Max open servers: %d\n", OPEN_SERVERS_MAX);
		fflush(stdout);
		session.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
		session.counts = !isatty(STDIN_FILENO);
		status = input_stream(&session);
	}
	session_fini(&session);
	return status;
}
