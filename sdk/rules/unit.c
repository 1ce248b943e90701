/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.c - parses numbers with units and comma lists of a configuration.
 */
#include "rules/unit.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	int64_t factor;
};

/* to milliseconds */
static const struct unit durations[] = {
	{ "", 1000 },    { "ms", 1 },       { "s", 1000 },        { "m", 60000 },
	{ "min", 60000 }, { "h", 3600000 }, { "d", 86400000 },    { NULL, 0 },
};

/* to bytes */
static const struct unit sizes[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1LL << 10 },
	{ "kb", 1LL << 10 },
	{ "m", 1LL << 20 },
	{ "mb", 1LL << 20 },
	{ "g", 1LL << 30 },
	{ "gb", 1LL << 30 },
	{ "t", 1LL << 40 },
	{ "tb", 1LL << 40 },
	{ "p", 1LL << 50 },
	{ "pb", 1LL << 50 },
	{ "w", 8 },
	{ "kw", 8LL << 10 },
	{ "mw", 8LL << 20 },
	{ "gw", 8LL << 30 },
	{ "tw", 8LL << 40 },
	{ NULL, 0 },
};

static int with_unit(const char *text, const struct unit *units, int64_t *ret)
{
	char *end;
	long long n;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno == ERANGE)
		return -ERANGE;
	while (units->name != NULL && strcasecmp(units->name, end) != 0)
		units++;
	if (units->name == NULL)
		return -EINVAL;
	if (n > INT64_MAX / units->factor)
		return -ERANGE;
	*ret = n * units->factor;
	return 0;
}

int duration_parse(const char *text, int64_t *ret_ms)
{
	return with_unit(text, durations, ret_ms);
}

int size_parse(const char *text, int64_t *ret_bytes)
{
	return with_unit(text, sizes, ret_bytes);
}

int integer_parse(const char *text, int64_t *ret)
{
	const char *digits = text + (text[0] == '-');
	char *end;
	long long n;

	if (!isdigit((unsigned char)digits[0]))
		return -EINVAL;
	errno = 0;
	n = strtoll(text, &end, strncasecmp(digits, "0x", 2) == 0 ? 16 : 10);
	if (*end != '\0')
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*ret = n;
	return 0;
}

/* ---- comma lists ------------------------------------------------------------------------------ */
#define BLANKS " \t"

/* Reads the next item of a comma list and moves *at behind it. Returns false at the end. */
static bool item_next(const char **at, const char **ret_item, size_t *ret_len)
{
	while (**at != '\0') {
		const char *item = *at + strspn(*at, BLANKS);
		size_t len = strcspn(item, ",");

		*at = item + len + (item[len] == ',');
		while (len > 0 && strchr(BLANKS, item[len - 1]) != NULL)
			len--;
		if (len == 0)
			continue;
		*ret_item = item;
		*ret_len = len;
		return true;
	}
	return false;
}

bool list_has(const char *list, const char *word)
{
	const char *item;
	size_t len, wanted = strlen(word);

	while (item_next(&list, &item, &len))
		if (len == wanted && memcmp(item, word, len) == 0)
			return true;
	return false;
}

char **list_split(const char *text, size_t *ret_n)
{
	const char *at = text, *item;
	size_t len, n = 0, bytes = 0, i = 0;
	char **list, *copy;

	while (item_next(&at, &item, &len)) {
		n++;
		bytes += len + 1;
	}
	list = malloc((n + 1) * sizeof(*list) + bytes);
	if (list == NULL)
		return NULL;
	copy = (char *)(list + n + 1);
	for (at = text; item_next(&at, &item, &len); copy += len + 1) {
		memcpy(copy, item, len);
		copy[len] = '\0';
		list[i++] = copy;
	}
	list[n] = NULL;
	if (ret_n != NULL)
		*ret_n = n;
	return list;
}
