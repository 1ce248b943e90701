/* SPDX-License-Identifier: Apache-2.0
 *
 * queues.c - -Q, -Qf and -q: queues.
 */
#include <string.h>

#include "cells.h"
#include "listing.h"
#include "pbs_error.h"
#include "pbs_ifl.h"
#include "reach.h"
#include "row.h"

static const char queue_head[] =
	"Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type\n"
	"---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----\n";

static const char limits_head[] =
	"Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State\n"
	"---------------- ------ -------- -------- ---- ----- ----- ----  -----\n";

/* Sums under the -q table. */
struct sums {
	long running, waiting;
};

struct queue {
	const char *total, *counts, *enabled, *started, *type, *max;
	const char *mem, *cput, *walltime, *nodect;
};

static const struct column columns[] = {
	{ ATTR_total, NULL, offsetof(struct queue, total) },
	{ ATTR_count, NULL, offsetof(struct queue, counts) },
	{ ATTR_enable, NULL, offsetof(struct queue, enabled) },
	{ ATTR_start, NULL, offsetof(struct queue, started) },
	{ ATTR_qtype, NULL, offsetof(struct queue, type) },
	{ ATTR_maxrun, NULL, offsetof(struct queue, max) },
	{ ATTR_rescmax, "mem", offsetof(struct queue, mem) },
	{ ATTR_rescmax, "cput", offsetof(struct queue, cput) },
	{ ATTR_rescmax, "walltime", offsetof(struct queue, walltime) },
	{ ATTR_rescmax, "nodect", offsetof(struct queue, nodect) },
};

static void read_queue(struct queue *q, const struct batch_status *one)
{
	*q = (struct queue){ .counts = "", .total = "0" };
	columns_read(columns, sizeof(columns) / sizeof(columns[0]), one, q);
}

static bool is_true(const char *value)
{
	return value && strcmp(value, "True") == 0;
}

static void table_row(struct listing *l, const struct batch_status *one)
{
	struct out *o = &l->out;
	char cell[CELL_SIZE];
	struct queue q;

	read_queue(&q, one);
	cell_cut(cell, one->name, strlen(one->name), 16);
	out_left(o, cell, 16);
	column_count(o, q.max ? q.max : "0");
	column_count(o, q.total);
	out_str(o, is_true(q.enabled) ? " yes" : "  no");
	out_str(o, is_true(q.started) ? " yes" : "  no");
	columns_states(o, q.counts);
	out_char(o, ' ');
	if (q.type)
		cell_cut(cell, q.type, strlen(q.type), 4);
	out_left(o, q.type ? cell : "not defined", 4);
	out_char(o, '\n');
}

/* No limit: two dashes in the middle. */
static void put_limit(struct out *o, const char *text, size_t width)
{
	char cell[CELL_SIZE];

	if (text) {
		cell_cut(cell, text, strlen(text), width);
		out_right(o, cell, width);
	} else {
		out_repeat(o, ' ', width / 2 - 1);
		out_left(o, "--", width - width / 2 + 1);
	}
	out_char(o, ' ');
}

static void limits_row(struct listing *l, const struct batch_status *one, struct sums *sums)
{
	static const char *const waiting[] = { "Queued", "Held", "Waiting", "Transit" };
	enum cell_unit unit = l->opt->gigabytes ? CELL_GIGABYTES :
			      l->opt->megawords ? CELL_MEGAWORDS : CELL_AS_GIVEN;
	struct out *o = &l->out;
	char cell[CELL_SIZE];
	long running, others = 0;
	struct queue q;
	size_t i;

	read_queue(&q, one);
	running = cell_counted(q.counts, "Running");
	for (i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		others += cell_counted(q.counts, waiting[i]);
	cell_cut(cell, one->name, strlen(one->name), 16);
	out_left(o, cell, 16);
	out_char(o, ' ');
	cell_memory(cell, q.mem, unit);
	put_limit(o, q.mem ? cell : NULL, 6);
	put_limit(o, q.cput, 8);
	put_limit(o, q.walltime, 8);
	put_limit(o, q.nodect, 4);
	out_printf(o, "%5ld %5ld %4.4s   %c %c\n", running, others, q.max ? q.max : "--",
		   is_true(q.enabled) ? 'E' : 'D', is_true(q.started) ? 'R' : 'S');
	sums->running += running;
	sums->waiting += others;
}

static void head(struct listing *l)
{
	if (l->headed || !l->first)
		return;
	l->headed = true;
	if (l->opt->queue_limits)
		out_printf(&l->out, "\nserver: %s\n\n%s",
			   l->facts.name ? l->facts.name : reach_default_name(), limits_head);
	else
		out_str(&l->out, queue_head);
}

struct queues_run {
	struct listing *l;
	struct sums sums;
	size_t n;
};

static int each_queue(struct batch_status *one, void *arg)
{
	struct queues_run *a = arg;
	struct listing *l = a->l;

	a->n++;
	if (l->opt->queue_limits) {
		head(l);
		limits_row(l, one, &a->sums);
	} else if (l->opt->full) {
		listing_full(l, "Queue", one);
	} else {
		head(l);
		table_row(l, one);
	}
	return l->out.error;
}

void queues_list(struct listing *l, const char *word)
{
	struct queues_run a = { .l = l };
	struct operand op = { 0 };
	int rc;

	l->container = "Queue";
	if (*word && operand_destination(word, &op) < 0) {
		out_flush(&l->out);
		fprintf(stderr, "qstat: illegally formed destination: %s\n", word);
		l->status = 1;
		return;
	}
	if (listing_reach(l, op.server) < 0)
		return;
	if (l->opt->queue_limits)
		listing_facts(l);
	if (l->opt->full && l->opt->format == FORMAT_JSON)
		listing_json_begin(l);
	rc = pbs_stat_each(l->c, "queue", op.id, NULL, NULL, NULL, each_queue, &a);
	if (l->opt->queue_limits && a.n > 0) {
		out_repeat(&l->out, ' ', 47);
		out_str(&l->out, "----- -----\n");
		out_repeat(&l->out, ' ', 47);
		out_printf(&l->out, "%5ld %5ld\n", a.sums.running, a.sums.waiting);
	}
	if (rc != 0 && !l->out.error)
		listing_complain(l, op.id);
}
