/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_conf.c - pbs.conf as daemons read it.
 *
 * Of two equal keys the last one counts. Unknown keys are ignored.
 */
#include "main/pbs_conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "util/file.h"

#define FILE_DEFAULT "/etc/pbs.conf"
#define FILE_MAX (1024u * 1024u)
#define BLANKS " \t\r"

struct line {
	const char *key, *value;
};

struct pbs_conf {
	char *text; /* owned; keys and values point into it */
	struct line *lines;
	size_t n;
};

static char *cut(char *text)
{
	char *end;

	text += strspn(text, BLANKS);
	end = text + strlen(text);
	while (end > text && strchr(BLANKS, end[-1]) != NULL)
		end--;
	*end = '\0';
	return text;
}

static int line_add(struct pbs_conf *p, char *text)
{
	char *equals = strchr(text, '=');
	struct line *lines;

	text = cut(text);
	if (text[0] == '#' || equals == NULL)
		return 0;
	lines = reallocarray(p->lines, p->n + 1, sizeof(*lines));
	if (lines == NULL)
		return -ENOMEM;
	*equals = '\0';
	p->lines = lines;
	lines[p->n++] = (struct line){ cut(text), cut(equals + 1) };
	return 0;
}

int pbs_conf_read(struct pbs_conf **ret_conf, struct keel_err *err)
{
	const char *path = getenv("PBS_CONF_FILE");
	bool named = path != NULL && path[0] != '\0';
	struct pbs_conf *p = calloc(1, sizeof(*p));
	char *rest, *line;
	int ret;
	if (p == NULL)
		return err_set(err, -ENOMEM, "configuration: no memory");
	path = named ? path : FILE_DEFAULT;
	ret = file_read(path, FILE_MAX, &p->text, NULL);
	if (ret == -ENOENT && !named)
		ret = 0;
	rest = p->text; /* NULL: there is no file */
	while (ret == 0 && (line = strsep(&rest, "\n")) != NULL)
		ret = line_add(p, line);
	if (ret < 0) {
		pbs_conf_destroy(p);
		return err_set(err, ret, "cannot read %s%s: %s", path,
			       named ? " (named by PBS_CONF_FILE)" : "", strerror(-ret));
	}
	*ret_conf = p;
	return 0;
}

void pbs_conf_destroy(struct pbs_conf *p)
{
	if (p == NULL)
		return;
	free(p->lines);
	free(p->text);
	free(p);
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
	for (size_t i = p->n; value == NULL && i > 0; i--)
		if (strcmp(p->lines[i - 1].key, key) == 0)
			return said(p->lines[i - 1].value);
	return value;
}

const char *pbs_conf_server(const struct pbs_conf *p)
{
	const char *name = pbs_conf_get(p, "PBS_SERVER");

	if (name == NULL && pbs_conf_get(p, "PBS_SECONDARY") != NULL)
		name = pbs_conf_get(p, "PBS_PRIMARY");
	return name == NULL ? pbs_conf_get(p, "PBS_SERVER_HOST_NAME") : name;
}
