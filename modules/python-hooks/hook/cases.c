/* SPDX-License-Identifier: Apache-2.0
 *
 * cases.c - keelson hook test DIR: the cases of a site's own scripts, each in a process of its own, without a server.
 *
 *	DIR/HOOK.py		a script
 *	DIR/HOOK.json		its configuration file, if it has one; or .ini, .xml, .txt
 *	DIR/HOOK/CASE.json	an event: a record, or less, as keelson-hook(1) says
 *	DIR/HOOK/CASE.out	what `keelson hook run` prints for it; "..." stands for any text
 *	DIR/tables.json		of `keelson hook tables`: for events that are no whole records
 */
#include <dirent.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hook_cmd.h"

#define SECONDS 60 /* that a case may take */
#define ANY "..."

struct suite {
	char *dir, *tables; /* tables NULL: there are none */
	unsigned int cases, failed;
};

/* ---- what is expected ------------------------------------------------------------------------------------------ */
/* Where a piece of what is expected is in the text: at its begin, at its end (last), or anywhere. NULL: it is not. */
static const char *piece_find(const char *text, const char *piece, size_t len, int first, int last)
{
	size_t rest = strlen(text);

	if (first)
		return strncmp(text, piece, len) == 0 ? text : NULL;
	if (last)
		return rest >= len && memcmp(text + rest - len, piece, len) == 0 ? text + rest - len : NULL;
	return memmem(text, rest, piece, len);
}

/* NULL: the text is as expected. Else what was expected from here on; *at: what was printed instead. */
static const char *differs(const char *expected, const char *text, const char **at)
{
	const char *any, *found;

	for (int first = 1;; first = 0) {
		any = strstr(expected, ANY);
		size_t len = any ? (size_t)(any - expected) : strlen(expected);

		*at = text;
		found = piece_find(text, expected, len, first, !any);
		if (!found)
			return expected;
		text = *at = found + len;
		if (!any)
			return *text ? "" : NULL;
		expected = any + strlen(ANY);
	}
}

/* Which of its lines it is. */
static const char *line_of(const char *expected, const char **at)
{
	size_t len;

	while ((len = strcspn(expected, "\n") + 1), strlen(expected) >= len && strncmp(expected, *at, len) == 0) {
		expected += len;
		*at += len;
	}
	return expected;
}

/* ---- a case ---------------------------------------------------------------------------------------------------- */
static int is_there(const char *path)
{
	return path && access(path, R_OK) == 0;
}

static int case_said(struct suite *s, const char *hook, const char *name, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static int case_said(struct suite *s, const char *hook, const char *name, const char *fmt, ...)
{
	va_list args;

	s->failed++;
	printf("FAILED %s/%s: ", hook, name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return -1;
}

/* Of a hook, NULL: it has none. */
static char *config_of(const struct suite *s, const char *hook)
{
	static const char *const suffixes[] = { ".json", ".ini", ".xml", ".txt" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *path = path_of(s->dir, "%s%s", hook, suffixes[i]);

		if (is_there(path))
			return path;
		free(path);
	}
	return NULL;
}

/* 0: what the script prints; -1: it was said why there is nothing. */
static int case_run(struct suite *s, const char *hook, const char *name, struct text *out)
{
	char *script = path_of(s->dir, "%s.py", hook), *config = config_of(s, hook);
	char *event = path_of(s->dir, "%s/%s.json", hook, name);
	int status = -1;

	if (script && event)
		status = script_run(&(struct script){ script, event, config, s->tables }, out, SECONDS);
	free(script);
	free(config);
	free(event);
	if (status == 128 + SIGALRM)
		return case_said(s, hook, name, "it takes longer than %d s", SECONDS);
	return status >= 0 && status <= 128 ? 0 : case_said(s, hook, name, "its process was ended, status %d", status);
}

static void case_compare(struct suite *s, const char *hook, const char *name, const char *expected, const char *printed)
{
	const char *at, *line = differs(expected, printed, &at);

	if (!line) {
		printf("ok     %s/%s\n", hook, name);
		return;
	}
	line = line_of(line, &at);
	case_said(s, hook, name, "expected \"%.*s\", printed \"%.*s\"", (int)strcspn(line, "\n"), line, (int)strcspn(at, "\n"), at);
}

static void case_test(struct suite *s, const char *hook, const char *name)
{
	struct text out = { NULL, 0 }, expected = { NULL, 0 };
	char *path = path_of(s->dir, "%s/%s.out", hook, name);

	s->cases++;
	if (!path || file_read(path, &expected) < 0)
		case_said(s, hook, name, "there is no %s, with what `keelson hook run %s/%s.py --event %s/%s/%s.json` should print", path ? path : "",
			  s->dir, hook, s->dir, hook, name);
	else if (case_run(s, hook, name, &out) == 0)
		case_compare(s, hook, name, expected.s ? expected.s : "", out.s ? out.s : "");
	fflush(stdout);
	free(out.s);
	free(expected.s);
	free(path);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */
/* Names in a folder that end so, without that end, in order; the caller frees them. -1: there is no such folder. */
static int names_of(const char *dir, const char *suffix, struct dirent ***list)
{
	int n = scandir(dir, list, NULL, alphasort), kept = 0;

	for (int i = 0; i < n; i++) {
		size_t len = strlen((*list)[i]->d_name), end = strlen(suffix);

		if (len > end && (*list)[i]->d_name[0] != '.' && strcmp((*list)[i]->d_name + len - end, suffix) == 0) {
			(*list)[i]->d_name[len - end] = '\0';
			(*list)[kept++] = (*list)[i];
		} else {
			free((*list)[i]);
		}
	}
	return n < 0 ? -1 : kept;
}

static void names_free(struct dirent **list, int n)
{
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
}

static void hook_test(struct suite *s, const char *hook)
{
	char *dir = path_of(s->dir, "%s", hook);
	struct dirent **cases = NULL;
	int n = dir ? names_of(dir, ".json", &cases) : -1;

	if (n <= 0)
		printf("none   %s: there are no cases %s/%s/*.json\n", hook, s->dir, hook);
	for (int i = 0; i < n; i++)
		case_test(s, hook, cases[i]->d_name);
	names_free(cases, n);
	free(dir);
}

static int suite_test(struct suite *s)
{
	struct dirent **hooks = NULL;
	int n = names_of(s->dir, ".py", &hooks);

	for (int i = 0; i < n; i++)
		hook_test(s, hooks[i]->d_name);
	names_free(hooks, n);
	if (n <= 0)
		return complain("%s has no scripts HOOK.py", s->dir);
	if (s->cases == 0)
		return complain("%s has no cases HOOK/CASE.json", s->dir);
	return s->failed ? EXIT_REFUSED : EXIT_ACCEPTED;
}

int test_verb(int argc, char **argv)
{
	static const struct option options[] = { { "tables", required_argument, NULL, 't' }, { NULL, 0, NULL, 0 } };
	struct suite s = { .tables = NULL };
	int which, status;

	while ((which = getopt_long(argc, argv, "", options, NULL)) == 't')
		s.tables = optarg;
	if (which != -1 || argc - optind != 1)
		return complain("usage: keelson hook test [--tables FILE] DIR");
	s.dir = argv[optind];
	s.tables = s.tables ? strdup(s.tables) : path_of(s.dir, "tables.json");
	if (!is_there(s.tables)) {
		free(s.tables);
		s.tables = NULL;
	}
	status = suite_test(&s);
	free(s.tables);
	return status;
}
