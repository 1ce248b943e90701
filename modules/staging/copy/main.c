/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-copy: one act on files of a job, as the job's user, started by modules/staging.
 *
 *	keelson-copy in|out DIR LOCAL HOST PATH PROGRAM [ARGUMENT]...   HOST "": this one
 *	keelson-copy remove-files|remove DIR LOCAL...                   what was staged in, out
 *	keelson-copy keep DIR                                           a private directory gets another name
 *
 * DIR, where relative names begin, is itself below the home unless it begins with a slash. PROGRAM gets the sources and the
 * destination. A missing source is status 3: there is no use in trying again. Names to be removed are patterns for "remove" alone.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/version_word.h"

#define MISSING 3
#define BROKEN 4

static const char *home;

static char *joined(const char *dir, const char *name)
{
	char *path;

	if (*name == '/')
		path = strdup(name);
	else if (asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	if (!path)
		exit(BROKEN);
	return path;
}

static int is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* The name itself, when it is there; else those that fit it. Ends the program when there are none. */
static void sources_find(char ***sources, size_t *ret_n)
{
	static glob_t found;

	if (is_there(**sources))
		return;
	if (glob(**sources, 0, NULL, &found) != 0) {
		fprintf(stderr, "%s: No such file or directory\n", **sources);
		exit(MISSING);
	}
	*sources = found.gl_pathv;
	*ret_n = found.gl_pathc;
}

static int run(char **program, int n, char *const *sources, size_t n_sources, char *target)
{
	char **argv = calloc((size_t)n + n_sources + 2, sizeof(*argv));

	if (!argv)
		return BROKEN;
	memcpy(argv, program, (size_t)n * sizeof(*argv));
	memcpy(argv + n, sources, n_sources * sizeof(*argv));
	argv[n + (int)n_sources] = target;
	execvp(argv[0], argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	return BROKEN;
}

static int copy(int in, const char *dir, char **args, int n)
{
	char *local = joined(dir, args[0]), *host = args[1], *other;
	char **sources = &local;
	size_t n_sources = 1;

	if (*host ? asprintf(&other, "%s:%s", host, args[2]) < 0 : !(other = joined(home, args[2])))
		return BROKEN;
	if (in)
		sources = &other;
	if (!in || !*host)
		sources_find(&sources, &n_sources);
	return run(args + 3, n - 3, sources, n_sources, in ? local : other);
}

/* rm, which does not follow links. A name that is there is no pattern, nor is one of what was staged in. */
static int clean(const char *dir, const char *options, char **names, int n)
{
	char *program[] = { "rm", strdup(options), "--" }, **paths = calloc((size_t)n, sizeof(*paths));
	size_t n_paths = 0, room = (size_t)n;

	for (int i = 0; paths && i < n; i++) {
		char *path = joined(dir, names[i]), **fit = &path;
		size_t n_fit = is_there(path);
		glob_t found;

		if (n_fit == 0 && strchr(options, 'r') && glob(path, 0, NULL, &found) == 0) {
			fit = found.gl_pathv;
			n_fit = found.gl_pathc;
		}
		room += n_fit;
		paths = realloc(paths, room * sizeof(*paths));
		for (size_t k = 0; paths && k < n_fit; k++)
			paths[n_paths++] = fit[k];
	}
	if (!paths)
		return BROKEN;
	return n_paths > 0 ? run(program, 3, paths, n_paths, NULL) : 0;
}

static int keep(const char *dir)
{
	char *kept;

	if (asprintf(&kept, "%s.kept", dir) < 0)
		return BROKEN;
	if (rename(dir, kept) < 0) {
		fprintf(stderr, "%s: %s\n", dir, strerror(errno));
		return BROKEN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct passwd *pw = getpwuid(getuid());
	char *dir;

	if (version_word(argc, argv))
		return 0;
	if (argc < 3 || !pw || !pw->pw_dir) {
		fprintf(stderr, "keelson-copy is started by keelsond, for files of jobs of a user with a home\n");
		return BROKEN;
	}
	home = strdup(pw->pw_dir);
	dir = joined(home, argv[2]);
	setenv("HOME", home, 1);
	if (chdir(home) < 0 && chdir("/") < 0)
		return BROKEN;
	umask(077);
	if (argc > 6 && (strcmp(argv[1], "in") == 0 || strcmp(argv[1], "out") == 0))
		return copy(argv[1][0] == 'i', dir, argv + 3, argc - 3);
	if (strcmp(argv[1], "remove-files") == 0)
		return clean(dir, "-f", argv + 3, argc - 3);
	if (strcmp(argv[1], "remove") == 0)
		return clean(dir, "-rf", argv + 3, argc - 3);
	return strcmp(argv[1], "keep") == 0 ? keep(dir) : BROKEN;
}
