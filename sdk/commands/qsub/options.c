/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the option letters of qsub: one row each.
 *
 * A row names the attribute and how its value is taken. Only values with a syntax of their own are checked here; the
 * library checks the rest when the job is submitted.
 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char qsub_usage[] =
	"usage: qsub [-a date_time] [-A account_string] [-c interval]\n"
	"\t[-C directive_prefix] [-e path] [-f ] [-h ] [-I [-X]] [-j oe|eo] [-J X-Y[:Z]]\n"
	"\t[-k keep] [-l resource_list] [-m mail_options] [-M user_list]\n"
	"\t[-N jobname] [-o path] [-p priority] [-P project] [-q queue] [-r y|n]\n"
	"\t[-R o|e|oe] [-S path] [-u user_list] [-W otherattributes=value...]\n"
	"\t[-v variable_list] [-V ] [-z] [script | -- command [arg1 ...]]\n"
	"       qsub --version\n";

#define LETTERS "+:a:A:c:C:e:fhIj:J:k:l:m:M:N:o:p:q:r:R:S:u:v:VW:XzP:"

struct row;
typedef int take_fn(struct submission *s, const struct row *row, const char *value,
		    enum source source);

struct row {
	char letter;
	const char *attribute; /* NULL: none of its own */
	take_fn *take;
	const char *value; /* of an option without one */
	int (*parse)(struct submission *s, const char *value, enum source source); /* if `take` is NULL */
};

static int take_text(struct submission *s, const struct row *row, const char *value,
		     enum source source)
{
	return submission_set(s, row->attribute, NULL, row->value != NULL ? row->value : value, source);
}

static int take_date(struct submission *s, const struct row *row, const char *value,
		     enum source source)
{
	long long when;
	char text[32];

	if (date_parse(value, (long long)time(NULL), &when) < 0)
		return -EINVAL;
	snprintf(text, sizeof(text), "%lld", when);
	return submission_set(s, row->attribute, NULL, text, source);
}

/* "u" is sent if and only if the option is not given. */
static int take_checkpoint(struct submission *s, const struct row *row, const char *value,
			   enum source source)
{
	return strcmp(value, "u") == 0 ? -EINVAL : take_text(s, row, value, source);
}

static int take_rerunable(struct submission *s, const struct row *row, const char *value,
			  enum source source)
{
	if ((*value != 'y' && *value != 'n') || value[1] != '\0')
		return -EINVAL;
	return take_text(s, row, *value == 'y' ? "TRUE" : "FALSE", source);
}

static int take_prefix(struct submission *s, const struct row *row, const char *value,
		       enum source source)
{
	(void)row;
	if (source != FROM_COMMAND_LINE)
		return -EINVAL;
	free(s->prefix);
	s->prefix = strdup(value);
	return s->prefix == NULL ? -ENOMEM : 0;
}

static int take_destination_or_variables(struct submission *s, const struct row *row, const char *value,
					 enum source source)
{
	return text_from_set(row->letter == 'q' ? &s->destination : &s->variables, value, source);
}

static int take_flag(struct submission *s, const struct row *row, const char *value,
		     enum source source)
{
	(void)value, (void)source;
	switch (row->letter) {
	case 'I':
		s->interactive = true;
		break;
	case 'V':
		s->all_variables = true;
		break;
	case 'X':
		s->x11 = true;
		break;
	case 'z':
		s->quiet = true;
		break;
	default: /* f: every submission is made in the foreground */
		break;
	}
	return 0;
}

static const struct row rows[] = {
	{ 'a', ATTR_a, .take = take_date },
	{ 'A', ATTR_A, .take = take_text },
	{ 'c', ATTR_c, .take = take_checkpoint },
	{ 'C', NULL, .take = take_prefix },
	{ 'e', ATTR_e, .take = take_text },
	{ 'f', NULL, .take = take_flag },
	{ 'h', ATTR_h, .take = take_text, .value = USER_HOLD },
	{ 'I', NULL, .take = take_flag },
	{ 'j', ATTR_j, .take = take_text },
	{ 'J', ATTR_J, .parse = option_array },
	{ 'k', ATTR_k, .take = take_text },
	{ 'l', ATTR_l, .parse = option_resources },
	{ 'm', ATTR_m, .take = take_text },
	{ 'M', ATTR_M, .take = take_text },
	{ 'N', ATTR_N, .take = take_text },
	{ 'o', ATTR_o, .take = take_text },
	{ 'p', ATTR_p, .take = take_text },
	{ 'P', ATTR_project, .take = take_text },
	{ 'q', NULL, .take = take_destination_or_variables },
	{ 'r', ATTR_r, .take = take_rerunable },
	{ 'R', ATTR_R, .take = take_text },
	{ 'S', ATTR_S, .take = take_text },
	{ 'u', ATTR_u, .take = take_text },
	{ 'v', NULL, .take = take_destination_or_variables },
	{ 'V', NULL, .take = take_flag },
	{ 'W', NULL, .parse = option_others },
	{ 'X', NULL, .take = take_flag },
	{ 'z', NULL, .take = take_flag },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

char options_letter_of(const char *name)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].attribute != NULL && strcmp(rows[i].attribute, name) == 0)
			return rows[i].letter;
	return 'W';
}

static int option_take(struct submission *s, int letter, const char *value, enum source source)
{
	const struct row *row = rows;
	int ret;

	while (row < rows + N_ROWS && row->letter != letter)
		row++;
	if (row == rows + N_ROWS) { /* getopt()'s own messages are not the same in every C library */
		fprintf(stderr, "qsub: %s -- '%c'\n",
			letter == ':' ? "option requires an argument" : "invalid option", optopt);
		return -EINVAL;
	}
	/* Some tools write "#PBS -N=name": the sign cannot begin a value */
	if (value != NULL && *value == '=' && source != FROM_COMMAND_LINE) {
		fprintf(stderr, "qsub (Warning): '=' after -%c in a directive is ignored\n", letter);
		value++;
	}
	ret = row->take != NULL ? row->take(s, row, value, source) : row->parse(s, value, source);
	if (ret == -EINVAL)
		fprintf(stderr, "qsub: illegal -%c value\n", letter);
	else if (ret == -ENOMEM)
		fprintf(stderr, "qsub: out of memory\n");
	return ret < 0 ? -EINVAL : 0;
}

int options_read(struct submission *s, int argc, char **argv, enum source source, int *ret_operand,
		 bool *ret_after_dashes)
{
	const char *last_value = NULL;
	int letter, ret = 0;

	optind = 0; /* resets getopt(): directives are parsed after the command line */
	s->max_run_given = 0;
	while ((letter = getopt(argc, argv, LETTERS)) != -1) {
		last_value = optarg;
		if (option_take(s, letter, optarg, source) < 0)
			ret = -EINVAL;
	}
	if (optind > argc)
		optind = argc; /* a value that is missing has been counted (musl) */
	*ret_operand = optind;
	*ret_after_dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0 &&
			    argv[optind - 1] != last_value;
	return ret;
}
