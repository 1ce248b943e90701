/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - taps come, go, and change their places; in which order those of a point are called.
 *
 * `before` and `after` first, then `order`, low first, then the name. A topological sort that always places the least
 * tap that no unplaced one must precede, so the result does not depend on the order of loading. Unknown names
 * are ignored. When no tap can be placed the rest contains a loop: the error prints it.
 *
 * A chain is exchanged, never changed. Old ones and the taps that left with them are freed when no operation is running
 * and none is parked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "rules/unit.h"
#include "util/err.h"
#include "util/text.h"

#define POLICIES ((uint32_t)(KEEL_ON_FAIL_REJECT | KEEL_ON_FAIL_SKIP | KEEL_ON_FAIL_BENCH))

/* ---- the error in a row -------------------------------------------------------------------------- */
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
		return err_set(err, -EINVAL, "a tap of module %s has no name, or one with a blank, comma or dot",
			       module);
	if (info == NULL)
		return err_set(err, -EINVAL, "tap %s.%s is for point %u, which this kernel does not have; upgrade "
			       "keelson or correct the tap", module, t->name, t->point);
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

/* ---- order -------------------------------------------------------------------------------------------------- */
static bool names(const char *list, const struct tap *t)
{
	return list != NULL &&
	       (list_has(list, t->owner->pub.name) || list_has(list, t->name));
}

static int tap_compare(const void *left, const void *right)
{
	const struct tap *a = *(struct tap *const *)left, *b = *(struct tap *const *)right;

	if (a->place.order != b->place.order)
		return a->place.order < b->place.order ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- the sort: those before `placed` have their place, the others are by order and name ----------------------- */
/* A tap without a place that must precede `t`, by its `before` or the `after` of `t`; NULL: none. */
static struct tap *tap_blocker(const struct chain *c, uint32_t placed, const struct tap *t)
{
	for (uint32_t i = placed; i < c->n; i++) {
		struct tap *other = c->tap[i];

		if (other != t && (names(other->place.before, t) || names(t->place.after, other)))
			return other;
	}
	return NULL;
}

/* Each tap without a place has a blocker: n steps back from any of them end inside a loop. Returns -ELOOP with *err. */
static int refuse_loop(const struct chain *c, uint32_t placed, const char *point, struct keel_err *err)
{
	const struct tap *at = c->tap[placed], *start;
	struct buf text;

	for (uint32_t i = placed; i < c->n; i++)
		at = tap_blocker(c, placed, at);
	buf_init(&text);
	start = at;
	do {
		buf_printf(&text, "%s waits for ", at->name);
		at = tap_blocker(c, placed, at);
	} while (at != start);
	buf_str(&text, start->name);
	err_set(err, -ELOOP, "the taps of %s cannot be ordered: %s; change `before` or `after` of one of them",
		point, text.failed ? "they form a loop" : text.data);
	buf_fini(&text);
	return -ELOOP;
}

static int chain_sort(struct chain *c, const char *point, struct keel_err *err)
{
	qsort(c->tap, c->n, sizeof(c->tap[0]), tap_compare);
	for (uint32_t placed = 0; placed < c->n; placed++) {
		uint32_t i = placed;
		struct tap *t;

		while (i < c->n && tap_blocker(c, placed, c->tap[i]) != NULL)
			i++;
		if (i == c->n)
			return refuse_loop(c, placed, point, err);
		t = c->tap[i];
		memmove(&c->tap[placed + 1], &c->tap[placed], (i - placed) * sizeof(c->tap[0]));
		c->tap[placed] = t;
	}
	return 0;
}

/* ---- another chain --------------------------------------------------------------------------------------------- */
void tap_destroy(struct tap *t)
{
	free(t->name);
	free(t);
}

void chains_sweep(struct hooks *h)
{
	struct chain *c;
	struct tap *t;

	if (h->top != NULL)
		h->chores = true;
	if (h->top != NULL || h->holds.parked > 0 || h->reporting > 0)
		return;
	while ((c = h->retired) != NULL) {
		h->retired = c->next;
		free(c);
	}
	while ((t = h->gone) != NULL) {
		h->gone = t->next;
		tap_destroy(t);
	}
}

/* The point gets another chain: of its taps, without those that are gone, and of `more`, unless NULL. Returns 0, or an
 * error with *err: then it has the old one. */
static int chain_renew(struct hooks *h, struct point *p, struct tap *more, struct keel_err *err)
{
	struct chain *old = p->chain;
	uint32_t n = (old != NULL ? old->n : 0) + (more != NULL);
	struct chain *c = calloc(1, sizeof(*c) + n * sizeof(c->tap[0]));
	int ret;

	if (c == NULL)
		return err_set(err, -ENOMEM, "no memory for the chain of %s", p->info->name);
	for (uint32_t i = 0; old != NULL && i < old->n; i++) {
		if (!(old->tap[i]->off & TAP_GONE))
			c->tap[c->n++] = old->tap[i];
	}
	if (more != NULL)
		c->tap[c->n++] = more;
	ret = chain_sort(c, p->info->name, err);
	if (ret < 0) {
		free(c);
		return ret;
	}
	p->chain = c->n > 0 ? c : NULL;
	if (c->n == 0)
		free(c);
	for (uint32_t i = 0; old != NULL && i < old->n; i++) {
		if (old->tap[i]->off & TAP_GONE)
			LL_PREPEND(h->gone, old->tap[i]);
	}
	if (old != NULL)
		LL_PREPEND(h->retired, old);
	chains_sweep(h);
	return 0;
}

/* ---- all taps ------------------------------------------------------------------------------------------------- */
struct tap *tap_after(const struct hooks *h, const struct tap *t)
{
	bool found = t == NULL;

	for (uint32_t i = t != NULL ? t->point : 0; i < KEEL_POINT_MAX; i++) {
		const struct chain *c = h->point[i].chain;

		for (uint32_t k = 0; c != NULL && k < c->n; k++) {
			if (found && !(c->tap[k]->off & TAP_GONE))
				return c->tap[k];
			found |= c->tap[k] == t;
		}
	}
	return NULL;
}

void taps_mark(struct hooks *h, const struct owner *owner, enum tap_off bit, bool on)
{
	FOR_EACH_TAP(h, t) {
		if (t->owner == owner)
			t->off = on ? t->off | bit : t->off & ~(uint32_t)bit;
	}
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
	t = cache_alloc(sizeof(*t));
	if (t != NULL)
		t->name = text_format("%s.%s", owner->pub.name, row->name);
	if (t == NULL || t->name == NULL) {
		free(t);
		return err_set(err, -ENOMEM, "no memory for tap %s of module %s", row->name, owner->pub.name);
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
	t->off = owner->filter != NULL && h->filter != NULL ? TAP_FILTERED : 0; /* else that module has ended */
	t->countdown = t->every = 1;
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
