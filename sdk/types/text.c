/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - the types string and string_array.
 *
 * Both are one terminated string. A string_array is a comma list kept as it was given (a comma
 * after a backslash belongs to the item); `+=` adds the items that are missing, `-=` removes items.
 * On a string `+=` appends, `-=` cuts a matching tail, else the first match.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "types/types.h"

/* Stores `text` as the new value and takes ownership of it (NULL: out of memory); an empty one unsets. */
static int32_t replace(union keel_slot *slot, bool *is_set, char *text)
{
	if (!text)
		return PBSE_SYSTEM;
	if (*is_set)
		free(slot->p);
	*is_set = *text != '\0';
	slot->p = text;
	if (!*is_set) {
		free(text);
		slot->p = NULL;
	}
	return 0;
}

static int32_t string_cut(union keel_slot *slot, bool *is_set, const char *text)
{
	const char *old = *is_set ? slot->p : "", *found;
	size_t all = strlen(old), len = strlen(text);
	char *rest;

	if (len == 0 || len > all)
		return 0;
	found = memcmp(old + all - len, text, len) == 0 ? old + all - len : strstr(old, text);
	if (!found)
		return 0;
	rest = malloc(all - len + 1);
	if (rest) {
		memcpy(rest, old, (size_t)(found - old));
		strcpy(rest + (found - old), found + len);
	}
	return replace(slot, is_set, rest);
}

static char *join(const char *old, const char *between, const char *text, size_t len)
{
	size_t a = strlen(old), b = strlen(between);
	char *both = malloc(a + b + len + 1);

	if (!both)
		return NULL;
	memcpy(both, old, a);
	memcpy(both + a, between, b);
	memcpy(both + a + b, text, len);
	both[a + b + len] = '\0';
	return both;
}

static int32_t parse_string(struct keel_mod *m, const struct keel_attr *a, int32_t op,
			    const char *key, const char *text, union keel_slot *slot, bool *is_set,
			    struct keel_err *err)
{
	(void)m, (void)a, (void)key, (void)err;
	if (!text)
		text = "";
	if (op == KEEL_DECR)
		return string_cut(slot, is_set, text);
	if (op == KEEL_INCR && *is_set)
		return replace(slot, is_set, join(slot->p, "", text, strlen(text)));
	return replace(slot, is_set, strdup(text));
}

/* ---- comma lists --------------------------------------------------------------------------- */

struct item {
	const char *text; /* without blanks around */
	size_t len;
	const char *next; /* behind its comma; NULL: the last */
};

static struct item item_at(const char *list)
{
	struct item it = { .text = list + strspn(list, " \t") };
	const char *end = it.text;

	while (*end && *end != ',')
		end += end[0] == '\\' && end[1] ? 2 : 1;
	it.next = *end ? end + 1 : NULL;
	while (end > it.text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	it.len = (size_t)(end - it.text);
	return it;
}

static bool list_has(const char *list, const struct item *wanted)
{
	while (list) {
		struct item it = item_at(list);

		if (it.len == wanted->len && memcmp(it.text, wanted->text, it.len) == 0)
			return true;
		list = it.next;
	}
	return false;
}

/* The items of `from` that `other` has (or has not), behind `old`. */
static char *list_build(const char *old, const char *from, const char *other, bool when)
{
	size_t len = strlen(old);
	char *list = malloc(len + strlen(from) + 2);

	if (!list)
		return NULL;
	memcpy(list, old, len);
	while (from) {
		struct item it = item_at(from);

		from = it.next;
		list[len] = '\0';
		if (it.len == 0 || list_has(other ? other : list, &it) != when)
			continue;
		if (len)
			list[len++] = ',';
		memcpy(list + len, it.text, it.len);
		len += it.len;
	}
	list[len] = '\0';
	return list;
}

static int32_t parse_list(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	(void)m, (void)a, (void)key, (void)err;
	if (!text)
		text = "";
	if (op == KEEL_SET)
		return replace(slot, is_set, strdup(text));
	if (op == KEEL_INCR)
		return replace(slot, is_set, list_build(*is_set ? slot->p : "", text, NULL, false));
	if (!*is_set)
		return 0;
	return replace(slot, is_set, list_build("", slot->p, text, false));
}

/* ---- the rest ------------------------------------------------------------------------------ */

static void format_text(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	(void)m, (void)key;
	e->fn(e->arg, NULL, slot->p, (uint32_t)strlen(slot->p));
}

static int32_t match_string(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			    const char *key, const char *text, struct keel_err *err)
{
	(void)m, (void)key, (void)err;
	if (!is_set)
		return op == KEEL_NE;
	return types_match(strcmp(slot->p, text ? text : ""), op);
}

/* Equal: one element of the list is one of the wanted. */
static int32_t match_list(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	bool common = false;

	if (op != KEEL_SET && op != KEEL_EQ && op != KEEL_NE)
		return match_string(m, slot, is_set, op, key, text, err);
	while (is_set && text && !common) {
		struct item it = item_at(text);

		common = list_has(slot->p, &it);
		text = it.next;
	}
	return common == (op != KEEL_NE);
}

static int32_t copy_text(struct keel_mod *m, const union keel_slot *from, union keel_slot *to)
{
	char *copy = strdup(from->p);

	(void)m;
	if (!copy)
		return PBSE_SYSTEM;
	to->p = copy;
	return 0;
}

static void fini_text(struct keel_mod *m, union keel_slot *slot)
{
	(void)m;
	free(slot->p);
	slot->p = NULL;
}

#define TEXT(type, words, parser, matcher)                                                         \
	const struct keel_type_def type_##type = {                                                 \
		.size = sizeof(struct keel_type_def), .flags = KEEL_TYPE_STRING, .name = #type,    \
		.doc = (words), .parse = (parser), .format = format_text, .match = (matcher),      \
		.copy = copy_text, .fini = fini_text,                                              \
	}
TEXT(string, "text", parse_string, match_string);
TEXT(string_array, "a comma list of texts", parse_list, match_list);
