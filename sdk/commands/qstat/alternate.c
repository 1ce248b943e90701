/* SPDX-License-Identifier: Apache-2.0
 *
 * alternate.c - the wider table of jobs: what they requested, how long they ran, where.
 */
#include "table.h"

#include <string.h>

#include "cells.h"

struct shape {
	size_t id, user, queue, name, session, nodes, tasks;
	const char *head, *rule;
};

#define REST_HEAD " SessID NDS TSK Memory Time  S Time\n"
#define REST_RULE " ------ --- --- ------ ----- - -----\n"

static const struct shape normal = {
	15, 8, 8, 10, 6, 3, 3,
	"Job ID          Username Queue    Jobname   " REST_HEAD,
	"--------------- -------- -------- ----------" REST_RULE,
};

static const struct shape long_id = {
	20, 8, 8, 10, 6, 3, 3,
	"Job ID               Username Queue    Jobname   " REST_HEAD,
	"-------------------- -------- -------- ----------" REST_RULE,
};

static const struct shape wide = {
	30, 15, 15, 15, 8, 4, 5,
	"Job ID                         Username        Queue           Jobname        "
	" SessID   NDS  TSK   Memory Time  S Time\n",
	"------------------------------ --------------- --------------- ---------------"
	" -------- ---- ----- ------ ----- - -----\n",
};

#define MEMORY_WIDTH 6
#define TIME_WIDTH 5
#define HOSTS_EDGE 78

static const struct shape *shape_of(const struct options *opt, bool long_ids)
{
	return opt->wide ? &wide : long_ids ? &long_id : &normal;
}

void alternate_head(struct out *o, const struct options *opt, bool long_ids, const char *server,
		    const char *comment)
{
	const struct shape *s = shape_of(opt, long_ids);
	/* where "Req'd" stands: over the column of memory */
	size_t column = s->id + s->user + s->queue + s->name + s->session + s->nodes + s->tasks + 7;

	out_char(o, '\n');
	out_str(o, server);
	out_bytes(o, ": ", 2);
	out_in_line(o, comment ? comment : "", comment ? strlen(comment) : 0);
	out_char(o, '\n');
	if (opt->estimate) {
		out_repeat(o, ' ', column + 15);
		out_str(o, "Est\n");
	}
	out_repeat(o, ' ', column);
	out_str(o, opt->estimate ? "Req'd  Req'd   Start\n" : "Req'd  Req'd   Elap\n");
	out_str(o, s->head);
	out_str(o, s->rule);
}

static void put_left(struct out *o, const char *text, size_t len, size_t width)
{
	char cell[CELL_SIZE];

	cell_cut(cell, text, len, width);
	out_left(o, cell, width);
	out_char(o, ' ');
}

static void put_right(struct out *o, const char *text, size_t width)
{
	char cell[CELL_SIZE];

	cell_cut(cell, text, strlen(text), width);
	out_right(o, cell, width);
	out_char(o, ' ');
}

static const char *counted(const char *number)
{
	return number && strcmp(number, "0") != 0 ? number : "";
}

/* The first five characters of a duration. */
static void put_time(struct out *o, const char *duration)
{
	char cell[TIME_WIDTH + 1] = { 0 };

	strncpy(cell, duration ? duration : CELL_NONE, TIME_WIDTH);
	out_right(o, cell, TIME_WIDTH);
}

/* One "host/index*cpus" without the domain of the host, which an address has not; returns how long it is. */
static size_t put_host(struct out *o, const char *item, size_t len, bool measure)
{
	const char *slash = memchr(item, '/', len);
	size_t name = slash ? (size_t)(slash - item) : len, shown = name;
	const char *dot = memchr(item, '.', name);

	if (dot && strspn(item, "0123456789.") < name)
		shown = (size_t)(dot - item);
	if (!measure) {
		out_bytes(o, item, shown);
		out_bytes(o, item + name, len - name);
	}
	return shown + len - name;
}

void alternate_hosts(struct out *o, const char *exec_host, bool broken)
{
	size_t column = 3, len, width;
	const char *at;

	for (at = exec_host; *at; at += len + (at[len] == '+')) {
		len = strcspn(at, "+");
		width = put_host(o, at, len, true) + (at[len] == '+');
		if (broken && at != exec_host && column + width > HOSTS_EDGE) {
			out_str(o, "\n   ");
			column = 3;
		}
		put_host(o, at, len, false);
		if (at[len] == '+')
			out_char(o, '+');
		column += width;
	}
}

static void put_comment(struct out *o, const struct options *opt, const char *comment)
{
	size_t max = opt->wide ? 114 : 74, len = comment ? strlen(comment) : 0;
	size_t shown = len > max ? max - 4 : len;

	/* behind hosts on the line of the job it has its own */
	out_str(o, !opt->one_line ? "   " : opt->hosts ? "\n   " : "    ");
	if (len == 0)
		out_str(o, CELL_NONE);
	out_in_line(o, comment, shown);
	if (shown < len)
		out_str(o, "...");
	if (!opt->one_line)
		out_char(o, '\n');
}

static void put_amounts(struct out *o, const struct options *opt, const struct shape *s,
			const struct row *r)
{
	enum cell_unit unit = opt->gigabytes ? CELL_GIGABYTES :
			      opt->megawords ? CELL_MEGAWORDS : CELL_AS_GIVEN;
	char cell[CELL_SIZE];

	put_right(o, r->session ? r->session : CELL_NONE, s->session);
	put_right(o, counted(r->nodect), s->nodes);
	put_right(o, counted(r->ncpus), s->tasks);
	cell_memory(cell, r->mem, unit);
	put_right(o, cell, MEMORY_WIDTH);
}

void alternate_line(struct out *o, const struct options *opt, bool long_ids, const struct row *r,
		    time_t now)
{
	const struct shape *s = shape_of(opt, long_ids);
	const char *owner = r->owner ? r->owner : "", *queue = r->queue ? r->queue : "";
	const char *name = r->name ? r->name : "";
	char cell[CELL_SIZE];

	put_left(o, r->id, strlen(r->id), s->id);
	put_left(o, owner, strcspn(owner, "@"), s->user);
	put_left(o, queue, strcspn(queue, "@"), s->queue);
	put_left(o, name, strlen(name), s->name);
	put_amounts(o, opt, s, r);
	put_time(o, r->cput ? r->cput : r->walltime);
	out_char(o, ' ');
	out_char(o, r->state && *r->state ? *r->state : ' ');
	out_char(o, ' ');
	if (opt->estimate) {
		cell_estimate(cell, r->start, now);
		out_str(o, cell);
	} else {
		put_time(o, r->cput ? r->used_cput : r->used_walltime);
	}
	if (!opt->one_line)
		out_char(o, '\n');
	if (opt->hosts) {
		out_str(o, opt->one_line ? " " : "   ");
		if (r->hosts)
			alternate_hosts(o, r->hosts, !opt->one_line);
		else
			out_str(o, CELL_NONE);
		if (!opt->one_line)
			out_char(o, '\n');
	}
	if (opt->comments)
		put_comment(o, opt, r->comment);
	if (opt->one_line)
		out_char(o, '\n');
}
