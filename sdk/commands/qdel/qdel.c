/* SPDX-License-Identifier: Apache-2.0
 *
 * qdel.c - delete jobs.
 *
 * Several jobs of one server are sent in one request. The reply has the ids that could not be deleted, without texts;
 * each of them is sent once more alone, which returns the server's text (or finds a job that has moved). A job that is
 * named again is not sent again; a subjob that has ended
 * is an error only when nothing else is named.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "manner.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

#define BATCH 1000

static const struct cmd qdel = {
	.name = "qdel",
	.usage = "usage:\n"
		 "\tqdel [-W force|suppress_email=X] [-x] job_identifier...\n"
		 "\tqdel --version\n",
	.usage_exit = 2,
	.unreached = CMD_NO_CLUSTER,
	.finished_id = true,
};

/* Jobs of one server that wait for their request. */
struct batch {
	struct cmd_link link;
	char server[OPERAND_SERVER_SIZE];
	char *ids[BATCH]; /* owned */
	int n;
	char *extend; /* borrowed */
	int status; /* of the last error */
	void *seen; /* tree of `id@server`, owned: jobs that were named */
	int named; /* so many */
};

static int job_request(int c, const char *id, void *arg)
{
	const char *extend = arg;

	return pbs_deljob(c, id, extend);
}

static void job_retry(struct batch *b, const char *id)
{
	char text[sizeof(((struct operand *)0)->id) + OPERAND_SERVER_SIZE + 1];
	int status;

	snprintf(text, sizeof(text), "%s%s%s", id, *b->server ? "@" : "", b->server);
	status = cmd_job(&qdel, &b->link, text, job_request, b->extend);
	if (status != 0)
		b->status = status;
}

static void delete_many(struct batch *b)
{
	struct batch_deljob_status *failed, *f;
	int i;

	if (cmd_link_open(&qdel, &b->link, b->server) < 0) {
		b->status = cmd_unreached_status(&qdel);
		return;
	}
	failed = pbs_deljoblist(b->link.c, b->ids, b->n, b->extend);
	if (!failed && pbs_errno != 0)
		for (i = 0; i < b->n; i++)
			job_retry(b, b->ids[i]);
	for (f = failed; f; f = f->next)
		if (f->code != PBSE_NOHISTARRAYSUBJOB)
			job_retry(b, f->name);
	pbs_delstatfree(failed);
}

static void batch_send(struct batch *b)
{
	if (b->n > 0 && b->named > 1)
		delete_many(b);
	else if (b->n == 1)
		job_retry(b, b->ids[0]);
	while (b->n > 0)
		free(b->ids[--b->n]);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Out of memory: a job is sent as often as it is named. */
static bool is_named_again(struct batch *b, const struct operand *job)
{
	char text[sizeof(job->id) + sizeof(job->server) + 1], *copy;
	char **found;

	snprintf(text, sizeof(text), "%s@%s", job->id, job->server);
	copy = strdup(text);
	found = copy ? tsearch(copy, &b->seen, compare) : NULL;
	if (found && *found == copy) {
		b->named++;
		return false;
	}
	free(copy);
	b->named += !found;
	return found != NULL;
}

static void batch_add(struct batch *b, const char *text)
{
	struct operand job;

	if (operand_job(text, &job) < 0) {
		batch_send(b);
		b->status = cmd_bad_id(&qdel, text);
		return;
	}
	if (is_named_again(b, &job))
		return;
	if (b->n == BATCH || strcmp(b->server, job.server) != 0)
		batch_send(b);
	memcpy(b->server, job.server, sizeof(b->server));
	b->ids[b->n] = strdup(job.id);
	if (b->ids[b->n])
		b->n++;
	else
		job_retry(b, job.id);
}

static int options(struct manner *manner, int argc, char **argv)
{
	bool bad = false;
	int letter;

	while ((letter = getopt(argc, argv, "W:x")) != -1) {
		if (letter == 'x')
			manner->history = true;
		else if (letter != 'W')
			bad = true;
		else if (!manner_word(manner, optarg))
			bad |= cmd_illegal(&qdel, 'W');
	}
	return bad || optind >= argc ? cmd_usage(&qdel) : 0;
}

int main(int argc, char **argv)
{
	struct manner manner = MANNER_INIT;
	struct batch *b;
	char extend[MANNER_EXTEND_SIZE];
	int status;

	if (cmd_begin(&qdel, argc, argv))
		return 0;
	status = options(&manner, argc, argv);
	if (status != 0)
		return status;
	manner_extend(&manner, argc - optind, extend);
	b = calloc(1, sizeof(*b));
	if (!b)
		return 1;
	b->extend = extend;
	for (; optind < argc; optind++)
		batch_add(b, argv[optind]);
	batch_send(b);
	cmd_link_close(&b->link);
	status = b->status;
	tdestroy(b->seen, free);
	free(b);
	return status;
}
