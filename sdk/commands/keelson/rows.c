/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - a table of the server, of modules or their taps: aligned columns as text, an object per row as JSON.
 *
 * The server chooses the columns. Those with a row here are shown as it says, those without a title in JSON only, any
 * other unchanged.
 */
#include "rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json_out.h"

#define CELL_SIZE 256
#define COLUMNS 32

typedef const char *show_fn(const char *cell, char *text);

/* "2026-01-31 14:05:00", local time. */
static const char *show_time(const char *cell, char *text)
{
	time_t when = (time_t)strtoll(cell, NULL, 10);
	struct tm tm;

	if (when == 0 || !localtime_r(&when, &tm) ||
	    strftime(text, CELL_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return "-";
	return text;
}

static const char *show_duration(const char *cell, char *text)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	uint64_t ns = strtoull(cell, NULL, 10);
	size_t i = 0;

	while (i < 3 && ns < units[i].ns)
		i++;
	snprintf(text, CELL_SIZE, i == 3 ? "%.0f%s" : "%.1f%s", (double)ns / (double)units[i].ns,
		 units[i].unit);
	return text;
}

static const struct column {
	const char *name, *title; /* title NULL: in JSON only */
	show_fn *show;
	bool number;
} columns[] = {
	{ "name", "MODULE", NULL, false },	 { "version", "VERSION", NULL, false },
	{ "vendor", "VENDOR", NULL, false },	 { "abi", "ABI", NULL, false },
	{ "state", "STATE", NULL, false },	 { "runs", "RUNS", NULL, false },
	{ "since", "SINCE", show_time, false },	 { "taps", "TAPS", NULL, true },
	{ "calls", "CALLS", NULL, true },	 { "time_ns", "TIME", show_duration, true },
	{ "point", "POINT", NULL, false },	 { "tap", "TAP", NULL, false },
	{ "longest_ns", "LONGEST", show_duration, true }, { "fails", "FAILS", NULL, true },
	{ "strikes", "STRIKES", NULL, true },	 { "hook", NULL, NULL, false },
	{ "roles", NULL, NULL, false },		 { "path", NULL, NULL, false },
};

static const struct column *column_of(const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

/* Cut a line at its tabs. */
static size_t cut(char *line, char **cells)
{
	size_t n = 0;
	char *cell;

	while (n < COLUMNS && (cell = strsep(&line, "\t")) != NULL)
		cells[n++] = cell;
	return n;
}

static const char *shown(const char *name, const char *cell, char *text)
{
	const struct column *c = column_of(name);

	return c && c->show ? c->show(cell, text) : cell;
}

/* ---- text ------------------------------------------------------------------------------------------- */
struct grid {
	char *names[COLUMNS];
	size_t n, width[COLUMNS];
	size_t first; /* shown in text */
};

static const char *title_of(const char *name)
{
	const struct column *c = column_of(name);

	return c ? c->title : name;
}

static void print_cell(const struct grid *g, struct out *out, size_t i, const char *text)
{
	const struct column *c = column_of(g->names[i]);

	if (i > g->first)
		out_str(out, "  ");
	if (c && c->number)
		out_right(out, text, g->width[i]);
	else
		out_left(out, text, g->width[i]);
}

/* Prints the cells of a line; `cells` NULL: the titles. */
static void print_row(const struct grid *g, struct out *out, char **cells, size_t n)
{
	char text[CELL_SIZE];

	for (size_t i = 0; i < g->n; i++) {
		const char *title = title_of(g->names[i]);

		if (title && !cells)
			print_cell(g, out, i, title);
		else if (title)
			print_cell(g, out, i, i < n ? shown(g->names[i], cells[i], text) : "");
	}
	out_char(out, '\n');
}

/* Lines are cut twice: measured in a copy. */
static int print_table(struct grid *g, struct out *out, char **lines)
{
	char *cells[COLUMNS], text[CELL_SIZE];

	while (g->first < g->n && !title_of(g->names[g->first]))
		g->first++;
	for (size_t i = 0; i < g->n; i++)
		g->width[i] = title_of(g->names[i]) ? strlen(title_of(g->names[i])) : 0;
	for (char **line = lines; *line; line++) {
		char *copy = strdup(*line);

		if (!copy)
			return -ENOMEM;
		for (size_t i = 0, n = cut(copy, cells); i < n && i < g->n; i++) {
			size_t len = strlen(shown(g->names[i], cells[i], text));

			g->width[i] = len > g->width[i] ? len : g->width[i];
		}
		free(copy);
	}
	print_row(g, out, NULL, 0);
	for (char **line = lines; *line; line++)
		print_row(g, out, cells, cut(*line, cells));
	return 0;
}

/* ---- JSON --------------------------------------------------------------------------------------------- */
static void print_json(const struct grid *g, struct out *out, char **lines, const char *what)
{
	struct json_out json;
	char *cells[COLUMNS];

	jout_begin(&json, out);
	jout_open(&json, what);
	for (char **line = lines; *line; line++) {
		size_t n = cut(*line, cells);

		jout_open(&json, cells[0]);
		for (size_t i = 1; i < n && i < g->n; i++) {
			jout_key(&json, g->names[i], strlen(g->names[i]));
			if (strcmp(g->names[i], "version") == 0 || strcmp(g->names[i], "abi") == 0)
				jout_string(&json, cells[i], strlen(cells[i]));
			else
				jout_number(&json, cells[i], strlen(cells[i]));
		}
		jout_close(&json);
	}
	jout_close(&json);
	jout_end(&json);
}

int rows_print(char **lines, const char *json)
{
	struct grid g = { .n = 0 };
	struct out out;
	int ret = out_init(&out, STDOUT_FILENO), end;

	if (ret < 0)
		return ret;
	if (lines[0])
		g.n = cut(lines[0], g.names);
	if (json)
		print_json(&g, &out, lines[0] ? lines + 1 : lines, json);
	else if (lines[0])
		ret = print_table(&g, &out, lines + 1);
	end = out_fini(&out);
	return ret < 0 ? ret : end;
}
