/* SPDX-License-Identifier: Apache-2.0
 *
 * wish.c - options of pbs_rsub that exclude each other, and what follows from them.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "operand.h"
#include "pbs_ifl.h"
#include "rsub.h"

#define QMOVE_SECONDS "-10" /* of -I, without one */
#define ZONE_SIZE 256

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

const struct cmd pbs_rsub = {
	.name = "pbs_rsub",
	.usage = "usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]\n"
		 "                [-N reservation_name] [-u user_list] [-g group_list]\n"
		 "                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]\n"
		 "                [-R start_time] [-E end_time] [-D duration] [-q destination]\n"
		 "                [-r rrule_expression] [-W otherattributes=value...]\n"
		 "                -l resource_list | --hosts host1 [... hostn]\n"
		 "       pbs_rsub --version\n",
	.usage_exit = 2,
};

static int say(const char *text)
{
	fprintf(stderr, "%s: %s\n", pbs_rsub.name, text);
	return EXIT_USAGE;
}

static int usage_after(const char *text)
{
	say(text);
	return cmd_usage(&pbs_rsub);
}

static int no_memory(int ret)
{
	if (ret == 0)
		return 0;
	say("out of memory");
	return EXIT_FAULT;
}

const char *wish_get(const struct wish *w, const char *name, const char *resource)
{
	for (const struct attropl *a = w->attrs.first; a; a = a->next)
		if (strcmp(a->name, name) == 0 && strcmp(a->resource ? a->resource : "", resource) == 0)
			return a->value;
	return NULL;
}

/* What --hosts does not go with. */
static int hosts_check(const struct wish *w)
{
	const struct {
		bool given;
		const char *text;
	} rows[] = {
		{ w->waits, "can't use -I with --hosts" },
		{ w->has_resources, "can't use -l with --hosts" },
		{ w->rule != NULL, "can't use -r with --hosts" },
		{ w->job != NULL || wish_get(w, ATTR_resv_job, "") != NULL, "can't use --job with --hosts" },
		{ wish_get(w, ATTR_convert, "") != NULL, "can't use -Wqmove with --hosts" },
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given)
			status = say(rows[i].text);
	return status == 0 ? 0 : cmd_usage(&pbs_rsub);
}

static int stray(int argc, char **argv)
{
	fprintf(stderr, "%s: directive error: ", pbs_rsub.name);
	for (int i = 1; i < argc; i++)
		fprintf(stderr, "%s ", argv[i]);
	fputc('\n', stderr);
	return cmd_usage(&pbs_rsub);
}

/* The id is sent with its server. */
static int job_set(struct wish *w, const char *attribute, const char *text)
{
	struct operand job;

	if (operand_job(text, &job) < 0) {
		cmd_bad_id(&pbs_rsub, text);
		return EXIT_USAGE;
	}
	return no_memory(attr_list_set(&w->attrs, attribute, NULL, job.id));
}

static int job_check(struct wish *w)
{
	if (w->start || w->end)
		return usage_after("Start/End time cannot be used with --job option");
	return job_set(w, ATTR_resv_job, w->job);
}

static int qmove_check(struct wish *w)
{
	if (w->start || w->end)
		return usage_after("-Wqmove is not compatible with -R or -E option");
	if (w->waits && w->seconds >= 0)
		return say("-I <timeout> value must be negative when used with -Wqmove option.");
	if (!w->waits && attr_list_set(&w->attrs, ATTR_inter, NULL, QMOVE_SECONDS) < 0)
		return no_memory(-1);
	return job_set(w, ATTR_convert, wish_get(w, ATTR_convert, ""));
}

static int name_check(const struct wish *w)
{
	const char *name = wish_get(w, ATTR_resv_name, "");

	return name && strlen(name) > PBS_MAXJOBNAME ? say("Reservation name is too long ") : 0;
}

/* The name of the zone in which a rule is meant: PBS_TZID, else this host's. */
static const char *own_zone(char zone[ZONE_SIZE])
{
	static const char folder[] = "zoneinfo/";
	const char *named = getenv("TZ"), *at;
	ssize_t n = readlink("/etc/localtime", zone, ZONE_SIZE - 1);

	if (named && *named && !strchr(":/", *named))
		return named;
	zone[n > 0 ? n : 0] = '\0';
	at = strstr(zone, folder);
	return at ? at + sizeof(folder) - 1 : "UTC";
}

static int rule_check(struct wish *w)
{
	const char *rule = w->rule ? w->rule : w->repeat, *zone = getenv("PBS_TZID");
	char own[ZONE_SIZE];
	int ret;

	if (!rule)
		return 0;
	if (!zone || !*zone) {
		if (w->rule) {
			fprintf(stderr, "%s error: a valid PBS_TZID timezone environment variable is required.\n",
				pbs_rsub.name);
			return EXIT_USAGE;
		}
		zone = own_zone(own);
	}
	ret = attr_list_set(&w->attrs, ATTR_resv_rrule, NULL, rule);
	return no_memory(ret == 0 ? attr_list_set(&w->attrs, ATTR_resv_timezone, NULL, zone) : ret);
}

static void put_variable(FILE *out, const char *name, const char *value)
{
	if (!value)
		return;
	fprintf(out, "%s%s=", ftell(out) > 0 ? "," : "", name);
	for (; *value; value++) {
		if (strchr(",\\\"'", *value))
			fputc('\\', out);
		fputc(*value, out);
	}
}

static int variables_set(struct wish *w)
{
	char host[PBS_MAXHOSTNAME + 1] = "", *text = NULL;
	const struct passwd *user = getenv("LOGNAME") ? NULL : getpwuid(getuid());
	const char *zone = getenv("PBS_TZID");
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret = -1;

	if (!out)
		return no_memory(-1);
	gethostname(host, sizeof(host) - 1);
	put_variable(out, "PBS_O_LOGNAME", user ? user->pw_name : getenv("LOGNAME"));
	put_variable(out, "PBS_O_HOST", host);
	put_variable(out, "PBS_O_MAIL", getenv("MAIL"));
	put_variable(out, "PBS_TZID", zone && *zone ? zone : NULL);
	if (fclose(out) == 0)
		ret = attr_list_set(&w->attrs, ATTR_v, NULL, text);
	free(text);
	return no_memory(ret);
}

int wish_check(struct wish *w, int argc, char **argv)
{
	int status = 0;

	if (w->for_hosts && !w->hosts)
		return usage_after("--dry-run, --repeat, --rolling, --health and --action need --hosts");
	if (w->hosts)
		status = hosts_check(w);
	else if (w->n_operands > 0)
		return stray(argc, argv);
	if (status == 0 && w->job)
		status = job_check(w);
	if (status == 0 && wish_get(w, ATTR_convert, ""))
		status = qmove_check(w);
	if (status == 0)
		status = name_check(w);
	if (status == 0)
		status = rule_check(w);
	return status == 0 ? variables_set(w) : status;
}
