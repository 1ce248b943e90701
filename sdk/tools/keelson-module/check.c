/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - the conformance kit: may this module be shipped?
 *
 *   static -> lifecycle -> calls -> replay      each only when what it rests on holds
 *
 * Rules are in check_rules.def. The file is looked at first, and opened only when it is sound; from then
 * on everything that runs code of the module does so in a child, so that what crashes is one rule.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_beside.h"
#include "check_home.h"
#include "check_lifecycle.h"
#include "check_report.h"
#include "check_static.h"
#include "check_watch.h"
#include "isolable.h"
#include "place.h"
#include "verbs.h"

/* Beside this program, in the tree of its build, and where they were to be. */
static const char *const module_places[] = { KEELSON_MODULE_BESIDE, "../modules", KEELSON_MODULE_DIR, NULL };

struct options {
	const char *file, *before, *only, *modules, *conf;
	bool isolated;
};

static int usage(FILE *to)
{
	fprintf(to, "usage: keelson-module check [--only GROUP[,RULE...]] [--conf TEXT]\n"
		    "                            [--value CLASS.ATTRIBUTE=TEXT]... [--modules DIR]\n"
		    "                            [--with FILE.so]... [--before FILE.so] [--isolated] FILE.so\n"
		    "       keelson-module check --list\n");
	return 2;
}

static bool are_known(const char *only)
{
	char *words = strdup(only), *at;
	bool good = words != NULL;

	for (char *word = good ? strtok_r(words, ",", &at) : NULL; word != NULL; word = strtok_r(NULL, ",", &at)) {
		int r = 0;

		while (r < N_RULES && !rule_fits((enum rule)r, word))
			r++;
		if (r < N_RULES)
			continue;
		fprintf(stderr, "keelson-module: there is no group or rule '%s'; --list shows them\n", word);
		good = false;
	}
	free(words);
	return good;
}

/* May it run in a process of its own? */
static void check_isolated(const char *path)
{
	char why[MODFILE_WHY_MAX], words[WORDS_MAX];
	struct modfile_module *m = modfile_read(path, why);
	const char *inside = m == NULL ? why : why_inside(m, words);

	look(RULE_isolated_possible);
	if (inside != NULL)
		finding(RULE_isolated_possible, "%s", inside);
	modfile_module_free(m);
}

static void run_loaded(const struct options *o, const struct subject *s)
{
	if (!check_lifecycle(s, group_wanted("lifecycle", o->only))) {
		skip_all("calls,replay", "it cannot be loaded");
		return;
	}
	if (group_wanted("calls", o->only))
		check_calls(s);
	if (group_broken("calls"))
		skip_all("replay", "rules of calls are broken");
	else if (group_wanted("replay", o->only))
		check_replay(s);
}

/* Before a group was looked at its rules are neither kept nor broken. */
static void run(const struct options *o)
{
	struct subject s = { .path = o->file, .conf = o->conf, .optional = true };
	struct keel_module alone;
	char *required = NULL, folder[PATH_MAX];
	const char *missing, *const *name = NULL;

	skip_all("static", "the file cannot be looked into");
	skip_all("lifecycle,calls,replay,isolated", "rules of the file are broken");
	skip(RULE_isolated_possible, "only with --isolated");
	s.symbol = check_file(o->file);
	if (s.symbol == NULL || !check_descriptor(s.symbol))
		return;
	if (o->before != NULL)
		check_upgrade(o->before, o->file);
	else
		skip(RULE_static_upgrade, "only with --before");
	alone = *(const struct keel_module *)s.symbol;
	alone.requires_modules = alone.conflicts = NULL;
	s.m = &alone;
	if (o->isolated)
		check_isolated(o->file);
	watch_module(s.path, s.symbol);
	if (!group_wanted("lifecycle", o->only) && !group_wanted("calls", o->only) && !group_wanted("replay", o->only))
		return;
	missing = beside_choose(o->modules != NULL || !place_find(module_places, ".", folder) ? o->modules : folder,
				s.symbol);
	if (missing != NULL) {
		skip_all("lifecycle,calls,replay", "it needs the service %s, which no module here offers; see --with", missing);
		return;
	}
	if (s.conf == NULL)
		s.conf = s.made_up = required = config_required(s.m);
	run_loaded(o, &s);
	/* One that cannot be loaded may miss one that it requires, and the points which that one publishes. */
	if (rule_broken(RULE_lifecycle_load))
		name = ((const struct keel_module *)s.symbol)->requires_modules;
	for (; name != NULL && *name != NULL; name++)
		if (!beside_is(*name))
			remark("it requires the module %s, which is not here; see --with", *name);
	free(required);
}

int check(int argc, char **argv)
{
	static const struct option longs[] = { { "only", required_argument, NULL, 'o' },
					       { "conf", required_argument, NULL, 'c' },
					       { "value", required_argument, NULL, 'v' },
					       { "modules", required_argument, NULL, 'm' },
					       { "with", required_argument, NULL, 'w' },
					       { "before", required_argument, NULL, 'b' },
					       { "isolated", no_argument, NULL, 'i' },
					       { "list", no_argument, NULL, 'l' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	struct options o = { 0 };
	const char *why, *home;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'o': o.only = optarg; break;
		case 'c': o.conf = optarg; break;
		case 'm': o.modules = optarg; break;
		case 'v':
			if (!stage_say(optarg)) {
				fprintf(stderr, "keelson-module: --value: expected CLASS.ATTRIBUTE=TEXT, at most 32 of "
						"them, got '%s'\n", optarg);
				return 2;
			}
			break;
		case 'w':
			if (!beside_open(optarg, &why)) {
				fprintf(stderr, "keelson-module: --with %s: %s\n", optarg, why);
				return 2;
			}
			break;
		case 'b':
			o.before = optarg;
			why = upgrade_objection(o.before);
			if (why != NULL) {
				fprintf(stderr, "keelson-module: --before %s: %s\n", optarg, why);
				return 2;
			}
			break;
		case 'i': o.isolated = true; break;
		case 'l': rules_list(); return 0;
		case 'h': usage(stdout); return 0;
		default: return usage(stderr);
		}
	}
	if (optind != argc - 1 || (o.only != NULL && !are_known(o.only)))
		return usage(stderr);
	o.file = argv[optind];
	home = report_open() < 0 ? NULL : home_open();
	if (home == NULL || setenv("TMPDIR", home, 1) < 0) {
		fprintf(stderr, "keelson-module: there is no memory for a report, or no room for files (TMPDIR)\n");
		return 2;
	}
	run(&o);
	home_close();
	return report_print(o.only) > 0;
}
