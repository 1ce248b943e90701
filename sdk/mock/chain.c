/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - taps of modules, and the order in which those of a point are called.
 *
 * `before` and `after` first, then `order`, then the name. A chain is made when it is first needed after
 * a change; an operation keeps the one it began with and passes over taps that went meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

/* ---- order ------------------------------------------------------------------------------------------ */
static bool named(const char *list, const struct tap *t)
{
	return list != NULL && (list_names(list, t->owner->desc.name) || list_names(list, t->owner->label) ||
				list_names(list, t->name));
}

static bool must_precede(const struct tap *a, const struct tap *b)
{
	return a != b && (named(a->before, b) || named(b->after, a));
}

static bool is_less(const struct tap *a, const struct tap *b)
{
	return a->order != b->order ? a->order < b->order : strcmp(a->name, b->name) < 0;
}

static bool is_free(struct tap *const *left, uint32_t n, const struct tap *t)
{
	for (uint32_t i = 0; i < n; i++)
		if (left[i] != NULL && must_precede(left[i], t))
			return false;
	return true;
}

/* The place of the least tap that nobody left must precede; n: they form a loop. */
static uint32_t next_free(struct tap *const *left, uint32_t n)
{
	uint32_t best = n;

	for (uint32_t i = 0; i < n; i++)
		if (left[i] != NULL && is_free(left, n, left[i]) && (best == n || is_less(left[i], left[best])))
			best = i;
	return best;
}

/* The least of those left for whom `at` (NULL: nobody in particular) has to wait. There is one: nobody is free. */
static struct tap *blocker(struct tap *const *left, uint32_t n, const struct tap *at)
{
	struct tap *best = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (left[i] != NULL && (at == NULL || must_precede(left[i], at)) && (best == NULL || is_less(left[i], best)))
			best = left[i];
	return best;
}

/* After as many steps as there are taps we are inside the loop. */
static int refuse_loop(struct keel_mock *mock, uint32_t point, struct tap *const *left, uint32_t n, struct keel_err *err)
{
	const struct tap *at = blocker(left, n, NULL), *begin;
	struct text t = { 0 };

	for (uint32_t i = 0; i < n; i++)
		at = blocker(left, n, at);
	begin = at;
	do {
		text_put(&t, "%s waits for ", at->name);
		at = blocker(left, n, at);
	} while (at != begin);
	err_set(err, -ELOOP, "the taps of %s cannot be ordered: %s%s; change `before` or `after` of one of them",
		point_name(mock, point), t.data, begin->name);
	free(t.data);
	return -ELOOP;
}

static uint32_t collect(struct mod *m, uint32_t point, struct tap **into)
{
	uint32_t n = 0;

	for (struct tap *t = m->taps; t != NULL; t = t->next)
		if (t->point == point && !t->gone) {
			if (into != NULL)
				into[n] = t;
			n++;
		}
	return n;
}

static int chain_make(struct keel_mock *mock, uint32_t point, struct chain **ret, struct keel_err *err)
{
	uint32_t n = collect(&mock->self, point, NULL);
	struct tap **left;
	struct mod *m;
	struct chain *c;

	*ret = NULL;
	DL_FOREACH(mock->mods, m)
		n += collect(m, point, NULL);
	if (n == 0)
		return 0;
	left = make(n * sizeof(struct tap *));
	c = make(sizeof(*c) + n * sizeof(c->tap[0]));
	n = collect(&mock->self, point, left);
	DL_FOREACH(mock->mods, m)
		n += collect(m, point, left + n);
	for (c->refs = 1; c->n < n; c->n++) {
		uint32_t i = next_free(left, n);

		if (i == n) {
			int code = refuse_loop(mock, point, left, n, err);

			chain_unref(c);
			free(left);
			return code;
		}
		c->tap[c->n] = left[i];
		left[i]->refs++;
		left[i] = NULL;
	}
	free(left);
	*ret = c;
	return 0;
}

void chain_unref(struct chain *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		tap_unref(c->tap[i]);
	free(c);
}

/* Make the chain of a point anew. When the taps cannot be ordered the old one stays. */
static int chain_renew(struct keel_mock *mock, uint32_t point, struct keel_err *err)
{
	struct chain *c;
	int ret = chain_make(mock, point, &c, err);

	if (ret < 0)
		return ret;
	chain_unref(mock->chain[point]);
	mock->chain[point] = c;
	return 0;
}

struct chain *chain_ref(struct keel_mock *mock, uint32_t point)
{
	struct chain *c = point < KEEL_POINT_MAX ? mock->chain[point] : NULL;

	if (c != NULL)
		c->refs++;
	return c;
}

const char *keel_mock_chain(struct keel_mock *mock, uint32_t point)
{
	const struct chain *c = point < KEEL_POINT_MAX ? mock->chain[point] : NULL;
	struct text t = { 0 };

	text_add(&t, "", 0);
	for (uint32_t i = 0; c != NULL && i < c->n; i++)
		text_put(&t, "%s%s", i > 0 ? " " : "", c->tap[i]->name);
	return ring(mock, t.data);
}

/* ---- rows ------------------------------------------------------------------------------------------- */
static const char *objection(const struct keel_tap *t, uint32_t kind)
{
	const uint32_t policies = KEEL_ON_FAIL_REJECT | KEEL_ON_FAIL_SKIP | KEEL_ON_FAIL_BENCH;

	if (t->fn.any == NULL)
		return "it has no function";
	if (t->order < -1000 || t->order > 1000)
		return "its order is not within -1000..1000";
	if ((t->flags & ~policies) != 0)
		return "it has flags this host does not know";
	if ((t->flags & (t->flags - 1)) != 0)
		return "it has more than one fail policy";
	if (t->flags == KEEL_ON_FAIL_REJECT && kind != KEEL_GATE)
		return "only a tap of a GATE can refuse when it fails";
	return NULL;
}

struct keel_tap tap_row_at(const struct keel_module *d, uint32_t i)
{
	uint32_t stride = d->taps[0].size;
	struct keel_tap row = { 0 };

	memcpy(&row, (const char *)d->taps + (size_t)i * stride, stride < sizeof(row) ? stride : sizeof(row));
	return row;
}

static int tap_lint(const struct keel_module *d, uint32_t i, struct keel_err *err)
{
	const struct keel_tap row = tap_row_at(d, i);
	const struct point_row *p = map_row(row.point);
	const char *no;

	if (row.name == NULL || row.name[0] == '\0' || strpbrk(row.name, " ,.") != NULL)
		return err_set(err, -EINVAL, "a tap of module %s has no name, or one with a blank, comma or "
			       "dot", d->name);
	if (p == NULL)
		return err_set(err, -EINVAL, "tap %s.%s is for point %u, which this host does not have",
			       d->name, row.name, row.point);
	no = objection(&row, p->kind);
	if (no != NULL)
		return err_set(err, -EINVAL, "tap %s.%s at %s cannot be used: %s", d->name, row.name,
			       p->name, no);
	for (uint32_t j = 0; j < i; j++) {
		const struct keel_tap other = tap_row_at(d, j);

		if (other.point == row.point && strcmp(other.name, row.name) == 0)
			return err_set(err, -EEXIST, "module %s has tap %s twice at one point", d->name,
				       row.name);
	}
	return 0;
}

int taps_lint(const struct keel_module *d, struct keel_err *err)
{
	int ret = 0;

	if (d->n_taps > 0 && (d->taps == NULL || d->taps[0].size < offsetof(struct keel_tap, order)))
		return err_set(err, -EINVAL, "module %s counts %u taps and has no table of that size",
			       d->name, d->n_taps);
	for (uint32_t i = 0; i < d->n_taps && ret == 0; i++)
		ret = tap_lint(d, i, err);
	return ret;
}

/* ---- coming and going --------------------------------------------------------------------------------- */
static struct tap *tap_make(struct mod *m, const struct keel_tap *row)
{
	const struct point_row *p = point_row(mock_of(m), row->point);
	struct tap *t = make(sizeof(*t));

	t->owner = m;
	t->point = row->point;
	t->name = print_text("%s.%s", m->label, row->name);
	t->fn = row->fn;
	t->invoke = p->invoke;
	t->order = row->order;
	t->before = row->before;
	t->after = row->after;
	t->refs = 1;
	t->policy = row->flags != 0 ? row->flags :
		    p->kind == KEEL_GATE ? KEEL_ON_FAIL_REJECT : KEEL_ON_FAIL_SKIP;
	LL_APPEND(m->taps, t);
	return t;
}

void tap_unref(struct tap *t)
{
	if (--t->refs > 0)
		return;
	free(t->name);
	free(t);
}

static void tap_withdraw(struct mod *m, struct tap *t)
{
	uint32_t point = t->point;

	LL_DELETE(m->taps, t);
	t->next = NULL;
	t->gone = true;
	tap_unref(t);
	chain_renew(mock_of(m), point, NULL);
}

int taps_attach(struct mod *m, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->desc.n_taps; i++) {
		const struct keel_tap row = site_tap(m->conf, tap_row_at(&m->desc, i));

		tap_make(m, &row);
	}
	for (struct tap *t = m->taps; t != NULL && ret == 0; t = t->next)
		ret = chain_renew(mock_of(m), t->point, err);
	return ret;
}

static struct tap *tap_named(struct mod *m, uint32_t point, const char *name)
{
	size_t len = strlen(m->label) + 1;
	struct tap *t = m->taps;

	while (t != NULL && !(t->point == point && strcmp(t->name + len, name) == 0))
		t = t->next;
	return t;
}

int taps_reorder(struct mod *m, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->desc.n_taps; i++) {
		const struct keel_tap row = site_tap(m->conf, tap_row_at(&m->desc, i));
		struct tap *t = tap_named(m, row.point, row.name);

		if (t == NULL)
			continue;
		t->order = row.order;
		t->before = row.before;
		t->after = row.after;
	}
	for (struct tap *t = m->taps; t != NULL && ret == 0; t = t->next)
		ret = chain_renew(mock_of(m), t->point, err);
	return ret;
}

void taps_detach(struct mod *m)
{
	while (m->taps != NULL)
		tap_withdraw(m, m->taps);
}

void taps_leave(struct mod *m, uint32_t point)
{
	struct tap *t, *next;

	LL_FOREACH_SAFE(m->taps, t, next)
		if (t->point == point)
			tap_withdraw(m, t);
}

static keel_verdict invoke_any(const struct tap *t, struct keel_call *c, const void *event)
{
	return t->any(c, t->point, event, t->arg);
}

static int32_t add(struct mod *m, const struct keel_tap *row, keel_any_fn *fn, void *arg,
		   struct keel_err *err)
{
	struct tap *t = tap_make(m, row);
	int ret;

	t->invoke = invoke_any;
	t->any = fn;
	t->arg = arg;
	ret = chain_renew(mock_of(m), row->point, err);
	if (ret < 0)
		tap_withdraw(m, t);
	return ret;
}

int32_t tap_add(struct keel_mod *pub, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err)
{
	struct mod *m = mod_in(pub, "hook", "tap_add");
	const struct keel_tap row = { .size = sizeof(row), .point = point, .name = name, .order = order };

	if (m == NULL)
		return -EINVAL;
	if (point_row(mock_of(m), point) == NULL || fn == NULL || order < -1000 || order > 1000 || name == NULL ||
	    name[0] == '\0')
		return err_set(err, -EINVAL, "module %s adds a tap that cannot be used at point %u",
			       m->desc.name, point);
	if (fails(mock_of(m)))
		return err_set(err, -ENOMEM, "no memory for tap %s of module %s", name, m->desc.name);
	if (tap_named(m, point, name) != NULL)
		return err_set(err, -EEXIST, "module %s has a tap %s at %s already", m->desc.name, name,
			       point_name(mock_of(m), point));
	return add(m, &row, fn, arg, err);
}

void tap_remove(struct keel_mod *pub, uint32_t point, const char *name)
{
	struct mod *m = mod_in(pub, "hook", "tap_remove");
	struct tap *t = m != NULL ? tap_named(m, point, name) : NULL;

	if (t != NULL)
		tap_withdraw(m, t);
}

void keel_mock_tap(struct keel_mock *mock, uint32_t point, const char *name, int32_t order,
		   keel_any_fn *fn, void *arg)
{
	struct keel_err err = { 0 };

	if (tap_add(&mock->self.pub, point, name, order, fn, arg, &err) != 0)
		die("%s", err.text);
}
