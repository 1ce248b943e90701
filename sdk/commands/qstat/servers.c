/* SPDX-License-Identifier: Apache-2.0
 *
 * servers.c - -B and -Bf: servers.
 */
#include <stdio.h>
#include <string.h>

#include "attr_list.h"
#include "cells.h"
#include "listing.h"
#include "pbs_ifl.h"

static const char server_head[] =
	"Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status\n"
	"---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------\n";

static const char *find(const struct batch_status *one, const char *name, const char *otherwise)
{
	const char *value = status_value(one, name, NULL);

	return value ? value : otherwise;
}

static void table_row(struct listing *l, const struct batch_status *one)
{
	const char *state = find(one, ATTR_status, "");
	struct out *o = &l->out;
	char cell[CELL_SIZE];

	cell_cut(cell, one->name, strlen(one->name), 16);
	out_left(o, cell, 16);
	column_count(o, find(one, ATTR_maxrun, "0"));
	column_count(o, find(one, ATTR_total, "0"));
	columns_states(o, find(one, ATTR_count, ""));
	out_char(o, ' ');
	cell_cut(cell, state, strlen(state), 10);
	out_left(o, cell, 10);
	out_char(o, '\n');
}

static int each_server(struct batch_status *one, void *arg)
{
	struct listing *l = arg;

	if (l->opt->full) {
		listing_full(l, "Server", one);
		return l->out.error;
	}
	if (!l->headed && l->first)
		out_str(&l->out, server_head);
	l->headed = true;
	table_row(l, one);
	return l->out.error;
}

void servers_list(struct listing *l, const char *word)
{
	struct operand op = { 0 };

	l->container = "Server";
	word += *word == '@';
	if (*word && operand_server(word, &op) < 0) {
		out_flush(&l->out);
		fprintf(stderr, "qstat: illegally formed server name: %s\n", word);
		l->status = 1;
		return;
	}
	if (listing_reach(l, op.server) < 0)
		return;
	if (l->opt->full && l->opt->format == FORMAT_JSON)
		listing_json_begin(l);
	if (pbs_stat_each(l->c, "server", NULL, NULL, NULL, NULL, each_server, l) != 0 &&
	    !l->out.error)
		listing_complain(l, op.id);
}
