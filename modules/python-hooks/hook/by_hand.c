/* SPDX-License-Identifier: Apache-2.0
 *
 * by_hand.c - keelson hook run, keelson hook stubs: keelson-pyhost by hand, with what the server has.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hook_cmd.h"

enum option_id { EVENT = 1, CONFIG, TABLES, OPTIONS };

static const struct option options[] = {
	{ "event", required_argument, NULL, EVENT },
	{ "config", required_argument, NULL, CONFIG },
	{ "tables", required_argument, NULL, TABLES },
	{ NULL, 0, NULL, 0 },
};

/* The one operand, NULL: there are others or none, or an unknown option. */
static const char *operand(int argc, char **argv, char **given)
{
	int which;

	while ((which = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (which == '?')
			return NULL;
		given[which] = optarg;
	}
	return argc - optind == 1 ? argv[optind] : NULL;
}

/* ---- the script of a hook ------------------------------------------------------------------------------------- */
static int is_file(const char *what)
{
	size_t len = strlen(what);

	return strchr(what, '/') || (len > 3 && strcmp(what + len - 3, ".py") == 0);
}

/* Names of hooks have nothing that qmgr reads as something else. */
static int is_name(const char *what)
{
	return isalpha((unsigned char)what[0]) && strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == strlen(what);
}

/* 0: *out is what the server has; else the status. */
static int export_hook(const char *name, const char *type, struct text *out)
{
	char *program = program_path("qmgr"), option[] = "-c", *words = NULL;
	int status = -1;

	if (program && asprintf(&words, "export hook %s %s default", name, type) >= 0) {
		char *argv[] = { program, option, words, NULL };

		status = child_run(argv, out, 0, 0);
	}
	free(program);
	free(words);
	return status == 0 ? 0 : EXIT_FAILED;
}

/* Script and configuration of a hook, in files; *config NULL: it has none. The path of the script; NULL: it was said why. */
static char *exported(const char *name, const char *dir, char **config)
{
	struct text script = { NULL, 0 }, conf = { NULL, 0 };
	char *path = NULL;

	if (!is_name(name))
		complain("'%s' is no name of a hook; a file ends in .py or has a / in it", name);
	else if (export_hook(name, "application/x-python", &script) == 0 && export_hook(name, "application/x-config", &conf) == 0) {
		if (script.len == 0)
			complain("hook %s has no script: qmgr -c 'import hook %s application/x-python default FILE'", name, name);
		else if (!(path = path_of(dir, "%s.py", name)) || file_write(path, &script) != 0 ||
			 (conf.len && (!(*config = path_of(dir, "%s.conf", name)) || file_write(*config, &conf) != 0))) {
			free(path);
			path = NULL;
		}
	}
	free(script.s);
	free(conf.s);
	return path;
}

/* ---- keelson-pyhost ------------------------------------------------------------------------------------------- */
/* The exit status of this program. */
static int ended(int status)
{
	if (status > 128)
		return complain("the script was ended by signal %d", status - 128);
	return status < 0 ? EXIT_FAILED : status;
}

int run_verb(int argc, char **argv)
{
	char *given[OPTIONS] = { NULL }, *dir, *script, *config = NULL;
	const char *what = operand(argc, argv, given);
	int status = EXIT_FAILED;

	if (!what || !given[EVENT])
		return complain("usage: keelson hook run NAME | FILE.py --event FILE [--config FILE] [--tables FILE]");
	dir = temp_make();
	script = !dir ? NULL : is_file(what) ? strdup(what) : exported(what, dir, &config);
	if (script)
		status = ended(script_run(&(struct script){ script, given[EVENT], given[CONFIG] ? given[CONFIG] : config, given[TABLES] }, NULL, 0));
	free(script);
	free(config);
	temp_remove(dir);
	return status;
}

int stubs_verb(int argc, char **argv)
{
	char *given[OPTIONS] = { NULL }, stubs[] = "--stubs", *dir, *file;
	int status = EXIT_FAILED;

	if (operand(argc, argv, given) || optind < argc || given[EVENT] || given[CONFIG])
		return complain("usage: keelson hook stubs [--tables FILE]");
	dir = temp_make();
	file = !dir ? NULL : given[TABLES] ? strdup(given[TABLES]) : ask_file(dir);
	if (file) {
		char *words[] = { NULL, stubs, file, NULL };

		status = ended(pyhost_run(words, NULL, 0));
	}
	free(file);
	temp_remove(dir);
	return status;
}
