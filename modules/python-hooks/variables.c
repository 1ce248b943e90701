/* SPDX-License-Identifier: Apache-2.0
 *
 * variables.c - what scripts have made of a job's Variable_List: its program was sent with the list as it was, so that these variables
 * are put into its environment where it is started (program.c). Calls no API.
 */
#include "host.h"

#include "keel/words.h"

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
	bool there = old && item && keel_words_variable(&before, old), kept = old && item;

	while (kept && keel_words_variable(&after, item)) {
		while (there && !same_name(old, item))
			there = keel_words_variable(&before, old);
		if (!there || strcmp(old, item) != 0)
			kept = variable_keep(k, item);
		there = there && keel_words_variable(&before, old);
	}
	free(old);
	free(item);
	return kept;
}
