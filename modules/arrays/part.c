/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - subjobs as job objects: made from their array when they start, back into it when they are
 * requeued. The module jobs calls the form when one comes back or is over (kind JOB_FORM).
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEHOLDER "^array_index^"

struct keel_obj *part_draft(struct keel_mod *mod, struct array *a, const char *id, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->object->clone(mod, a->whole, id, err);
}

/* The place of the index in a path of the array becomes the index. */
static void path_set(struct keel_mod *mod, struct array *a, struct keel_obj *part,
		     const struct keel_attr *attr, uint32_t index)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(a->whole, attr);
	const char *at = text ? strstr(text, PLACEHOLDER) : NULL;
	char *path;

	if (!at || asprintf(&path, "%.*s%u%s", (int)(at - text), text, index,
			    at + strlen(PLACEHOLDER)) < 0)
		return;
	st->object->set_str(part, attr, path);
	free(path);
}

void part_paths(struct keel_mod *mod, struct array *a, struct keel_obj *part, uint32_t index)
{
	struct state *st = mod->state;

	path_set(mod, a, part, st->a.output_path, index);
	path_set(mod, a, part, st->a.error_path, index);
}

bool part_alter(struct keel_mod *mod, struct array *a, struct keel_obj *part, uint32_t ordinal, const char *names)
{
	struct state *st = mod->state;
	bool some = false;
	int32_t len;
	char *text;

	for (; *names; names += strcspn(names, ","), names += *names == ',') {
		char name[600];
		const struct keel_attr *attr;
		char *key;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
		if ((key = strchr(name, '.')))
			*key++ = '\0';
		attr = st->object->attr(mod, "job", name);
		if (!attr || (st->object->attr_flags(attr) & KEEL_ATTR_OWN))
			continue;
		len = st->object->text(a->whole, attr, key, NULL, 0);
		text = len < 0 ? NULL : malloc((size_t)len + 1);
		if (len < 0)
			st->object->unset(part, attr, key);
		else if (text && st->object->text(a->whole, attr, key, text, (uint32_t)len + 1) >= 0)
			st->object->set_text(part, attr, KEEL_SET, key, text, NULL);
		free(text);
		some = true;
	}
	if (some)
		part_paths(mod, a, part, indices_index(&a->x, ordinal));
	return some;
}

static struct again *again_find(struct array *a, uint32_t ordinal)
{
	uint32_t i;

	for (i = 0; i < a->n_again; i++)
		if (a->again[i].ordinal == ordinal)
			return &a->again[i];
	return NULL;
}

struct keel_obj *part_make(struct keel_mod *mod, struct array *a, uint32_t ordinal, struct keel_err *err)
{
	struct state *st = mod->state;
	const struct again *again = again_find(a, ordinal);
	struct keel_obj *part;
	char id[600];

	part_id(mod, a, ordinal, id, sizeof(id));
	part = part_draft(mod, a, id, err);
	if (!part)
		return NULL;
	st->object->set_int(part, st->a.index, indices_index(&a->x, ordinal));
	part_paths(mod, a, part, indices_index(&a->x, ordinal));
	if (again) {
		st->object->set_int(part, st->a.run_count, again->runs);
		st->object->set_int(part, st->a.run_version, again->version);
	}
	if (st->object->publish(part)) {
		st->object->destroy(part);
		st->core->error(err, PBSE_SYSTEM, "System error: out of memory");
		return NULL;
	}
	array_mark(a, ordinal, LIVES);
	st->job->adopt(st->job->self, part);
	return part;
}

void part_suspended(struct keel_mod *mod, struct keel_obj *part, bool suspended)
{
	struct state *st = mod->state;
	struct slot *slot = st->object->slot(mod, part);
	uint32_t ordinal;
	struct array *a = slot && slot->suspended != suspended ? array_of_part(mod, part, &ordinal) : NULL;

	if (!a)
		return;
	slot->suspended = suspended;
	a->n_suspended += suspended ? 1 : UINT32_MAX;
}

/* ---- the kind JOB_FORM -------------------------------------------------------------------------------- */

static uint32_t on_waiting(struct keel_mod *mod, struct keel_obj *whole, bool all)
{
	const struct array *a = array_of(mod, whole);
	uint32_t room;

	if (!a || all)
		return a ? a->n[KIND_WAITS] : 0;
	room = array_room(mod, a);
	return a->n[KIND_WAITS] < room ? a->n[KIND_WAITS] : room;
}

static struct keel_obj *on_next(struct keel_mod *mod, struct keel_obj *whole, struct keel_err *err)
{
	struct state *st = mod->state;
	struct array *a = array_of(mod, whole);
	uint32_t ordinal;

	if (!a || !runs_find(&a->runs, a->hint, WAITS, &ordinal)) {
		st->core->error(err, PBSE_BADSTATE, "%s", st->core->pbse_text(PBSE_BADSTATE));
		return NULL;
	}
	a->hint = ordinal;
	return part_make(mod, a, ordinal, err);
}

/* Keeps the number of its starts: hosts distinguish its runs by it. */
static void runs_keep(struct keel_mod *mod, struct array *a, uint32_t ordinal, struct keel_obj *part)
{
	struct state *st = mod->state;
	struct again now = { ordinal, st->object->get_int(part, st->a.run_count),
			     st->object->get_int(part, st->a.run_version) };
	struct again *again = again_find(a, ordinal), *bigger;

	if (now.version == 0 || (again && again->version == now.version))
		return;
	if (!again) {
		bigger = reallocarray(a->again, a->n_again + 1, sizeof(*bigger));
		if (!bigger)
			return;
		a->again = bigger;
		again = &a->again[a->n_again++];
	}
	*again = now;
	array_save_again(mod, a);
}

static void on_back(struct keel_mod *mod, struct keel_obj *part)
{
	uint32_t ordinal;
	struct array *a = array_of_part(mod, part, &ordinal);

	if (!a)
		return;
	part_suspended(mod, part, false);
	if (a->deleted) {
		array_mark(a, ordinal, over_value(KEEL_SUB_TERMINATED, 0));
		array_save_ended(mod, a);
		array_check_end(mod, a);
		return;
	}
	runs_keep(mod, a, ordinal, part);
	array_mark(a, ordinal, WAITS);
}

static void runs_forget(struct keel_mod *mod, struct array *a, uint32_t ordinal)
{
	struct again *again = again_find(a, ordinal);

	if (!again)
		return;
	*again = a->again[--a->n_again];
	array_save_again(mod, a);
}

static void on_over(struct keel_mod *mod, struct keel_obj *part, int32_t substate, bool kept)
{
	struct state *st = mod->state;
	int32_t exit_status = (int32_t)st->object->get_int(part, st->a.exit_status);
	uint32_t ordinal;
	struct array *a = array_of_part(mod, part, &ordinal);
	const char *comment = st->object->get_str(part, st->a.comment);
	bool forced = substate == KEEL_SUB_TERMINATED && comment && strcmp(comment, "Subjob finished") == 0;

	if (!a)
		return;
	part_suspended(mod, part, false);
	if (runs_get(&a->runs, ordinal, NULL) == LIVES && (exit_status != 0 || substate != KEEL_SUB_FINISHED))
		array_failed(mod, a, 1); /* not again, when its history goes */
	array_mark(a, ordinal, kept ? KEPT : over_value(forced ? SUB_FORCED : substate, exit_status));
	runs_forget(mod, a, ordinal);
	if (!kept)
		array_save_ended(mod, a);
	array_check_end(mod, a);
}

const struct keel_job_form_def form = {
	.size = sizeof(struct keel_job_form_def),
	.name = "array",
	.doc = "a job that is many: subjobs that differ by an index",
	.attr = "array_indices_submitted",
	.waiting = on_waiting,
	.next = on_next,
	.back = on_back,
	.over = on_over,
	.ask = on_ask,
	.has = on_has,
	.letter = on_letter,
};
