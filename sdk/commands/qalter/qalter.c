/* SPDX-License-Identifier: Apache-2.0
 *
 * qalter.c - change attributes of jobs.
 *
 * The library and the server check values; here only the syntax of -a, -l and -W is checked.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "attr_list.h"
#include "cmd.h"
#include "date.h"

static const struct cmd qalter = {
	.name = "qalter",
	.usage = "usage: qalter [-a date_time] [-A account_string] [-c interval] [-e path]\n"
		 "\t[-h hold_list] [-j y|n] [-k keep] [-l resource_list]\n"
		 "\t[-m mail_options] [-M user_list] [-N jobname] [-o path] [-p priority]\n"
		 "\t[-R o|e|oe] [-r y|n] [-S path] [-u user_list] [-W dependency_list]\n"
		 "\t[-P project_name] job_identifier...\n"
		 "       qalter --version\n",
	.usage_exit = 2,
};

static int date_take(struct attr_list *l, const char *text)
{
	long long when;
	char number[24];

	if (date_parse(text, (long long)time(NULL), &when) < 0)
		return -EINVAL;
	snprintf(number, sizeof(number), "%lld", when);
	return attr_list_set(l, ATTR_a, NULL, number);
}

static int resources_take(struct attr_list *l, const char *text)
{
	return attr_list_items(l, ATTR_l, text);
}

static int words_take(struct attr_list *l, const char *text)
{
	return attr_list_items(l, NULL, text);
}

static const struct option_row {
	char letter;
	const char *attribute; /* NULL: `take` sets it */
	int (*take)(struct attr_list *l, const char *text);
} rows[] = {
	{ 'a', NULL, date_take },	 { 'l', NULL, resources_take },
	{ 'W', NULL, words_take }, { 'A', ATTR_A, NULL },
	{ 'c', ATTR_c, NULL },		 { 'e', ATTR_e, NULL },
	{ 'h', ATTR_h, NULL },		 { 'j', ATTR_j, NULL },
	{ 'k', ATTR_k, NULL },		 { 'm', ATTR_m, NULL },
	{ 'M', ATTR_M, NULL },		 { 'N', ATTR_N, NULL },
	{ 'o', ATTR_o, NULL },		 { 'p', ATTR_p, NULL },
	{ 'P', ATTR_project, NULL },	 { 'r', ATTR_r, NULL },
	{ 'R', ATTR_R, NULL },		 { 'S', ATTR_S, NULL },
	{ 'u', ATTR_u, NULL },
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static bool options_take(struct attr_list *l, int argc, char **argv)
{
	bool bad = false;
	int letter, ret;

	while ((letter = getopt(argc, argv, "a:A:c:e:h:j:k:l:m:M:N:o:p:P:r:R:S:u:W:")) != -1) {
		const struct option_row *row = rows;

		while (row < rows + N_ROWS && row->letter != letter)
			row++;
		if (row == rows + N_ROWS)
			ret = -ENOENT;
		else
			ret = row->take ? row->take(l, optarg) : attr_list_set(l, row->attribute, NULL, optarg);
		if (ret == -EINVAL)
			bad |= cmd_illegal(&qalter, letter);
		else if (ret < 0)
			bad = true;
	}
	return !bad;
}

static int job_request(int c, const char *id, void *arg)
{
	struct attr_list *l = arg;

	return pbs_alterjob(c, id, (struct attrl *)l->first, NULL);
}

int main(int argc, char **argv)
{
	struct attr_list changes = { NULL };
	int status;

	if (cmd_begin(&qalter, argc, argv))
		return 0;
	if (!options_take(&changes, argc, argv) || optind >= argc)
		status = cmd_usage(&qalter);
	else
		status = cmd_each_job(&qalter, argc - optind, argv + optind, job_request, &changes);
	attr_list_fini(&changes);
	return status;
}
