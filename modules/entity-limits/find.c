/* SPDX-License-Identifier: Apache-2.0
 *
 * find.c - which limit holds for an entity: the one that names it, else that of all of its kind.
 */
#include "entity-limits.h"

#include <string.h>

KEEL_ATTRS_OF(job, queue, egroup, project, euser);

#define EVERYBODY "PBS_ALL"
#define OTHERS "PBS_GENERIC"

struct keel_obj *holder_of(struct keel_mod *mod, enum scope scope, struct keel_obj *job)
{
	const char *queue;

	if (scope == SERVER)
		return keel_find(mod, "server", keel_server_name(mod));
	queue = keel_get_str(job, job_queue);
	return queue ? keel_find(mod, "queue", queue) : NULL;
}

const char *name_of(struct keel_obj *job, enum kind kind)
{
	const struct keel_attr *const attrs[KINDS] = { [GROUP] = job_egroup,
						       [PROJECT] = job_project,
						       [USER] = job_euser };
	const char *name = kind == OVERALL ? EVERYBODY : keel_get_str(job, attrs[kind]);

	return name ? name : "";
}

bool limit_of(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
	      enum kind kind, const char *name, const struct keel_resource *res, struct found *ret)
{
	const struct keel_attr *attr = res ? st->amount[scope][family] : st->count[scope][family];
	const void *value = keel_get_ptr(holder, attr);
	const struct limit_list *list = value && res ? resource_limits_find(value, res) : value;
	const struct limit *limit = NULL;
	char entity[300];

	if (list) {
		entity_text(kind, name, entity);
		limit = limit_find(list, entity);
		ret->named = limit != NULL;
	}
	if (list && !limit && kind != OVERALL) {
		entity_text(kind, OTHERS, entity);
		limit = limit_find(list, entity);
	}
	if (limit) {
		ret->limit = limit->n;
		return true;
	}
	ret->named = false;
	return old_limit(st, scope, holder, family, kind, res, &ret->limit);
}

bool has_limits(struct state *st, enum scope scope, struct keel_obj *holder, enum family family,
		bool of_amounts)
{
	const struct keel_attr *attr = of_amounts ? st->amount[scope][family]
						  : st->count[scope][family];

	return keel_is_set(holder, attr) || old_has(st, scope, holder, family, of_amounts);
}
