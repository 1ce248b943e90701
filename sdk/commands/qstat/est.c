/* SPDX-License-Identifier: Apache-2.0
 *
 * est.c - the rows of -T: sorted by estimated start; those without one last, in order of arrival.
 */
#include "est.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "listing.h"
#include "table.h"

struct kept {
	struct row row; /* members point into `text` */
	char *text; /* owned */
	int64_t start; /* NO_START: none */
	size_t number; /* order of arrival */
};

struct est {
	struct kept *rows;
	size_t n, size;
};

#define NO_START INT64_MAX

struct est *est_create(void)
{
	return calloc(1, sizeof(struct est));
}

static void forget(struct est *e)
{
	while (e->n > 0)
		free(e->rows[--e->n].text);
}

void est_destroy(struct est *e)
{
	if (!e)
		return;
	forget(e);
	free(e->rows);
	free(e);
}

#define ROW_STRINGS (sizeof(struct row) / sizeof(const char *))
_Static_assert(sizeof(struct row) == ROW_STRINGS * sizeof(const char *), "a row is strings only");

/* One block for all the strings of a row. */
static int copy_row(struct kept *k, const struct row *r)
{
	const char *from[ROW_STRINGS];
	size_t i, size = 0;
	char *to;

	memcpy(from, r, sizeof(from));
	for (i = 0; i < ROW_STRINGS; i++)
		size += from[i] ? strlen(from[i]) + 1 : 0;
	to = k->text = malloc(size);
	if (!to)
		return -ENOMEM;
	for (i = 0; i < ROW_STRINGS; i++) {
		if (!from[i])
			continue;
		strcpy(to, from[i]);
		from[i] = to;
		to += strlen(to) + 1;
	}
	memcpy(&k->row, from, sizeof(from));
	return 0;
}

int est_add(struct est *e, const struct row *r)
{
	struct kept *more;
	size_t size;

	if (e->n == e->size) {
		size = e->size ? e->size * 2 : 64;
		more = realloc(e->rows, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		e->rows = more;
		e->size = size;
	}
	if (copy_row(&e->rows[e->n], r) < 0)
		return -ENOMEM;
	e->rows[e->n].start = r->start && strcmp(r->start, "0") != 0 ?
				      strtoll(r->start, NULL, 10) : NO_START;
	e->rows[e->n].number = e->n;
	e->n++;
	return 0;
}

static int earlier(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

void est_print(struct est *e, struct listing *l)
{
	size_t i;

	if (e->n > 0)
		qsort(e->rows, e->n, sizeof(*e->rows), earlier);
	for (i = 0; i < e->n; i++) {
		jobs_head(l);
		alternate_line(&l->out, l->opt, l->facts.long_ids, &e->rows[i].row, l->now);
	}
	forget(e);
}
