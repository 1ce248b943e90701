/* SPDX-License-Identifier: Apache-2.0
 *
 * check_select.c - the form of select and place.
 *
 * select: chunks joined by '+'; a chunk is "[N:]resource=value[:resource=value...]" or "N". Values
 * may be quoted with " or '. The server checks whether a resource exists, and whether N may be 0.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define VALUE_MAX 4096

/* Returns the end of the name at `at`, or NULL. */
static const char *skip_name(const char *at)
{
	return strspn(at, LETTERS) == 0 ? NULL : at + strspn(at, LETTERS DIGITS "_-");
}

/* Returns the end of the value at `at` and copies it without quotes to `value`; NULL: malformed. */
static const char *skip_value(const char *at, char *value, size_t size)
{
	size_t len = 0;
	char quote = '\0';

	for (; *at != '\0' && (quote != '\0' || (*at != ':' && *at != '+')); at++) {
		if (quote == '\0' && (*at == '"' || *at == '\'')) {
			quote = *at;
		} else if (quote != '\0' && *at == quote) {
			quote = '\0';
		} else {
			if (len + 1 >= size)
				return NULL;
			value[len++] = *at;
		}
	}
	value[len] = '\0';
	return quote != '\0' || len == 0 ? NULL : at;
}

/* `name`: receives the resource whose value is wrong, "" for any other error. */
static const char *skip_setting(const char *at, char name[RESOURCE_NAME_MAX])
{
	char value[VALUE_MAX];
	const char *end = skip_name(at);

	*name = '\0';
	if (end == NULL || *end != '=' || (size_t)(end - at) >= RESOURCE_NAME_MAX)
		return NULL;
	memcpy(name, at, (size_t)(end - at));
	name[end - at] = '\0';
	at = skip_value(end + 1, value, sizeof(value));
	if (at == NULL || check_resource(name, value) == 0)
		*name = '\0';
	return *name == '\0' ? at : NULL;
}

static const char *skip_chunk(const char *at, char name[RESOURCE_NAME_MAX])
{
	size_t digits = strspn(at, DIGITS);

	*name = '\0';
	if (digits > 9)
		return NULL;
	at += digits;
	if (digits > 0) {
		if (*at == '\0' || *at == '+')
			return at;
		if (*at++ != ':')
			return NULL;
	}
	for (at = skip_setting(at, name); at != NULL && *at == ':'; at = skip_setting(at + 1, name))
		;
	return at;
}

int select_check(const char *value, char name[RESOURCE_NAME_MAX])
{
	const char *at = skip_chunk(value, name);

	while (at != NULL && *at == '+')
		at = skip_chunk(at + 1, name);
	return at == NULL || *at != '\0' ? PBSE_BADATVAL : 0;
}

int check_select(const char *value, enum verify_for what)
{
	char name[RESOURCE_NAME_MAX];

	(void)what;
	return select_check(value, name);
}

/* Words of place and the property each sets; no property may be set twice. */
static const struct {
	const char *word;
	unsigned says;
} place_words[] = {
	{ "free", 1 },	  { "pack", 1 },   { "scatter", 1 },  { "vscatter", 1 },
	{ "excl", 2 },	  { "shared", 2 }, { "exclhost", 2 },
};

static unsigned place_word(const char *at, size_t len)
{
	for (size_t i = 0; i < sizeof(place_words) / sizeof(place_words[0]); i++)
		if (strlen(place_words[i].word) == len &&
		    strncmp(place_words[i].word, at, len) == 0)
			return place_words[i].says;
	if (len > 6 && strncmp(at, "group=", 6) == 0) {
		const char *end = skip_name(at + 6);

		return end == at + len ? 4 : 0;
	}
	return 0;
}

int check_place(const char *value, enum verify_for what)
{
	unsigned said = 0;

	(void)what;
	for (;;) {
		size_t len = strcspn(value, ":");
		unsigned says = place_word(value, len);

		if (says == 0 || (said & says) != 0 || says < said)
			return PBSE_BADATVAL;
		said |= says;
		if (value[len] == '\0')
			return 0;
		value += len + 1;
	}
}
