/* SPDX-License-Identifier: Apache-2.0
 *
 * host_merge.c - several vnodes as one host.
 *
 * Rows are collected in the order of the vnodes, one per attribute or resource, and written in three groups:
 * attributes; resources_available (those of the vnodes, then the summed ones they lack, as 0); resources_assigned (in
 * the order of the group before).
 */
#include "host_merge.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

#define VARIOUS "<various>"

struct row {
	const char *name, *resource; /* borrowed; resource NULL: a plain attribute */
	char *value; /* owned */
	long long sum;
	bool summed, is_size;
};

struct merge {
	struct row *rows; /* owned */
	size_t n, size;
	bool failed; /* out of memory */
};

static bool same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_available(const struct row *r)
{
	return r->resource != NULL && strcmp(r->name, ATTR_rescavail) == 0;
}

static bool is_assigned(const struct row *r)
{
	return r->resource != NULL && strcmp(r->name, ATTR_rescassn) == 0;
}

static struct row *row_find(const struct merge *m, const char *name, const char *resource)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->rows[i].name, name) == 0 && same(m->rows[i].resource, resource))
			return &m->rows[i];
	return NULL;
}

static struct row *row_add(struct merge *m, const char *name, const char *resource,
			   const char *value)
{
	if (m->n == m->size) {
		size_t size = m->size == 0 ? 32 : m->size * 2;
		struct row *rows = realloc(m->rows, size * sizeof(*rows));

		if (rows == NULL) {
			m->failed = true;
			return NULL;
		}
		m->rows = rows;
		m->size = size;
	}
	m->rows[m->n] = (struct row){ .name = name, .resource = resource, .value = strdup(value) };
	m->failed = m->failed || m->rows[m->n].value == NULL;
	return &m->rows[m->n++];
}

static void row_set(struct merge *m, struct row *r, const char *value)
{
	char *copy = strdup(value);

	m->failed = m->failed || copy == NULL;
	free(r->value);
	r->value = copy;
}

static void row_meet(struct merge *m, const struct attrl *a)
{
	const char *value = a->value == NULL ? "" : a->value;
	struct row *r = row_find(m, a->name, a->resource);
	char *joined;

	if (r == NULL) {
		row_add(m, a->name, a->resource, value);
	} else if (strcmp(a->name, ATTR_NODE_jobs) != 0) {
		if (!same(r->value, value))
			row_set(m, r, VARIOUS);
	} else if (r->value == NULL || asprintf(&joined, "%s, %s", r->value, value) < 0) {
		m->failed = true;
	} else {
		free(r->value);
		r->value = joined;
	}
}

/* A server's numbers are not trusted: sums and products saturate at the largest number. */
static long long times(long long n, long long by)
{
	long long product;

	if (!__builtin_mul_overflow(n, by, &product))
		return product;
	return n < 0 ? LLONG_MIN : LLONG_MAX;
}

static long long plus(long long a, long long b)
{
	long long sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? LLONG_MIN : LLONG_MAX;
}

/* Returns 0 and a number, or a size in kb; -EINVAL for text. */
static int value_parse(const char *value, long long *ret, bool *ret_is_size)
{
	static const char units[] = "kmgtp";
	const char *unit;
	char *end;
	long long n = strtoll(value, &end, 10);

	if (end == value)
		return -EINVAL;
	*ret_is_size = *end != '\0';
	unit = *end == '\0' ? NULL : strchr(units, *end | 0x20);
	if (unit != NULL)
		end++;
	if (*end == 'w' || *end == 'W')
		n = times(n, 8);
	if (*ret_is_size && strspn(end, "bBwW") != strlen(end))
		return -EINVAL;
	for (long i = unit == NULL ? 0 : unit - units; i > 0; i--)
		n = times(n, 1024);
	*ret = *ret_is_size && unit == NULL ? plus(n, 1023) / 1024 : n;
	return 0;
}

/* Sums `r` over all vnodes; indirect values ("@other") count at the vnode they name. */
static void row_sum(struct row *r, const struct batch_status *vnodes)
{
	long long n;
	bool is_size;

	r->sum = 0;
	for (; vnodes != NULL; vnodes = vnodes->next)
		for (const struct attrl *a = vnodes->attribs; a != NULL; a = a->next) {
			if (!same(a->resource, r->resource) || strcmp(a->name, r->name) != 0 ||
			    a->value == NULL || *a->value == '@' ||
			    value_parse(a->value, &n, &is_size) < 0)
				continue;
			r->sum = plus(r->sum, n);
			r->is_size = r->is_size || is_size;
		}
}

static void row_show_sum(struct merge *m, struct row *r)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld%s", r->sum, r->is_size ? "kb" : "");
	row_set(m, r, text);
	r->summed = true;
}

/* Sums each resource of resources_assigned in both groups; adds those that are not available. */
static void rows_sum(struct merge *m, const struct batch_status *vnodes)
{
	size_t met = m->n;

	for (size_t i = 0; i < met && !m->failed; i++) {
		struct row *available;
		long long n;

		if (!is_assigned(&m->rows[i]) ||
		    (strcmp(m->rows[i].value, VARIOUS) != 0 &&
		     value_parse(m->rows[i].value, &n, &m->rows[i].is_size) < 0))
			continue;
		available = row_find(m, ATTR_rescavail, m->rows[i].resource);
		if (available == NULL)
			available = row_add(m, ATTR_rescavail, m->rows[i].resource, "0");
		if (available == NULL)
			return;
		row_sum(available, vnodes);
		row_sum(&m->rows[i], vnodes);
		available->is_size = m->rows[i].is_size = available->is_size || m->rows[i].is_size;
		row_show_sum(m, available);
		row_show_sum(m, &m->rows[i]);
	}
}

/* Rows in the order they are shown. */
static size_t rows_order(const struct merge *m, const struct row **order)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (!is_available(&m->rows[i]) && !is_assigned(&m->rows[i]))
			order[n++] = &m->rows[i];
	for (size_t i = 0; i < m->n; i++)
		if (is_available(&m->rows[i]))
			order[n++] = &m->rows[i];
	for (size_t i = 0, available = n; i < available; i++) {
		const struct row *r = is_available(order[i])
					      ? row_find(m, ATTR_rescassn, order[i]->resource)
					      : NULL;

		if (r != NULL)
			order[n++] = r;
	}
	for (size_t i = 0; i < m->n; i++)
		if (is_assigned(&m->rows[i]) &&
		    row_find(m, ATTR_rescavail, m->rows[i].resource) == NULL)
			order[n++] = &m->rows[i];
	return n;
}

static char *text_put(const char *text, char **at)
{
	size_t size = text == NULL ? 0 : strlen(text) + 1;
	char *put = *at;

	if (text == NULL)
		return NULL;
	memcpy(put, text, size);
	*at += size;
	return put;
}

static struct batch_status *rows_object(const char *name, const struct row **order, size_t n)
{
	size_t size = strlen(name) + 1;
	struct batch_status *host;
	struct attrl *entry;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += strlen(order[i]->name) + strlen(order[i]->value) + 2 +
			(order[i]->resource == NULL ? 0 : strlen(order[i]->resource) + 1);
	host = status_block(n, size, &entry, &at);
	if (host == NULL)
		return NULL;
	host->name = text_put(name, &at);
	for (size_t i = 0; i < n; i++)
		entry[i] = (struct attrl){
			.next = i + 1 < n ? &entry[i + 1] : NULL,
			.name = text_put(order[i]->name, &at),
			.resource = text_put(order[i]->resource, &at),
			.value = text_put(order[i]->value, &at),
		};
	return host;
}

struct batch_status *host_merge(const char *name, const struct batch_status *vnodes)
{
	struct merge m = { 0 };
	const struct row **order;
	struct batch_status *host = NULL;

	for (const struct batch_status *v = vnodes; v != NULL; v = v->next)
		for (const struct attrl *a = v->attribs; a != NULL && !m.failed; a = a->next)
			row_meet(&m, a);
	if (!m.failed)
		rows_sum(&m, vnodes);
	order = m.failed ? NULL : calloc(m.n + 1, sizeof(*order));
	if (order != NULL)
		host = rows_object(name, order, rows_order(&m, order));
	free(order);
	for (size_t i = 0; i < m.n; i++)
		free(m.rows[i].value);
	free(m.rows);
	return host;
}
