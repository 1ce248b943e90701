/* SPDX-License-Identifier: Apache-2.0
 *
 * keelson-health - asks the server how it is; `keelson health` is the same. It ends within seconds, whatever the server does.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pbs_error.h>
#include <pbs_ifl.h>

#include "program/version_word.h"

#define DEGRADED 1
#define NO_ANSWER 2
#define PATIENCE 5 /* seconds */
#define SAY_LATE "keelson health: the server does not answer: no reply within 5 seconds\n"

static const char usage[] = "usage: keelson health [--json | --metrics]\n";

static void late(int signum)
{
	ssize_t n = write(STDERR_FILENO, SAY_LATE, sizeof(SAY_LATE) - 1);

	(void)n, (void)signum;
	_exit(NO_ANSWER);
}

static int no_answer(const char *why)
{
	fprintf(stderr, "keelson health: the server does not answer: %s\n", why);
	return NO_ANSWER;
}

/* Why there are no lines. */
static int refused(int c)
{
	const char *text = pbs_geterrmsg(c);

	if (pbs_errno == PBSE_UNKREQ)
		return no_answer("it runs without the module server-health: write `server-health: { enabled = true; };` in its modules.d, then "
				 "`keelson reload`");
	return no_answer(text ? text : "it refused and did not say why");
}

/* The first line is the status; it is a part of the text alone. */
static int print(char **lines, int plain)
{
	int status;

	if (!lines[0] || (strcmp(lines[0], "well") != 0 && strcmp(lines[0], "degraded") != 0))
		return no_answer("its reply is not understood; are command and server of one version?");
	status = strcmp(lines[0], "well") == 0 ? 0 : DEGRADED;
	if (plain && status == 0)
		puts(lines[0]);
	for (size_t i = 1; lines[i]; i++)
		puts(lines[i]);
	return fflush(stdout) == 0 && !ferror(stdout) ? status : no_answer("its reply cannot be written");
}

int main(int argc, char **argv)
{
	char verb[] = "health", **lines;
	int c;

	if (version_word(argc, argv))
		return 0;
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		if (fflush(stdout) == 0 && !ferror(stdout))
			return 0;
		fputs("keelson health: cannot write the usage\n", stderr);
		return 1;
	}
	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--json") != 0 && strcmp(argv[1], "--metrics") != 0)) {
		fputs(usage, stderr);
		return NO_ANSWER;
	}
	signal(SIGALRM, late);
	alarm(PATIENCE);
	c = pbs_connect(NULL);
	if (c <= 0) {
		fprintf(stderr, "keelson health: the server does not answer: cannot connect to %s (errno=%d)\n",
			pbs_default() ? pbs_default() : "it", pbs_errno);
		return NO_ANSWER;
	}
	lines = pbs_admin(c, verb, argv + 1, NULL);
	return lines ? print(lines, argc == 1) : refused(c);
}
