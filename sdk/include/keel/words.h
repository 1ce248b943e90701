/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/words.h - a comma list of words, as attributes have them; a list of variables. Header only.
 */
#ifndef KEEL_WORDS_H
#define KEEL_WORDS_H

#include <stdbool.h>
#include <string.h>

#include "keel/text.h"

/* The length of the first word; *rest (may be NULL): what is behind its comma, or the end. */
static inline size_t keel_words_first(const char *list, const char **rest)
{
	size_t len = strcspn(list, ",");

	if (rest)
		*rest = list + len + (list[len] == ',');
	return len;
}

static inline bool keel_words_have(const char *list, const char *word)
{
	size_t len = strlen(word), n;
	const char *at;

	for (at = list; *at; at = list) {
		n = keel_words_first(at, &list);
		if (n == len && memcmp(at, word, len) == 0)
			return true;
	}
	return false;
}

/* Appends the words of `list` but `but` (may be NULL), with commas. */
static inline void keel_words_add(struct keel_text *t, const char *list, const char *but)
{
	const char *at;
	size_t n;

	for (at = list; *at; at = list) {
		n = keel_words_first(at, &list);
		if (but && strlen(but) == n && memcmp(at, but, n) == 0)
			continue;
		if (t->len)
			keel_text_str(t, ",");
		keel_text_add(t, at, n);
	}
}

/* The next "NAME=VALUE" of a list of variables (Variable_List), as it is without its signs: commas part them, a backslash takes the next
 * character as it is, quotes keep commas. `item` has room for the whole list. False: the end. */
static inline bool keel_words_variable(const char **at, char *item)
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

#endif
