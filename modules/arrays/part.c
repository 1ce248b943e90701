/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - subjobs as job objects: made from their array when they start, back into it when they are
 * requeued. The module jobs calls the form when one comes back or is over (kind JOB_FORM).
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, Output_Path, Error_Path, array_index, run_count, run_version, Exit_status,
	      comment, max_run_subjobs);

#define PLACEHOLDER "^array_index^"

/* The place of the index in a path of the array becomes the index. */
static void path_set(struct array *a, struct keel_obj *part,
		     const struct keel_attr *attr, uint32_t index)
{
	const char *text = keel_get_str(a->whole, attr);
	const char *at = text ? strstr(text, PLACEHOLDER) : NULL;
	char *path;

	if (!at || asprintf(&path, "%.*s%u%s", (int)(at - text), text, index,
			    at + strlen(PLACEHOLDER)) < 0)
		return;
	keel_set_str(part, attr, path);
	free(path);
}

void part_paths(struct array *a, struct keel_obj *part, uint32_t index)
{
	path_set(a, part, job_Output_Path, index);
	path_set(a, part, job_Error_Path, index);
}

bool part_alter(struct keel_mod *mod, struct array *a, struct keel_obj *part, uint32_t ordinal, const char *names)
{
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
		attr = keel_attr_find(mod, "job", name);
		if (!attr || (keel_attr_flags(attr) & KEEL_ATTR_OWN))
			continue;
		len = keel_get_text(a->whole, attr, key, NULL, 0);
		text = len < 0 ? NULL : malloc((size_t)len + 1);
		if (len < 0)
			keel_unset(part, attr, key);
		else if (text && keel_get_text(a->whole, attr, key, text, (uint32_t)len + 1) >= 0)
			keel_set_text(part, attr, KEEL_SET, key, text, NULL);
		free(text);
		some = true;
	}
	if (some)
		part_paths(a, part, indices_index(&a->x, ordinal));
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
	const struct again *again = again_find(a, ordinal);
	struct keel_obj *part;
	char id[600];

	part_id(a, ordinal, id, sizeof(id));
	part = keel_clone(mod, a->whole, id, err);
	if (!part)
		return NULL;
	keel_set_int(part, job_array_index, indices_index(&a->x, ordinal));
	part_paths(a, part, indices_index(&a->x, ordinal));
	if (again) {
		keel_set_int(part, job_run_count, again->runs);
		keel_set_int(part, job_run_version, again->version);
	}
	if (keel_publish(part)) {
		keel_destroy(part);
		keel_error(err, PBSE_SYSTEM, "System error: out of memory");
		return NULL;
	}
	array_mark(a, ordinal, LIVES);
	keel_job_adopt(part);
	return part;
}

void part_suspended(struct keel_mod *mod, struct keel_obj *part, bool suspended)
{
	struct slot *slot = keel_slot(mod, part);
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
	int64_t limit, running;

	if (!a || all)
		return a ? a->n[KIND_WAITS] : 0;
	if (a->deleted || a->deleting)
		return 0;
	if (!keel_is_set(whole, job_max_run_subjobs))
		return a->n[KIND_WAITS];
	limit = keel_get_int(whole, job_max_run_subjobs);
	running = (int64_t)a->n[KIND_LIVES] - a->n_suspended;
	if (limit - running >= a->n[KIND_WAITS])
		return a->n[KIND_WAITS];
	return limit > running ? (uint32_t)(limit - running) : 0;
}

static struct keel_obj *on_next(struct keel_mod *mod, struct keel_obj *whole, struct keel_err *err)
{
	struct array *a = array_of(mod, whole);
	uint32_t ordinal;

	if (!a || !runs_find(&a->runs, a->hint, WAITS, &ordinal)) {
		keel_error(err, PBSE_BADSTATE, "%s", keel_pbse_text(PBSE_BADSTATE));
		return NULL;
	}
	a->hint = ordinal;
	return part_make(mod, a, ordinal, err);
}

/* Keeps the number of its starts: hosts distinguish its runs by it. */
static void runs_keep(struct array *a, uint32_t ordinal, struct keel_obj *part)
{
	struct again now = { ordinal, keel_get_int(part, job_run_count),
			     keel_get_int(part, job_run_version) };
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
	array_save_again(a);
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
	runs_keep(a, ordinal, part);
	array_mark(a, ordinal, WAITS);
}

static void on_over(struct keel_mod *mod, struct keel_obj *part, int32_t substate, bool kept)
{
	int32_t exit_status = (int32_t)keel_get_int(part, job_Exit_status);
	uint32_t ordinal;
	struct array *a = array_of_part(mod, part, &ordinal);
	struct again *again;
	const char *comment = keel_get_str(part, job_comment);
	bool forced = substate == KEEL_SUB_TERMINATED && comment && strcmp(comment, "Subjob finished") == 0;

	if (!a)
		return;
	part_suspended(mod, part, false);
	if (runs_get(&a->runs, ordinal, NULL) == LIVES && (exit_status != 0 || substate != KEEL_SUB_FINISHED))
		array_failed(a, 1); /* not again, when its history goes */
	array_mark(a, ordinal, kept ? KEPT : over_value(forced ? SUB_FORCED : substate, exit_status));
	again = again_find(a, ordinal);
	if (again) {
		*again = a->again[--a->n_again];
		array_save_again(a);
	}
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
