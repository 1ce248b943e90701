/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - in which order the taps of a point are called.
 *
 * `before` and `after` first, then `order`, low first, then the name. Again and again the least tap that
 * nobody unplaced must precede is placed: so the result is the same whatever the order of loading.
 * Names nobody has are ignored. When nothing can be placed the rest contains a loop, and it is printed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "util/err.h"
#include "util/text.h"

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

/* Those on the stack may still walk it. */
static void retire(struct hooks *h, struct chain *c)
{
	c->retired = h->retired;
	h->retired = c;
	h->chores |= CHORE_CHAINS;
}

void chains_free(struct hooks *h)
{
	struct chain *c;

	while ((c = h->retired) != NULL) {
		h->retired = c->retired;
		chain_unref(c);
	}
	h->chores &= ~(uint32_t)CHORE_CHAINS;
}

void chain_swap(struct hooks *h, struct point *p, struct chain *fresh)
{
	struct chain *old = p->chain;

	p->busy -= old != NULL ? old->n : 0;
	p->busy += fresh != NULL ? fresh->n : 0;
	p->chain = fresh;
	if (old != NULL && h->top != NULL)
		retire(h, old);
	else
		chain_unref(old);
}

static bool names(const char *list, const struct tap *t)
{
	return list != NULL &&
	       (list_has(list, t->owner->pub.name) || list_has(list, t->name));
}

/* Does `a` say, or `b`, that a comes first? */
static bool precedes(const struct tap *a, const struct tap *b)
{
	return a != b && (names(a->before, b) || names(b->after, a));
}

static int tap_compare(const void *left, const void *right)
{
	const struct tap *a = *(struct tap *const *)left, *b = *(struct tap *const *)right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- the sort: `waits[i * n + j]` says that j must come before i ------------------------------ */
struct sort {
	struct tap **tap; /* sorted by order and name */
	bool *waits, *placed;
	uint32_t n;
};

static bool is_free(const struct sort *s, uint32_t i)
{
	for (uint32_t j = 0; j < s->n; j++) {
		if (!s->placed[j] && s->waits[i * s->n + j])
			return false;
	}
	return true;
}

static struct tap *place_next(struct sort *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->placed[i] || !is_free(s, i))
			continue;
		s->placed[i] = true;
		return s->tap[i];
	}
	return NULL;
}

/* Somebody unplaced whom `i` waits for. There is one: nobody unplaced is free. */
static uint32_t blocker(const struct sort *s, uint32_t i)
{
	uint32_t j = 0;

	while (s->placed[j] || !s->waits[i * s->n + j])
		j++;
	return j;
}

/* Walk back from any unplaced tap: after n steps we are inside a loop. */
static int refuse_loop(const struct sort *s, const char *point, struct keel_err *err)
{
	struct buf text;
	uint32_t at = 0, start;

	while (s->placed[at])
		at++;
	for (uint32_t i = 0; i < s->n; i++)
		at = blocker(s, at);
	buf_init(&text);
	start = at;
	do {
		buf_printf(&text, "%s waits for ", s->tap[at]->name);
		at = blocker(s, at);
	} while (at != start);
	buf_str(&text, s->tap[start]->name);
	err_set(err, -ELOOP,
		"the taps of %s cannot be ordered: %s; change `before` or `after` of one of them",
		point, text.failed ? "they form a loop" : text.data);
	buf_fini(&text);
	return -ELOOP;
}

static void sort_relate(struct sort *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t j = 0; j < s->n; j++)
			s->waits[i * s->n + j] = precedes(s->tap[j], s->tap[i]);
	}
}

static int sort_run(struct sort *s, const struct point *p, struct chain *c, struct keel_err *err)
{
	qsort(s->tap, s->n, sizeof(struct tap *), tap_compare);
	sort_relate(s);
	for (c->n = 0; c->n < s->n; c->n++) {
		struct tap *t = place_next(s);

		if (t == NULL)
			return refuse_loop(s, p->info->name, err);
		c->tap[c->n] = t;
	}
	return 0;
}

static uint32_t collect(const struct tap *list, struct tap **into)
{
	uint32_t n = 0;

	for (const struct tap *t = list; t != NULL; t = t->next) {
		if (t->off & TAP_GONE)
			continue;
		if (into != NULL)
			into[n] = (struct tap *)(uintptr_t)t;
		n++;
	}
	return n;
}

static int compile(const struct point *p, struct sort *s, const struct tap *more,
		   struct chain **ret_chain, struct keel_err *err)
{
	struct chain *c = calloc(1, sizeof(*c) + s->n * sizeof(c->tap[0]));
	int ret = -ENOMEM;

	if (c != NULL && s->tap != NULL && s->waits != NULL && s->placed != NULL) {
		collect(more, s->tap + collect(p->taps, s->tap));
		ret = sort_run(s, p, c, err);
	} else {
		err_set(err, ret, "no memory for the chain of %s", p->info->name);
	}
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

int chain_compile(const struct point *p, const struct tap *more, struct chain **ret_chain,
		  struct keel_err *err)
{
	struct sort s = { .n = collect(p->taps, NULL) + collect(more, NULL) };
	int ret;

	*ret_chain = NULL;
	if (s.n == 0)
		return 0;
	s.tap = calloc(s.n, sizeof(struct tap *));
	s.waits = calloc((size_t)s.n * s.n, sizeof(bool));
	s.placed = calloc(s.n, sizeof(bool));
	ret = compile(p, &s, more, ret_chain, err);
	free(s.tap);
	free(s.waits);
	free(s.placed);
	return ret;
}
