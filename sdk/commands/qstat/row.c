/* SPDX-License-Identifier: Apache-2.0
 *
 * row.c - the attributes of a job that tables show, and which jobs they show.
 */
#include "row.h"

#include <stddef.h>
#include <string.h>

static const struct column columns[] = {
	{ ATTR_N, NULL, offsetof(struct row, name) },
	{ ATTR_owner, NULL, offsetof(struct row, owner) },
	{ ATTR_state, NULL, offsetof(struct row, state) },
	{ ATTR_queue, NULL, offsetof(struct row, queue) },
	{ ATTR_session, NULL, offsetof(struct row, session) },
	{ ATTR_exechost, NULL, offsetof(struct row, hosts) },
	{ ATTR_comment, NULL, offsetof(struct row, comment) },
	{ ATTR_array, NULL, offsetof(struct row, array) },
	{ ATTR_array_id, NULL, offsetof(struct row, array_id) },
	{ ATTR_array_state_count, NULL, offsetof(struct row, array_counts) },
	{ ATTR_estimated, "start_time", offsetof(struct row, start) },
	{ ATTR_l, "nodect", offsetof(struct row, nodect) },
	{ ATTR_l, "ncpus", offsetof(struct row, ncpus) },
	{ ATTR_l, "mem", offsetof(struct row, mem) },
	{ ATTR_l, "walltime", offsetof(struct row, walltime) },
	{ ATTR_l, "cput", offsetof(struct row, cput) },
	{ ATTR_used, "walltime", offsetof(struct row, used_walltime) },
	{ ATTR_used, "cput", offsetof(struct row, used_cput) },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))
_Static_assert(COLUMNS <= ROW_WANTED, "row_want() has no room");

void columns_read(const struct column *c, size_t n, const struct batch_status *one, void *to)
{
	for (const struct attrl *a = one->attribs; a; a = a->next)
		for (size_t i = 0; a->value && i < n; i++)
			if (strcmp(a->name, c[i].name) == 0 &&
			    strcmp(a->resource ? a->resource : "", c[i].resource ? c[i].resource : "") == 0) {
				memcpy((char *)to + c[i].offset, &a->value, sizeof(a->value));
				break;
			}
}

void row_read(struct row *r, const struct batch_status *one)
{
	*r = (struct row){ .id = one->name };
	columns_read(columns, COLUMNS, one, r);
}

struct attrl *row_want(struct attrl want[ROW_WANTED])
{
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		want[i] = (struct attrl){
			.next = i + 1 < COLUMNS ? &want[i + 1] : NULL,
			.name = (char *)columns[i].name,
			.resource = (char *)columns[i].resource,
		};
	return want;
}

/* `owner` (user@host) is in the list "user[@host],...". */
static bool owner_listed(const char *owner, const char *list)
{
	size_t n, user = strcspn(owner, "@");
	const char *at;

	for (at = list; *at; at += n, at += *at == ',') {
		n = strcspn(at, ",");
		if (memchr(at, '@', n)) {
			if (strlen(owner) == n && memcmp(owner, at, n) == 0)
				return true;
		} else if (n == user && memcmp(owner, at, n) == 0) {
			return true;
		}
	}
	return false;
}

bool row_chosen(const struct row *r, const struct options *o, bool named)
{
	bool is_array = r->array && strcmp(r->array, "True") == 0;

	if (o->arrays && !(o->subjobs && r->array_id) && !(is_array && (named || !o->subjobs)))
		return false;
	if (o->states && (!r->state || !*r->state || !strchr(o->states, *r->state)))
		return false;
	return !o->users || (r->owner && owner_listed(r->owner, o->users));
}
