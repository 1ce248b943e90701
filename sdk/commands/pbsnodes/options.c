/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of pbsnodes.
 *
 * Node health checks written for another batch system use -N and "-n -l all"; -n alone has no effect and is an error
 * without -l.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pbsnodes.h"

static int set_mark(struct options *o, enum node_mark mark)
{
	if (o->mark != MARK_NONE && o->mark != mark)
		return -1;
	o->mark = mark;
	return 0;
}

static int take(struct options *o, int letter, const char *arg, bool *n_given)
{
	switch (letter) {
	case 'a': o->all = true; return 0;
	case 'v': o->vnodes = true; return 0;
	case 'H': o->by_host = true; return 0;
	case 'l': o->list = true; return 0;
	case 'S': o->summary = true; return 0;
	case 'j': o->jobs = true; return 0;
	case 'L': o->untruncated = true; return 0;
	case 'q': o->quiet = true; return 0;
	case 'n': *n_given = true; return 0;
	case 'o': return set_mark(o, MARK_OFFLINE);
	case 'r': return set_mark(o, MARK_ONLINE);
	case 'c': return set_mark(o, MARK_CLEAR);
	case 'd': return set_mark(o, MARK_DOWN);
	case 's': o->server = arg; return 0;
	case 'C': case 'N': o->comment = arg; return 0;
	case 'D': o->delimiter = arg; return 0;
	case 'F':
		o->format_given = true;
		return show_format_find(arg, &o->format);
	default: return -1;
	}
}

/* Options that exclude each other, or have no effect. */
static bool is_misuse(const struct options *o, int operands)
{
	if (o->mark != MARK_NONE)
		return operands == 0 || o->all || o->list || o->summary || o->by_host;
	if (o->list)
		return o->vnodes || o->all || o->summary || o->by_host ||
		       (operands > 0 && !o->torque_list);
	if (o->all && o->by_host)
		return true;
	if (!o->all && operands == 0)
		return true;
	return (o->jobs || o->untruncated) && !o->summary;
}

int options_read(int argc, char **argv, struct options *ret, int *ret_first)
{
	struct options o = { .server = "", .delimiter = "|" };
	bool n_given = false;
	int letter;

	while ((letter = getopt(argc, argv, "acC:dD:F:HjlLN:noqrs:Sv")) != -1)
		if (take(&o, letter, optarg, &n_given) < 0)
			return -1;
	if (n_given && !o.list) {
		fprintf(stderr, "pbsnodes: invalid option -- 'n'\n");
		return -1;
	}
	if (o.comment && o.mark == MARK_NONE && !o.all && !o.list && !o.summary && !o.by_host)
		o.mark = MARK_COMMENT;
	if (o.list && optind < argc && strcmp(argv[optind], "all") == 0) {
		o.torque_list = true;
		optind++;
	}
	if (is_misuse(&o, argc - optind))
		return -1;
	*ret = o;
	*ret_first = optind;
	return 0;
}
