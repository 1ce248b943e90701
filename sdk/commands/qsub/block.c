/* SPDX-License-Identifier: Apache-2.0
 *
 * block.c - wait for the end of the submitted job.
 */
#include "block.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "pbs_error.h"
#include "pbs_ifl.h"

enum { EXIT_INTERRUPTED = 2, EXIT_NEVER_RAN = 3 };

static const int watched[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static volatile sig_atomic_t caught;

static void catch(int number)
{
	caught = number;
}

static int interrupted(int c, const char *id)
{
	fprintf(stderr, "qsub: wait for job %s interrupted by signal %d\n", id, (int)caught);
	pbs_deljob(c, id, NULL);
	return EXIT_INTERRUPTED;
}

int block_until_end(int c, const char *id)
{
	struct sigaction action = { .sa_handler = catch }; /* no SA_RESTART: it must interrupt */
	char *text = NULL;
	const char *why;
	int status = 0, ret;

	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		sigaction(watched[i], &action, NULL);
	do {
		ret = pbs_waitjob(c, id, &status, &text);
	} while (ret == EINTR && caught == 0);
	if (caught != 0)
		ret = interrupted(c, id);
	else if (ret != 0) {
		why = pbs_geterrmsg(c);
		fprintf(stderr, "qsub: %s %s\n", id, why == NULL ? "cannot be waited for" : why);
		ret = EXIT_NEVER_RAN;
	} else if (text != NULL) {
		fprintf(stderr, "qsub: %s %s\n", id, text);
		ret = EXIT_NEVER_RAN;
	} else {
		ret = status & 0xff;
	}
	free(text);
	return ret;
}
