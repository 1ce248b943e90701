/* SPDX-License-Identifier: Apache-2.0
 *
 * reorder.c - change the order of taps that are in chains already.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "util/err.h"

/* Exchange order, before and after of `t` and `row`; a second call undoes the first. */
static void place_swap(struct tap *t, struct keel_tap *row)
{
	const struct keel_tap old = { .order = t->order, .before = t->before, .after = t->after };

	t->order = row->order;
	t->before = row->before;
	t->after = row->after;
	row->order = old.order;
	row->before = old.before;
	row->after = old.after;
}

static void table_swap(struct hooks *h, struct owner *owner, struct keel_tap *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tap *t = tap_find(&h->point[rows[i].point], owner, rows[i].name);

		if (t != NULL)
			place_swap(t, &rows[i]);
	}
}

/* Compile the chains of the rows' points anew. Returns 0, or an error with *err. */
static int points_compile(struct hooks *h, const struct keel_tap *rows, uint32_t n,
			  struct chain **chains, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < n && ret == 0; i++) {
		if (chains[rows[i].point] == NULL)
			ret = chain_compile(&h->point[rows[i].point], NULL, &chains[rows[i].point], err);
	}
	return ret;
}

int hooks_reorder(struct hooks *h, struct owner *owner, const struct keel_tap *taps, uint32_t n,
		  struct keel_err *err)
{
	struct chain **chains = calloc(KEEL_POINT_MAX, sizeof(struct chain *));
	struct keel_tap *rows = calloc(n > 0 ? n : 1, sizeof(*rows));
	int ret = -ENOMEM;

	if (chains == NULL || rows == NULL) {
		err_set(err, ret, "no memory to order the taps of %s", owner->pub.name);
		goto out;
	}
	for (uint32_t i = 0; i < n; i++)
		rows[i] = taps[i];
	table_swap(h, owner, rows, n);
	ret = points_compile(h, rows, n, chains, err);
	if (ret < 0)
		table_swap(h, owner, rows, n);
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		if (chains[i] != NULL && ret == 0)
			chain_swap(h, &h->point[i], chains[i]);
		else
			chain_unref(chains[i]);
	}
out:
	free(chains);
	free(rows);
	return ret;
}
