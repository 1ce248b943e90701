/* SPDX-License-Identifier: Apache-2.0
 *
 * type.c - the types a queue can have: rows of the kind QUEUE_TYPE, and the service queue.
 */
#include "queues.h"

#include <string.h>
#include <strings.h>

KEEL_ATTR_OF(queue, queue_type);

const struct keel_queue_type_def execution_type = {
	.size = sizeof(struct keel_queue_type_def),
	.runs = 1,
	.name = "Execution",
	.doc = "its jobs are started",
};

const struct keel_queue_type_def *type_find(struct keel_mod *mod, const char *word)
{
	struct state *st = mod->state;
	size_t len = strlen(word);

	for (const struct keel_row *row = st->types; row && len; row = row->next) {
		const struct keel_queue_type_def *type = row->def;

		if (strncasecmp(type->name, word, len) == 0)
			return type;
	}
	return NULL;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	const struct keel_queue_type_def *type = def;
	struct state *st = self->state;

	if (!type->name || !*type->name)
		return keel_error(err, -1, "a QUEUE_TYPE row of %s has no name", owner->name);
	if (type_find(self, type->name))
		return keel_error(err, -1, "queue type '%s' of %s is offered already", type->name,
				  owner->name);
	return keel_row_put(&st->types, owner, def, err);
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->types, def);
}

const struct keel_kind_def type_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_queue_type_def),
	.name = "QUEUE_TYPE",
	.doc = "a type of queues",
	.add = row_add,
	.remove = row_remove,
};

static bool api_runs(struct keel_mod *mod, struct keel_obj *queue)
{
	struct state *st = mod->state;
	const char *text = keel_get_str(queue, queue_queue_type);

	for (const struct keel_row *row = st->types; row && text; row = row->next) {
		const struct keel_queue_type_def *type = row->def;

		if (strcmp(type->name, text) == 0)
			return type->runs;
	}
	return false;
}

static const struct keel_queue_api service = {
	.size = sizeof(struct keel_queue_api),
	.runs = api_runs,
	.create = queue_create,
	.change = queue_change,
	.remove = queue_remove,
};
const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "queue",
	.table = &service,
	.doc = "what the type of a queue means",
};
