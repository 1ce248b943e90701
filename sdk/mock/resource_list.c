/* SPDX-License-Identifier: Apache-2.0
 *
 * resource_list.c - the type resource_list as far as a module can see it: named amounts, sorted by name; numbers add
 * up. The types that every host has are those of sdk/types.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "types/types.h"
#include "util/err.h"

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
	p = host_alloc(sizeof(*p));
	*p = (struct pair){ .next = *at, .key = host_dup(key), .text = text };
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

static int32_t refused(struct keel_err *err)
{
	return err_set(err, PBSE_BADATVAL, "%s", "");
}

static int32_t list_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	struct pair *list = *is_set ? slot->p : NULL, *old;
	long long n, was = 0;

	(void)a;
	if (key == NULL) {
		if (op != KEEL_SET)
			return refused(err);
		if (*is_set)
			list_fini(m, slot);
		*is_set = false;
		return 0;
	}
	if (text == NULL || text[0] == '\0')
		return refused(err);
	old = pair_get(list, key);
	if (op != KEEL_SET && old != NULL) {
		if (!is_number(text, &n) || !is_number(old->text, &was))
			return refused(err);
		if (op == KEEL_INCR ? __builtin_add_overflow(was, n, &was) : __builtin_sub_overflow(was, n, &was))
			return refused(err);
		pair_put(&list, key, host_print("%lld", was));
	} else {
		pair_put(&list, key, host_dup(text));
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
	(void)err;
	if (key == NULL || text == NULL)
		return -PBSE_BADATVAL;
	if (p == NULL)
		return op == KEEL_NE;
	if (is_number(p->text, &is) && is_number(text, &wanted))
		return types_match((is > wanted) - (is < wanted), op);
	return types_match(strcmp(p->text, text), op);
}

static int32_t list_copy(struct keel_mod *m, const union keel_slot *from, union keel_slot *to)
{
	struct pair *list = NULL;

	(void)m;
	for (const struct pair *p = from->p; p != NULL; p = p->next)
		pair_put(&list, p->key, host_dup(p->text));
	to->p = list;
	return 0;
}

const struct keel_type_def list_type = {
	.size = sizeof(struct keel_type_def), .flags = KEEL_TYPE_KEYED, .name = "resource_list",
	.doc = "named amounts", .parse = list_parse, .format = list_format, .unset = list_unset,
	.match = list_match, .copy = list_copy, .fini = list_fini,
};
