/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_rsub.c - submit a reservation.
 *
 * Whatever can be refused without the server is refused before it is asked; with --hosts the server is asked for its
 * vnodes first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "pbs_ifl.h"
#include "resv.h"
#include "rsub.h"

/* A job that runs, ends or is on its way elsewhere cannot be moved. An unknown one is left to the server. */
static int qmove_state_check(const struct wish *w, int c)
{
	struct attrl want = { .name = (char *)ATTR_state };
	const char *id = wish_get(w, ATTR_convert, ""), *state;
	struct batch_status *job = id ? pbs_statjob(c, id, &want, NULL) : NULL;
	bool fine;

	state = job ? status_value(job, ATTR_state, NULL) : NULL;
	fine = !state || !strchr("RTE", *state);
	pbs_statfree(job);
	if (fine)
		return 0;
	fputs("Job not in qmove state\n", stderr);
	return pbs_rsub.usage_exit;
}

static int plain_submit(const struct wish *w, int c)
{
	int status = qmove_state_check(w, c);
	char *reply;

	if (status != 0)
		return status;
	reply = pbs_submit_resv(c, w->attrs.first, NULL);
	if (!reply)
		return resv_failed(&pbs_rsub, c);
	puts(reply);
	free(reply);
	return 0;
}

/* select or place, by -W. */
static int smuggled_check(const struct wish *w)
{
	static const char *const words[] = { "select", "place" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (wish_get(w, words[i], "") || wish_get(w, ATTR_l, words[i])) {
			fprintf(stderr, "%s: can't use -l %s with --hosts\n", pbs_rsub.name, words[i]);
			return cmd_usage(&pbs_rsub);
		}
	return 0;
}

static int submit(struct wish *w)
{
	struct cmd_link link = { 0 };
	struct hosts hosts = { 0 };
	int status = 0;

	if (w->hosts)
		status = hosts_take(&hosts, w->operand, w->n_operands);
	if (status == 0 && w->hosts)
		status = smuggled_check(w);
	if (status == 0 && cmd_link_open(&pbs_rsub, &link, w->server ? w->server : "") < 0)
		status = cmd_unreached_status(&pbs_rsub);
	else if (status == 0)
		status = w->hosts ? hosts_submit(w, &hosts, link.c) : plain_submit(w, link.c);
	cmd_link_close(&link);
	hosts_free(&hosts);
	return status;
}

int main(int argc, char **argv)
{
	struct wish w = { 0 };
	int status;

	if (cmd_begin(&pbs_rsub, argc, argv))
		return 0;
	if (argc < 2 || !options_read(&w, argc, argv))
		status = cmd_usage(&pbs_rsub);
	else
		status = wish_check(&w, argc, argv);
	if (status == 0)
		status = submit(&w);
	attr_list_fini(&w.attrs);
	return status;
}
