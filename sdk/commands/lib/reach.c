/* SPDX-License-Identifier: Apache-2.0
 *
 * reach.c - connect to a server, and the errors if that fails.
 */
#include "reach.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "pbs_error.h"
#include "pbs_ifl.h"
#include "program/answer.h"

static const struct {
	int error;
	const char *text;
} connect_lines[] = {
	{ PBSE_NOCONNECTS, "Too many open connections." },
	{ PBSE_NOSERVER, "No default server name." },
	{ PBSE_BADHOST, "Unknown Host." },
	{ PBSE_PERM, "No Permission." },
	{ PBSE_PROTOCOL, "Communication failure." },
	{ PBSE_NOSUP, "No support for requested service." },
};

bool reach_asked(int argc, char **argv, const char *usage)
{
	answer_must_arrive();
	if (argc != 2)
		return false;
	if (strcasecmp(argv[1], "--version") == 0)
		printf("pbs_version = %s\n", reach_own_version());
	else if (strcmp(argv[1], "--help") == 0)
		fputs(usage, stdout);
	else
		return false;
	return true;
}

const char *reach_own_version(void)
{
	return PBS_VERSION;
}

int reach_connect(const char *server)
{
	const char *line;
	int c, cause;

	errno = 0;
	c = pbs_connect(server && *server ? server : NULL);
	if (c > 0)
		return c;
	cause = errno;
	line = pbs_geterrmsg(c);
	for (size_t i = 0; !line && i < sizeof(connect_lines) / sizeof(connect_lines[0]); i++)
		if (connect_lines[i].error == pbs_errno)
			line = connect_lines[i].text;
	if (!line && pbs_errno != PBSE_SYSTEM && pbs_errno >= PBSE_)
		line = "System call failure.";
	else if (!line && (cause == ECONNREFUSED || cause == ENOENT || cause == 0))
		line = "Connection refused"; /* without a socket file there is no server */
	fprintf(stderr, "%s\n", line ? line : strerror(cause));
	return -1;
}

const char *reach_default_name(void)
{
	int error = pbs_errno;
	const char *name = pbs_default();

	pbs_errno = error;
	return name ? name : "";
}

int reach_complain(const char *cmd, int c, const char *id)
{
	const char *text = pbs_geterrmsg(c);
	int error = pbs_errno;

	size_t n = text ? strlen(text) : 0;

	/* some texts end in a blank already; with nothing to name, one is enough */
	if (n > 0 && text[n - 1] == ' ' && !*id)
		fprintf(stderr, "%s: %s\n", cmd, text);
	else if (n > 0)
		fprintf(stderr, "%s: %s %s\n", cmd, text, id);
	else
		fprintf(stderr, "%s: Server returned error %d for job %s\n", cmd, error, id);
	return error;
}

bool reach_unknown(int c)
{
	const char *text = pbs_geterrmsg(c);

	return pbs_errno == PBSE_UNKREQ && (!text || strcmp(text, "Unknown request") == 0);
}

int reach_exit_status(int error)
{
	int status = error & 0xff;

	return error != 0 && status == 0 ? 1 : status;
}
