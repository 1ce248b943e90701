/* SPDX-License-Identifier: Apache-2.0
 *
 * sets.c - placement sets: vnodes that share a value of a resource, and jobs that stay inside one.
 *
 * Sets are tried from the smallest (cpus in total) to the largest. A job that would fit into one of
 * them were it empty waits for it; one that fits into none spans them, unless that is forbidden.
 * Vnodes without the value are a set of their own, unless only explicit sets count.
 *
 * A set is made of whole classes of vnodes (klass.c); hosts as sets are what `pack` tries.
 */
#include "trial.h"

#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set {
	uint32_t key;   /* which name: the n-th line of sets.key */
	char *value;    /* owned */
	uint8_t *klass; /* owned; per class: belongs to it */
	uint64_t bits;
	double cpus;
};
struct sets {
	bool by_host;
	struct set *set;
	uint32_t n;
	char *key; /* owned: the names the sets are made of */
	struct sets *next;
};

/* ---- making them ----------------------------------------------------------------------------------- */

static void sets_free_one(struct sets *x)
{
	uint32_t i;

	for (i = 0; i < x->n; i++) {
		free(x->set[i].value);
		free(x->set[i].klass);
	}
	free(x->set);
	free(x->key);
	free(x);
}

void sets_free(struct sets *all)
{
	while (all) {
		struct sets *next = all->next;

		sets_free_one(all);
		all = next;
	}
}

static bool set_join(struct sets *x, const struct snapshot *s, uint32_t key, const char *value,
		     size_t len, uint32_t klass)
{
	struct set *set = x->set, *bigger;

	while (set < x->set + x->n &&
	       (set->key != key || strlen(set->value) != len || memcmp(set->value, value, len) != 0))
		set++;
	if (set == x->set + x->n) {
		bigger = reallocarray(x->set, x->n + 1, sizeof(*bigger));
		if (!bigger)
			return false;
		x->set = bigger;
		set = bigger + x->n++;
		*set = (struct set){ .key = key, .value = strndup(value, len),
				     .klass = calloc(klasses_count(s) + 1, 1) };
		if (!set->value || !set->klass)
			return false;
	}
	set->klass[klass] = 1;
	set->bits |= 1ull << (klass & 63);
	return true;
}

/* The class goes into the set of each of its values. */
static bool klass_join(struct sets *x, const struct snapshot *s, uint32_t key, const char *name,
		       uint32_t klass)
{
	const struct vnode *like = klass_like(s, klass);
	const struct keel_res_value *v = like->other, *end = v + like->n_other;
	const char *text;
	char number[32];

	while (v < end && strcmp(v->res->name, name) != 0)
		v++;
	if (v == end)
		v = NULL;
	text = v ? v->text : NULL;
	if (v && !text) {
		snprintf(number, sizeof(number), "%.17g", v->n);
		text = number;
	}
	if (!text || !*text)
		return s->explicit_sets || set_join(x, s, key, "", 0, klass);
	while (*text) {
		size_t n = strcspn(text, ",");

		if (n && !set_join(x, s, key, text, n, klass))
			return false;
		text += n;
		text += strspn(text, ", ");
	}
	return true;
}

static void sizes(struct sets *x, const struct snapshot *s)
{
	double *cpus = calloc(klasses_count(s) + 1, sizeof(*cpus));
	uint32_t c, i, k;

	for (c = 0; c < s->n_column && strcmp(s->column[c]->name, "ncpus") != 0; c++)
		;
	for (i = 0; cpus && i < s->n; i++)
		cpus[s->node[i].klass] += c < s->n_column ? s->node[i].total[c] : 1;
	for (i = 0; cpus && i < x->n; i++)
		for (k = 0; k < klasses_count(s); k++)
			x->set[i].cpus += x->set[i].klass[k] ? cpus[k] : 0;
	free(cpus);
}

static int by_size(const void *a, const void *b)
{
	const struct set *x = a, *y = b;

	if (x->cpus != y->cpus)
		return x->cpus < y->cpus ? -1 : 1;
	return strcmp(x->value, y->value);
}

static struct sets *sets_make(const struct snapshot *s, const char *const *key, uint32_t n_key,
			      const char *joined)
{
	struct sets *x = calloc(1, sizeof(*x));
	uint32_t i, k;

	if (!x || !(x->key = strdup(joined))) {
		free(x);
		return NULL;
	}
	for (i = 0; i < n_key; i++) {
		if (strcmp(key[i], "host") == 0 || strcmp(key[i], "vnode") == 0) {
			x->by_host = true;
			continue;
		}
		for (k = 0; k < klasses_count(s); k++)
			if (!klass_join(x, s, i, key[i], k)) {
				sets_free_one(x);
				return NULL;
			}
	}
	sizes(x, s);
	qsort(x->set, x->n, sizeof(*x->set), by_size);
	return x;
}

/* The sets of the wish's keys, kept with the snapshot. */
static struct sets *sets_of(struct trial *t, const char *const *key, uint32_t n_key)
{
	struct keel_text joined;
	struct sets *x;
	uint32_t i;

	keel_text_init(&joined);
	for (i = 0; i < n_key; i++)
		keel_text_printf(&joined, "%s\n", key[i]);
	for (x = joined.failed ? NULL : t->s->sets; x && strcmp(x->key, joined.data) != 0; x = x->next)
		;
	if (!x && !joined.failed && (x = sets_make(t->s, key, n_key, joined.data))) {
		x->next = t->s->sets;
		t->s->sets = x;
	}
	keel_text_fini(&joined);
	return x;
}

/* ---- trying them -------------------------------------------------------------------------------------- */

bool in_set(const struct trial *t, uint32_t node)
{
	return t->set == NO_SET || t->sets->set[t->set].klass[t->s->node[node].klass];
}

uint64_t set_klasses(const struct trial *t)
{
	return t->set == NO_SET ? UINT64_MAX : t->sets->set[t->set].bits;
}

static void set_is_full(const struct trial *t, uint32_t set, struct reason *ret)
{
	const struct set *x = &t->sets->set[set];
	const char *line = t->sets->key;
	uint32_t i;
	char key[128];

	for (i = 0; i < x->key; i++)
		line = strchr(line, '\n') + 1;
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(line, "\n"), line);
	reason_why(ret, KEEL_WHY_SET_FULL, key, x->value);
	snprintf(ret->what, sizeof(ret->what), "%s", key);
}

bool try_sets(struct trial *t, struct reason *ret)
{
	const char *group = t->w->place.group;
	const char *const *key = *group ? &group : t->w->set_key;
	uint32_t n = *group ? 1 : t->w->n_set_key, full;
	bool fits;

	if (n == 0)
		return try_all(t);
	t->sets = sets_of(t, key, n);
	if (!t->sets) {
		t->failed = true;
		return false;
	}
	if (t->sets->by_host && try_hosts(t))
		return true;
	for (t->set = 0; t->set < t->sets->n; t->set++)
		if (try_all(t))
			break;
	fits = t->set < t->sets->n;
	t->set = NO_SET;
	if (fits)
		return true;
	if (t->sets->by_host && try_empty(t, try_hosts))
		return false; /* explained like any other */
	/* The first set that it would fit into were it empty. */
	for (t->set = 0; t->set < t->sets->n; t->set++)
		if (try_empty(t, try_all)) {
			full = t->set;
			t->set = NO_SET;
			set_is_full(t, full, ret);
			return false;
		}
	t->set = NO_SET;
	if (!t->s->no_span)
		return try_all(t);
	reason_why(ret, KEEL_WHY_NO_SPAN);
	ret->never = true;
	return false;
}
