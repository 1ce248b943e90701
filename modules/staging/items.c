/* SPDX-License-Identifier: Apache-2.0
 *
 * items.c - see items.h.
 */
#include "items.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "keel/jobid.h"

#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* One that begins with '-' would be an option of the copying program. */
static bool host_ok(const char *host)
{
	size_t len = strspn(host, HOST_LETTERS);

	return len > 0 && len < 256 && !host[len] && *host != '-';
}

static bool path_ok(const char *path)
{
	size_t len = strlen(path);

	for (const char *at = path; *at; at++)
		if (iscntrl((unsigned char)*at))
			return false;
	return len > 0 && len < 4096;
}

char *host_cut(char *text, char **ret_path)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return NULL;
	*colon = '\0';
	if (!host_ok(text)) {
		*colon = ':';
		return NULL;
	}
	*ret_path = colon + 1;
	return text;
}

static bool item_cut(char *word, struct item *ret)
{
	char *at = strchr(word, '@');

	if (!at)
		return false;
	*at = '\0';
	ret->local = word;
	ret->host = host_cut(at + 1, &ret->path);
	return ret->host && path_ok(ret->local) && path_ok(ret->path);
}

int items_parse(struct items *ret, const char *text)
{
	uint32_t n = 1;
	char *rest, *word;

	for (const char *at = text; *at; at++)
		n += *at == ',';
	*ret = (struct items){ .n = 0 };
	if (n > ITEMS_MAX)
		return -E2BIG;
	ret->text = rest = strdup(text);
	ret->at = calloc(n, sizeof(*ret->at));
	if (!ret->text || !ret->at) {
		items_free(ret);
		return -ENOMEM;
	}
	while ((word = strsep(&rest, ",")))
		if (!item_cut(word, &ret->at[ret->n++])) {
			items_free(ret);
			return -EINVAL;
		}
	return 0;
}

void items_free(struct items *items)
{
	free(items->at);
	free(items->text);
	*items = (struct items){ .n = 0 };
}

bool host_same(const char *a, const char *b)
{
	size_t short_a = strcspn(a, "."), short_b = strcspn(b, ".");

	if (strcasecmp(a, b) == 0)
		return true;
	return (!a[short_a] || !b[short_b]) && short_a == short_b && strncasecmp(a, b, short_a) == 0;
}

char *rule_apply(const char *rule, const char *host, const char *path)
{
	char pattern[256], theirs[2048], ours[2048], *found;

	if (sscanf(rule, "%255[^: \t]:%2047s %2047s", pattern, theirs, ours) != 3 || fnmatch(pattern, host, FNM_CASEFOLD) != 0 ||
	    strncmp(path, theirs, strlen(theirs)) != 0)
		return NULL;
	return asprintf(&found, "%s%s", ours, path + strlen(theirs)) < 0 ? NULL : found;
}

/* How long the mark at `at` is, and what it stands for; 0: there is none. */
static size_t mark_at(const char *id, const char *at, const char **ret, size_t *ret_len)
{
	static const char *const whole[] = { "${PBS_JOBID}", "$PBS_JOBID" };
	static const char index[] = "^array_index^";
	const char *number = keel_id_index(id, ret_len);

	*ret = number;
	if (number && strncmp(at, index, sizeof(index) - 1) == 0)
		return sizeof(index) - 1;
	*ret = id;
	*ret_len = strlen(id);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strncmp(at, whole[i], strlen(whole[i])) == 0)
			return strlen(whole[i]);
	return 0;
}

char *marks_fill(const char *id, const char *path)
{
	size_t size = 0, skip, len = 0;
	char *out = NULL;
	FILE *f = open_memstream(&out, &size);
	const char *part;

	if (!f)
		return NULL;
	for (; *path; path += skip ? skip : 1) {
		skip = mark_at(id, path, &part, &len);
		if (skip)
			fwrite(part, 1, len, f);
		else
			putc(*path, f);
	}
	if (fclose(f) == 0)
		return out;
	free(out);
	return NULL;
}
