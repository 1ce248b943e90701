/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c - taps come and go.
 *
 * All new chains are compiled before the first one is exchanged: a table is taken as a whole or not at
 * all, and a refusal changes nothing. Withdrawn taps stay in memory as long as an operation still walks
 * a chain with them; they are not called any more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "util/err.h"
#include "util/text.h"

#define POLICIES ((uint32_t)(KEEL_ON_FAIL_REJECT | KEEL_ON_FAIL_SKIP | KEEL_ON_FAIL_BENCH))

/* ---- what is wrong with a row ------------------------------------------------------------------- */
static const char *tap_objection(const struct keel_tap *t, const struct point_info *info)
{
	const uint32_t policy = t->flags & POLICIES;

	if (t->fn.any == NULL)
		return "it has no function";
	if (t->order < -ORDER_LIMIT || t->order > ORDER_LIMIT)
		return "its order is not within -1000..1000";
	if ((t->flags & ~(POLICIES | KEEL_TAP_ANY)) != 0)
		return "it has flags this kernel does not know";
	if ((policy & (policy - 1)) != 0)
		return "it has more than one fail policy";
	if (policy == KEEL_ON_FAIL_REJECT && info->kind != KEEL_GATE)
		return "only a tap of a GATE can refuse when it fails";
	return NULL;
}

static int tap_lint(const char *module, const struct keel_tap *t, struct keel_err *err)
{
	const struct point_info *info = info_of(t->point);
	const char *no;

	if (t->name == NULL || t->name[0] == '\0' || strpbrk(t->name, " ,.") != NULL)
		return err_set(err, -EINVAL,
			       "a tap of module %s has no name, or one with a blank, comma or dot",
			       module);
	if (info == NULL)
		return err_set(err, -EINVAL,
			       "tap %s.%s is for point %u, which this kernel does not have; upgrade "
			       "keelson or correct the tap",
			       module, t->name, t->point);
	no = tap_objection(t, info);
	if (no != NULL)
		return err_set(err, -EINVAL, "tap %s.%s at %s cannot be used: %s", module, t->name,
			       info->name, no);
	return 0;
}

static int twice_lint(const char *module, const struct keel_tap *taps, uint32_t i, struct keel_err *err)
{
	for (uint32_t j = 0; j < i; j++) {
		if (taps[j].point == taps[i].point && strcmp(taps[j].name, taps[i].name) == 0)
			return err_set(err, -EEXIST, "module %s has tap %s twice at one point", module,
				       taps[i].name);
	}
	return 0;
}

int hooks_lint(const char *module, const struct keel_tap *taps, uint32_t n, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		ret = tap_lint(module, &taps[i], err);
		if (ret == 0)
			ret = twice_lint(module, taps, i, err);
	}
	return ret;
}

/* ---- coming -------------------------------------------------------------------------------------------- */
static uint32_t policy_of(uint32_t flags, uint32_t kind)
{
	if (flags != 0)
		return flags;
	return kind == KEEL_GATE ? KEEL_ON_FAIL_REJECT : KEEL_ON_FAIL_SKIP;
}

static struct tap *tap_create(struct hooks *h, struct owner *owner, const struct keel_tap *row)
{
	struct tap *t = cache_alloc(sizeof(*t));

	if (t == NULL)
		return NULL;
	t->name = text_format("%s.%s", owner->pub.name, row->name);
	if (t->name == NULL) {
		free(t);
		return NULL;
	}
	t->fn = row->fn;
	t->owner = owner;
	t->point = row->point;
	t->invoke = row->flags & KEEL_TAP_ANY ? invoke_any : h->point[row->point].info->invoke;
	t->any = row->fn.generic;
	t->arg = row->arg;
	t->policy = policy_of(row->flags & POLICIES, h->point[row->point].kind);
	t->order = row->order;
	t->before = row->before;
	t->after = row->after;
	t->refs = 1;
	t->off = owner->scope != NULL ? TAP_SCOPED : 0;
	t->countdown = t->every = 1;
	return t;
}

/* New taps, by point, and the chains they lead to. */
struct fresh {
	struct tap *taps[KEEL_POINT_MAX];
	struct chain *chain[KEEL_POINT_MAX];
};

static void fresh_drop(struct fresh *f)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		struct tap *t, *next;

		chain_unref(f->chain[i]);
		for (t = f->taps[i]; t != NULL; t = next) {
			next = t->next;
			tap_unref(t);
		}
	}
	free(f);
}

static void fresh_take(struct hooks *h, struct owner *owner, struct fresh *f)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		struct tap *t;

		if (f->taps[i] == NULL)
			continue;
		for (t = f->taps[i]; t != NULL; t = t->next)
			owner->live++;
		LL_CONCAT(h->point[i].taps, f->taps[i]);
		chain_swap(h, &h->point[i], f->chain[i]);
	}
	free(f);
}

static int fresh_compile(struct hooks *h, struct fresh *f, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < KEEL_POINT_MAX && ret == 0; i++) {
		if (f->taps[i] != NULL)
			ret = chain_compile(&h->point[i], f->taps[i], &f->chain[i], err);
	}
	return ret;
}

static int attach(struct hooks *h, struct owner *owner, struct fresh *f, struct keel_err *err)
{
	int ret = fresh_compile(h, f, err);

	if (ret < 0)
		fresh_drop(f);
	else
		fresh_take(h, owner, f);
	return ret;
}

/* A module's rows as new taps, in no chain yet. */
static int fresh_add(struct hooks *h, struct fresh *f, const struct hooks_table *table, struct keel_err *err)
{
	const char *module = table->owner->pub.name;
	int ret = hooks_lint(module, table->taps, table->n, err);

	for (uint32_t i = 0; i < table->n && ret == 0; i++) {
		struct tap *t = tap_create(h, table->owner, &table->taps[i]);

		if (t == NULL)
			return err_set(err, -ENOMEM, "no memory for the taps of %s", module);
		LL_APPEND(f->taps[t->point], t);
	}
	return ret;
}

int hooks_attach(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		 struct keel_err *err)
{
	struct fresh *f = calloc(1, sizeof(*f));
	int ret;

	if (f == NULL)
		return err_set(err, -ENOMEM, "no memory for the taps of %s", owner->pub.name);
	ret = fresh_add(h, f, &(struct hooks_table){ owner, taps, n }, err);
	if (ret == 0)
		return attach(h, owner, f, err);
	fresh_drop(f);
	return ret;
}

struct tap *tap_find(const struct point *p, const struct owner *owner, const char *name)
{
	size_t len = strlen(owner->pub.name) + 1;
	struct tap *t = p->taps;

	while (t != NULL && (t->owner != owner || strcmp(t->name + len, name) != 0))
		t = t->next;
	return t;
}

int32_t tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err)
{
	struct hooks *h = hooks_of(m);
	struct keel_tap row = { .size = sizeof(row), .point = point, .name = name,
				.order = order };
	const struct point *p = point_get(h, point);
	struct fresh *f;
	struct tap *t;

	if (p == NULL || fn == NULL || order < -ORDER_LIMIT || order > ORDER_LIMIT ||
	    name == NULL || name[0] == '\0')
		return err_set(err, -EINVAL, "module %s adds a tap that cannot be used at point %u",
			       m->name, point);
	if (tap_find(p, owner_of(m), name) != NULL)
		return err_set(err, -EEXIST, "module %s has a tap %s at %s already", m->name, name,
			       p->info->name);
	f = calloc(1, sizeof(*f));
	t = f != NULL ? tap_create(h, owner_of(m), &row) : NULL;
	if (t == NULL) {
		free(f);
		return err_set(err, -ENOMEM, "no memory for tap %s of module %s", name, m->name);
	}
	t->invoke = invoke_any;
	t->any = fn;
	t->arg = arg;
	f->taps[point] = t;
	return attach(h, owner_of(m), f, err);
}

/* ---- going ------------------------------------------------------------------------------------------------ */
/* Withdraw taps of `owner` (NULL: of all modules), all or only `one`. When a new chain fails without memory the old
 * one stays: withdrawn taps in it are skipped. */
static void point_leave(struct hooks *h, struct point *p, const struct owner *owner, const struct tap *one)
{
	struct chain *fresh;
	struct tap *t, *next;
	bool any = false;

	LL_FOREACH_SAFE(p->taps, t, next) {
		if ((owner != NULL && t->owner != owner) || (one != NULL && t != one))
			continue;
		LL_DELETE(p->taps, t);
		t->next = NULL;
		t->off |= TAP_GONE;
		t->owner->live--;
		tap_unref(t);
		any = true;
	}
	if (any && chain_compile(p, NULL, &fresh, NULL) == 0)
		chain_swap(h, p, fresh);
}

void point_empty(struct hooks *h, struct point *p)
{
	point_leave(h, p, NULL, NULL);
}

void tap_remove(struct keel_mod *m, uint32_t point, const char *name)
{
	struct hooks *h = hooks_of(m);
	struct point *p = point_get(h, point);
	const struct tap *t = p != NULL ? tap_find(p, owner_of(m), name) : NULL;

	if (t != NULL)
		point_leave(h, p, owner_of(m), t);
}

void hooks_detach(struct hooks *h, struct owner *owner)
{
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		if (h->point[i].taps != NULL)
			point_leave(h, &h->point[i], owner, NULL);
	}
	ops_leave(h, owner);
	own_leave(h, owner);
}

void hooks_quiet(struct hooks *h, struct owner *owner, bool quiet)
{
	taps_mark(h, owner, TAP_QUIET, quiet);
}

/* ---- what if? --------------------------------------------------------------------------------------------- */
int hooks_rehearse(struct hooks *h, const struct hooks_table *tables, uint32_t n, struct keel_err *err)
{
	struct hooks *stage = calloc(1, sizeof(*stage));
	struct fresh *f = calloc(1, sizeof(*f));
	int ret = 0;

	if (stage == NULL || f == NULL) {
		free(stage);
		free(f);
		return err_set(err, -ENOMEM, "no memory to order taps");
	}
	stage->parts = h->parts;
	points_init(stage);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = fresh_add(stage, f, &tables[i], err);
	if (ret == 0)
		ret = fresh_compile(stage, f, err);
	fresh_drop(f);
	free(stage);
	return ret;
}

void hook_bench(struct keel_mod *m)
{
	taps_mark(owner_of(m)->parts->hooks, owner_of(m), TAP_BENCHED, true);
}
