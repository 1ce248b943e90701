/* SPDX-License-Identifier: Apache-2.0
 *
 * option_others.c - "-W keyword=value[,keyword=value...]" and "-J X-Y[:Z][%N]".
 *
 * A comma ends a value where a keyword and '=' follow it; so lists need no quotes, but may have
 * them. A keyword that is not in the table is sent as the attribute of that name.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options.h"

typedef int word_fn(struct submission *s, const char *name, const char *value, enum source source);

static int word_truth(const char *value, bool *ret)
{
	*ret = strcasecmp(value, "true") == 0;
	return *ret || strcasecmp(value, "false") == 0 ? 0 : -EINVAL;
}

static int word_block(struct submission *s, const char *name, const char *value, enum source source)
{
	int ret = word_truth(value, &s->block);

	return ret < 0 ? ret : submission_set(s, name, NULL, s->block ? "True" : "False", source);
}

static int word_interactive(struct submission *s, const char *name, const char *value,
			    enum source source)
{
	(void)name, (void)source;
	return word_truth(value, &s->interactive);
}

static int word_umask(struct submission *s, const char *name, const char *value, enum source source)
{
	if (strspn(value, "01234567") != strlen(value) || strtol(value, NULL, 8) > 0777)
		return -EINVAL;
	return submission_set(s, name, NULL, value, source);
}

static int max_run_set(struct submission *s, const char *value, enum source source)
{
	if (s->max_run_given++ > 0) {
		fprintf(stderr, "qsub: multiple max_run_subjobs values found\n");
		return -EALREADY;
	}
	return submission_set(s, ATTR_max_run_subjobs, NULL, value, source);
}

static int word_max_run(struct submission *s, const char *name, const char *value,
			enum source source)
{
	(void)name;
	return max_run_set(s, value, source);
}

static int word_array(struct submission *s, const char *name, const char *value, enum source source)
{
	(void)name;
	return option_array(s, value, source);
}

static const struct {
	const char *name;
	word_fn *take;
} words[] = {
	{ ATTR_block, word_block },
	{ ATTR_inter, word_interactive },
	{ ATTR_umask, word_umask },
	{ ATTR_max_run_subjobs, word_max_run },
	{ ATTR_J, word_array },
};

/* Length of "keyword" when a keyword and '=' stand at `at`, else 0. */
static size_t keyword_len(const char *at)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*at))
		return 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return at[n] == '=' ? n : 0;
}

/* Copies the value at *at without quotes into `out`, which is large enough, and moves *at behind it. */
static int value_read(const char **at, char *out)
{
	char quote = '\0';

	for (; **at != '\0'; ++*at) {
		if (quote == '\0' && **at == ',' &&
		    keyword_len(*at + 1 + strspn(*at + 1, " \t")) > 0)
			break;
		if (quote == '\0' && (**at == '"' || **at == '\''))
			quote = **at;
		else if (quote != '\0' && **at == quote)
			quote = '\0';
		else
			*out++ = **at;
	}
	*out = '\0';
	return quote == '\0' ? 0 : -EINVAL;
}

static int list_read(struct submission *s, const char *at, char *scratch, enum source source)
{
	for (;;) {
		char *name = scratch, *value;
		size_t len, i = 0;
		int ret;

		at += strspn(at, " \t");
		len = keyword_len(at);
		if (len == 0)
			return -EINVAL;
		memcpy(name, at, len);
		name[len] = '\0';
		value = name + len + 1;
		at += len + 1;
		ret = value_read(&at, value);
		while (i < sizeof(words) / sizeof(words[0]) && strcmp(words[i].name, name) != 0)
			i++;
		if (ret < 0 || *value == '\0')
			ret = -EINVAL;
		else if (i < sizeof(words) / sizeof(words[0]))
			ret = words[i].take(s, name, value, source);
		else
			ret = submission_set(s, name, NULL, value, source);
		if (ret < 0 || *at == '\0')
			return ret;
		at++;
	}
}

int option_others(struct submission *s, const char *value, enum source source)
{
	char *scratch = malloc(strlen(value) + 2);
	int ret;

	if (scratch == NULL)
		return -ENOMEM;
	ret = list_read(s, value, scratch, source);
	free(scratch);
	return ret;
}

/* Returns the end of a number at `at`, or NULL. */
static const char *number_read(const char *at, unsigned long *ret)
{
	char *end;

	if (at == NULL || !isdigit((unsigned char)*at))
		return NULL;
	*ret = strtoul(at, &end, 10);
	return end;
}

/* Returns the end of "X-Y[:Z]", or NULL. */
static const char *range_read(const char *at)
{
	unsigned long first = 0, last = 0, step = 1;

	at = number_read(at, &first);
	if (at == NULL || *at != '-')
		return NULL;
	at = number_read(at + 1, &last);
	if (at != NULL && *at == ':')
		at = number_read(at + 1, &step);
	return at == NULL || first >= last || step < 1 ? NULL : at;
}

int option_array(struct submission *s, const char *value, enum source source)
{
	const char *end = range_read(value);
	char *range;
	int ret;

	if (end == NULL || (*end != '\0' && *end != '%'))
		return -EINVAL;
	if (*end == '%' && (end[1] == '\0' || strspn(end + 1, "0123456789") != strlen(end + 1)))
		return -EINVAL;
	range = strndup(value, (size_t)(end - value));
	if (range == NULL)
		return -ENOMEM;
	s->is_array = true;
	ret = submission_set(s, ATTR_J, NULL, range, source);
	if (ret == 0 && *end == '%')
		ret = max_run_set(s, end + 1, source);
	free(range);
	return ret;
}
