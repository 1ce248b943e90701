/* SPDX-License-Identifier: Apache-2.0
 *
 * type.c - the types a queue can have: rows of the kind QUEUE_TYPE, and the service queue.
 */
#include "queues.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <utlist.h>

KEEL_ATTR_OF(queue, queue_type);

struct type_row {
	const struct keel_queue_type_def *def;
	struct keel_mod *owner;
	struct type_row *next;
};

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

	for (struct type_row *row = st->types; row && len; row = row->next)
		if (strncasecmp(row->def->name, word, len) == 0)
			return row->def;
	return NULL;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	const struct keel_queue_type_def *type = def;
	struct state *st = self->state;
	struct type_row *row;

	if (!type->name || !*type->name)
		return keel_error(err, -1, "a QUEUE_TYPE row of %s has no name", owner->name);
	if (type_find(self, type->name))
		return keel_error(err, -1, "queue type '%s' of %s is offered already", type->name,
				  owner->name);
	row = calloc(1, sizeof(*row));
	if (!row)
		return keel_error(err, -1, "out of memory");
	*row = (struct type_row){ type, owner, st->types };
	st->types = row;
	return 0;
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct type_row *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->types, gone, def, def);
	if (gone)
		LL_DELETE(st->types, gone);
	free(gone);
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

	for (struct type_row *row = st->types; row && text; row = row->next)
		if (strcmp(row->def->name, text) == 0)
			return row->def->runs;
	return false;
}

static const struct keel_queue_api service = {
	.size = sizeof(struct keel_queue_api),
	.runs = api_runs,
};
const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "queue",
	.table = &service,
	.doc = "what the type of a queue means",
};
