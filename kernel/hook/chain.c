/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - in which order the taps of a point are called.
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
	err_set(err, -ELOOP,
		"the taps of %s cannot be ordered: %s; change `before` or `after` of one of them",
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
static void chain_swap(struct hooks *h, struct point *p, struct chain *fresh)
{
	struct chain *old = p->chain;

	p->busy -= old != NULL ? old->n : 0;
	p->busy += fresh != NULL ? fresh->n : 0;
	p->chain = fresh;
	if (old == NULL)
		return;
	for (uint32_t i = 0; i < old->n; i++) {
		if (old->tap[i]->off & TAP_GONE)
			LL_PREPEND(h->gone, old->tap[i]);
	}
	LL_PREPEND(h->retired, old);
	chains_sweep(h);
}

int chain_renew(struct hooks *h, struct point *p, struct tap *more, struct keel_err *err)
{
	const struct chain *old = p->chain;
	uint32_t n = (old != NULL ? old->n : 0) + (more != NULL);
	struct chain *c = calloc(1, sizeof(*c) + n * sizeof(c->tap[0]));
	int ret = 0;

	if (c == NULL)
		return err_set(err, -ENOMEM, "no memory for the chain of %s", p->info->name);
	for (uint32_t i = 0; old != NULL && i < old->n; i++) {
		if (!(old->tap[i]->off & TAP_GONE))
			c->tap[c->n++] = old->tap[i];
	}
	if (more != NULL)
		c->tap[c->n++] = more;
	ret = chain_sort(c, p->info->name, err);
	if (ret < 0 || c->n == 0) {
		free(c);
		c = NULL;
	}
	if (ret == 0)
		chain_swap(h, p, c);
	return ret;
}

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
	if (h->top != NULL || h->n_parked > 0 || h->reporting > 0)
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
