/* SPDX-License-Identifier: Apache-2.0
 *
 * check_report.c - findings by rule, printed as TAP.
 */
#include "check_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { TEXT_MAX = 600, TEXTS = 6 };

static const struct {
	const char *group, *name, *what, *why, *todo;
} rules[] = {
#define RULE(group, name, what, why, todo) { #group, #name, what, why, todo },
#include "check_rules.def"
#undef RULE
};

/* Of one rule. */
struct found {
	int n; /* findings; the first TEXTS have their texts */
	char text[TEXTS][TEXT_MAX];
	bool skipped;
	char reason[TEXT_MAX];
};

static struct {
	struct found *found; /* N_RULES, and one of what is no rule: shared with children */
} report;

int report_open(void)
{
	void *shared = mmap(NULL, (N_RULES + 1) * sizeof(struct found), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -ENOMEM;
	report.found = shared;
	return 0;
}

/* One line: what a module wrote into it stays in it. */
static void one_line(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

static void add(struct found *f, const char *fmt, va_list args)
{
	char text[TEXT_MAX];

	vsnprintf(text, sizeof(text), fmt, args);
	one_line(text);
	for (int i = 0; i < f->n && i < TEXTS; i++)
		if (strcmp(f->text[i], text) == 0)
			return;
	if (f->n < TEXTS)
		memcpy(f->text[f->n], text, sizeof(text));
	f->n++;
}

void finding(enum rule rule, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(&report.found[rule], fmt, args);
	va_end(args);
}

void remark(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(&report.found[N_RULES], fmt, args);
	va_end(args);
}

static void set_aside(enum rule rule, const char *fmt, va_list args)
{
	struct found *f = &report.found[rule];

	f->skipped = true;
	vsnprintf(f->reason, sizeof(f->reason), fmt, args);
	one_line(f->reason);
}

void skip(enum rule rule, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	set_aside(rule, fmt, args);
	va_end(args);
}

void skip_all(const char *groups, const char *fmt, ...)
{
	for (int r = 0; r < N_RULES; r++) {
		va_list args;

		if (!rule_wanted((enum rule)r, groups))
			continue;
		va_start(args, fmt);
		set_aside((enum rule)r, fmt, args);
		va_end(args);
	}
}

void look(enum rule rule)
{
	report.found[rule].skipped = false;
}

void look_from_to(enum rule first, enum rule last)
{
	for (int r = (int)first; r <= (int)last; r++)
		look((enum rule)r);
}

bool rule_broken(enum rule rule)
{
	return report.found[rule].n > 0;
}

bool rule_skipped(enum rule rule)
{
	return report.found[rule].skipped;
}

bool group_broken(const char *group)
{
	for (int r = 0; r < N_RULES; r++)
		if (strcmp(rules[r].group, group) == 0 && rule_broken((enum rule)r))
			return true;
	return false;
}

const char *rule_name(enum rule rule)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%s", rules[rule].group, rules[rule].name);
	for (char *c = name; *c != '\0'; c++)
		if (*c == '_')
			*c = '-';
	return name;
}

bool rule_fits(enum rule rule, const char *word)
{
	return strcmp(rules[rule].group, word) == 0 || strcmp(rule_name(rule), word) == 0;
}

void rules_list(void)
{
	for (int r = 0; r < N_RULES; r++)
		printf("%-24s %s\n", rule_name((enum rule)r), rules[r].what);
}

bool rule_wanted(enum rule rule, const char *only)
{
	char words[TEXT_MAX];

	if (only == NULL)
		return true;
	snprintf(words, sizeof(words), "%s", only);
	for (char *at, *word = strtok_r(words, ",", &at); word != NULL; word = strtok_r(NULL, ",", &at))
		if (rule_fits(rule, word))
			return true;
	return false;
}

bool group_wanted(const char *group, const char *only)
{
	for (int r = 0; r < N_RULES; r++)
		if (strcmp(rules[r].group, group) == 0 && rule_wanted((enum rule)r, only))
			return true;
	return false;
}

int report_print(const char *only)
{
	int n = 0, broken = 0;

	for (int r = 0; r < N_RULES; r++) {
		const struct found *f = &report.found[r];

		if (!rule_wanted((enum rule)r, only))
			continue;
		printf("%sok %d - %s: %s", f->n > 0 ? "not " : "", ++n, rule_name((enum rule)r), rules[r].what);
		if (f->n == 0 && f->skipped)
			printf(" # SKIP %.*s", TEXT_MAX - 1, f->reason);
		printf("\n");
		if (f->n == 0)
			continue;
		broken++;
		for (int i = 0; i < f->n && i < TEXTS; i++)
			printf("#   found: %.*s\n", TEXT_MAX - 1, f->text[i]);
		if (f->n > TEXTS)
			printf("#   found: %d more\n", f->n - TEXTS);
		printf("#   why:   %s\n#   do:    %s\n", rules[r].why, rules[r].todo);
	}
	for (int i = 0; i < report.found[N_RULES].n && i < TEXTS; i++)
		printf("# note: %.*s\n", TEXT_MAX - 1, report.found[N_RULES].text[i]);
	printf("1..%d\n", n);
	return broken;
}
