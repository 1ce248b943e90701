/* SPDX-License-Identifier: Apache-2.0
 *
 * variables.c - what scripts have made of a job's Variable_List: its program was sent with the list as it was, so that these variables
 * are put into its environment where it is started (program.c). Calls no API.
 */
#include "host.h"

/* The next "NAME=VALUE" of a list: commas part them, a backslash takes the next character as it is, quotes keep commas. False: the end. */
static bool item_next(const char **at, char *item)
{
	char quote = '\0';

	if (!**at)
		return false;
	for (; **at && (**at != ',' || quote); ++*at) {
		if (**at == '\\' && (*at)[1])
			*item++ = *++*at;
		else if (**at == quote || (!quote && (**at == '"' || **at == '\'')))
			quote = quote ? '\0' : **at;
		else
			*item++ = **at;
	}
	*at += **at == ',';
	*item = '\0';
	return true;
}

static bool same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && strncmp(a, b, len) == 0;
}

static bool is_ours(const char *item)
{
	return strncmp(item, "PBS_", 4) == 0 || same_name(item, "TMPDIR=") || *item == '=' || !strchr(item, '=');
}

static bool variable_keep(struct known *k, char *item)
{
	char *is = strchr(item, '=');

	if (is_ours(item))
		return true;
	*is = '\0';
	return k->made.n < VARIABLES_MAX && known_set(&k->made, item, NULL, is + 1) == 0;
}

/* Scripts keep the order of what they leave in the list: one walk over both. */
bool variables_made(struct known *k, const char *before, const char *after)
{
	char *old = malloc(strlen(before) + 1), *item = malloc(strlen(after) + 1);
	bool there = old && item && item_next(&before, old), kept = old && item;

	while (kept && item_next(&after, item)) {
		while (there && !same_name(old, item))
			there = item_next(&before, old);
		if (!there || strcmp(old, item) != 0)
			kept = variable_keep(k, item);
		there = there && item_next(&before, old);
	}
	free(old);
	free(item);
	return kept;
}
