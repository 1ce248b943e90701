/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - reads the description of a task, or of a program that a module has changed: "key=value" strings, the last one
 * "end=".
 *
 * Its environment is the job's; what comes with the task replaces that; what says which task it is goes before all. With
 * "whole" it is what comes behind, alone.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "order.h"
#include "talk.h"

/* The daemon sends them last: of this host and this task. */
static const char *const ours[] = { "PBS_JOBID=", "PBS_JOBCOOKIE=", "PBS_NODENUM=", "PBS_TASKNUM=" };

void order_fini(struct order *o)
{
	free(o->bytes);
	free(o->args);
	free(o->env);
	*o = (struct order){ 0 };
}

static char *file_read(int fd, size_t *ret_len, int *ret_error)
{
	struct stat st;
	char *bytes;

	*ret_error = fstat(fd, &st) < 0 || st.st_size <= 0 ? -EPROTO : st.st_size > (off_t)TALK_SPAWN_MAX ? -E2BIG : -ENOMEM;
	bytes = *ret_error == -ENOMEM ? malloc((size_t)st.st_size + 1) : NULL;
	if (!bytes)
		return NULL;
	*ret_len = (size_t)st.st_size;
	if (pread(fd, bytes, *ret_len, 0) == (ssize_t)*ret_len && !bytes[*ret_len - 1])
		return bytes;
	*ret_error = -EPROTO;
	free(bytes);
	return NULL;
}

struct variable {
	char *text; /* "NAME=value" */
	size_t at;
};

static int by_name(const void *a, const void *b)
{
	const struct variable *one = a, *two = b;
	const char *x = one->text, *y = two->text;

	for (; *x == *y && *x != '='; x++, y++)
		;
	if (*x == *y)
		return one->at < two->at ? -1 : 1;
	return (*x == '=' ? 0 : (unsigned char)*x) - (*y == '=' ? 0 : (unsigned char)*y);
}

static bool same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return strncmp(a, b, len) == 0 && b[len] == '=';
}

/* Of several of a name the last one stays. There may be as many as a user likes, so they are not looked for one by one. */
static int env_settle(struct order *o, size_t n)
{
	struct variable *all = calloc(n + 1, sizeof(*all));
	size_t left = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct variable){ o->env[i], i };
	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || !same_name(all[i].text, all[i + 1].text))
			o->env[left++] = all[i].text;
	o->env[left] = NULL;
	free(all);
	return 0;
}

static bool is_ours(const char *text)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strncmp(text, ours[i], strlen(ours[i])) == 0)
			return true;
	return false;
}

static void env_put(struct order *o, size_t *n, char *text, bool given)
{
	if (strchr(text, '=') && *text != '=' && !(given && is_ours(text)))
		o->env[(*n)++] = text;
}

static int strings_take(const struct spec *s, struct order *o, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_env; i++)
		env_put(o, &n, s->env[i], false);
	for (size_t at = 0; at < len;) {
		char *text = o->bytes + at, *equal = strchr(text, '='), *value = equal + 1;

		at += strlen(text) + 1;
		if (!equal)
			return -EPROTO;
		*equal = '\0';
		if (strcmp(text, "dir") == 0)
			o->dir = value;
		else if (strcmp(text, "arg") == 0)
			o->args[o->n_args++] = value;
		else if (strcmp(text, "whole") == 0)
			n = 0;
		else if (strcmp(text, "env") == 0)
			env_put(o, &n, value, true);
		else if (strcmp(text, "own") == 0)
			env_put(o, &n, value, false);
		else if (strcmp(text, "end") == 0)
			return at == len && o->n_args ? env_settle(o, n) : -EPROTO;
		else
			return -EPROTO;
	}
	return -EPROTO;
}

int order_decode(const struct spec *s, char *bytes, size_t len, struct order *ret)
{
	struct order o = { .bytes = bytes };
	size_t strings = 0;
	int r;

	for (size_t at = 0; at < len; at++)
		strings += !o.bytes[at];
	o.args = calloc(strings + 1, sizeof(*o.args));
	o.env = calloc(s->n_env + strings + 1, sizeof(*o.env));
	r = o.args && o.env ? strings_take(s, &o, len) : -ENOMEM;
	if (r < 0)
		order_fini(&o);
	else
		*ret = o;
	return r;
}

int order_load(const struct spec *s, int fd, struct order *ret)
{
	size_t len = 0;
	int r = 0;
	char *bytes = file_read(fd, &len, &r);

	return bytes ? order_decode(s, bytes, len, ret) : r;
}
