/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the default table of jobs: one short line for each.
 */
#include "table.h"

#include <string.h>

#include "cells.h"

struct shape {
	int id, name, user, queue; /* widths */
	int name_max; /* longer names end in a star */
	const char *id_head, *id_rule, *rest_head, *rest_rule, *percent_head;
};

static const struct shape normal = {
	17, 16, 16, 16, 15,
	"Job id            ", "----------------  ",
	"Name             User              Time Use S Queue",
	"---------------- ----------------  -------- - -----",
	"Name             User               % done  S Queue",
};

static const struct shape long_id = {
	22, 16, 16, 16, 15,
	"Job id                 ", "---------------------  ",
	"Name             User              Time Use S Queue",
	"---------------- ----------------  -------- - -----",
	"Name             User               % done  S Queue",
};

static const struct shape wide = {
	30, 15, 15, 15, 14,
	"Job id                         ", "-----------------------------  ",
	"Name            User             Time Use S Queue",
	"--------------- ---------------  -------- - ---------------",
	"Name            User              % done  S Queue",
};

static const struct shape *shape_of(const struct options *opt, bool long_ids)
{
	return opt->wide ? &wide : long_ids ? &long_id : &normal;
}

void table_head(struct out *o, const struct options *opt, bool long_ids)
{
	const struct shape *s = shape_of(opt, long_ids);

	out_str(o, s->id_head);
	out_str(o, opt->percent ? s->percent_head : s->rest_head);
	out_char(o, '\n');
	out_str(o, s->id_rule);
	out_str(o, s->rest_rule);
	out_char(o, '\n');
}

static void put_cut(struct out *o, const char *text, size_t len, size_t shown, size_t width)
{
	char cell[CELL_SIZE];

	cell_cut(cell, text, len, shown);
	out_left(o, cell, width);
}

static void put_time(struct out *o, const struct options *opt, const struct row *r)
{
	struct cell_progress p = {
		r->state ? *r->state : '\0', r->cput, r->used_cput, r->walltime, r->used_walltime,
		r->array && strcmp(r->array, "True") == 0 ? r->array_counts : NULL,
	};
	const char *used = r->used_cput ? r->used_cput : "0";
	char cell[CELL_SIZE];

	if (opt->percent)
		cell_percent(cell, &p);
	else
		cell_cut(cell, used, strlen(used), 8);
	out_right(o, cell, 8);
}

void table_line(struct out *o, const struct options *opt, bool long_ids, const struct row *r)
{
	const struct shape *s = shape_of(opt, long_ids);
	const char *owner = r->owner ? r->owner : "", *queue = r->queue ? r->queue : "";
	const char *name = r->name ? r->name : "";
	size_t len = strlen(name), most = (size_t)s->name_max;

	if (s == &wide) /* programs read wide ids: nothing is cut */
		out_left(o, r->id, (size_t)s->id);
	else
		put_cut(o, r->id, cell_id_length(r->id), (size_t)s->id, (size_t)s->id);
	out_char(o, ' ');
	/* a longer name is cut to as many letters and a star */
	put_cut(o, name, len, len > most ? most + 1 : most, (size_t)s->name);
	out_char(o, ' ');
	put_cut(o, owner, strcspn(owner, "@"), (size_t)s->user, (size_t)s->user);
	out_bytes(o, "  ", 2);
	put_time(o, opt, r);
	out_char(o, ' ');
	out_char(o, r->state && *r->state ? *r->state : ' ');
	out_char(o, ' ');
	put_cut(o, queue, strcspn(queue, "@"), (size_t)s->queue, (size_t)s->queue);
	out_char(o, '\n');
}
