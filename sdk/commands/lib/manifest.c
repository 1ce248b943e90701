/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.c - options that modules add to commands, as data.
 */
#include "manifest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_ifl.h"

#define FILE_MAX 8192
#define PATH_SIZE 4096
#define WORD_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_-"

static const struct {
	const char *key;
	size_t offset, size;
	bool word; /* letters of WORD_CHARS only */
} keys[] = {
	{ "option", offsetof(struct manifest, option), MANIFEST_WORD, true },
	{ "request", offsetof(struct manifest, request), MANIFEST_WORD, true },
	{ "privilege", offsetof(struct manifest, privilege), MANIFEST_WORD, true },
	{ "help", offsetof(struct manifest, help), MANIFEST_HELP, false },
};

static int bad(char *why, size_t size, const char *what, const char *about)
{
	snprintf(why, size, "%s%s%s", what, *about ? ": " : "", about);
	return -EINVAL;
}

/* Cut blanks at both ends, and the quotes around what is left. */
static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	n = strlen(text);
	while (n > 0 && strchr(" \t\r", text[n - 1]))
		n--;
	if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
		text++;
		n -= 2;
	}
	text[n] = '\0';
	return text;
}

static int set_key(struct manifest *m, const char *key, const char *value, char *why, size_t size)
{
	size_t i;

	if (strcmp(key, "argument") == 0) {
		m->takes_operands = strcmp(value, "nodes") == 0;
		if (!m->takes_operands && strcmp(value, "none") != 0)
			return bad(why, size, "argument must be nodes or none, not", value);
		return 0;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		if (strlen(value) >= keys[i].size)
			return bad(why, size, "value is too long", key);
		if (keys[i].word && (value[strspn(value, WORD_CHARS)] || *value == '-'))
			return bad(why, size, "value must be a lower case word", key);
		strcpy((char *)m + keys[i].offset, value);
		return 0;
	}
	return 0; /* keys of a later version */
}

int manifest_parse(const char *text, struct manifest *ret, char *why, size_t size)
{
	struct manifest m = { .takes_operands = true };
	char line[FILE_MAX], *equals;
	size_t n;
	int rc;

	for (; *text; text += n + (text[n] != '\0')) {
		n = strcspn(text, "\n");
		if (n >= sizeof(line))
			return bad(why, size, "a line is too long", "");
		memcpy(line, text, n);
		line[n] = '\0';
		if (strchr("#", line[strspn(line, " \t\r")]))
			continue;
		equals = strchr(line, '=');
		if (!equals)
			return bad(why, size, "expected key = value, got", trim(line));
		*equals = '\0';
		rc = set_key(&m, trim(line), trim(equals + 1), why, size);
		if (rc < 0)
			return rc;
	}
	if (!m.option[0] || !m.request[0])
		return bad(why, size, "option and request must both be given", "");
	*ret = m;
	return 0;
}

static int read_file(const char *path, struct manifest *ret)
{
	char text[FILE_MAX + 1], why[256] = "it cannot be read";
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, FILE_MAX, f) : 0;
	int rc = -EINVAL;

	text[n] = '\0';
	if (f && !ferror(f))
		rc = strlen(text) == n && n < FILE_MAX ?
			     manifest_parse(text, ret, why, sizeof(why)) :
			     bad(why, sizeof(why), "it is too long or no text", "");
	if (f)
		fclose(f);
	if (rc < 0)
		fprintf(stderr, "%s: option file left out: %s\n", path, why);
	return rc;
}

static int is_option_file(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && strcmp(entry->d_name + n - 4, ".opt") == 0;
}

/* The folder of `command`; entries as scandir(3), -1 when there is none. */
static int scan(const char *command, char dir[PATH_SIZE], struct dirent ***ret_entries)
{
	const char *given = getenv("KEELSON_OPTIONS_DIR");
	char *exec = given ? NULL : pbs_conf_value("PBS_EXEC");
	int n;

	if (given)
		snprintf(dir, PATH_SIZE, "%s/%s", given, command);
	else
		snprintf(dir, PATH_SIZE, "%s/share/keelson/options/%s", exec ? exec : "/opt/pbs",
			 command);
	free(exec);
	n = scandir(dir, ret_entries, is_option_file, alphasort);
	if (n >= 0 || !given)
		return n;
	snprintf(dir, PATH_SIZE, "%s", given);
	return scandir(dir, ret_entries, is_option_file, alphasort);
}

static int by_option(const void *a, const void *b)
{
	return strcmp(((const struct manifest *)a)->option, ((const struct manifest *)b)->option);
}

int manifest_read(const char *command, struct manifest **ret_list)
{
	char dir[PATH_SIZE], path[PATH_SIZE + 256 + 1];
	struct dirent **entries = NULL;
	struct manifest *list;
	int n, i, kept = 0;

	*ret_list = NULL;
	n = scan(command, dir, &entries);
	if (n <= 0) {
		free(entries);
		return 0;
	}
	list = calloc((size_t)n, sizeof(*list));
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (list && read_file(path, &list[kept]) == 0)
			kept++;
		free(entries[i]);
	}
	free(entries);
	if (!list)
		return -ENOMEM;
	qsort(list, (size_t)kept, sizeof(*list), by_option);
	*ret_list = list;
	return kept;
}

const struct manifest *manifest_find(const struct manifest *list, int n, const char *option)
{
	int i;

	option += strspn(option, "-");
	for (i = 0; i < n; i++)
		if (strcmp(list[i].option, option) == 0)
			return &list[i];
	return NULL;
}
