/* SPDX-License-Identifier: Apache-2.0
 *
 * summary.c - -S and -Sj: one line for each node.
 *
 * The cells are made once, as text; the table, dsv and JSON print the same cells under their own
 * names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pbsnodes.h"

#define CELL 256
#define NOTHING "--"

static const char plain_head[] =
	"vnode           state           OS       hardware host            queue        mem     "
	"ncpus   nmics   ngpus  comment\n"
	"--------------- --------------- -------- -------- --------------- ---------- -------- "
	"------- ------- ------- ---------\n";

static const char jobs_head[] =
	"                                                        mem       ncpus   nmics   ngpus\n"
	"vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   "
	"jobs\n"
	"--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- "
	"-------\n";

/* One column. */
struct column {
	const char *json, *dsv;
	int width; /* negative: text begins at the left */
	bool number; /* a JSON number */
};

enum plain_column { P_STATE, P_OS, P_HARDWARE, P_HOST, P_QUEUE, P_MEM, P_NCPUS, P_NMICS, P_NGPUS,
		    PLAIN_COLUMNS };

static const struct column plain[PLAIN_COLUMNS] = {
	{ "State", "state", -15, false },    { "OS", "OS", -8, false },
	{ "hardware", "hardware", -8, false }, { "host", "host", -15, false },
	{ "queue", "queue", -10, false },    { "Memory", "mem", 8, false },
	{ "ncpus", "ncpus", 7, true },	     { "nmics", "nmics", 7, true },
	{ "ngpus", "ngpus", 7, true },
};

enum jobs_column { J_STATE, J_TOTAL, J_RUNNING, J_SUSPENDED, J_MEM, J_NCPUS, J_NMICS, J_NGPUS,
		   JOBS_COLUMNS };

static const struct column with_jobs[JOBS_COLUMNS] = {
	{ "State", "state", -15, false },	 { "Total Jobs", "njobs", 6, true },
	{ "Running Jobs", "run", 5, true },	 { "Suspended Jobs", "susp", 6, true },
	{ "mem f/t", "mem(f/t)", 12, false },	 { "ncpus f/t", "ncpus(f/t)", 7, false },
	{ "nmics f/t", "nmics(f/t)", 7, false }, { "ngpus f/t", "ngpus(f/t)", 7, false },
};

#define COLUMNS 9
_Static_assert(COLUMNS >= (int)PLAIN_COLUMNS && COLUMNS >= (int)JOBS_COLUMNS, "room");

void summary_head(struct nodes *l)
{
	out_str(&l->out, l->opt->jobs ? jobs_head : plain_head);
}

/* Kilobytes of a size; a number without a unit is bytes. */
static double kilobytes(const char *size)
{
	static const char units[] = "kmgtp";
	const char *unit;
	char *end;
	double n;

	if (!size)
		return 0;
	n = strtod(size, &end);
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (unit && *unit) {
		for (; unit > units; unit--)
			n *= 1024;
		end++;
	} else {
		n /= 1024;
	}
	return *end == 'w' || *end == 'W' ? n * 8 : n;
}

/* "24gb": the nearest whole number below 1000. */
static void put_memory(char cell[CELL], double kb)
{
	static const char units[] = " kmgtp";
	double n = kb * 1024;
	int power = 0;

	if (n < 0)
		n = 0;
	for (; n > 999 && power < 5; power++)
		n /= 1024;
	snprintf(cell, CELL, "%.0f%cb", n, units[power]);
}

static long amount(const struct batch_status *node, const char *attribute, const char *resource)
{
	const char *value = status_value(node, attribute, resource);

	return value ? strtol(value, NULL, 10) : 0;
}

static void number_pair(char cell[CELL], const struct batch_status *node, const char *resource)
{
	long total = amount(node, ATTR_rescavail, resource);

	snprintf(cell, CELL, "%ld/%ld", total - amount(node, ATTR_rescassn, resource), total);
}

static void number(char cell[CELL], const struct batch_status *node, const char *resource)
{
	snprintf(cell, CELL, "%ld", amount(node, ATTR_rescavail, resource));
}

static void text(char cell[CELL], const char *value)
{
	snprintf(cell, CELL, "%s", value && *value ? value : NOTHING);
}

/* Only the table cuts a list of states, at its first word. */
static const char *state_of(struct nodes *l, const struct batch_status *node, char cell[CELL])
{
	const char *state = status_value(node, ATTR_NODE_state, NULL);

	text(cell, state);
	if (l->opt->format == FORMAT_TEXT && !l->opt->untruncated)
		cell[strcspn(cell, ",")] = '\0';
	return cell;
}

/* Ids of the default server lose its name in the table. */
static void put_job_list(struct nodes *l, const char *jobs)
{
	const char *job, *dot;
	size_t len, own = strlen(l->default_server);
	bool any = false;

	names_clear(&l->seen);
	while ((job = node_next_job(l, &jobs, &len)) != NULL) {
		dot = memchr(job, '.', len);
		if (l->opt->format == FORMAT_TEXT && dot && len - (size_t)(dot + 1 - job) == own &&
		    memcmp(dot + 1, l->default_server, own) == 0)
			len = (size_t)(dot - job);
		if (any)
			out_char(&l->out, ',');
		any = true;
		out_bytes(&l->out, job, len);
	}
	if (!any)
		out_str(&l->out, NOTHING);
}

static void fill_plain(struct nodes *l, const struct batch_status *node, char cells[][CELL])
{
	state_of(l, node, cells[P_STATE]);
	text(cells[P_OS], status_value(node, ATTR_rescavail, "OS"));
	text(cells[P_HARDWARE], status_value(node, ATTR_rescavail, "hardware"));
	text(cells[P_HOST], status_value(node, ATTR_rescavail, "host"));
	text(cells[P_QUEUE], status_value(node, ATTR_queue, NULL));
	put_memory(cells[P_MEM], kilobytes(status_value(node, ATTR_rescavail, "mem")));
	number(cells[P_NCPUS], node, "ncpus");
	number(cells[P_NMICS], node, "nmics");
	number(cells[P_NGPUS], node, "ngpus");
}

static void fill_jobs(struct nodes *l, const struct batch_status *node, const char *jobs,
		      char cells[][CELL])
{
	double total = kilobytes(status_value(node, ATTR_rescavail, "mem"));
	char free_text[CELL], total_text[CELL];
	long n = 0;
	size_t len;

	for (names_clear(&l->seen); node_next_job(l, &jobs, &len); n++)
		;
	state_of(l, node, cells[J_STATE]);
	snprintf(cells[J_TOTAL], CELL, "%ld", n);
	snprintf(cells[J_RUNNING], CELL, "%ld", n);
	snprintf(cells[J_SUSPENDED], CELL, "0"); /* a suspended job leaves the list of its nodes */
	put_memory(free_text, total - kilobytes(status_value(node, ATTR_rescassn, "mem")));
	put_memory(total_text, total);
	snprintf(cells[J_MEM], CELL, "%.20s/%.20s", free_text, total_text);
	number_pair(cells[J_NCPUS], node, "ncpus");
	number_pair(cells[J_NMICS], node, "nmics");
	number_pair(cells[J_NGPUS], node, "ngpus");
}

static void put_cell(struct nodes *l, const char *value, int width)
{
	int size = width < 0 ? -width : width, most = l->opt->untruncated ? 4096 : size;

	out_printf(&l->out, "%*.*s ", width, most, value);
}

static void dsv_row(struct nodes *l, const char *name, const struct column *columns, int n,
		    char cells[][CELL])
{
	const char *delim = l->opt->delimiter;
	int i;

	out_str(&l->out, "vnode=");
	show_dsv_text(&l->out, name, strlen(name), delim);
	for (i = 0; i < n; i++) {
		out_str(&l->out, delim);
		out_str(&l->out, columns[i].dsv);
		out_char(&l->out, '=');
		show_dsv_text(&l->out, cells[i], strlen(cells[i]), delim);
	}
	out_str(&l->out, delim);
}

static void json_row(struct nodes *l, const char *name, const struct column *columns, int n,
		     char cells[][CELL])
{
	int i;

	jout_open(&l->json, name);
	for (i = 0; i < n; i++) {
		jout_key(&l->json, columns[i].json, strlen(columns[i].json));
		if (columns[i].number)
			jout_number(&l->json, cells[i], strlen(cells[i]));
		else
			jout_string(&l->json, cells[i], strlen(cells[i]));
		if (strcmp(columns[i].json, "State") == 0) { /* tools read both spellings */
			jout_key(&l->json, "state", 5);
			jout_string(&l->json, cells[i], strlen(cells[i]));
		}
	}
}

static void last_column(struct nodes *l, const char *jobs, const char *comment)
{
	enum show_format format = l->opt->format;

	if (format == FORMAT_JSON && l->opt->jobs) {
		node_json_jobs(l, jobs);
	} else if (format == FORMAT_JSON) {
		jout_key(&l->json, "comment", 7);
		jout_string(&l->json, comment, strlen(comment));
	} else if (l->opt->jobs) {
		out_str(&l->out, format == FORMAT_DSV ? "jobs=" : "");
		put_job_list(l, jobs);
	} else if (format == FORMAT_DSV) {
		out_str(&l->out, "comment=");
		show_dsv_text(&l->out, comment, strlen(comment), l->opt->delimiter);
	} else {
		out_in_line(&l->out, comment, strlen(comment));
	}
	if (format == FORMAT_JSON)
		jout_close(&l->json);
	else
		out_char(&l->out, '\n');
}

void summary_node(struct nodes *l, const struct batch_status *node)
{
	char cells[COLUMNS][CELL];
	const struct column *columns = l->opt->jobs ? with_jobs : plain;
	const char *jobs = status_value(node, ATTR_NODE_jobs, NULL);
	const char *comment = status_value(node, ATTR_comment, NULL);
	int n = l->opt->jobs ? (int)JOBS_COLUMNS : (int)PLAIN_COLUMNS;

	jobs = jobs ? jobs : "";
	if (l->opt->jobs)
		fill_jobs(l, node, jobs, cells);
	else
		fill_plain(l, node, cells);
	if (l->opt->format == FORMAT_JSON)
		json_row(l, node->name, columns, n, cells);
	else if (l->opt->format == FORMAT_DSV)
		dsv_row(l, node->name, columns, n, cells);
	else
		put_cell(l, node->name, -15);
	for (int i = 0; i < n && l->opt->format == FORMAT_TEXT; i++)
		put_cell(l, cells[i], columns[i].width);
	last_column(l, jobs, comment && *comment ? comment : NOTHING);
}
