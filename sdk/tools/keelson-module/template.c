/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c - a copy of the SDK's template under another name.
 *
 * Wherever the word "template" stands alone, in a file or in the name of one, the new name takes its
 * place; where '_' follows, it is part of an identifier ('-' of the name is '_' there). The texts of the
 * template keep to that: the word means nothing else in them.
 */
#include "template.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "name.h"

#define WORD "template"
enum { FILE_MAX = 1 << 20 };

/* build NULL: whatever builds it */
enum language { C = 1, CXX = 2, BOTH = 3 };
static const struct {
	const char *build, *folder, *name;
	enum language of;
} files[] = {
	{ NULL, "", "template.c", C },
	{ NULL, "cxx/", "template.cc", CXX },
	{ NULL, "", "test_template.c", BOTH },
	{ NULL, "", "template.conf", BOTH },
	{ NULL, "", "README.md", BOTH },
	{ "make", "", "Makefile", BOTH },
	{ "cmake", "cmake/", "CMakeLists.txt", C },
	{ "cmake", "cxx/", "CMakeLists.txt", CXX },
	{ "autotools", "autotools/", "configure.ac", C },
	{ "autotools", "autotools/", "Makefile.am", C },
};
enum { N_FILES = sizeof(files) / sizeof(*files) };

static bool is_of(size_t i, const struct template_kind *kind)
{
	return (files[i].of & (kind->cxx ? CXX : C)) != 0;
}

bool template_has(const struct template_kind *kind)
{
	bool has = strcmp(kind->build, "none") == 0;

	for (size_t i = 0; i < N_FILES; i++)
		has = has || (is_of(i, kind) && files[i].build != NULL && strcmp(files[i].build, kind->build) == 0);
	return has;
}

static int fail(char *why, const char *what, const char *path)
{
	snprintf(why, TEMPLATE_WHY_MAX, "cannot %s %.400s: %s", what, path, strerror(errno));
	return -1;
}

/* Does the word stand alone at `at` of `text`? */
static bool is_word(const char *text, const char *at)
{
	return strncmp(at, WORD, strlen(WORD)) == 0 && (at == text || !isalnum((unsigned char)at[-1])) &&
	       !isalnum((unsigned char)at[strlen(WORD)]);
}

/* `text` with the new name, to *out. */
static void rename_words(const char *text, const char *name, bool cxx, FILE *out)
{
	char identifier[MODULE_NAME_MAX + 1];

	module_name_identifier(name, identifier, sizeof(identifier));
	for (const char *at = text; *at != '\0'; at++) {
		if (!is_word(text, at)) {
			putc(*at, out);
			continue;
		}
		at += strlen(WORD) - 1;
		fputs(at[1] == '_' ? identifier : name, out);
		/* "template.c", but not that of another name before it */
		if (cxx && strncmp(at + 1, ".c", 2) == 0 && !isalnum((unsigned char)at[3]) &&
		    (at + 1 - strlen(WORD) == text || at[-(ptrdiff_t)strlen(WORD)] != '_')) {
			fputs(".cc", out);
			at += strlen(".c");
		}
	}
}

static char *file_read(const char *path)
{
	char *text = calloc(1, FILE_MAX);
	FILE *f = fopen(path, "re");

	if (f == NULL || text == NULL || (fread(text, 1, FILE_MAX - 1, f) == 0 && ferror(f))) {
		free(text);
		text = NULL;
	}
	if (f != NULL)
		fclose(f);
	return text;
}

/* Where file `i` goes. */
static void target_of(size_t i, const char *dir, const char *name, char ret[PATH_MAX])
{
	FILE *out = fmemopen(ret, PATH_MAX, "w");

	if (out == NULL)
		abort();
	fprintf(out, "%s/", dir);
	rename_words(files[i].name, name, false, out);
	fclose(out);
}

static int file_copy(size_t i, const char *from, const char *dir, const char *name, bool cxx, char *why)
{
	char source[PATH_MAX], target[PATH_MAX];
	char *text;
	FILE *out;
	int ret = 0;

	snprintf(source, sizeof(source), "%s/%s%s", from, files[i].folder, files[i].name);
	target_of(i, dir, name, target);
	text = file_read(source);
	if (text == NULL)
		return fail(why, "read", source);
	out = fopen(target, "wxe");
	if (out == NULL) {
		ret = fail(why, "write", target);
	} else {
		rename_words(text, name, cxx, out);
		if (fclose(out) != 0)
			ret = fail(why, "write", target);
	}
	free(text);
	return ret;
}

int template_copy(const char *from, const char *dir, const char *name, const struct template_kind *kind,
		  char why[TEMPLATE_WHY_MAX])
{
	char target[PATH_MAX];
	int ret = 0;

	if (strlen(dir) + 2 * MODULE_NAME_MAX > PATH_MAX) {
		errno = ENAMETOOLONG;
		return fail(why, "make folder", dir);
	}
	if (mkdir(dir, 0777) < 0) {
		if (errno != EEXIST)
			return fail(why, "make folder", dir);
		snprintf(why, TEMPLATE_WHY_MAX, "%.400s exists already; a new module gets a folder of its own",
			 dir);
		return -1;
	}
	for (size_t i = 0; i < N_FILES && ret == 0; i++)
		if (is_of(i, kind) && (files[i].build == NULL || strcmp(files[i].build, kind->build) == 0))
			ret = file_copy(i, from, dir, name, kind->cxx, why);
	for (size_t i = 0; i < N_FILES && ret < 0; i++) {
		target_of(i, dir, name, target);
		unlink(target);
	}
	if (ret < 0)
		rmdir(dir);
	return ret;
}
