/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_conf.c - pbs.conf as daemons read it: KEY=value lines. Of two equal keys the last one counts. Unknown keys are
 * ignored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/inside.h"
#include "util/err.h"
#include "util/file.h"

#define FILE_DEFAULT "/etc/pbs.conf"
#define FILE_MAX (1024u * 1024u)
#define BLANKS " \t\r"

/* Moves `text` to `to`, without the blanks around it. Returns the place behind it. */
static char *text_move(char *to, char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len > 0 && strchr(BLANKS, text[len - 1]) != NULL)
		len--;
	memmove(to, text, len);
	to[len] = '\0';
	return to + len + 1;
}

static void lines_parse(struct pbs_conf *p)
{
	p->end = p->text;
	for (char *rest = p->text, *line; (line = strsep(&rest, "\n")) != NULL;) {
		char *equals = strchr(line, '=');

		if (line[strspn(line, BLANKS)] == '#' || equals == NULL)
			continue;
		*equals = '\0';
		p->end = text_move(p->end, line);
		p->end = text_move(p->end, equals + 1);
	}
}

int pbs_conf_read(struct pbs_conf *ret, struct keel_err *err)
{
	const char *path = getenv("PBS_CONF_FILE");
	bool named = path != NULL && path[0] != '\0';
	int rc;

	*ret = (struct pbs_conf){ .text = NULL };
	path = named ? path : FILE_DEFAULT;
	rc = file_guard(path, err);
	if (rc < 0)
		return rc;
	rc = file_read(path, FILE_MAX, &ret->text, NULL);
	if (rc < 0 && (rc != -ENOENT || named))
		return err_set(err, rc, "cannot read %s%s: %s", path, named ? " (named by PBS_CONF_FILE)" : "", strerror(-rc));
	lines_parse(ret);
	return 0;
}

static const char *said(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : text;
}

const char *pbs_conf_get(const struct pbs_conf *p, const char *key)
{
	const char *value = said(getenv(key));

	if (value == NULL && strcmp(key, "PBS_SERVER") == 0)
		value = said(getenv("PBS_DEFAULT"));
	for (const char *at = value != NULL ? p->end : p->text, *text; at != p->end; at = text + strlen(text) + 1) {
		text = at + strlen(at) + 1;
		if (strcmp(at, key) == 0)
			value = said(text);
	}
	return value;
}

const char *pbs_conf_server(const struct pbs_conf *p)
{
	const char *name = pbs_conf_get(p, "PBS_SERVER");

	if (name == NULL && pbs_conf_get(p, "PBS_SECONDARY") != NULL)
		name = pbs_conf_get(p, "PBS_PRIMARY");
	return name; /* PBS_SERVER_HOST_NAME is where it is connected to */
}
