/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c - taps come, go, and change their places.
 *
 * Changes are made to the lists of the points; then the chains of these points are compiled, and all are exchanged or
 * none (chain.c). After an error the lists are put back.
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
	struct tap *t = p->taps;

	while (t != NULL && (t->owner != owner || strcmp(t->name + skip, name) != 0))
		t = t->next;
	return t;
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
	t->refs = 1;
	t->off = owner->scope != NULL ? TAP_SCOPED : 0;
	t->countdown = t->every = 1;
	return t;
}

/* Into the list of its point, not into the chain yet. */
static int tap_link(struct hooks *h, struct owner *owner, const struct keel_tap *row, struct keel_err *err)
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
	LL_APPEND(p->taps, t);
	owner->live++;
	p->stale = true;
	return 0;
}

static void tap_unlink(struct point *p, struct tap *t)
{
	LL_DELETE(p->taps, t);
	t->next = NULL;
	t->off |= TAP_GONE;
	t->owner->live--;
	tap_unref(t);
	p->stale = true;
}

int hooks_attach(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		 struct keel_err *err)
{
	int ret = 0;
	uint32_t i;

	for (i = 0; i < n && ret == 0; i++)
		ret = tap_link(h, owner, &taps[i], err);
	if (ret < 0)
		i--; /* this one is not in its list */
	else
		ret = chains_renew(h, err);
	while (ret < 0 && i-- > 0) {
		struct point *p = &h->point[taps[i].point];

		tap_unlink(p, tap_find(p, owner, taps[i].name));
	}
	return ret;
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

	if (t == NULL)
		return;
	tap_unlink(p, t);
	chains_renew(h, NULL); /* without memory the old chain stays: it is skipped there */
}

void hooks_detach(struct hooks *h, struct owner *owner)
{
	struct tap *t, *next;

	for (t = tap_after(h, NULL); t != NULL; t = next) {
		next = tap_after(h, t);
		if (t->owner == owner)
			tap_unlink(&h->point[t->point], t);
	}
	chains_renew(h, NULL);
	ops_end(h);
}

void hooks_quiet(struct hooks *h, struct owner *owner, bool quiet)
{
	taps_mark(h, owner, TAP_QUIET, quiet);
}

/* ---- another place ---------------------------------------------------------------------------------------- */
static void places_set(struct hooks *h, const struct hooks_table *table, bool undo)
{
	for (uint32_t i = 0; i < table->n; i++) {
		const struct keel_tap *row = &table->taps[i];
		struct point *p = &h->point[row->point];
		struct tap *t = tap_find(p, table->owner, row->name);

		if (t == NULL)
			continue;
		if (!undo)
			t->place_before = t->place;
		t->place = undo ? t->place_before : (struct place){ row->order, row->before, row->after };
		p->stale = true;
	}
}

int hooks_reorder(struct hooks *h, const struct hooks_table *tables, uint32_t n, struct keel_err *err)
{
	int ret;

	for (uint32_t i = 0; i < n; i++)
		places_set(h, &tables[i], false);
	ret = chains_renew(h, err);
	for (uint32_t i = 0; i < n && ret < 0; i++)
		places_set(h, &tables[i], true);
	return ret;
}

void hook_bench(struct keel_mod *m)
{
	taps_mark(owner_of(m)->parts->hooks, owner_of(m), TAP_BENCHED, true);
}
