/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c - groups, entities, their shares and usage.
 *
 *   root -+- unknown -+- stranger ...        everybody the file does not name, one share each
 *         +- physics -+- alice               names, ids, parents and shares from the file
 *                     +- bob
 *
 * Who goes first is decided from the root downwards: of two groups the one that has used less of its
 * part; where they are even, their members by the same rule.
 */
#include "tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct share *tree_find(const struct tree *t, const char *name)
{
	struct share *s;

	HASH_FIND_STR(t->shares, name, s);
	return s;
}

/* ---- family -------------------------------------------------------------------------------------------- */

static void attach(struct share *s, struct share *parent)
{
	s->parent = parent;
	s->depth = parent ? parent->depth + 1 : 0;
	s->next = NULL;
	if (!parent)
		return;
	s->next = parent->first;
	parent->first = s;
}

static struct share *create(struct tree *t, const char *name, struct share *parent)
{
	struct share *s = calloc(1, sizeof(*s));

	if (!s || !(s->name = strdup(name))) {
		free(s);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, t->shares, s->name, strlen(s->name), s);
	if (!s->hh.tbl) { /* no memory for it */
		free(s->name);
		free(s);
		return NULL;
	}
	s->shares = 1;
	attach(s, parent);
	t->dirty = true;
	return s;
}

void tree_fini(struct tree *t)
{
	struct share *s, *next;

	HASH_ITER(hh, t->shares, s, next) {
		HASH_DEL(t->shares, s);
		free(s->name);
		free(s);
	}
	memset(t, 0, sizeof(*t));
}

int tree_init(struct tree *t)
{
	memset(t, 0, sizeof(*t));
	t->one = 1;
	t->root = create(t, "root", NULL);
	t->unknown = t->root ? create(t, "unknown", t->root) : NULL;
	if (!t->unknown) {
		tree_fini(t);
		return -ENOMEM;
	}
	t->root->is_named = t->unknown->is_named = true;
	t->unknown->shares = 0;
	return 0;
}

struct share *tree_get(struct tree *t, const char *name)
{
	struct share *s = tree_find(t, name);

	if (s)
		return s == t->root ? t->unknown : s; /* who is called so is not everybody */
	if (t->n_strangers >= TREE_STRANGERS || !(s = create(t, name, t->unknown)))
		return t->unknown;
	t->n_strangers++;
	s->part = t->newcomer.part;
	s->of_group = t->newcomer.of_group;
	s->place = t->newcomer.place;
	return s;
}

void tree_charge(struct tree *t, struct share *s, double raw)
{
	s->own = fmax(s->own, t->one) + raw;
	t->dirty = true;
}

void tree_set(struct tree *t, struct share *s, double raw)
{
	s->own = raw;
	t->dirty = true;
}

void tree_begin_with(struct tree *t, double raw)
{
	t->one = raw;
	t->dirty = true;
}

void tree_forget(struct tree *t, struct share *s)
{
	struct share **at = s->parent ? &s->parent->first : NULL;

	if (s->is_named || s->first)
		return;
	t->n_strangers--;
	HASH_DEL(t->shares, s);
	while (at && *at != s)
		at = &(*at)->next;
	if (at)
		*at = s->next;
	free(s->name);
	free(s);
	t->dirty = true;
}

/* fn may forget whom it is given. */
static void each(struct share *s, void (*fn)(void *arg, struct share *s), void *arg)
{
	struct share *child = s->first, *next;

	fn(arg, s);
	for (; child; child = next) {
		next = child->next;
		each(child, fn, arg); /* no deeper than TREE_DEPTH */
	}
}

void tree_each(const struct tree *t, void (*fn)(void *arg, struct share *s), void *arg)
{
	each(t->root, fn, arg);
}

/* ---- the file ---------------------------------------------------------------------------------------- */

/* Every entity is unknown until the file names it. */
static void estrange(struct tree *t)
{
	t->n_strangers = 0;
	for (struct share *s = t->shares; s; s = s->hh.next) {
		s->parent = s->next = s->first = NULL;
		if (s == t->root || s == t->unknown)
			continue;
		s->is_named = false;
		s->shares = 1;
		s->id = 0;
	}
	attach(t->unknown, t->root);
}

static const char *add_line(struct tree *t, const char *line)
{
	char name[256], parent_name[256], rest[8] = "";
	struct share *s, *parent;
	long long id;
	double shares;
	int n = sscanf(line, " %255s %lld %255s %lf %7s", name, &id, parent_name, &shares, rest);

	if (n < 1 || name[0] == '#')
		return NULL;
	if (n < 4 || (rest[0] && rest[0] != '#'))
		return "expected: name id parent shares";
	if (!(shares >= 0 && shares <= 1e9))
		return "shares are a number from 0 on";
	parent = tree_find(t, parent_name);
	if (!parent || !parent->is_named || parent == t->unknown)
		return "its parent is not defined above";
	s = tree_find(t, name);
	if (s && s->is_named)
		return "it is defined twice";
	if (parent->depth + 1 >= TREE_DEPTH)
		return "too deep";
	if (!s && !(s = create(t, name, NULL)))
		return "out of memory";
	s->is_named = true;
	s->id = id;
	s->shares = shares;
	attach(s, parent);
	return NULL;
}

int tree_read(struct tree *t, const char *text, double unknown_shares, tree_complaint_fn *complain,
	      void *arg)
{
	char line[700];
	const char *why;

	estrange(t);
	t->unknown->shares = unknown_shares;
	for (int number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1),
			 text);
		why = add_line(t, line);
		if (why)
			complain(arg, number, why);
		text += len + (text[len] == '\n');
	}
	for (struct share *s = t->shares; s; s = s->hh.next)
		if (!s->parent && s != t->root) {
			attach(s, t->unknown);
			t->n_strangers++;
		}
	t->dirty = true;
	return 0;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static double shares_of_all(const struct share *group)
{
	double all = 0;

	for (const struct share *child = group->first; child; child = child->next)
		all += child->shares;
	return all;
}

static void parts_and_sums(const struct tree *t, struct share *s)
{
	double all = shares_of_all(s);

	s->sum = fmax(s->own, t->one);
	for (struct share *child = s->first; child; child = child->next) {
		child->of_group = all > 0 ? child->shares / all : 0;
		child->part = s->part * child->of_group;
		parts_and_sums(t, child);
		s->sum += child->sum - t->one;
	}
}

/* How much of its part it has used; what has no part comes last. */
static double load(const struct share *s)
{
	return s->part > 0 ? s->sum / s->part : HUGE_VAL;
}

static uint32_t path_of(const struct share *s, const struct share *path[TREE_DEPTH + 2])
{
	uint32_t n = s->depth;

	for (uint32_t i = n; s && s->parent; s = s->parent)
		path[--i] = s;
	return n;
}

/* An entity without a group is a group of its own: paths of different lengths have an order, too. */
int tree_compare(const struct share *a, const struct share *b)
{
	const struct share *path_a[TREE_DEPTH + 2], *path_b[TREE_DEPTH + 2];
	uint32_t n_a = path_of(a, path_a), n_b = path_of(b, path_b);

	for (uint32_t i = 0; n_a && n_b && (i < n_a || i < n_b); i++) {
		const struct share *s = path_a[i < n_a ? i : n_a - 1], *o = path_b[i < n_b ? i : n_b - 1];
		double load_s = load(s), load_o = load(o);

		if (s == o)
			continue;
		if (load_s < load_o || load_s > load_o)
			return load_s < load_o ? -1 : 1;
		if (load_s >= HUGE_VAL && (s->sum < o->sum || s->sum > o->sum))
			return s->sum < o->sum ? -1 : 1;
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	return tree_compare(*(const struct share *const *)a, *(const struct share *const *)b);
}

/* Where a stranger who has used nothing will stand: beside the others who have not. */
static void newcomer_settle(struct tree *t, struct share *const *all, uint32_t n)
{
	double strangers = shares_of_all(t->unknown);
	struct share *s = &t->newcomer;
	uint32_t low = 0, high = n;

	s->parent = t->unknown;
	s->depth = t->unknown->depth + 1;
	s->sum = t->one;
	s->part = t->unknown->part / fmax(strangers, 1); /* as theirs are until all are settled again */
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (tree_compare(all[middle], s) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	s->place = high + 1;
	s->of_group = 1 / (strangers + 1);
	s->part = t->unknown->part * s->of_group;
}

void tree_settle(struct tree *t)
{
	struct share **all;
	uint32_t n = 0, place = 0;

	if (!t->dirty)
		return;
	t->root->part = 1;
	parts_and_sums(t, t->root);
	all = calloc(HASH_COUNT(t->shares), sizeof(struct share *));
	if (!all)
		return; /* the old places */
	for (struct share *s = t->shares; s; s = s->hh.next)
		if (s->first || s == t->root)
			s->place = HASH_COUNT(t->shares); /* a group: behind its members */
		else
			all[n++] = s;
	qsort(all, n, sizeof(struct share *), by_place);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || tree_compare(all[i - 1], all[i]) != 0)
			place = i + 1;
		all[i]->place = place;
	}
	newcomer_settle(t, all, n);
	free(all);
	t->dirty = false;
}

double tree_used(const struct tree *t, const struct share *s)
{
	double all = t->root->sum - t->one;

	return all > 0 ? (s->sum - t->one) / all : 0;
}

double tree_usage(const struct tree *t, const struct share *s)
{
	double used = tree_used(t, s);

	if (!s->parent)
		return 1;
	return s->parent->parent ? used + (tree_usage(t, s->parent) - used) * s->of_group : used;
}

double tree_factor(const struct tree *t, const struct share *s)
{
	return s->part > 0 ? exp2(-tree_usage(t, s) / s->part) : 0;
}
