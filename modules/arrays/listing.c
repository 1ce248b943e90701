/* SPDX-License-Identifier: Apache-2.0
 *
 * listing.c - the subjobs of an array in listings (kind PARTS of status).
 *
 * Those that are objects are shown as they are. For the others one draft like the array stands, which gets
 * the values of each before it is shown; a listing never makes a million objects.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, job_state, substate, comment, Exit_status, array_index);

struct walk {
	char *whole; /* id */
	struct selection named;
	uint32_t part, next;    /* in it, and the ordinal */
	struct keel_obj *model; /* a draft, or NULL */
	char id[600];
};

static void walk_close(struct keel_mod *mod, void *walk)
{
	struct walk *w = walk;

	(void)mod;
	if (w->model)
		keel_destroy(w->model);
	selection_fini(&w->named);
	free(w->whole);
	free(w);
}

static void *walk_open(struct keel_mod *mod, struct array *a, const char *range, size_t len)
{
	struct walk *w = a ? calloc(1, sizeof(*w)) : NULL;
	int rc;

	if (!w)
		return NULL;
	w->whole = strdup(keel_id(a->whole));
	rc = len ? selection_parse(&a->x, range, len, &w->named) : selection_all(&a->x, &w->named);
	if (rc || !w->whole || w->named.n == 0) {
		walk_close(mod, w);
		return NULL;
	}
	w->next = w->named.at[0].first;
	return w;
}

static void *open_all(struct keel_mod *mod, struct keel_obj *whole)
{
	return walk_open(mod, array_of(mod, whole), NULL, 0);
}

static void *open_named(struct keel_mod *mod, const char *operand)
{
	const char *range;
	size_t len;
	struct array *a = named_array(mod, operand, &range, &len);

	return len && a ? walk_open(mod, a, range, len) : NULL;
}

/* ---- those that are no objects --------------------------------------------------------------------------- */

static void model_over(struct array *a, struct keel_obj *model, int32_t value)
{
	bool history = keel_job_state(a->whole) == 'F';
	int32_t how = over_substate(value);

	keel_set_int(model, job_job_state, history ? 'F' : 'X');
	keel_set_int(model, job_substate, how == SUB_FORCED ? KEEL_SUB_TERMINATED : how);
	keel_set_str(model, job_comment,
		     how == KEEL_SUB_FINISHED ? "Subjob finished"
		     : how == SUB_FORCED ? "Subjob finished" /* as jobs says of one that has run */
		     : how == KEEL_SUB_TERMINATED ? "Subjob terminated"
		     : how == KEEL_SUB_FAILED	 ? "Subjob failed"
						  : "Subjob expired");
	if (how == SUB_EXPIRED)
		keel_unset(model, job_Exit_status, NULL);
	else
		keel_set_int(model, job_Exit_status, over_exit(value));
}

static struct keel_obj *model_of(struct keel_mod *mod, struct walk *w, struct array *a, uint32_t ordinal,
				 int32_t value)
{
	struct state *st = mod->state;
	char id[600], letter;
	bool queued;

	if (!w->model) {
		snprintf(id, sizeof(id), "%.*s[listing %llu]", (int)strcspn(w->whole, "["), w->whole,
			 (unsigned long long)++st->walks);
		w->model = keel_clone(mod, a->whole, id, NULL);
	}
	if (!w->model)
		return NULL;
	keel_set_int(w->model, job_array_index, indices_index(&a->x, ordinal));
	part_paths(a, w->model, indices_index(&a->x, ordinal));
	if (kind_of(value) == KIND_OVER) {
		model_over(a, w->model, value);
	} else {
		letter = keel_job_state(a->whole);
		queued = letter == 'B' || letter == 'H'; /* a hold is the array's: they are queued in it */
		keel_set_int(w->model, job_job_state, queued ? 'Q' : letter);
		keel_set_int(w->model, job_substate, queued ? KEEL_SUB_QUEUED : keel_job_substate(a->whole));
		keel_set_str(w->model, job_comment, keel_get_str(a->whole, job_comment));
		keel_unset(w->model, job_Exit_status, NULL);
	}
	part_id(a, ordinal, w->id, sizeof(w->id));
	return w->model;
}

/* ---- the walk ------------------------------------------------------------------------------------------------ */

static bool step(struct walk *w, uint32_t *ret_ordinal)
{
	const struct some *s = &w->named.at[w->part];

	if (w->part >= w->named.n)
		return false;
	*ret_ordinal = w->next;
	if (s->last - w->next >= s->step)
		w->next += s->step;
	else if (++w->part < w->named.n)
		w->next = w->named.at[w->part].first;
	return true;
}

static struct keel_obj *next(struct keel_mod *mod, void *walk, const char **ret_id)
{
	struct walk *w = walk;
	struct keel_obj *whole = keel_find(mod, "job", w->whole), *part;
	struct array *a = whole ? array_of(mod, whole) : NULL;
	uint32_t ordinal;
	int32_t value;

	if (!a || !step(w, &ordinal))
		return NULL;
	value = runs_get(&a->runs, ordinal, NULL);
	part = value == LIVES || value == KEPT ? part_find(mod, a, ordinal) : NULL;
	if (part) {
		*ret_id = keel_id(part);
		return part;
	}
	if (value == LIVES || value == KEPT) /* its history was cleaned away */
		value = over_unknown();
	*ret_id = w->id;
	return model_of(mod, w, a, ordinal, value);
}

const struct keel_parts_def parts = {
	.size = sizeof(struct keel_parts_def),
	.name = "subjob",
	.doc = "subjobs, below their array",
	.klass = "job",
	.is_part = is_subjob,
	.open = open_all,
	.open_named = open_named,
	.next = next,
	.close = walk_close,
};
