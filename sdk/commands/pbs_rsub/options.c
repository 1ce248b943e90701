/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of pbs_rsub.
 *
 * Values that are sent as they are have a row in lib/resv.c; the library checks them. Those with a syntax of their own are
 * checked here.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pbs_ifl.h"
#include "resv.h"
#include "rsub.h"

#define RULE_MOST 66
#define DIGITS "0123456789"

enum { HOSTS = 256, JOB, DRY_RUN, REPEAT, ROLLING, HEALTH, ACTION };
static const struct option long_options[] = {
	{ "hosts", no_argument, NULL, HOSTS },
	{ "job", required_argument, NULL, JOB },
	{ "dry-run", no_argument, NULL, DRY_RUN },
	{ "repeat", required_argument, NULL, REPEAT },
	{ "rolling", required_argument, NULL, ROLLING },
	{ "health", required_argument, NULL, HEALTH },
	{ "action", required_argument, NULL, ACTION },
	{ 0 },
};

/* What takes a value returns 0; -EINVAL: it is illegal; -EALREADY: that is printed; -ENOMEM. */

static int say(const char *text)
{
	fprintf(stderr, "%s: %s\n", pbs_rsub.name, text);
	return -EALREADY;
}

/* [[HH:]MM:]SS[.ms] */
static bool is_duration(const char *text)
{
	int parts = 1;
	size_t n;

	for (;; parts++, text += n + 1) {
		n = strspn(text, DIGITS);
		if (n == 0 || n > 18 || parts > 3)
			return false;
		if (text[n] != ':')
			break;
	}
	text += n;
	return *text == '\0' || (*text == '.' && text[1 + strspn(text + 1, DIGITS)] == '\0');
}

static int resource_set(void *arg, const char *name, const char *value)
{
	struct wish *w = arg;

	return attr_list_set(&w->attrs, ATTR_l, name, value);
}

static int word_set(void *arg, const char *name, const char *value)
{
	struct wish *w = arg;

	return *value == '\0' ? -EINVAL : attr_list_set(&w->attrs, name, NULL, value);
}

static int rule_take(const char **rule, const char *value, const char *option)
{
	if (strlen(value) <= RULE_MOST) {
		*rule = value;
		return 0;
	}
	fprintf(stderr, "%s: illegal %s value (expression too long)\n", pbs_rsub.name, option);
	return -EALREADY;
}

static int server_take(struct wish *w, const char *value)
{
	if (*value != '@' || value[1] == '\0')
		return say("illegal -q value: format \"@server\"");
	w->server = value + 1;
	return 0;
}

static int seconds_take(struct wish *w, const char *value)
{
	w->waits = true;
	if (resv_seconds(value, &w->seconds) < 0)
		return say("illegal -I time value");
	return attr_list_set(&w->attrs, ATTR_inter, NULL, value);
}

static int rolling_take(struct wish *w, const char *value)
{
	size_t n = strspn(value, DIGITS);

	w->for_hosts = true;
	if (n == 0 || n > 6 || value[n] != '\0' || strspn(value, "0") == n)
		return say("illegal --rolling value");
	return attr_list_set(&w->attrs, "maintenance_rolling", NULL, value);
}

static int action_take(struct wish *w, const char *value)
{
	w->for_hosts = true;
	if (strcmp(value, "suspend") != 0 && strcmp(value, "drain") != 0)
		return say("illegal --action value");
	return attr_list_set(&w->attrs, "maintenance_action", NULL, value);
}

static int long_option_take(struct wish *w, int option, const char *value)
{
	switch (option) {
	case HOSTS:
		w->hosts = true;
		return 0;
	case JOB:
		w->job = value;
		return 0;
	case ROLLING:
		return rolling_take(w, value);
	case ACTION:
		return action_take(w, value);
	case REPEAT:
		w->for_hosts = true;
		return rule_take(&w->repeat, value, "--repeat");
	case HEALTH:
		w->for_hosts = true;
		return attr_list_set(&w->attrs, "maintenance_health", NULL, value);
	default:
		w->for_hosts = w->dry_run = true;
		return 0;
	}
}

static int option_take(struct wish *w, int letter, const char *value)
{
	const char *attribute = resv_attribute(letter);
	struct attr_fault fault;

	switch (letter) {
	case 'R':
		w->start = value;
		return 0;
	case 'E':
		w->end = value;
		return 0;
	case 'D':
		return is_duration(value) ? attr_list_set(&w->attrs, ATTR_l, "walltime", value) : -EINVAL;
	case 'I':
		return seconds_take(w, value);
	case 'q':
		return server_take(w, value);
	case 'r':
		return rule_take(&w->rule, value, "-r");
	case 'l':
		w->has_resources = true;
		return attr_items(value, false, resource_set, w, &fault);
	case 'W':
		return attr_items(value, true, word_set, w, &fault);
	default:
		return attribute ? attr_list_set(&w->attrs, attribute, NULL, value) : long_option_take(w, letter, value);
	}
}

/* Unknown long options, and `--hosts=x`, are answered by the usage alone. */
static bool unknown_print(int letter)
{
	if (optopt > 0 && optopt < HOSTS)
		fprintf(stderr, "%s: %s -- '%c'\n", pbs_rsub.name,
			letter == ':' ? "option requires an argument" : "invalid option", optopt);
	return true;
}

static bool times_take(struct wish *w)
{
	struct date_span times;
	int letter = date_span_parse(w->start, w->end, (long long)time(NULL), &times);

	if (letter == 0)
		return resv_times_set(&w->attrs, &times) == 0;
	fprintf(stderr, "%s: illegal -%c time value\n", pbs_rsub.name, letter);
	return false;
}

bool options_read(struct wish *w, int argc, char **argv)
{
	bool bad = false;
	int letter, ret;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":R:E:D:I:l:m:M:N:q:r:u:g:U:G:H:W:", long_options, NULL)) != -1) {
		if (letter == '?' || letter == ':') {
			bad = unknown_print(letter);
			continue;
		}
		ret = option_take(w, letter, optarg);
		bad |= ret < 0;
		if (ret == -EINVAL)
			cmd_illegal(&pbs_rsub, letter);
	}
	w->operand = argv + optind;
	w->n_operands = argc - optind;
	return times_take(w) && !bad;
}
