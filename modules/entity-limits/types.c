/* SPDX-License-Identifier: Apache-2.0
 *
 * types.c - the attribute types "limit_list" (max_run) and "resource_limits" (max_run_res.ncpus).
 */
#include "entity-limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int32_t fault(const struct keel_attr *attr, const char *key,
		     int32_t code, struct keel_err *err)
{
	const char *too_many = code == LIMIT_TOO_MANY ? ": a list has at most 16384 limits" : "";

	if (code == LIMIT_TOO_MANY)
		code = PBSE_BADATVAL;
	return keel_error(err, code, "%s %s%s%s%s", keel_pbse_text(code),
			  keel_attr_name(attr), key ? "." : "", key ? key : "", too_many);
}

static void emit_list(const struct limit_list *l, const char *key, const struct keel_emit *emit)
{
	struct keel_text text;

	keel_text_init(&text);
	limit_text(l, &text);
	if (!text.failed)
		emit->fn(emit->arg, key, text.data, (uint32_t)text.len);
	keel_text_fini(&text);
}

static bool is_same(const struct limit_list *l, const char *wanted)
{
	struct keel_text text;
	bool same;

	keel_text_init(&text);
	limit_text(l, &text);
	same = strcmp(text.data, wanted) == 0;
	keel_text_fini(&text);
	return same;
}

/* ---- limit_list ------------------------------------------------------------------------------------- */

static void list_fini(struct keel_mod *mod, union keel_slot *slot)
{
	(void)mod;
	if (slot->p)
		limit_fini(slot->p);
	free(slot->p);
	slot->p = NULL;
}

static int32_t list_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			  const char *key, const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	struct limit_list *l = *is_set ? slot->p : calloc(1, sizeof(*l));
	int32_t code = l ? limit_parse(l, op, text, limit_count, NULL) : PBSE_SYSTEM;

	(void)key;
	if (!*is_set || !l->n) {
		slot->p = l;
		*is_set = l && l->n;
		if (!*is_set)
			list_fini(mod, slot);
	}
	return code ? fault(attr, NULL, code, err) : 0;
}

static void list_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			const struct keel_emit *emit)
{
	(void)mod, (void)key;
	emit_list(slot->p, NULL, emit);
}

static int32_t list_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	(void)mod, (void)key, (void)err;
	return (is_set && is_same(slot->p, text)) == (op != KEEL_NE);
}

static int32_t list_copy(struct keel_mod *mod, const union keel_slot *from, union keel_slot *to)
{
	(void)mod;
	to->p = calloc(1, sizeof(struct limit_list));
	if (to->p && limit_copy(from->p, to->p)) {
		free(to->p);
		to->p = NULL;
	}
	return to->p ? 0 : -ENOMEM;
}

const struct keel_type_def list_type = {
	.size = sizeof(struct keel_type_def),
	.name = "limit_list",
	.doc = "[u:name=n],[g:name=n],[p:name=n],[o:PBS_ALL=n]; PBS_GENERIC: whoever is not named",
	.parse = list_parse,
	.format = list_format,
	.match = list_match,
	.copy = list_copy,
	.fini = list_fini,
};

/* ---- resource_limits ---------------------------------------------------------------------------------- */

static struct resource_limit *find(struct resource_limits *all, const char *name)
{
	uint32_t i;

	for (i = 0; all && i < all->n; i++)
		if (strcmp(all->v[i].res->name, name) == 0)
			return &all->v[i];
	return NULL;
}

const struct limit_list *resource_limits_find(const struct resource_limits *all,
					      const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; all && i < all->n; i++)
		if (all->v[i].res == res)
			return &all->v[i].list;
	return NULL;
}

static void drop(struct resource_limits *all, struct resource_limit *one)
{
	limit_fini(&one->list);
	memmove(one, one + 1, (size_t)(all->v + --all->n - one) * sizeof(*one));
}

static void all_free(struct resource_limits *all)
{
	while (all && all->n)
		drop(all, &all->v[all->n - 1]);
	free(all);
}

/* A place for the resource, kept in the order of names. */
static struct resource_limit *add(struct resource_limits **all, const struct keel_resource *res)
{
	uint32_t n = *all ? (*all)->n : 0, i = 0;
	struct resource_limits *bigger =
		realloc(*all, sizeof(*bigger) + (n + 1) * sizeof(bigger->v[0]));

	if (!bigger)
		return NULL;
	*all = bigger;
	bigger->n = n + 1;
	while (i < n && strcmp(bigger->v[i].res->name, res->name) < 0)
		i++;
	memmove(&bigger->v[i + 1], &bigger->v[i], (n - i) * sizeof(bigger->v[0]));
	bigger->v[i] = (struct resource_limit){ .res = res };
	return &bigger->v[i];
}

static int32_t read_amount(void *arg, const char *text, double *ret)
{
	const struct keel_resource *res = arg;
	struct keel_res_value v;
	int32_t code = keel_resource_value_parse(res, text, &v, NULL);

	if (code)
		return code;
	*ret = v.n;
	keel_resource_value_fini(&v);
	return 0;
}

static int32_t parse_one(struct resource_limits **all, const char *key,
			 int32_t op, const char *text)
{
	const struct keel_resource *res = keel_resource_find(key);
	struct resource_limit *one;
	int32_t code;

	if (!res)
		return PBSE_UNKRESC;
	if (!keel_res_is_number(res) || res->type == KEEL_RES_BOOL)
		return PBSE_NOLIMIT_RESOURCE;
	one = find(*all, key);
	if (!one)
		one = add(all, res);
	if (!one)
		return PBSE_SYSTEM;
	code = limit_parse(&one->list, op, text, read_amount, (void *)(uintptr_t)res);
	if (!one->list.n)
		drop(*all, one);
	return code;
}

static int32_t all_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			 const char *key, const char *text, union keel_slot *slot, bool *is_set,
			 struct keel_err *err)
{
	struct resource_limits *all = *is_set ? slot->p : NULL;
	int32_t code = 0;

	(void)mod;
	if (key) {
		code = parse_one(&all, key, op, text);
	} else if (op == KEEL_SET) {
		all_free(all);
		all = NULL;
	} else {
		code = PBSE_BADATVAL;
	}
	if (all && !all->n) {
		free(all);
		all = NULL;
	}
	slot->p = all;
	*is_set = all != NULL;
	return code ? fault(attr, key, code, err) : 0;
}

static void all_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
		       const struct keel_emit *emit)
{
	const struct resource_limits *all = slot->p;
	uint32_t i;

	(void)mod;
	for (i = 0; i < all->n; i++)
		if (!key || strcmp(all->v[i].res->name, key) == 0)
			emit_list(&all->v[i].list, all->v[i].res->name, emit);
}

static bool all_unset(struct keel_mod *mod, union keel_slot *slot, const char *key)
{
	struct resource_limits *all = slot->p;
	struct resource_limit *one = find(all, key);

	(void)mod;
	if (one)
		drop(all, one);
	if (all->n)
		return false;
	free(all);
	slot->p = NULL;
	return true;
}

static int32_t all_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			 const char *key, const char *text, struct keel_err *err)
{
	const struct resource_limit *one = is_set && key ? find(slot->p, key) : NULL;

	(void)mod, (void)err;
	return (one && is_same(&one->list, text)) == (op != KEEL_NE);
}

static int32_t all_copy(struct keel_mod *mod, const union keel_slot *from, union keel_slot *to)
{
	const struct resource_limits *all = from->p;
	struct resource_limits *copy = calloc(1, sizeof(*copy) + all->n * sizeof(copy->v[0]));

	(void)mod;
	for (uint32_t i = 0; copy && i < all->n; i++) {
		copy->v[i].res = all->v[i].res;
		if (limit_copy(&all->v[i].list, &copy->v[i].list)) {
			all_free(copy);
			return -ENOMEM;
		}
		copy->n++;
	}
	to->p = copy;
	return copy ? 0 : -ENOMEM;
}

static void all_fini(struct keel_mod *mod, union keel_slot *slot)
{
	(void)mod;
	all_free(slot->p);
}

const struct keel_type_def resource_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_KEYED,
	.name = "resource_limits",
	.doc = "a limit_list for each of some resources",
	.parse = all_parse,
	.format = all_format,
	.unset = all_unset,
	.match = all_match,
	.copy = all_copy,
	.fini = all_fini,
};
