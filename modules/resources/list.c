/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c - the attribute type "resource_list": named amounts, sorted by name.
 *
 * A list is one allocation that grows; the attribute's value owns it.
 */
#include "resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OPT(node, resources_available);

void list_free(struct keel_reslist *l)
{
	uint32_t i;

	if (!l)
		return;
	for (i = 0; i < l->n; i++)
		value_fini(&l->v[i]);
	free(l);
}

uint32_t list_count(const struct keel_reslist *l)
{
	return l ? l->n : 0;
}

const struct keel_res_value *list_at(const struct keel_reslist *l, uint32_t i)
{
	return l && i < l->n ? &l->v[i] : NULL;
}

bool list_equal(const struct keel_reslist *a, const struct keel_reslist *b)
{
	uint32_t n = list_count(a), i = 0;

	if (n != list_count(b))
		return false;
	while (i < n && a->v[i].res == b->v[i].res && value_compare(&a->v[i], &b->v[i]) == 0)
		i++;
	return i == n;
}

static uint32_t place_of(const struct keel_reslist *l, const char *name, bool *ret_found)
{
	uint32_t i;
	int order = 1;

	for (i = 0; l && i < l->n; i++)
		if ((order = strcmp(l->v[i].res->name, name)) >= 0)
			break;
	*ret_found = order == 0;
	return i;
}

const struct keel_res_value *list_get(const struct keel_reslist *l, const char *name)
{
	bool found;
	uint32_t i = place_of(l, name, &found);

	return found ? &l->v[i] : NULL;
}

double list_number(const struct keel_reslist *l, const char *name, double otherwise)
{
	const struct keel_res_value *v = list_get(l, name);

	return v && keel_res_is_number(v->res) ? v->n : otherwise;
}

static int grow(struct keel_reslist **l)
{
	uint32_t n = *l ? (*l)->n : 0, room = n < 6 ? n + 2 : n * 2;
	struct keel_reslist *bigger;

	if (*l && n < (*l)->room)
		return 0;
	bigger = realloc(*l, sizeof(*bigger) + room * sizeof(bigger->v[0]));
	if (!bigger)
		return -ENOMEM;
	bigger->n = n;
	bigger->room = room;
	*l = bigger;
	return 0;
}

int32_t list_put(struct keel_reslist **l, const struct keel_res_value *v)
{
	struct keel_res_value copy;
	bool found;
	uint32_t i = place_of(*l, v->res->name, &found);

	if (value_copy(v, &copy))
		return -ENOMEM;
	if (!found && grow(l)) {
		value_fini(&copy);
		return -ENOMEM;
	}
	if (found) {
		value_fini(&(*l)->v[i]);
	} else {
		memmove(&(*l)->v[i + 1], &(*l)->v[i], ((*l)->n - i) * sizeof((*l)->v[0]));
		(*l)->n++;
	}
	(*l)->v[i] = copy;
	return 0;
}

int32_t list_add(struct keel_reslist **l, const struct keel_res_value *v, double n)
{
	struct keel_res_value sum = { .res = v->res, .n = n, .unit = v->unit };
	bool found;
	uint32_t i = place_of(*l, v->res->name, &found);

	if (found)
		sum.n += (*l)->v[i].n;
	if (sum.n < 0)
		sum.n = 0;
	if (!found)
		return list_put(l, &sum);
	(*l)->v[i].n = sum.n;
	return 0;
}

bool list_drop(struct keel_reslist *l, const char *name)
{
	bool found;
	uint32_t i = place_of(l, name, &found);

	if (!found)
		return false;
	value_fini(&l->v[i]);
	l->n--;
	memmove(&l->v[i], &l->v[i + 1], (l->n - i) * sizeof(l->v[0]));
	return true;
}

struct keel_reslist *list_copy(const struct keel_reslist *l)
{
	struct keel_reslist *copy = calloc(1, sizeof(*l) + l->n * sizeof(l->v[0]));
	uint32_t i;

	if (!copy)
		return NULL;
	copy->room = l->n;
	for (i = 0; i < l->n; i++) {
		if (value_copy(&l->v[i], &copy->v[i])) {
			list_free(copy);
			return NULL;
		}
		copy->n++;
	}
	return copy;
}

/* ---- the type ---------------------------------------------------------------------------------- */

static int32_t fault(const struct keel_attr *attr, const char *key, int32_t code,
		     struct keel_err *err)
{
	return fail(err, code, "%s %s.%s", keel_pbse_text(code), keel_attr_name(attr),
		    key);
}

static int32_t type_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			  const char *key, const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	struct state *st = mod->state;
	struct keel_reslist *l = *is_set ? slot->p : NULL;
	const struct keel_res_value *old;
	const struct keel_resource *res;
	struct keel_res_value v;
	int32_t code;

	if (!key) {
		if (op != KEEL_SET)
			return fail(err, PBSE_BADATVAL, "%s %s", keel_pbse_text(PBSE_BADATVAL),
				    keel_attr_name(attr));
		list_free(l);
		*is_set = false;
		return 0;
	}
	res = table_find(st, key);
	if (!res)
		return fault(attr, key, PBSE_UNKRESC, err);
	/* Is it `@other` as a vnode's amount? The vnode then shares the amount of another one. */
	if (*text == '@' && text[1] && op == KEEL_SET && keel_res_is_number(res) &&
	    (res->flags & KEEL_RES_EACH) && attr == node_resources_available) {
		v = (struct keel_res_value){ .res = res, .text = strdup(text) };
		code = v.text ? 0 : PBSE_SYSTEM;
	} else {
		code = value_parse(res, text, &v, NULL);
	}
	if (code)
		return fault(attr, key, code, err);
	old = op == KEEL_SET ? NULL : list_get(l, key); /* += and -= are of what it had */
	if (old)
		v.n = op == KEEL_INCR ? old->n + v.n : old->n - v.n;
	if (old && (!keel_res_is_number(res) || !amount_fits(res, v.n)))
		code = PBSE_BADATVAL;
	if (!code && list_put(&l, &v))
		code = PBSE_SYSTEM;
	value_fini(&v);
	if (l) {
		slot->p = l;
		*is_set = true;
	}
	return code ? fault(attr, key, code, err) : 0;
}

static void emit_one(const struct keel_res_value *v, const struct keel_emit *emit)
{
	char text[64];
	int32_t len;

	if (v->text) {
		emit->fn(emit->arg, v->res->name, v->text, (uint32_t)strlen(v->text));
		return;
	}
	len = value_text(v, false, text, sizeof(text));
	emit->fn(emit->arg, v->res->name, text, (uint32_t)len);
}

static void type_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			const struct keel_emit *emit)
{
	const struct keel_reslist *l = slot->p;
	const struct keel_res_value *one;
	uint32_t i;

	(void)mod;
	if (key) {
		if ((one = list_get(l, key)))
			emit_one(one, emit);
		return;
	}
	for (i = 0; i < list_count(l); i++)
		emit_one(&l->v[i], emit);
}

static bool type_unset(struct keel_mod *mod, union keel_slot *slot, const char *key)
{
	struct keel_reslist *l = slot->p;

	(void)mod;
	list_drop(l, key);
	if (l->n)
		return false;
	list_free(l);
	slot->p = NULL;
	return true;
}

static bool holds(int32_t order, int32_t op)
{
	switch (op) {
	case KEEL_EQ: return order == 0;
	case KEEL_NE: return order != 0;
	case KEEL_GE: return order >= 0;
	case KEEL_GT: return order > 0;
	case KEEL_LE: return order <= 0;
	case KEEL_LT: return order < 0;
	default: return false;
	}
}

static int32_t type_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	struct state *st = mod->state;
	const struct keel_resource *res = key ? table_find(st, key) : NULL;
	const struct keel_res_value *have;
	struct keel_res_value want;
	int32_t result;

	if (!res)
		return -fail(err, PBSE_UNKRESC, "Unknown resource %s", key ? key : "");
	if (value_parse(res, text, &want, err))
		return -PBSE_BADATVAL;
	have = is_set ? list_get(slot->p, key) : NULL;
	result = have ? holds(value_compare(have, &want), op) : 0;
	value_fini(&want);
	return result;
}

static int32_t type_copy(struct keel_mod *mod, const union keel_slot *from, union keel_slot *to)
{
	(void)mod;
	to->p = list_copy(from->p);
	return to->p ? 0 : -ENOMEM;
}

static void type_fini(struct keel_mod *mod, union keel_slot *slot)
{
	(void)mod;
	list_free(slot->p);
}

const struct keel_type_def list_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_KEYED,
	.name = "resource_list",
	.doc = "named amounts of resources",
	.parse = type_parse,
	.format = type_format,
	.unset = type_unset,
	.match = type_match,
	.copy = type_copy,
	.fini = type_fini,
};

bool name_in(const char *comma_list, const char *name)
{
	size_t len = strlen(name);

	while (*comma_list) {
		size_t item = strcspn(comma_list, ",");

		if (item == len && memcmp(comma_list, name, len) == 0)
			return true;
		comma_list += item + (comma_list[item] == ',');
	}
	return false;
}
