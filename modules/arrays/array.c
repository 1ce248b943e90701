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
static void load_again(struct keel_mod *mod, struct array *a)
{
	struct state *st = mod->state;
	const char *at = st->object->get_str(a->whole, st->a.again);
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
	struct state *st = mod->state;

	st->core->log(mod, KEEL_LOG_ERROR, "Job", st->object->id(a->whole),
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

/* While it is loaded its attribute says so, not yet the module jobs. */
static char letter_of(struct keel_mod *mod, struct keel_obj *whole)
{
	struct state *st = mod->state;
	char text[8] = "";

	st->object->text(whole, st->a.state, NULL, text, sizeof(text));
	return text[0];
}

static struct array *array_create(struct keel_mod *mod, struct keel_obj *whole)
{
	struct state *st = mod->state;
	const char *text = st->object->get_str(whole, st->a.submitted);
	int32_t others = letter_of(mod, whole) == 'F' ? KEPT : WAITS; /* of one that is over none waits */
	struct array *a = calloc(1, sizeof(*a));
	uint32_t at = 0, last;

	if (!a || !text || !indices_parse(text, &a->x) || runs_init(&a->runs, a->x.count, others)) {
		free(a);
		return NULL;
	}
	a->whole = whole;
	a->deleted = st->object->is_set(whole, st->a.ending);
	if (ended_load(&a->x, &a->runs, others, st->object->get_str(whole, st->a.ended)))
		log_no_memory(mod, a);
	/* How many are what; of failures, what is known without their count (a store from before there was one). */
	for (; at < a->x.count; at = last + 1) {
		int32_t value = runs_get(&a->runs, at, &last);

		a->n[kind_of(value)] += last - at + 1;
		if (kind_of(value) == KIND_OVER && over_failed(value))
			a->failed += last - at + 1;
	}
	if (st->object->is_set(whole, st->a.failed))
		a->failed = (uint32_t)st->object->get_int(whole, st->a.failed);
	load_again(mod, a);
	return a;
}

struct array *array_of(struct keel_mod *mod, struct keel_obj *whole)
{
	struct state *st = mod->state;
	struct slot *slot;

	if (!st->object->is_set(whole, st->a.submitted))
		return NULL;
	slot = st->object->slot(mod, whole);
	if (slot && !slot->a)
		slot->a = array_create(mod, whole);
	return slot ? slot->a : NULL;
}

/* Published, or loaded. */
void on_submitted(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr)
{
	struct state *st = mod->state;

	(void)attr;
	if (array_of(mod, whole) && !st->object->is_set(whole, st->a.array))
		st->object->set_int(whole, st->a.array, 1);
}

void on_limit(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr)
{
	struct state *st = mod->state;

	(void)attr;
	if (array_of(mod, whole))
		st->job->waits(st->job->self, whole);
}

/* ---- saving ------------------------------------------------------------------------------------------- */

void array_save_ended(struct keel_mod *mod, struct array *a)
{
	struct state *st = mod->state;
	char *text = ended_text(&a->x, &a->runs);

	if (!text || st->object->set_str(a->whole, st->a.ended, text))
		log_no_memory(mod, a);
	free(text);
}

void array_failed(struct keel_mod *mod, struct array *a, uint32_t n)
{
	struct state *st = mod->state;

	a->failed += n;
	st->object->set_int(a->whole, st->a.failed, a->failed);
}

void array_save_again(struct keel_mod *mod, struct array *a)
{
	struct state *st = mod->state;
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
		st->object->set_str(a->whole, st->a.again, text);
	free(text);
}

uint32_t array_terminate(struct keel_mod *mod, struct array *a, const struct selection *s, bool force)
{
	struct state *st = mod->state;
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
	array_failed(mod, a, all);
	array_save_ended(mod, a);
	st->hook->note(mod, KEEL_POINT_job_step,
		       KEEL_EVENT(job_step, .id = st->object->id(a->whole), .job = a->whole,
				  .state = st->job->state(st->job->self, a->whole)));
	return all;
}

/* ---- the end -------------------------------------------------------------------------------------------- */

uint32_t array_room(struct keel_mod *mod, const struct array *a)
{
	struct state *st = mod->state;
	int64_t limit = st->object->get_int(a->whole, st->a.limit);
	int64_t running = (int64_t)a->n[KIND_LIVES] - a->n_suspended;

	if (a->deleted || a->deleting)
		return 0;
	if (!st->object->is_set(a->whole, st->a.limit) || limit >= running + UINT32_MAX)
		return UINT32_MAX;
	return limit > running ? (uint32_t)(limit - running) : 0;
}

void array_check_end(struct keel_mod *mod, struct array *a)
{
	struct state *st = mod->state;
	struct indices x = a->x;
	bool erase = st->object->is_set(a->whole, st->a.erased), kept = a->n[KIND_KEPT] > 0;
	int32_t substate = a->deleted  ? KEEL_SUB_TERMINATED
			   : a->failed ? KEEL_SUB_FAILED
				       : KEEL_SUB_FINISHED;
	char id[512];

	if (a->deleting || a->n[KIND_WAITS] || a->n[KIND_LIVES] || st->job->state(st->job->self, a->whole) == 'F')
		return;
	snprintf(id, sizeof(id), "%s", st->object->id(a->whole));
	st->job->finish(st->job->self, a->whole, substate, a->failed > 0); /* `a` may be gone then */
	if (kept || erase)
		after_end(mod, id, &x, erase);
}
