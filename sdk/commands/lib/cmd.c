/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd.c - what the commands that send a request have in common.
 *
 * An error is printed once, where it is found; callers get the exit status.
 */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "reach.h"

bool cmd_begin(const struct cmd *cmd, int argc, char **argv)
{
	static char name[32];

	if (reach_asked(argc, argv, cmd->usage))
		return true;
	snprintf(name, sizeof(name), "%s", cmd->name);
	if (argc > 0)
		argv[0] = name;
	return false;
}

int cmd_usage(const struct cmd *cmd)
{
	fputs(cmd->usage, stderr);
	return cmd->usage_exit;
}

bool cmd_illegal(const struct cmd *cmd, int letter)
{
	fprintf(stderr, "%s: illegal -%c value\n", cmd->name, letter);
	return true;
}

static void unreached_print(const struct cmd *cmd, const char *server)
{
	int error = pbs_errno;

	switch (cmd->unreached) {
	case CMD_CANNOT_CONNECT:
		fprintf(stderr, "%s: cannot connect to server %s (errno=%d)\n", cmd->name,
			reach_default_name(), error);
		break;
	case CMD_COULD_NOT_CONNECT:
		fprintf(stderr, "%s: could not connect to server %s (%d)\n", cmd->name, server,
			error);
		break;
	case CMD_NO_CLUSTER:
		fprintf(stderr, "Couldn't connect to cluster: %s\n", reach_default_name());
		break;
	case CMD_CANNOT_CONNECT_GIVEN:
		fprintf(stderr, "%s: cannot connect to server %s\n", cmd->name, server);
		break;
	}
	pbs_errno = error;
}

int cmd_link_open(const struct cmd *cmd, struct cmd_link *link, const char *server)
{
	if (link->c > 0 && strcmp(link->server, server) == 0)
		return link->c;
	cmd_link_close(link);
	link->c = reach_connect(server);
	if (link->c <= 0) {
		link->c = 0;
		unreached_print(cmd, server);
		return -1;
	}
	snprintf(link->server, sizeof(link->server), "%s", server);
	return link->c;
}

void cmd_link_close(struct cmd_link *link)
{
	if (link->c > 0)
		pbs_disconnect(link->c);
	link->c = 0;
}

int cmd_unreached_status(const struct cmd *cmd)
{
	return cmd->unreached_exit ? cmd->unreached_exit : reach_exit_status(pbs_errno);
}

const char *cmd_error_text(int c)
{
	int error = pbs_errno;
	struct ecl_attribute_errors *refused = pbs_get_attributes_in_error(c);
	const struct ecl_attrerr *first;

	pbs_errno = error;
	if (!refused || refused->ecl_numerrors < 1)
		return pbs_geterrmsg(c);
	first = &refused->ecl_attrerr[0];
	if (first->ecl_attribute && first->ecl_attribute->resource &&
	    *first->ecl_attribute->resource)
		return pbs_geterrmsg(c);
	return first->ecl_errmsg;
}

/* Prints an error saved before; `text` may be NULL. Returns the exit status. */
static int complain_as(const struct cmd *cmd, int error, const char *text, const char *id)
{
	if (!text || !*text)
		fprintf(stderr, "%s: Server returned error %d for job %s\n", cmd->name, error, id);
	else if (error == PBSE_HISTJOBID && !cmd->finished_id)
		fprintf(stderr, "%s: %s\n", cmd->name, text);
	else
		fprintf(stderr, "%s: %s %s\n", cmd->name, text, id);
	return cmd->failed_exit ? cmd->failed_exit : reach_exit_status(error);
}

int cmd_complain(const struct cmd *cmd, int c, const char *id)
{
	int error = pbs_errno;

	return complain_as(cmd, error, cmd_error_text(c), id);
}

void cmd_bad_destination(const struct cmd *cmd, const char *text)
{
	fprintf(stderr, "%s: illegally formed destination: %s\n", cmd->name, text);
}

int cmd_bad_id(const struct cmd *cmd, const char *text)
{
	fprintf(stderr, "%s: illegally formed job identifier: %s\n", cmd->name, text);
	return cmd->failed_exit ? cmd->failed_exit : 1;
}

/* Sends the request to the server that, by the default one, has the job. Returns whether it replied; *ret_error. */
static bool request_elsewhere(const char *id, const char *tried, cmd_job_fn *request, void *arg,
			  int *ret_error)
{
	int c = pbs_connect(NULL), there = -1;
	char *server;

	if (c <= 0)
		return false;
	server = pbs_locjob(c, id, NULL);
	pbs_disconnect(c);
	if (server && *server && strcmp(server, *tried ? tried : reach_default_name()) != 0)
		there = pbs_connect(server);
	free(server);
	if (there <= 0)
		return false;
	*ret_error = request(there, id, arg);
	pbs_disconnect(there);
	return true;
}

/* The request failed on `link`: tries the server that has the job, else prints the first error. Returns the exit
 * status. */
static int job_failed(const struct cmd *cmd, struct cmd_link *link, const char *id, cmd_job_fn *request,
		      void *arg)
{
	int error = pbs_errno, status, later = 0;
	const char *reported = cmd_error_text(link->c);
	char *text = reported ? strdup(reported) : NULL;

	if (error == PBSE_UNKJOBID && request_elsewhere(id, link->server, request, arg, &later) &&
	    later == 0)
		status = 0;
	else
		status = complain_as(cmd, error, text,
					 cmd->subject ? cmd->subject(error, id, arg) : id);
	free(text);
	if (error == PBSE_PROTOCOL)
		cmd_link_close(link);
	return status;
}

int cmd_job(const struct cmd *cmd, struct cmd_link *link, const char *text, cmd_job_fn *request,
	    void *arg)
{
	struct operand job;

	if (operand_job(text, &job) < 0)
		return cmd_bad_id(cmd, text);
	if (cmd_link_open(cmd, link, job.server) < 0)
		return cmd_unreached_status(cmd);
	if (request(link->c, job.id, arg) == 0)
		return 0;
	return job_failed(cmd, link, job.id, request, arg);
}

int cmd_each_job(const struct cmd *cmd, int n, char **texts, cmd_job_fn *request, void *arg)
{
	struct cmd_link link = { 0 };
	int i, one, status = 0;

	for (i = 0; i < n; i++) {
		one = cmd_job(cmd, &link, texts[i], request, arg);
		if (one != 0)
			status = one;
	}
	cmd_link_close(&link);
	return status;
}

bool cmd_holds_ok(const char *letters)
{
	if (strcmp(letters, NO_HOLD) == 0 || strcmp(letters, BAD_PASSWORD_HOLD) == 0)
		return true;
	return *letters && strspn(letters, USER_HOLD OTHER_HOLD SYSTEM_HOLD) == strlen(letters);
}

void cmd_lines_free(char **lines)
{
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
}

void cmd_lines_print(char **lines)
{
	for (char **line = lines; line && *line; line++)
		puts(*line);
	cmd_lines_free(lines);
}
