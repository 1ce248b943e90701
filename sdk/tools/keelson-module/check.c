/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the conformance kit: may this module be shipped?
 *
 *   static -> lifecycle -> calls -> replay        each only when what it rests on holds
 *
 * Rules are in check_rules.def. The file is looked at first, and opened only when it is sound; from then
 * on everything that runs code of the module does so in a child, so that what crashes is one rule.
 */
#include "check.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_report.h"
#include "check_static.h"

struct options {
	const char *file, *only;
};

static int usage(FILE *to)
{
	fprintf(to, "usage: keelson-module check [--only GROUP[,RULE...]] FILE.so\n"
		    "       keelson-module check --list\n");
	return 2;
}

static bool is_known(const char *word)
{
	for (int r = 0; r < N_RULES; r++)
		if (rule_fits((enum rule)r, word))
			return true;
	fprintf(stderr, "keelson-module: there is no group or rule '%s'; --list shows them\n", word);
	return false;
}

static bool are_known(const char *only)
{
	char *words = strdup(only), *at;
	bool good = words != NULL;

	for (char *word = good ? strtok_r(words, ",", &at) : NULL; word != NULL; word = strtok_r(NULL, ",", &at))
		good = is_known(word) && good;
	free(words);
	return good;
}

/* Before a group was looked at its rules are neither kept nor broken. */
static void run(const struct options *o)
{
	const struct keel_module *m;

	skip_group("static", "the file cannot be looked into");
	skip_group("lifecycle", "rules of the file are broken");
	skip_group("calls", "rules of the file are broken");
	skip_group("replay", "rules of the file are broken");
	skip_group("isolated", "only with --isolated");
	m = check_file(o->file);
	if (m == NULL || !check_descriptor(m))
		return;
	skip_group("lifecycle", "there is no host to load it into yet");
	skip_group("calls", "there is no host to load it into yet");
	skip_group("replay", "there is no host to load it into yet");
}

int check(int argc, char **argv)
{
	static const struct option longs[] = { { "only", required_argument, NULL, 'o' },
					       { "list", no_argument, NULL, 'l' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	struct options o = { 0 };
	int c, broken;

	optind = 1;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'o': o.only = optarg; break;
		case 'l': rules_list(); return 0;
		case 'h': usage(stdout); return 0;
		default: return usage(stderr);
		}
	}
	if (optind != argc - 1 || (o.only != NULL && !are_known(o.only)))
		return usage(stderr);
	o.file = argv[optind];
	if (report_open() < 0) {
		fprintf(stderr, "keelson-module: no memory for a report\n");
		return 2;
	}
	run(&o);
	broken = report_print(o.only);
	report_close();
	return broken > 0;
}
