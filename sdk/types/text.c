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

/* The items of a list by their texts, of equal ones the first one first: both lists may be as long as a request. */
struct sorted {
	struct item *at;
	size_t n;
};

static int compare_items(const struct item *x, const struct item *y)
{
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int by_text(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare_items(x, y);

	return order ? order : (x->text > y->text) - (x->text < y->text);
}

static bool sort_items(const char *list, struct sorted *ret)
{
	size_t most = 1;

	for (const char *p = list; (p = strchr(p, ',')); p++)
		most++;
	*ret = (struct sorted){ .at = calloc(most, sizeof(*ret->at)) };
	if (!ret->at)
		return false;
	while (list) {
		ret->at[ret->n] = item_at(list);
		list = ret->at[ret->n++].next;
	}
	qsort(ret->at, ret->n, sizeof(*ret->at), by_text);
	return true;
}

/* The first item like this one; NULL: there is none. */
static const struct item *find_item(const struct sorted *s, const struct item *wanted)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_items(&s->at[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && compare_items(&s->at[low], wanted) == 0 ? &s->at[low] : NULL;
}

/* Behind `list`, which has the room: the items of `from` that are not in `without`; `own` (NULL: any): each of them once. */
static void append_items(char *list, const char *from, const struct sorted *without, const struct sorted *own)
{
	size_t len = strlen(list);

	while (from) {
		struct item it = item_at(from);

		from = it.next;
		if (it.len == 0 || find_item(without, &it) || (own && find_item(own, &it)->text != it.text))
			continue;
		if (len)
			list[len++] = ',';
		memcpy(list + len, it.text, it.len);
		len += it.len;
	}
	list[len] = '\0';
}

/* `old` and the items of `from` that are not in `without`. NULL without memory. */
static char *list_build(const char *old, const char *from, const char *without, bool once)
{
	struct sorted skip = { 0 }, own = { 0 };
	char *list = malloc(strlen(old) + strlen(from) + 2);
	bool ok = list && sort_items(without, &skip) && (!once || sort_items(from, &own));

	if (ok)
		append_items(strcpy(list, old), from, &skip, once ? &own : NULL);
	free(skip.at);
	free(own.at);
	if (ok)
		return list;
	free(list);
	return NULL;
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
		return replace(slot, is_set, list_build(*is_set ? slot->p : "", text, *is_set ? slot->p : "", true));
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

/* Has the list one of the wanted? Below 0: no memory. */
static int32_t has_common(const char *list, const char *wanted)
{
	struct item it = item_at(wanted);
	struct sorted have;
	bool common = false;

	if (!it.next)
		return list_has(list, &it);
	if (!sort_items(list, &have))
		return -PBSE_SYSTEM;
	while (wanted && !common) {
		it = item_at(wanted);
		common = find_item(&have, &it) != NULL;
		wanted = it.next;
	}
	free(have.at);
	return common;
}

/* Equal: one element of the list is one of the wanted. */
static int32_t match_list(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	int32_t common;

	if (op != KEEL_SET && op != KEEL_EQ && op != KEEL_NE)
		return match_string(m, slot, is_set, op, key, text, err);
	common = is_set && text ? has_common(slot->p, text) : 0;
	return common < 0 ? common : common == (op != KEEL_NE);
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
