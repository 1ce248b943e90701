/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_ralter.c - change a reservation.
 *
 * The library and the server check values; here only what has a syntax of its own: times, -I, -l, -W.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attr_list.h"
#include "cmd.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "resv.h"

static const struct cmd pbs_ralter = {
	.name = "pbs_ralter",
	.usage = "usage: pbs_ralter [-I seconds] [-m mail_points] [-M mail_list]\n"
		 "                [-N reservation_name] [-R start_time] [-E end_time]\n"
		 "                [-U (+/-)username[,(+/-)username]...]\n"
		 "                [-G [(+/-)group[,(+/-)group]...]]\n"
		 "                [-D duration]\n"
		 "                [-W force]\n"
		 "                resv_id\n"
		 "       pbs_ralter --version\n",
	.usage_exit = 2,
};

struct wish {
	struct attr_list changes;
	const char *start, *end, *server;
	bool timed, force;
};

static int select_take(void *arg, const char *name, const char *value)
{
	return strcmp(name, "select") == 0 ? attr_list_set(arg, ATTR_l, name, value) : -EINVAL;
}

static int resources_take(struct wish *w, const char *value)
{
	struct attr_fault fault;
	int ret = attr_items(value, false, select_take, &w->changes, &fault);

	if (ret != -EINVAL)
		return ret;
	fprintf(stderr, "%s -l only allows for select\n", pbs_ralter.name);
	return -EALREADY;
}

static int seconds_take(struct wish *w, const char *value)
{
	long seconds;

	if (resv_seconds(value, &seconds) == 0 && seconds > 0)
		return attr_list_set(&w->changes, ATTR_inter, NULL, value);
	fprintf(stderr, "%s: illegal -I time value\n", pbs_ralter.name);
	return -EALREADY;
}

static int server_take(struct wish *w, const char *value)
{
	if (*value == '@' && value[1] != '\0') {
		w->server = value + 1;
		return 0;
	}
	fprintf(stderr, "%s: illegal -q value: format \"@server\"\n", pbs_ralter.name);
	return -EALREADY;
}

/* Returns 0, -EINVAL: the letter's value is illegal; -EALREADY: a message was printed; -ENOMEM; -ENOENT: no such letter. */
static int option_take(struct wish *w, int letter, const char *value)
{
	const char *attribute = resv_attribute(letter);

	switch (letter) {
	case 'R':
		w->start = value;
		return 0;
	case 'E':
		w->end = value;
		return 0;
	case 'D':
		w->timed = true;
		return attr_list_set(&w->changes, ATTR_resv_duration, NULL, value);
	case 'I':
		return seconds_take(w, value);
	case 'l':
		return resources_take(w, value);
	case 'q':
		return server_take(w, value);
	case 'W':
		w->force = strcmp(value, "force") == 0;
		return w->force ? 0 : -EINVAL;
	default:
		return attribute ? attr_list_set(&w->changes, attribute, NULL, value) : -ENOENT;
	}
}

static bool times_take(struct wish *w)
{
	struct date_span times;
	int letter = date_span_parse(w->start, w->end, (long long)time(NULL), &times);

	if (letter == 0)
		return resv_times_set(&w->changes, &times) == 0;
	fprintf(stderr, "%s: illegal -%c time value\n", pbs_ralter.name, letter);
	return false;
}

static bool options_take(struct wish *w, int argc, char **argv)
{
	bool bad = false;
	int letter, ret;

	while ((letter = getopt(argc, argv, "I:m:M:N:R:E:U:G:D:l:q:W:")) != -1) {
		ret = option_take(w, letter, optarg);
		bad |= ret < 0;
		if (ret == -EINVAL)
			cmd_illegal(&pbs_ralter, letter);
	}
	w->timed |= w->start || w->end;
	bad |= !times_take(w);
	if (!bad && argc - optind == 1 && w->force && !w->timed) {
		fprintf(stderr, "%s: No support for requested service\n", pbs_ralter.name);
		bad = true;
	}
	return !bad && argc - optind == 1;
}

static int alter(const struct wish *w, const char *text)
{
	struct cmd_link link = { 0 };
	struct operand resv;
	char *reply;
	int status = 0;

	if (operand_resv(text, &resv) < 0)
		return resv_bad_id(pbs_ralter.name, text, 2);
	if (cmd_link_open(&pbs_ralter, &link, w->server ? w->server : resv.server) < 0)
		return cmd_unreached_status(&pbs_ralter);
	reply = pbs_modify_resv(link.c, resv.id, w->changes.first, w->force ? "force" : NULL);
	if (reply)
		printf("%s: %s\n", pbs_ralter.name, reply);
	else
		status = resv_failed(&pbs_ralter, link.c);
	free(reply);
	cmd_link_close(&link);
	return status;
}

int main(int argc, char **argv)
{
	struct wish w = { 0 };
	int status;

	if (cmd_begin(&pbs_ralter, argc, argv))
		return 0;
	status = options_take(&w, argc, argv) ? alter(&w, argv[optind]) : cmd_usage(&pbs_ralter);
	attr_list_fini(&w.changes);
	return status;
}
