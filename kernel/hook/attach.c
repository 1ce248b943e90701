/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c - taps come, go, and change their places.
 *
 * Each change makes another chain of its point (chain.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "util/err.h"
#include "util/text.h"

#define POLICIES ((uint32_t)(KEEL_ON_FAIL_REJECT | KEEL_ON_FAIL_SKIP | KEEL_ON_FAIL_BENCH))

/* ---- what is wrong with a row ------------------------------------------------------------------- */
static const char *tap_objection(const struct keel_tap *t, uint32_t kind)
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
	if (policy == KEEL_ON_FAIL_REJECT && kind != KEEL_GATE)
		return "only a tap of a GATE can refuse when it fails";
	return NULL;
}

static int tap_lint(const char *module, const struct keel_tap *t, const struct point_info *info, struct keel_err *err)
{
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
	no = tap_objection(t, info->kind);
	if (no != NULL)
		return err_set(err, -EINVAL, "tap %s.%s at %s cannot be used: %s", module, t->name,
			       info->name, no);
	return 0;
}

int hooks_lint(const char *module, const struct keel_tap *taps, uint32_t n, struct keel_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct point_info *info = taps[i].point < KEEL_POINT_MAX ? &point_infos[taps[i].point] : NULL;
		int ret = tap_lint(module, &taps[i], info != NULL && info->name != NULL ? info : NULL, err);

		if (ret < 0)
			return ret;
		for (uint32_t j = 0; j < i; j++) {
			if (taps[j].point == taps[i].point && strcmp(taps[j].name, taps[i].name) == 0)
				return err_set(err, -EEXIST, "module %s has tap %s twice at one point", module,
					       taps[i].name);
		}
	}
	return 0;
}

/* ---- coming -------------------------------------------------------------------------------------------- */
static struct tap *tap_find(const struct point *p, const struct owner *owner, const char *name)
{
	size_t skip = strlen(owner->pub.name) + 1;

	for (uint32_t i = 0; p->chain != NULL && i < p->chain->n; i++) {
		struct tap *t = p->chain->tap[i];

		if (t->owner == owner && !(t->off & TAP_GONE) && strcmp(t->name + skip, name) == 0)
			return t;
	}
	return NULL;
}

static struct tap *tap_create(const struct point *p, struct owner *owner, const struct keel_tap *row)
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
	t->arg = row->arg;
	t->invoke = row->flags & KEEL_TAP_ANY ? invoke_any : p->info->invoke;
	t->owner = owner;
	t->point = row->point;
	t->policy = row->flags & POLICIES;
	if (t->policy == 0)
		t->policy = p->kind == KEEL_GATE ? KEEL_ON_FAIL_REJECT : KEEL_ON_FAIL_SKIP;
	t->place = (struct place){ row->order, row->before, row->after };
	t->off = owner->filter != NULL ? TAP_FILTERED : 0;
	t->countdown = t->every = 1;
	return t;
}

static int tap_attach(struct hooks *h, struct owner *owner, const struct keel_tap *row, struct keel_err *err)
{
	struct point *p = point_get(h, row->point);
	int ret = tap_lint(owner->pub.name, row, p != NULL ? p->info : NULL, err);
	struct tap *t;

	if (ret < 0)
		return ret;
	if (tap_find(p, owner, row->name) != NULL)
		return err_set(err, -EEXIST, "module %s has a tap %s at %s already", owner->pub.name, row->name,
			       p->info->name);
	t = tap_create(p, owner, row);
	if (t == NULL)
		return err_set(err, -ENOMEM, "no memory for tap %s of module %s", row->name, owner->pub.name);
	ret = chain_renew(h, p, t, err);
	if (ret < 0)
		tap_destroy(t);
	else
		owner->live++;
	return ret;
}

/* Without memory for another chain it stays in the old one, where it is skipped. */
static void tap_detach(struct hooks *h, struct tap *t)
{
	t->off |= TAP_GONE;
	t->owner->live--;
	chain_renew(h, &h->point[t->point], NULL, NULL);
}

int hooks_attach(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		 struct keel_err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		int ret = tap_attach(h, owner, &taps[i], err);

		while (ret < 0 && i-- > 0)
			tap_detach(h, tap_find(&h->point[taps[i].point], owner, taps[i].name));
		if (ret < 0)
			return ret;
	}
	return 0;
}

int32_t tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
		void *arg, struct keel_err *err)
{
	const struct keel_tap row = { .size = sizeof(row), .point = point, .name = name, .order = order,
				      .flags = KEEL_TAP_ANY, .fn.generic = fn, .arg = arg };

	return hooks_attach(hooks_of(m), owner_of(m), &row, 1, err);
}

/* ---- going ------------------------------------------------------------------------------------------------ */
void tap_remove(struct keel_mod *m, uint32_t point, const char *name)
{
	struct hooks *h = hooks_of(m);
	struct point *p = point_get(h, point);
	struct tap *t = p != NULL ? tap_find(p, owner_of(m), name) : NULL;

	if (t != NULL)
		tap_detach(h, t);
}

void hooks_detach(struct hooks *h, struct owner *owner)
{
	struct tap *t, *next;

	for (t = tap_after(h, NULL); t != NULL; t = next) {
		next = tap_after(h, t);
		if (t->owner == owner)
			tap_detach(h, t);
	}
	ops_end(h);
	(void)hooks_filter(h, owner, NULL, 0, NULL);
}

void hooks_quiet(struct hooks *h, struct owner *owner, bool quiet)
{
	taps_mark(h, owner, TAP_QUIET, quiet);
}

/* ---- another place ---------------------------------------------------------------------------------------- */
void hooks_place(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tap *t = tap_find(&h->point[taps[i].point], owner, taps[i].name);

		if (t != NULL)
			t->place = (struct place){ taps[i].order, taps[i].before, taps[i].after };
	}
}

int hooks_reorder(struct hooks *h, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < KEEL_POINT_MAX && ret == 0; i++) {
		if (h->point[i].chain != NULL)
			ret = chain_renew(h, &h->point[i], NULL, err);
	}
	return ret;
}

void hook_bench(struct keel_mod *m)
{
	taps_mark(owner_of(m)->parts->hooks, owner_of(m), TAP_BENCHED, true);
}
