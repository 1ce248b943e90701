/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_staging.c - any text as a list of files to be copied: what is accepted has names without control characters, and a host that
 * is no option of a program.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "keel/place.h"
#include "staging/items.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void path_check(const char *path)
{
	if (*path == '\0' || strlen(path) >= 4096)
		abort();
	for (; *path != '\0'; path++)
		if (iscntrl((unsigned char)*path))
			abort();
}

static void item_check(const struct item *item)
{
	char *filled = keel_marks_fill("12[3].svr", item->path);

	path_check(item->local);
	path_check(item->path);
	if (*item->host == '\0' || *item->host == '-' || strpbrk(item->host, "/@: ,") != NULL || filled == NULL)
		abort();
	free(filled);
}

static void as_list(const char *text)
{
	struct items items;

	if (items_parse(&items, text) < 0)
		return;
	if (items.n == 0 || items.n > ITEMS_MAX)
		abort();
	for (uint32_t i = 0; i < items.n; i++)
		item_check(&items.at[i]);
	items_free(&items);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 16);

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	as_list(text);
	memcpy(text, "f@", size < 2 ? size : 2);
	memcpy(text + size, "@h:p,l@h:/x", 12);
	as_list(text);
	free(text);
	return 0;
}
