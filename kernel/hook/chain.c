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

/* Operations on the stack may still walk it: freed when the last one has left. */
static void chain_retire(struct hooks *h, struct chain *c)
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
		chain_retire(h, old);
	else
		chain_unref(old);
}

static bool names(const char *list, const struct tap *t)
{
	return list != NULL &&
	       (list_has(list, t->owner->pub.name) || list_has(list, t->name));
}

/* Returns whether `before` of a, or `after` of b, puts a first. */
static bool tap_precedes(const struct tap *a, const struct tap *b)
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

/* ---- the sort: `left` by order and name; NULL: placed already --------------------------------- */
struct sort {
	struct tap **left;
	uint32_t n;
};

/* An unplaced tap that must precede `t`; NULL: none. */
static struct tap *tap_blocker(const struct sort *s, const struct tap *t)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->left[i] != NULL && tap_precedes(s->left[i], t))
			return s->left[i];
	}
	return NULL;
}

static struct tap *place_next(struct sort *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct tap *t = s->left[i];

		if (t == NULL || tap_blocker(s, t) != NULL)
			continue;
		s->left[i] = NULL;
		return t;
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

static int sort_run(struct sort *s, const struct point *p, struct chain *c, struct keel_err *err)
{
	qsort(s->left, s->n, sizeof(struct tap *), tap_compare);
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

int chain_compile(const struct point *p, const struct tap *more, struct chain **ret_chain,
		  struct keel_err *err)
{
	struct sort s = { .n = collect(p->taps, NULL) + collect(more, NULL) };
	struct chain *c;
	int ret = -ENOMEM;

	*ret_chain = NULL;
	if (s.n == 0)
		return 0;
	c = calloc(1, sizeof(*c) + s.n * sizeof(c->tap[0]));
	s.left = calloc(s.n, sizeof(struct tap *));
	if (c != NULL && s.left != NULL) {
		collect(more, s.left + collect(p->taps, s.left));
		ret = sort_run(&s, p, c, err);
	} else {
		err_set(err, ret, "no memory for the chain of %s", p->info->name);
	}
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
