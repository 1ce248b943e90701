/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c - what is refused before the parser sees it.
 *
 * libconfig compares each setting's name with all before it in its group, so a hundred thousand of them are a
 * minute in which nobody is served; it ends a text at its first NUL byte; and a file that another one
 * includes is read as it is, be it a pipe, or endless.
 */
#include <errno.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"

#define SETTINGS_MAX 4000 /* of all files: a tenth of a second */

/* Behind the text in quotes that begins here. */
static const char *past_quotes(const char *at)
{
	for (at++; *at != '\0' && *at != '"'; at++)
		if (*at == '\\' && at[1] != '\0')
			at++;
	return *at == '\0' ? at : at + 1;
}

static const char *past(const char *at, const char *end)
{
	const char *found = strstr(at, end);

	return found != NULL ? found + strlen(end) : at + strlen(at);
}

/* Behind the comment or text that begins here, or one byte further. */
static const char *step(const char *at)
{
	if (*at == '"')
		return past_quotes(at);
	if (*at == '#' || (at[0] == '/' && at[1] == '/'))
		return past(at, "\n");
	if (at[0] == '/' && at[1] == '*')
		return past(at + 2, "*/");
	return at + 1;
}

static int refuse(const char *path, const char *text, const char *at, const char *what, struct keel_err *err)
{
	unsigned line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return err_set(err, -EINVAL, "%s:%u: %s", path, line, what);
}

int conf_bounds(struct conf *c, const char *path, const char *text, size_t len, struct keel_err *err)
{
	const char *nul = memchr(text, '\0', len);

	if (nul != NULL)
		return refuse(path, text, nul, "expected text, got a NUL byte", err);
	for (const char *at = text; *at != '\0'; at = step(at)) {
		if (*at == '@')
			return refuse(path, text, at, "expected a setting, got \"@\": other files are not included; "
				      "the groups of modules may be in as many files of modules.d as you like", err);
		if ((*at == '=' || *at == ':') && ++c->n_settings > SETTINGS_MAX)
			return refuse(path, text, at, "expected at most 4000 settings in all files together, got "
				      "more; groups of modules that do not run may go", err);
	}
	return 0;
}
