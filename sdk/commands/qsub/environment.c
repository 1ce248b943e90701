/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.c - the variables of a job, as one list.
 *
 * The list is name=value joined by ','. Inside a value ',', '\' and quotes follow a '\'.
 */
#include "environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pbs_ifl.h"
#include "words.h"

#define PREFIX "PBS_O_"

struct list {
	FILE *out;
	char *text; /* owned; whole after fclose(out) */
	size_t size;
	bool begun;
};

static void put(struct list *l, const char *name, size_t name_len, const char *value)
{
	if (l->begun)
		fputc(',', l->out);
	l->begun = true;
	fwrite(name, 1, name_len, l->out);
	fputc('=', l->out);
	while (*value != '\0') {
		size_t plain = strcspn(value, ",\\\"'");

		fwrite(value, 1, plain, l->out);
		value += plain;
		if (*value != '\0') {
			fputc('\\', l->out);
			fputc(*value++, l->out);
		}
	}
}

static void put_named(struct list *l, const char *name, const char *value)
{
	if (value != NULL)
		put(l, name, strlen(name), value);
}

static void put_conf(struct list *l, const char *name, const char *key)
{
	char *value = pbs_conf_value(key);

	put_named(l, name, value == NULL ? "" : value);
	free(value);
}

static void put_surroundings(struct list *l)
{
	const char *home = getenv("HOME"), *pwd = getenv("PWD");
	struct stat here, there;
	char path[PATH_MAX];

	put_named(l, PREFIX "HOME", home == NULL ? "/" : home);
	put_named(l, PREFIX "LANG", getenv("LANG"));
	put_named(l, PREFIX "LOGNAME", getenv("LOGNAME"));
	put_named(l, PREFIX "PATH", getenv("PATH"));
	put_named(l, PREFIX "MAIL", getenv("MAIL"));
	put_named(l, PREFIX "SHELL", getenv("SHELL"));
	put_named(l, PREFIX "TZ", getenv("TZ"));
	put_conf(l, PREFIX "INTERACTIVE_AUTH_METHOD", "PBS_INTERACTIVE_AUTH_METHOD");
	put_conf(l, PREFIX "INTERACTIVE_ENCRYPT_METHOD", "PBS_INTERACTIVE_ENCRYPT_METHOD");
	/* $PWD if it is the current directory, else getcwd() */
	if (pwd == NULL || *pwd != '/' || stat(".", &here) < 0 || stat(pwd, &there) < 0 || here.st_dev != there.st_dev ||
	    here.st_ino != there.st_ino)
		pwd = getcwd(path, sizeof(path));
	put_named(l, PREFIX "WORKDIR", pwd);
	put_named(l, PREFIX "SYSTEM", "Linux");
}

static int put_item(struct list *l, const char *item)
{
	const char *value = strchr(item, '=');
	size_t len = value == NULL ? strlen(item) : (size_t)(value - item);

	if (len == 0)
		return -EINVAL;
	if (strncmp(item, PREFIX, strlen(PREFIX)) == 0)
		return 0;
	value = value == NULL ? getenv(item) : value + 1;
	if (value == NULL)
		return -ENOENT;
	put(l, item, len, value);
	return 0;
}

static int put_wanted(struct list *l, const char *at)
{
	char *item = malloc(strlen(at) + 1);
	int ret;

	if (item == NULL)
		return -ENOMEM;
	for (;;) {
		char *end = item;

		at += strspn(at, " \t");
		ret = word_copy(&at, &end, ",");
		if (ret == 0)
			ret = put_item(l, item);
		if (ret < 0 || *at == '\0')
			break;
		at++;
	}
	free(item);
	return ret;
}

int environment_list(const char *wanted, bool all, char **ret)
{
	/* Variables of the submitting session, which are no part of the job's environment. */
	static const char *const kept_back[] = { PREFIX, "PBS_JOBCOOKIE=", "PBS_INTERACTIVE_COOKIE=" };
	struct list l = { 0 };
	int failed = 0;

	l.out = open_memstream(&l.text, &l.size);
	if (l.out == NULL)
		return -ENOMEM;
	put_surroundings(&l);
	if (wanted != NULL)
		failed = put_wanted(&l, wanted);
	for (char **variable = environ; failed == 0 && all && *variable != NULL; variable++) {
		const char *equals = strchr(*variable, '=');
		bool goes = equals != NULL && equals != *variable;

		for (size_t i = 0; goes && i < sizeof(kept_back) / sizeof(kept_back[0]); i++)
			goes = strncmp(*variable, kept_back[i], strlen(kept_back[i])) != 0;
		if (goes)
			put(&l, *variable, (size_t)(equals - *variable), equals + 1);
	}
	if (fclose(l.out) != 0 && failed == 0)
		failed = -ENOMEM;
	if (failed < 0)
		free(l.text);
	else
		*ret = l.text;
	return failed;
}
