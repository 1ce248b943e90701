/* SPDX-License-Identifier: Apache-2.0
 *
 * qstat.c - list jobs, queues and servers.
 *
 * Each operand is requested even after an error; the exit status is that of the last error.
 */
#include <ctype.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "est.h"
#include "listing.h"
#include "pbs_ifl.h"
#include "reach.h"

static int listing_init(struct listing *l, const struct options *opt, int operands)
{
	*l = (struct listing){ .opt = opt, .c = -1, .first = true, .several = operands > 1 };
	l->now = time(NULL);
	names_init(&l->seen, true);
	names_init(&l->answered, true);
	if (out_init(&l->out, STDOUT_FILENO) < 0 || show_init(&l->show, &l->out, true) < 0)
		return -1;
	json_show_init(&l->json_show, &l->json, &l->show);
	if (opt->estimate && opt->mode == MODE_JOBS && opt->alternate) {
		l->est = est_create();
		return l->est ? 0 : -1;
	}
	return 0;
}

static void listing_fini(struct listing *l)
{
	int error;

	listing_json_end(l);
	error = out_fini(&l->out);
	if (error < 0) {
		fprintf(stderr, "qstat: cannot write the listing: %s\n", strerror(-error));
		l->status = 1;
	}
	listing_hang_up(l);
	est_destroy(l->est);
	names_fini(&l->seen);
	names_fini(&l->answered);
	json_show_fini(&l->json_show);
	show_fini(&l->show);
}

static void list_all(struct listing *l, char **words, int n)
{
	void (*list)(struct listing *, const char *) =
		l->opt->mode == MODE_SERVERS ? servers_list :
		l->opt->mode == MODE_QUEUES ? queues_list : jobs_list;
	int i;

	if (n == 0)
		list(l, "");
	for (i = 0; i < n; i++) {
		list(l, words[i]);
		if (l->status != 0)
			l->first = false;
	}
}

int main(int argc, char **argv)
{
	struct options opt;
	struct listing l;
	int first;

	if (reach_asked(argc, argv, qstat_usage))
		return 0;
	argv[0] = (char *)"qstat";
	if (options_read(argc, argv, &opt, &first) < 0)
		return 2;
	/* Each part of a long reply is decoded into memory that is freed before the next one arrives: malloc keeps it,
	 * rather than return it to the system and have it cleared again a thousand times. */
	mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
	for (int i = first; opt.express && i < argc; i++)
		if (!isdigit((unsigned char)argv[i][strspn(argv[i], " \t")])) {
			fprintf(stderr, "qstat: Express option can only be used with job ids\n");
			return 2;
		}
	if (listing_init(&l, &opt, argc - first) < 0) {
		fprintf(stderr, "qstat: out of memory\n");
		return 1;
	}
	if (opt.express && opt.mode == MODE_JOBS && argc > first)
		jobs_list_express(&l, argv + first, argc - first);
	else
		list_all(&l, argv + first, argc - first);
	listing_fini(&l);
	return l.status < 0 ? 255 : reach_exit_status(l.status);
}
