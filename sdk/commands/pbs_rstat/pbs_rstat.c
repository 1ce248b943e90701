/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_rstat.c - show reservations.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attr_list.h"
#include "cmd.h"
#include "pbs_error.h"
#include "reach.h"
#include "resv.h"
#include "rstat.h"

static const struct cmd pbs_rstat = {
	.name = "pbs_rstat",
	.usage = "Usage:\n"
		 "\tpbs_rstat [-fFBS] [reservation-id]\n"
		 "\tpbs_rstat --version\n",
	.usage_exit = 1,
};

enum { MOTD = 256, ICAL };
static const struct option long_options[] = {
	{ "motd", no_argument, NULL, MOTD },
	{ "ical", no_argument, NULL, ICAL },
	{ 0 },
};

/* Returns the form for an option; NULL: there is no such option. */
static rstat_form *form_of(int letter)
{
	switch (letter) {
	case 'f':
	case 'F':
		return rstat_full;
	case 'B':
		return rstat_brief;
	case 'S':
		return rstat_table;
	case MOTD:
		return rstat_motd;
	case ICAL:
		return rstat_event;
	default:
		return NULL;
	}
}

/* Full wins over brief, and both over the table, whatever their order. What is for other programs stands alone. */
static bool form_join(rstat_form **form, rstat_form *given)
{
	bool alone = given == rstat_motd || given == rstat_event || *form == rstat_motd || *form == rstat_event;

	if (!given || (alone && *form && *form != given))
		return false;
	if (!*form || given == rstat_full || *form == rstat_table)
		*form = given;
	return true;
}

static bool ids_are_long(int c)
{
	struct attrl want = { .name = (char *)"max_job_sequence_id" };
	struct batch_status *server = pbs_statserver(c, &want, NULL);
	const char *value = server ? status_value(server, want.name, NULL) : NULL;
	bool are = value && strtoll(value, NULL, 10) > PBS_DFLT_MAX_JOB_SEQUENCE_ID;

	pbs_statfree(server);
	return are;
}

static int complain(int c)
{
	int error = pbs_errno;
	const char *text = pbs_geterrmsg(c);

	if (text && *text)
		fprintf(stderr, "%s: %s\n", pbs_rstat.name, text);
	else
		fprintf(stderr, "%s: Server returned error %d\n", pbs_rstat.name, error);
	return error == PBSE_UNKRESVID ? 0 : reach_exit_status(error);
}

static void begin(struct rstat *r, int c, rstat_form *form, bool any)
{
	if (form == rstat_table && !r->headed && any)
		r->long_ids = ids_are_long(c);
	if (form == rstat_event && !r->headed)
		rstat_calendar_begin();
	r->headed |= form == rstat_event;
}

/* Prints what `id` names, NULL: all, in this form. Returns the exit status. */
static int print(struct rstat *r, int c, const char *id, rstat_form *form)
{
	bool windows = form == rstat_event && !id; /* a calendar without ids is one of maintenance */
	struct batch_status *list = pbs_statresv(c, id, NULL, NULL);

	if (!list && pbs_errno != 0)
		return complain(c);
	begin(r, c, form, list != NULL);
	for (const struct batch_status *one = list; one; one = one->next)
		if (!windows || rstat_is_maintenance(one))
			form(r, one);
	pbs_statfree(list);
	return 0;
}

static int print_named(struct rstat *r, struct cmd_link *link, const char *text, rstat_form *form)
{
	struct operand resv = { .id = "" };

	if (text && operand_resv(text, &resv) < 0)
		return resv_bad_id(pbs_rstat.name, text, 1);
	if (cmd_link_open(&pbs_rstat, link, resv.server) < 0)
		return cmd_unreached_status(&pbs_rstat);
	return print(r, link->c, text ? resv.id : NULL, form);
}

static int print_all(rstat_form *form, int n, char **texts)
{
	struct rstat r = { .now = (int64_t)time(NULL) };
	struct cmd_link link = { 0 };
	int status = 0, one;

	if (n == 0)
		status = print_named(&r, &link, NULL, form);
	for (int i = 0; i < n; i++) {
		one = print_named(&r, &link, texts[i], form);
		if (one != 0)
			status = one;
	}
	if (form == rstat_event && r.headed)
		rstat_calendar_end();
	cmd_link_close(&link);
	return status;
}

int main(int argc, char **argv)
{
	rstat_form *form = NULL;
	bool bad = false;
	int letter;

	if (cmd_begin(&pbs_rstat, argc, argv))
		return 0;
	while ((letter = getopt_long(argc, argv, "fFBS", long_options, NULL)) != -1)
		bad |= !form_join(&form, form_of(letter));
	if (bad)
		return cmd_usage(&pbs_rstat);
	return print_all(form ? form : rstat_table, argc - optind, argv + optind);
}
