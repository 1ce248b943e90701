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

#include "attr_list.h"
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

static int word_max_run(struct submission *s, const char *name, const char *value, enum source source)
{
	(void)name;
	if (s->max_run_given++ > 0) {
		fprintf(stderr, "qsub: multiple max_run_subjobs values found\n");
		return -EALREADY;
	}
	return submission_set(s, ATTR_max_run_subjobs, NULL, value, source);
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

static int word_take(void *arg, const char *name, const char *value)
{
	const struct option_target *to = arg;

	if (*value == '\0')
		return -EINVAL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, name) == 0)
			return words[i].take(to->s, name, value, to->source);
	return submission_set(to->s, name, NULL, value, to->source);
}

int option_others(struct submission *s, const char *value, enum source source)
{
	struct attr_fault fault;

	return attr_items(value, true, word_take, &(struct option_target){ s, source }, &fault);
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
		ret = word_max_run(s, NULL, end + 1, source);
	free(range);
	return ret;
}
