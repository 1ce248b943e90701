/* SPDX-License-Identifier: Apache-2.0
 *
 * items.c - see items.h.
 */
#include "items.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
