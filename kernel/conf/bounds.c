/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c - what is refused before the parser sees it.
 *
 * libconfig compares each setting's name with all before it in its group, so a hundred thousand of them stop the loop
 * for a minute; it ends a text at its first NUL byte; it truncates large numbers; and it opens an included file
 * whatever it is, be it a pipe or endless.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

#define SETTINGS_MAX 4000 /* of all files: a tenth of a second */

static const char *past(const char *at, const char *end)
{
	const char *found = strstr(at, end);

	return found != NULL ? found + strlen(end) : at + strlen(at);
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*"

static bool is_number(const char *at)
{
	return isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
}

/* The length of a number without its sign: digits and what may stand between them. */
static size_t number_len(const char *at)
{
	return strspn(at, DIGITS "abcdefABCDEFxXL.");
}

/* Returns the end of the comment, text, name or number that begins here, else the next byte. */
static const char *step(const char *at)
{
	if (is_number(at))
		return at + number_len(at);
	if (strchr(LETTERS, *at) != NULL)
		return at + strspn(at, LETTERS DIGITS "-_");
	if (*at == '"') {
		for (at++; *at != '\0' && *at != '"'; at++)
			if (*at == '\\' && at[1] != '\0')
				at++;
		return *at == '\0' ? at : at + 1;
	}
	if (*at == '#' || (at[0] == '/' && at[1] == '/'))
		return past(at, "\n");
	if (at[0] == '/' && at[1] == '*')
		return past(at + 2, "*/");
	return at + 1;
}

static unsigned line_of(const char *text, const char *at)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

static int refuse(const char *path, const char *text, const char *at, const char *what, struct keel_err *err)
{
	return err_set(err, -EINVAL, "%s:%u: %s", path, line_of(text, at), what);
}

/* Can libconfig hold it? */
static int number_check(const char *path, const char *text, const char *at, struct keel_err *err)
{
	bool negative = at > text && at[-1] == '-', hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	uint64_t most = negative ? 1 : 0, n;
	char *end;

	if (!hex && strcspn(at, ".eE") < number_len(at))
		return 0; /* a float */
	errno = 0;
	n = strtoull(at, &end, hex ? 16 : 10);
	most += *end == 'L' ? INT64_MAX : INT32_MAX;
	if (errno == 0 && n <= most)
		return 0;
	return err_set(err, -EINVAL, "%s:%u: expected a number of 32 bits, or of 64 bits with an L behind it (8589934592L), "
		       "got %.*s", path, line_of(text, at), (int)number_len(at) + negative, at - negative);
}

int conf_bounds(struct conf *c, const char *path, const char *text, size_t len, struct keel_err *err)
{
	const char *nul = memchr(text, '\0', len);

	if (nul != NULL)
		return refuse(path, text, nul, "expected text, got a NUL byte", err);
	for (const char *at = text; *at != '\0'; at = step(at)) {
		if (is_number(at) && number_check(path, text, at, err) < 0)
			return -EINVAL;
		if (*at == '@')
			return refuse(path, text, at, "expected a setting, got \"@\": other files are not included; "
				      "the groups of modules may be in as many files of modules.d as you like", err);
		if ((*at == '=' || *at == ':') && ++c->n_settings > SETTINGS_MAX)
			return refuse(path, text, at, "expected at most 4000 settings in all files together, got "
				      "more; groups of modules that do not run may go", err);
	}
	return 0;
}
