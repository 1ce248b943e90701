/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.c - sched_config: lines `name: value [prime|non_prime|all|none]`, # begins a comment.
 *
 * A bad line is reported and has no effect; the others hold. A later line replaces an earlier one of the
 * same time of day, but those of a LIST add up.
 */
#include "settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { BOOL, TEXT, LIST, OLD };

static const struct {
	const char *name;
	enum kind kind;
} table[SETTINGS] = {
#define SETTING(name, kind) { #name, kind },
#include "settings.def"
#undef SETTING
};

#define PRIME 1u
#define NON_PRIME 2u
static const struct {
	const char *word;
	unsigned when;
} times[] = {
	{ "all", PRIME | NON_PRIME },
	{ "prime", PRIME },
	{ "non_prime", NON_PRIME },
	{ "none", 0 },
};

int setting_of(const char *name)
{
	int i;

	for (i = 0; i < SETTINGS; i++)
		if (strcmp(table[i].name, name) == 0)
			return i;
	return -1;
}

int setting_bool(const char *text)
{
	static const char *const yes[] = { "true", "t", "yes", "y", "1", "on" };
	static const char *const no[] = { "false", "f", "no", "n", "0", "off" };
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		if (strcasecmp(text, yes[i]) == 0)
			return 1;
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (strcasecmp(text, no[i]) == 0)
			return 0;
	return -1;
}

/* ---- a line ------------------------------------------------------------------------------------------ */

static char *skip_blanks(char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* The word at *at, terminated; *at is behind it. NULL: a quote is not closed. */
static char *word_cut(char **at)
{
	char *word = skip_blanks(*at), *end;

	if (*word == '"') {
		end = strchr(++word, '"');
		if (!end)
			return NULL;
	} else {
		end = word + strcspn(word, " \t\r");
	}
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool store(struct settings *s, int i, unsigned when, const char *value)
{
	int k;

	for (k = 0; k < 2; k++) {
		char **at = &s->value[i][k], *now = NULL;

		if (!(when & (k ? NON_PRIME : PRIME)))
			continue;
		if (table[i].kind == LIST && *at) {
			if (asprintf(&now, "%s\n%s", *at, value) < 0)
				return false;
		} else if (!(now = strdup(value))) {
			return false;
		}
		free(*at);
		*at = now;
	}
	return true;
}

static int time_of(const char *word)
{
	size_t i;

	if (!*word)
		return PRIME | NON_PRIME;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (strcasecmp(times[i].word, word) == 0)
			return (int)times[i].when;
	return -1;
}

struct reading {
	struct settings *s;
	settings_old *old;
	void *arg;
};

/* NULL, or the error. */
static const char *line_read(const struct reading *r, char *line)
{
	static const char *const words[] = { NULL, "False", "True" };
	char *at = skip_blanks(line), *name = at, *value, *word;
	const char *stored;
	size_t len = strcspn(at, " \t:");
	int i, when;

	if (!*at || *at == '#')
		return NULL;
	at += len;
	at = skip_blanks(at);
	if (*at != ':' || len == 0)
		return "Invalid config line: expected name: value";
	name[len] = '\0';
	at++;
	i = setting_of(name);
	if (i < 0)
		return "Unknown config name";
	if (table[i].kind == OLD) {
		r->old(r->arg, name);
		return NULL;
	}
	value = word_cut(&at);
	word = value ? word_cut(&at) : NULL;
	if (!word)
		return "Quote is not closed";
	if (!*value)
		return "Config value is missing";
	if (*word == '#')
		word = at = (char *)"";
	when = time_of(word);
	if (when < 0)
		return "Invalid prime keyword: expected prime, non_prime, all or none";
	if (*skip_blanks(at) && *skip_blanks(at) != '#')
		return "Words behind the line's end";
	/* Booleans in one spelling; NULL: it is none. */
	stored = table[i].kind == BOOL ? (words[setting_bool(value) + 1]) : value;
	if (!stored)
		return "Invalid value: expected true or false";
	return store(r->s, i, (unsigned)when, stored) ? NULL : "Out of memory";
}

struct settings *settings_read(const char *text, settings_said *said, settings_old *old, void *arg)
{
	struct settings *s = calloc(1, sizeof(*s));
	struct reading r = { s, old, arg };
	uint32_t n = 0;

	while (s && *text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);
		const char *why = line ? line_read(&r, line) : "Out of memory";

		n++;
		if (why)
			said(arg, n, why);
		free(line);
		text += len + (text[len] == '\n');
	}
	return s;
}

void settings_free(struct settings *s)
{
	int i;

	if (!s)
		return;
	for (i = 0; i < SETTINGS; i++) {
		free(s->value[i][0]);
		free(s->value[i][1]);
	}
	free(s);
}
