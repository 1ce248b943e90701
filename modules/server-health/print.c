/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - a report as text, as JSON, and in the text format 0.0.4 of Prometheus. One table has all names.
 *
 * Labels are printable ASCII, whatever hosts say: what else they have is a question mark.
 */
#include "health.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum type { GAUGE, HISTOGRAM };
enum unit { COUNT, RATE, SECONDS, BYTES, SWITCH };

static const struct row {
	const char *line, *words, *json, *metric;
	enum type type;
	const char *label;
	enum unit unit;
	const char *help;
} rows[] = {
#define FIGURE(NAME, ...) [FIGURE_##NAME] = { __VA_ARGS__ },
#include "figures.def"
#undef FIGURE
};

/* ---- a report ------------------------------------------------------------------------------------------------------ */

static struct figure *figure_add(struct report *r, enum figure_name name, const char *label)
{
	struct figure *f = &r->figure[r->n < FIGURES ? r->n++ : FIGURES - 1];

	memset(f, 0, sizeof(*f));
	f->name = name;
	for (size_t i = 0; label && label[i] && i < sizeof(f->label) - 1; i++)
		f->label[i] = label[i] >= ' ' && label[i] < 127 ? label[i] : '?';
	return f;
}

void report_put(struct report *r, enum figure_name name, const char *label, double value)
{
	figure_add(r, name, label)->value = value;
}

void report_account(struct report *r, enum figure_name name, const struct keel_account *account)
{
	figure_add(r, name, NULL)->account = *account;
}

static void sentence(char (*words)[512], uint32_t *n, const char *fmt, va_list ap)
{
	if (*n == WORDS)
		return;
	vsnprintf(words[*n], sizeof(words[*n]), fmt, ap);
	for (char *at = words[*n]; *at; at++)
		if (*at < ' ' || *at >= 127)
			*at = '?';
	(*n)++;
}

void report_why(struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sentence(r->why, &r->n_why, fmt, ap);
	va_end(ap);
}

void report_note(struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sentence(r->note, &r->n_note, fmt, ap);
	va_end(ap);
}

/* ---- values --------------------------------------------------------------------------------------------------------- */

static void number(struct keel_text *out, double value)
{
	keel_text_printf(out, value == floor(value) && fabs(value) < 1e15 ? "%.0f" : "%.9g", value);
}

/* A value with the unit that suits it: the units of a kind from the biggest, the last one for what is smaller, too. */
static void measured(struct keel_text *out, double value, enum unit unit)
{
	static const struct {
		enum unit unit;
		double of;
		const char *word;
	} units[] = {
		{ SECONDS, 86400, " d" }, { SECONDS, 3600, " h" }, { SECONDS, 60, " min" }, { SECONDS, 1, " s" },
		{ SECONDS, 1e-3, " ms" }, { SECONDS, 1e-6, " us" }, { BYTES, 0x1p40, " TiB" }, { BYTES, 0x1p30, " GiB" },
		{ BYTES, 0x1p20, " MiB" }, { BYTES, 1024, " KiB" }, { BYTES, 1, " B" },
	};

	if (unit == SWITCH)
		keel_text_str(out, value != 0 ? "on" : "off");
	else if (unit == COUNT || value == 0)
		number(out, value);
	else if (unit == RATE)
		keel_text_printf(out, "%.1f", value);
	for (size_t i = 0; value != 0 && i < KEEL_COUNT(units); i++)
		if (units[i].unit == unit &&
		    (value >= units[i].of || i + 1 == KEEL_COUNT(units) || units[i + 1].unit != unit)) {
			keel_text_printf(out, "%.3g%s", value / units[i].of, units[i].word);
			break;
		}
}

/* A label is one of Prometheus' words; people and JSON have others for some. */
static const char *spoken(const char *label, bool text)
{
	static const struct {
		const char *label, *text, *json;
	} words[] = {
		{ "0.5", "p50", "p50" }, { "0.99", "p99", "p99" }, { "minute", "in the last minute", "minute" },
		{ "hour", "in the last hour", "hour" },
	};

	for (size_t i = 0; i < KEEL_COUNT(words); i++)
		if (strcmp(words[i].label, label) == 0)
			return text ? words[i].text : words[i].json;
	return label;
}

/* ---- text ------------------------------------------------------------------------------------------------------------ */

/* Returns whether a line of the text begins with figure `i`. */
static bool line_begins(const struct report *r, uint32_t i)
{
	return i == 0 || strcmp(rows[r->figure[i - 1].name].line, rows[r->figure[i].name].line) != 0;
}

void print_text(const struct report *r, struct keel_text *out)
{
	const struct figure *f;
	bool open = false;

	for (uint32_t i = 0; i < r->n_why; i++)
		keel_text_printf(out, "%-12s %s\n", "degraded", r->why[i]);
	for (uint32_t i = 0; i < r->n_note; i++)
		keel_text_printf(out, "%-12s %s\n", "note", r->note[i]);
	for (f = r->figure; f < r->figure + r->n; f++) {
		const struct row *row = &rows[f->name];

		if (!*row->line)
			continue;
		if (line_begins(r, (uint32_t)(f - r->figure)))
			keel_text_printf(out, "%s%-12s ", open ? "\n" : "", row->line);
		else
			keel_text_str(out, ", ");
		open = true;
		measured(out, f->value, row->unit);
		if (*row->words || row->label)
			keel_text_printf(out, " %s", row->label ? spoken(f->label, true) : row->words);
	}
	keel_text_str(out, "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

/* With quotes; " and \ escaped. Nothing else needs that: all is printable ASCII. */
static void quoted(struct keel_text *out, const char *text)
{
	keel_text_str(out, "\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			keel_text_str(out, "\\");
		keel_text_add(out, text, 1);
	}
	keel_text_str(out, "\"");
}

static void sentences(struct keel_text *out, const char *name, const char (*words)[512], uint32_t n)
{
	keel_text_printf(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < n; i++) {
		keel_text_str(out, i ? ", " : "");
		quoted(out, words[i]);
	}
	keel_text_str(out, "]");
}

static void json_value(struct keel_text *out, const struct figure *f)
{
	if (rows[f->name].unit == SWITCH)
		keel_text_str(out, f->value != 0 ? "true" : "false");
	else
		number(out, f->value);
}

void print_json(const struct report *r, struct keel_text *out)
{
	keel_text_printf(out, "{\"status\": \"%s\"", r->n_why ? "degraded" : "well");
	sentences(out, "why", r->why, r->n_why);
	sentences(out, "notes", r->note, r->n_note);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct figure *f = &r->figure[i];
		const struct row *row = &rows[f->name];
		bool first = i == 0 || f[-1].name != f->name, last = i + 1 == r->n || f[1].name != f->name;

		if (!*row->json)
			continue;
		if (first)
			keel_text_printf(out, ", \"%s\": %s", row->json, row->label ? "{" : "");
		if (row->label) {
			keel_text_str(out, first ? "" : ", ");
			quoted(out, spoken(f->label, false));
			keel_text_str(out, ": ");
		}
		json_value(out, f);
		keel_text_str(out, last && row->label ? "}" : "");
	}
	keel_text_str(out, "}\n");
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------ */

/* What took less than 16 us is one bucket, what took half a minute and more another. */
enum { BUCKET_FIRST = 4, BUCKET_LAST = 25 };

static void histogram(struct keel_text *out, const char *name, const struct keel_account *a)
{
	uint64_t n = 0;

	for (int i = 0; i <= BUCKET_LAST; i++) {
		n += a->bucket[i];
		if (i >= BUCKET_FIRST)
			keel_text_printf(out, "%s_bucket{le=\"%.9g\"} %llu\n", name, (double)(1ULL << i) / 1e6,
					 (unsigned long long)n);
	}
	keel_text_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", name,
			 (unsigned long long)a->count, name, (double)a->sum_ns / 1e9, name, (unsigned long long)a->count);
}

void print_metrics(const struct report *r, struct keel_text *out)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct figure *f = &r->figure[i];
		const struct row *row = &rows[f->name];

		if (i == 0 || f[-1].name != f->name)
			keel_text_printf(out, "# HELP %s %s.\n# TYPE %s %s\n", row->metric, row->help, row->metric,
					 row->type == GAUGE ? "gauge" : "histogram");
		if (row->type == HISTOGRAM) {
			histogram(out, row->metric, &f->account);
			continue;
		}
		keel_text_str(out, row->metric);
		if (row->label) {
			keel_text_printf(out, "{%s=", row->label);
			quoted(out, f->label);
			keel_text_str(out, "}");
		}
		keel_text_str(out, " ");
		number(out, f->value);
		keel_text_str(out, "\n");
	}
}
