/* SPDX-License-Identifier: Apache-2.0
 *
 * array.c - one array: which of its subjobs wait, live, or are over, as runs of ordinals.
 *
 *   WAITS -> LIVES -> KEPT (its object is history) or OVER (no object)
 *     ^________|  requeued
 *
 * What objects say is not stored again: after a restart LIVES and KEPT come from the subjobs' objects,
 * OVER from the hidden attribute array_ended, and the rest waits.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAYS_MAX 512 /* runs with different ends that are kept apart */

/* ---- values --------------------------------------------------------------------------------------- */

enum kind kind_of(int32_t value)
{
	return value == WAITS ? KIND_WAITS
	       : value == LIVES ? KIND_LIVES
	       : value == KEPT	? KIND_KEPT
				: KIND_OVER;
}

/* Bits 0-3 of what is above OVER: substate - 90; above them the exit status. */
int32_t over_value(int32_t substate, int32_t exit_status)
{
	int32_t way = substate - 90;

	if (exit_status < -32768 || exit_status > 32767)
		exit_status = 32767;
	return OVER + (int32_t)((uint32_t)(exit_status + 32768) << 4 | (uint32_t)(way & 15));
}

int32_t over_substate(int32_t value)
{
	return 90 + ((value - OVER) & 15);
}

int32_t over_exit(int32_t value)
{
	return ((value - OVER) >> 4) - 32768;
}

static int32_t only_how(int32_t value)
{
	int32_t substate = kind_of(value) == KIND_OVER ? over_substate(value) : 0;

	return !substate ? value : over_value(substate, substate == KEEL_SUB_FINISHED ? 0 : 1);
}

static int32_t only_that(int32_t value)
{
	return kind_of(value) == KIND_OVER ? over_value(KEEL_SUB_FAILED, 1) : value;
}

/* Subjobs that end in thousands of ways would cost as much as objects: then less is remembered. */
static void coarsen(struct array *a)
{
	if (a->runs.n <= WAYS_MAX || a->coarse)
		return;
	runs_map(&a->runs, only_how);
	if (a->runs.n > WAYS_MAX / 2) {
		runs_map(&a->runs, only_that);
		a->coarse = true;
	}
}

void array_mark(struct array *a, uint32_t ordinal, int32_t value)
{
	int32_t old = runs_get(&a->runs, ordinal, NULL);

	if (a->coarse)
		value = only_that(value);
	if (runs_set(&a->runs, ordinal, value))
		return;
	a->n[kind_of(old)]--;
	a->n[kind_of(value)]++;
	if (value == WAITS && ordinal < a->hint)
		a->hint = ordinal;
	coarsen(a);
}

/* ---- making and loading ----------------------------------------------------------------------------- */

/* `value:ranges;value:ranges` */
static void load_ended(struct keel_mod *mod, struct array *a, int32_t others)
{
	struct state *st = mod->state;
	const char *at = st->object->get_str(a->whole, st->a.ended);
	struct selection s;
	char *end;

	while (at && *at) {
		int32_t value = (int32_t)strtol(at, &end, 10);
		size_t len = *end == ':' ? strcspn(end + 1, ";") : 0;
		uint32_t i, n;

		if (value < OVER || !len || selection_parse(&a->x, end + 1, len, &s))
			return;
		for (i = 0; i < s.n; i++) {
			if (runs_replace(&a->runs, s.at[i].first, s.at[i].last, s.at[i].step, others,
					 value, &n))
				continue;
			a->n[kind_of(others)] -= n;
			a->n[KIND_OVER] += n;
		}
		selection_fini(&s);
		a->failed |= over_substate(value) != KEEL_SUB_FINISHED;
		at = end + 1 + len + (end[1 + len] == ';');
	}
}

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

static void array_free(struct array *a)
{
	runs_fini(&a->runs);
	free(a->again);
	free(a);
}

void array_fini(struct keel_mod *mod, void *slot)
{
	struct slot *s = slot;

	(void)mod;
	if (s->a)
		array_free(s->a);
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

	if (!a || !text || !indices_parse(text, &a->x) || runs_init(&a->runs, a->x.count, others)) {
		free(a);
		return NULL;
	}
	a->whole = whole;
	a->n[kind_of(others)] = a->x.count;
	a->deleted = st->object->is_set(whole, st->a.ending);
	load_ended(mod, a, others);
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

/* The next value that is OVER and has not been written: in order of value. */
static bool next_value(const struct array *a, int32_t above, int32_t *ret)
{
	int32_t found = INT32_MAX;
	uint32_t k;

	for (k = 0; k < a->runs.n; k++)
		if (a->runs.at[k].value > above && a->runs.at[k].value < found)
			found = a->runs.at[k].value;
	*ret = found;
	return found != INT32_MAX;
}

void array_save_ended(struct keel_mod *mod, struct array *a)
{
	struct state *st = mod->state;
	char *text = NULL, *ranges;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int32_t value = OVER - 1;
	bool failed = !out;

	while (!failed && next_value(a, value, &value)) {
		ranges = indices_text(&a->x, &a->runs, value);
		failed = !ranges || fprintf(out, "%s%d:%s", ftell(out) > 0 ? ";" : "", (int)value, ranges) < 0;
		free(ranges);
	}
	if (out)
		failed |= fclose(out) != 0;
	if (failed || st->object->set_str(a->whole, st->a.ended, text))
		st->core->log(mod, KEEL_LOG_ERROR, "Job", st->object->id(a->whole),
			      "out of memory: after a restart now, subjobs that are over may wait again");
	free(text);
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

uint32_t array_terminate(struct keel_mod *mod, struct array *a, const struct selection *s)
{
	struct state *st = mod->state;
	int32_t value = a->coarse ? over_value(KEEL_SUB_FAILED, 1) : over_value(KEEL_SUB_TERMINATED, 0);
	uint32_t i, n, all = 0;

	for (i = 0; i < s->n; i++)
		if (runs_replace(&a->runs, s->at[i].first, s->at[i].last, s->at[i].step, WAITS, value,
				 &n) == 0)
			all += n;
	if (!all)
		return 0;
	a->n[KIND_WAITS] -= all;
	a->n[KIND_OVER] += all;
	a->failed = true;
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

	if (a->deleted)
		return 0;
	if (!st->object->is_set(a->whole, st->a.limit) || limit >= (int64_t)a->n[KIND_LIVES] + UINT32_MAX)
		return UINT32_MAX;
	return limit > a->n[KIND_LIVES] ? (uint32_t)(limit - a->n[KIND_LIVES]) : 0;
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

	if (a->n[KIND_WAITS] || a->n[KIND_LIVES] || st->job->state(st->job->self, a->whole) == 'F')
		return;
	snprintf(id, sizeof(id), "%s", st->object->id(a->whole));
	st->job->finish(st->job->self, a->whole, substate, a->failed); /* `a` may be gone then */
	if (kept || erase)
		after_end(mod, id, &x, erase);
}
