/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.c - values of job attributes in the form that is sent.
 *
 * A copied entry and the string made for it are one struct, so that freeing does not depend on names.
 */
#include "prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "depend.h"

struct entry {
	struct attropl attribute; /* first: entries are handed out as attributes */
	char *made; /* owned, or NULL */
};

/* The host to which output is copied. */
static int own_host(char *host, size_t size)
{
	char *named = conf_get(CONF_PBS_OUTPUT_HOST_NAME);
	int ret = 0;

	if (named != NULL)
		snprintf(host, size, "%s", named);
	else
		ret = gethostname(host, size) < 0 ? -errno : 0;
	free(named);
	host[size - 1] = '\0';
	return ret;
}

static int make_path(const char *value, char **ret)
{
	char host[PBS_MAXHOSTNAME + 1], path[PATH_MAX];
	const char *cwd = getenv("PWD"); /* if it is the current directory: it may be a path through a link */
	bool absolute = *value == '/', directory;
	struct stat st, here;
	int err;

	if (value[strcspn(value, ":/")] == ':') /* "host:path"; a colon behind a slash belongs to the path */
		return (*ret = strdup(value)) == NULL ? -ENOMEM : 0;
	err = own_host(host, sizeof(host));
	if (!absolute && (cwd == NULL || *cwd != '/' || strlen(cwd) >= PATH_MAX || stat(".", &here) < 0 || stat(cwd, &st) < 0 ||
			  here.st_dev != st.st_dev || here.st_ino != st.st_ino)) {
		cwd = getcwd(path, sizeof(path));
		if (err == 0 && cwd == NULL)
			err = -errno;
	}
	if (err < 0)
		return err;
	directory = value[strlen(value) - 1] != '/' && stat(value, &st) == 0 && S_ISDIR(st.st_mode);
	if (asprintf(ret, "%s:%s%s%s%s", host, absolute ? "" : cwd,
		     absolute || strcmp(cwd, "/") == 0 ? "" : "/", value,
		     directory ? "/" : "") < 0)
		return -ENOMEM;
	return 0;
}

static int make_depend(const char *value, char **ret)
{
	char *server = conf_get(CONF_PBS_SERVER);
	int err = depend_complete(value, server, ret);

	free(server);
	return err;
}

static const struct {
	const char *name;
	int (*make)(const char *value, char **ret);
} makers[] = {
	{ ATTR_o, make_path },
	{ ATTR_e, make_path },
	{ ATTR_depend, make_depend },
};

static int make_value(struct entry *e)
{
	struct attropl *a = &e->attribute;
	int err = 0;

	if (a->name == NULL || a->value == NULL || *a->value == '\0')
		return 0;
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strcmp(makers[i].name, a->name) == 0)
			err = makers[i].make(a->value, &e->made);
	if (e->made != NULL)
		a->value = e->made;
	return err;
}

int prepare_job(const struct attropl *list, struct attropl **ret_copy)
{
	struct attropl *first = NULL, **tail = &first;
	int err = 0;

	for (; list != NULL && err == 0; list = list->next) {
		struct entry *e = calloc(1, sizeof(*e));

		if (e == NULL) {
			err = -ENOMEM;
			break;
		}
		e->attribute = *list;
		e->attribute.next = NULL;
		e->attribute.op = SET;
		*tail = &e->attribute;
		tail = &e->attribute.next;
		err = make_value(e);
	}
	if (err < 0)
		prepare_free(first);
	else
		*ret_copy = first;
	return err;
}

void prepare_free(struct attropl *copy)
{
	while (copy != NULL) {
		struct entry *e = (struct entry *)copy;

		copy = copy->next;
		free(e->made);
		free(e);
	}
}
