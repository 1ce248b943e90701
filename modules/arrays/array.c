/* SPDX-License-Identifier: Apache-2.0
 *
 * array.c - one array: which of its subjobs wait, live, or are over, as runs of ordinals.
 *
 *   WAITS -> LIVES -> KEPT (its object is history) or OVER (no object)
 *     ^________|  requeued
 *
 * What objects say is not stored again: after a restart LIVES and KEPT come from the subjobs' objects,
 * OVER from the hidden attribute array_ended, and the rest waits. How many failed is a count of its own,
 * array_failures: an array with more runs than WAYS_MAX no longer knows how each ended.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, array_started_before, job_state, array_indices_submitted, ending, array_ended,
	      array_failures, array, array_erased);

void array_mark(struct array *a, uint32_t ordinal, int32_t value)
{
	int32_t old = runs_get(&a->runs, ordinal, NULL);

	if (a->coarse && kind_of(value) == KIND_OVER)
		value = over_unknown();
	if (runs_set(&a->runs, ordinal, value))
		return;
	a->n[kind_of(old)]--;
	a->n[kind_of(value)]++;
	if (value == WAITS && ordinal < a->hint)
		a->hint = ordinal;
	a->coarse = a->coarse || ended_coarsen(&a->runs);
}

/* ---- making and loading ----------------------------------------------------------------------------- */

/* `index:runs:version,...` */
static void load_again(struct array *a)
{
	const char *at = keel_get_str(a->whole, job_array_started_before);
	unsigned index;
	long long runs, version;
	uint32_t ordinal;
	struct again *bigger;

	for (; at && sscanf(at, "%u:%lld:%lld", &index, &runs, &version) == 3;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		bigger = indices_ordinal(&a->x, index, &ordinal)
				 ? reallocarray(a->again, a->n_again + 1, sizeof(*bigger))
				 : NULL;
		if (!bigger)
			continue;
		a->again = bigger;
		a->again[a->n_again++] = (struct again){ ordinal, runs, version };
	}
}

static void log_no_memory(struct keel_mod *mod, const struct array *a)
{
	keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(a->whole),
		 "out of memory: after a restart now, subjobs that are over may wait again");
}

void array_fini(struct keel_mod *mod, void *slot)
{
	struct slot *s = slot;

	(void)mod;
	if (s->a) {
		runs_fini(&s->a->runs);
		free(s->a->again);
		free(s->a);
	}
	s->a = NULL;
}

static struct array *array_create(struct keel_mod *mod, struct keel_obj *whole)
{
	const char *text = keel_get_str(whole, job_array_indices_submitted);
	struct array *a = calloc(1, sizeof(*a));
	uint32_t at = 0, last;
	char letter[8] = "";
	int32_t others;

	keel_get_text(whole, job_job_state, NULL, letter, sizeof(letter)); /* not yet known to the module jobs */
	others = *letter == 'F' ? KEPT : WAITS; /* of one that is over none waits */
	if (!a || !text || !indices_parse(text, &a->x) || runs_init(&a->runs, a->x.count, others)) {
		free(a);
		return NULL;
	}
	a->whole = whole;
	a->deleted = keel_is_set(whole, job_ending);
	if (ended_load(&a->x, &a->runs, others, keel_get_str(whole, job_array_ended)))
		log_no_memory(mod, a);
	/* How many are what; of failures, what is known without their count (a store from before there was one). */
	for (; at < a->x.count; at = last + 1) {
		int32_t value = runs_get(&a->runs, at, &last);

		a->n[kind_of(value)] += last - at + 1;
		if (kind_of(value) == KIND_OVER && over_failed(value))
			a->failed += last - at + 1;
	}
	if (keel_is_set(whole, job_array_failures))
		a->failed = (uint32_t)keel_get_int(whole, job_array_failures);
	load_again(a);
	return a;
}

struct array *array_of(struct keel_mod *mod, struct keel_obj *whole)
{
	struct slot *slot;

	if (!keel_is_set(whole, job_array_indices_submitted))
		return NULL;
	slot = keel_slot(mod, whole);
	if (slot && !slot->a)
		slot->a = array_create(mod, whole);
	return slot ? slot->a : NULL;
}

/* Published, or loaded. */
void on_submitted(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr)
{
	(void)attr;
	if (array_of(mod, whole) && !keel_is_set(whole, job_array))
		keel_set_int(whole, job_array, 1);
}

void on_limit(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr)
{
	(void)attr;
	if (array_of(mod, whole))
		keel_job_waits(whole);
}

/* ---- saving ------------------------------------------------------------------------------------------- */

void array_save_ended(struct keel_mod *mod, struct array *a)
{
	char *text = ended_text(&a->x, &a->runs);

	if (!text || keel_set_str(a->whole, job_array_ended, text))
		log_no_memory(mod, a);
	free(text);
}

void array_failed(struct array *a, uint32_t n)
{
	a->failed += n;
	keel_set_int(a->whole, job_array_failures, a->failed);
}

void array_save_again(struct array *a)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	uint32_t i;

	if (!out)
		return;
	for (i = 0; i < a->n_again; i++)
		fprintf(out, "%s%u:%lld:%lld", i ? "," : "", indices_index(&a->x, a->again[i].ordinal),
			(long long)a->again[i].runs, (long long)a->again[i].version);
	if (fclose(out) == 0)
		keel_set_str(a->whole, job_array_started_before, text);
	free(text);
}

uint32_t array_terminate(struct keel_mod *mod, struct array *a, const struct selection *s, bool force)
{
	int32_t value = a->coarse ? over_unknown() : over_value(force ? SUB_FORCED : KEEL_SUB_TERMINATED, 0);
	uint32_t i, n, all = 0;

	for (i = 0; i < s->n; i++)
		if (runs_replace(&a->runs, s->at[i].first, s->at[i].last, s->at[i].step, WAITS, value,
				 &n) == 0)
			all += n;
	if (!all)
		return 0;
	a->n[KIND_WAITS] -= all;
	a->n[KIND_OVER] += all;
	array_failed(a, all);
	array_save_ended(mod, a);
	keel_note(mod, KEEL_POINT_job_step,
		  KEEL_EVENT(job_step, .id = keel_id(a->whole), .job = a->whole,
			     .state = keel_job_state(a->whole)));
	return all;
}

/* ---- the end -------------------------------------------------------------------------------------------- */

void array_check_end(struct keel_mod *mod, struct array *a)
{
	struct indices x = a->x;
	bool erase = keel_is_set(a->whole, job_array_erased), kept = a->n[KIND_KEPT] > 0;
	int32_t substate = a->deleted  ? KEEL_SUB_TERMINATED
			   : a->failed ? KEEL_SUB_FAILED
				       : KEEL_SUB_FINISHED;
	char id[512];

	if (a->deleting || a->n[KIND_WAITS] || a->n[KIND_LIVES] || keel_job_state(a->whole) == 'F')
		return;
	snprintf(id, sizeof(id), "%s", keel_id(a->whole));
	keel_job_finish(a->whole, substate, a->failed > 0); /* `a` may be gone then */
	if (kept || erase)
		after_end(mod, id, &x, erase);
}
