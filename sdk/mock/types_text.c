/* SPDX-License-Identifier: Apache-2.0
 *
 * types_text.c - string, string_array, and resource_list as far as a module can see it: named amounts,
 * sorted by name; numbers add up.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* Takes `text`; an empty one is none. */
static int32_t become(union keel_slot *slot, bool *is_set, char *text)
{
	if (*is_set)
		free(slot->p);
	*is_set = text[0] != '\0';
	slot->p = *is_set ? text : NULL;
	if (!*is_set)
		free(text);
	return 0;
}

/* ---- string ------------------------------------------------------------------------------------- */
static int32_t string_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			    const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	const char *old = *is_set ? slot->p : "", *found;
	size_t len = strlen(text != NULL ? text : ""), all = strlen(old);

	(void)m, (void)a, (void)key, (void)err;
	if (text == NULL)
		text = "";
	if (op == KEEL_INCR)
		return become(slot, is_set, print_text("%s%s", old, text));
	if (op != KEEL_DECR)
		return become(slot, is_set, dup_text(text));
	if (len == 0 || len > all)
		return 0;
	found = strcmp(old + all - len, text) == 0 ? old + all - len : strstr(old, text);
	return found == NULL ? 0 : become(slot, is_set, print_text("%.*s%s", (int)(found - old), old,
								   found + len));
}

static void string_format(struct keel_mod *m, const union keel_slot *slot, const char *key,
			  const struct keel_emit *e)
{
	(void)m, (void)key;
	e->fn(e->arg, NULL, slot->p, (uint32_t)strlen(slot->p));
}

static int32_t string_match(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			    const char *key, const char *text, struct keel_err *err)
{
	int order;

	(void)m, (void)key, (void)err;
	if (!is_set)
		return op == KEEL_NE;
	order = strcmp(slot->p, text != NULL ? text : "");
	return order_match((order > 0) - (order < 0), op);
}

static int32_t string_copy(struct keel_mod *m, const union keel_slot *from, union keel_slot *to)
{
	(void)m;
	to->p = dup_text(from->p);
	return 0;
}

static void string_fini(struct keel_mod *m, union keel_slot *slot)
{
	(void)m;
	free(slot->p);
	slot->p = NULL;
}

/* ---- string_array --------------------------------------------------------------------------------- */
struct word {
	const char *text;
	size_t len;
};

/* The next item behind *at; a comma after a backslash belongs to it. False: the end. */
static bool item_next(const char **at, struct word *ret)
{
	const char *end;

	if (*at == NULL)
		return false;
	ret->text = end = *at + strspn(*at, " \t");
	while (*end != '\0' && *end != ',')
		end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
	*at = *end != '\0' ? end + 1 : NULL;
	while (end > ret->text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	ret->len = (size_t)(end - ret->text);
	return true;
}

static bool has_item(const char *list, const struct word *wanted)
{
	struct word it;

	while (item_next(&list, &it))
		if (it.len == wanted->len && memcmp(it.text, wanted->text, it.len) == 0)
			return true;
	return false;
}

/* Items of `from` that `other` has, or has not, go behind what `t` holds. */
static void items_add(struct text *t, const char *from, const char *other, bool has)
{
	struct word it;

	while (item_next(&from, &it)) {
		if (it.len == 0 || has_item(other, &it) != has || has_item(t->data, &it))
			continue;
		if (t->len > 0)
			text_add(t, ",", 1);
		text_add(t, it.text, it.len);
	}
}

static int32_t array_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			   const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	struct text t = { 0 };

	if (op == KEEL_SET || !*is_set)
		return op == KEEL_DECR ? 0 : string_parse(m, a, KEEL_SET, key, text, slot, is_set, err);
	text_add(&t, "", 0);
	if (op == KEEL_INCR) {
		text_put(&t, "%s", (const char *)slot->p);
		items_add(&t, text != NULL ? text : "", slot->p, false);
	} else {
		items_add(&t, slot->p, text != NULL ? text : "", false);
	}
	return become(slot, is_set, t.data);
}

static int32_t array_match(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			   const char *key, const char *text, struct keel_err *err)
{
	bool common = false;
	struct word it;

	if (op != KEEL_SET && op != KEEL_EQ && op != KEEL_NE)
		return string_match(m, slot, is_set, op, key, text, err);
	while (is_set && !common && item_next(&text, &it))
		common = has_item(slot->p, &it);
	return common == (op != KEEL_NE);
}

#define TEXT(word, words, parser, matcher)                                                         \
	{ .size = sizeof(struct keel_type_def), .flags = KEEL_TYPE_STRING, .name = (word),         \
	  .doc = (words), .parse = (parser), .format = string_format, .match = (matcher),          \
	  .copy = string_copy, .fini = string_fini }
const struct keel_type_def text_types[] = {
	TEXT("string", "text", string_parse, string_match),
	TEXT("string_array", "a comma list of texts", array_parse, array_match),
};
const uint32_t n_text_types = KEEL_COUNT(text_types);

/* ---- resource_list: a chain of pairs ----------------------------------------------------------------- */
struct pair {
	struct pair *next;
	char *key, *text;
};

static struct pair **pair_at(struct pair **list, const char *key)
{
	while (*list != NULL && strcmp((*list)->key, key) < 0)
		list = &(*list)->next;
	return list;
}

static struct pair *pair_get(struct pair *list, const char *key)
{
	struct pair *p = *pair_at(&list, key);

	return p != NULL && strcmp(p->key, key) == 0 ? p : NULL;
}

static void pair_put(struct pair **list, const char *key, char *text)
{
	struct pair *p = pair_get(*list, key), **at;

	if (p != NULL) {
		free(p->text);
		p->text = text;
		return;
	}
	at = pair_at(list, key);
	p = make(sizeof(*p));
	*p = (struct pair){ .next = *at, .key = dup_text(key), .text = text };
	*at = p;
}

static void pair_drop(struct pair **list, const char *key)
{
	struct pair **at = pair_at(list, key), *p = *at;

	if (p == NULL || strcmp(p->key, key) != 0)
		return;
	*at = p->next;
	free(p->key);
	free(p->text);
	free(p);
}

static void list_fini(struct keel_mod *m, union keel_slot *slot)
{
	struct pair *list = slot->p;

	(void)m;
	while (list != NULL)
		pair_drop(&list, list->key);
	slot->p = NULL;
}

static bool is_number(const char *text, long long *ret)
{
	char *end;

	*ret = strtoll(text, &end, 10);
	return isdigit((unsigned char)text[text[0] == '-']) && *end == '\0';
}

static int32_t list_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	struct pair *list = *is_set ? slot->p : NULL, *old;
	long long n, was = 0;

	if (key == NULL) {
		if (op != KEEL_SET)
			return attr_fault(err, BADATVAL, a, NULL);
		if (*is_set)
			list_fini(m, slot);
		*is_set = false;
		return 0;
	}
	if (text == NULL || text[0] == '\0')
		return attr_fault(err, BADATVAL, a, key);
	old = pair_get(list, key);
	if (op != KEEL_SET && old != NULL) {
		if (!is_number(text, &n) || !is_number(old->text, &was))
			return attr_fault(err, BADATVAL, a, key);
		if (op == KEEL_INCR ? __builtin_add_overflow(was, n, &was) : __builtin_sub_overflow(was, n, &was))
			return attr_fault(err, BADATVAL, a, key);
		pair_put(&list, key, print_text("%lld", was));
	} else {
		pair_put(&list, key, dup_text(text));
	}
	slot->p = list;
	*is_set = true;
	return 0;
}

static void list_format(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *e)
{
	(void)m;
	for (const struct pair *p = slot->p; p != NULL; p = p->next)
		if (key == NULL || strcmp(p->key, key) == 0)
			e->fn(e->arg, p->key, p->text, (uint32_t)strlen(p->text));
}

static bool list_unset(struct keel_mod *m, union keel_slot *slot, const char *key)
{
	struct pair *list = slot->p;

	(void)m;
	pair_drop(&list, key);
	slot->p = list;
	return list == NULL;
}

static int32_t list_match(struct keel_mod *m, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	const struct pair *p = is_set && key != NULL ? pair_get(slot->p, key) : NULL;
	long long is, wanted;

	(void)m;
	if (key == NULL || text == NULL)
		return -err_set(err, BADATVAL, "%s", pbse_text(BADATVAL));
	if (p == NULL)
		return op == KEEL_NE;
	if (is_number(p->text, &is) && is_number(text, &wanted))
		return order_match((is > wanted) - (is < wanted), op);
	return order_match(strcmp(p->text, text), op);
}

static int32_t list_copy(struct keel_mod *m, const union keel_slot *from, union keel_slot *to)
{
	struct pair *list = NULL;

	(void)m;
	for (const struct pair *p = from->p; p != NULL; p = p->next)
		pair_put(&list, p->key, dup_text(p->text));
	to->p = list;
	return 0;
}

const struct keel_type_def list_type = {
	.size = sizeof(struct keel_type_def), .flags = KEEL_TYPE_KEYED, .name = "resource_list",
	.doc = "named amounts", .parse = list_parse, .format = list_format, .unset = list_unset,
	.match = list_match, .copy = list_copy, .fini = list_fini,
};
