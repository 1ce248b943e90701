/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - in which order the taps of a point are called.
 *
 * `before` and `after` first, then `order`, low first, then the name. A topological sort that always places the least
 * tap that no unplaced one must precede, so the result does not depend on the order of loading. Unknown names
 * are ignored. When no tap can be placed the rest contains a loop: the error prints it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "util/err.h"
#include "rules/unit.h"

void tap_unref(struct tap *t)
{
	if (--t->refs > 0)
		return;
	free(t->name);
	free(t);
}

void chain_unref(struct chain *c)
{
	if (c == NULL || --c->refs > 0)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		tap_unref(c->tap[i]);
	free(c);
}

void chains_free(struct hooks *h)
{
	struct chain *c;

	while ((c = h->retired) != NULL) {
		h->retired = c->retired;
		chain_unref(c);
	}
}

/* Operations on the stack may still walk the old one: it is freed when the last of them has left. */
static void chain_swap(struct hooks *h, struct point *p, struct chain *fresh)
{
	struct chain *old = p->chain;

	p->busy -= old != NULL ? old->n : 0;
	p->busy += fresh != NULL ? fresh->n : 0;
	p->chain = fresh;
	if (old == NULL || h->top == NULL) {
		chain_unref(old);
		return;
	}
	old->retired = h->retired;
	h->retired = old;
	h->chores = true;
}

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

/* ---- the sort: `left` by order and name; NULL: placed already --------------------------------- */
struct sort {
	struct tap **left;
	uint32_t n;
};

/* An unplaced tap that must precede `t`, by its `before` or the `after` of `t`; NULL: none. */
static struct tap *tap_blocker(const struct sort *s, const struct tap *t)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct tap *other = s->left[i];

		if (other != NULL && other != t && (names(other->place.before, t) || names(t->place.after, other)))
			return other;
	}
	return NULL;
}

/* Each unplaced tap has a blocker: n steps back from any of them end inside a loop. Returns -ELOOP with *err. */
static int refuse_loop(const struct sort *s, const char *point, struct keel_err *err)
{
	const struct tap *at = NULL, *start;
	struct buf text;

	for (uint32_t i = 0; at == NULL; i++)
		at = s->left[i];
	for (uint32_t i = 0; i < s->n; i++)
		at = tap_blocker(s, at);
	buf_init(&text);
	start = at;
	do {
		buf_printf(&text, "%s waits for ", at->name);
		at = tap_blocker(s, at);
	} while (at != start);
	buf_str(&text, start->name);
	err_set(err, -ELOOP,
		"the taps of %s cannot be ordered: %s; change `before` or `after` of one of them",
		point, text.failed ? "they form a loop" : text.data);
	buf_fini(&text);
	return -ELOOP;
}

static int chain_fill(struct chain *c, struct sort *s, const struct point *p, struct keel_err *err)
{
	struct tap *t;

	LL_FOREACH(p->taps, t)
		s->left[s->n++] = t;
	qsort(s->left, s->n, sizeof(struct tap *), tap_compare);
	while (c->n < s->n) {
		uint32_t i = 0;

		while (i < s->n && (s->left[i] == NULL || tap_blocker(s, s->left[i]) != NULL))
			i++;
		if (i == s->n)
			return refuse_loop(s, p->info->name, err);
		c->tap[c->n++] = s->left[i];
		s->left[i] = NULL;
	}
	return 0;
}

/* *ret_chain is the caller's; NULL: the point has no taps. Returns 0, or an error with *err. */
static int chain_compile(const struct point *p, struct chain **ret_chain, struct keel_err *err)
{
	struct sort s = { 0 };
	struct chain *c;
	struct tap *t;
	uint32_t n;
	int ret;

	*ret_chain = NULL;
	LL_COUNT(p->taps, t, n);
	if (n == 0)
		return 0;
	c = calloc(1, sizeof(*c) + n * sizeof(c->tap[0]));
	s.left = calloc(n, sizeof(struct tap *));
	ret = c != NULL && s.left != NULL ? chain_fill(c, &s, p, err) :
					    err_set(err, -ENOMEM, "no memory for the chain of %s", p->info->name);
	free(s.left);
	if (ret < 0) {
		free(c);
		return ret;
	}
	for (uint32_t i = 0; i < c->n; i++)
		c->tap[i]->refs++;
	c->refs = 1;
	*ret_chain = c;
	return 0;
}

int chains_renew(struct hooks *h, struct keel_err *err)
{
	struct chain *fresh[KEEL_POINT_MAX] = { NULL };
	int ret = 0;

	for (uint32_t i = 0; i < KEEL_POINT_MAX && ret == 0; i++) {
		if (h->point[i].stale)
			ret = chain_compile(&h->point[i], &fresh[i], err);
	}
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		if (ret < 0) {
			chain_unref(fresh[i]);
		} else if (h->point[i].stale) {
			chain_swap(h, &h->point[i], fresh[i]);
			h->point[i].stale = false;
		}
	}
	return ret;
}
