/* SPDX-License-Identifier: Apache-2.0
 *
 * entity.c - whom a job is charged to, and how much.
 */
#include "fairshare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(struct state *st, struct keel_obj *job, const struct keel_attr *attr)
{
	const char *text = attr ? st->object->get_str(job, attr) : NULL;

	return text ? text : "";
}

struct share *share_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	char name[ENTITY_SIZE] = "";

	switch (st->rules.entity) {
	case BY_USER: snprintf(name, sizeof(name), "%s", text_of(st, job, st->a.user)); break;
	case BY_GROUP: snprintf(name, sizeof(name), "%s", text_of(st, job, st->a.group)); break;
	case BY_GROUP_USER:
		snprintf(name, sizeof(name), "%s:%s", text_of(st, job, st->a.group),
			 text_of(st, job, st->a.user));
		break;
	case BY_ACCOUNT: snprintf(name, sizeof(name), "%s", text_of(st, job, st->a.account)); break;
	case BY_QUEUE: snprintf(name, sizeof(name), "%s", text_of(st, job, st->a.queue)); break;
	}
	return name[0] ? tree_get(&st->tree, name) : st->tree.unknown;
}

/* What was used of a resource; of one that is not measured, what was requested. */
static double factor_of(struct state *st, struct keel_obj *job, const char *name)
{
	double asked = st->resource->list_number(st->object->get_ptr(job, st->a.list), name, 0);

	return st->resource->list_number(st->object->get_ptr(job, st->a.used), name, asked);
}

double amount_of(struct state *st, struct keel_obj *job)
{
	char *words, *save = NULL, *one;
	double amount = 1;
	bool any = false;

	if (!st->object->get_ptr(job, st->a.used))
		return 0; /* it has not used anything yet */
	words = st->rules.usage_res ? strdup(st->rules.usage_res) : NULL;
	if (!words)
		return 0;
	for (one = strtok_r(words, "* \t\"", &save); one; one = strtok_r(NULL, "* \t\"", &save)) {
		amount *= factor_of(st, job, one);
		any = true;
	}
	free(words);
	return any && amount > 0 ? amount : 0;
}
