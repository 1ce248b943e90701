/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - qsub: collects the settings, checks them together, submits.
 *
 * Sources in order: command line, directives of the script, the server's defaults, built-in values. One
 * connection, and one request unless the server has defaults; no name service is queried.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/reach.h"
#include "arguments.h"
#include "directives.h"
#include "environment.h"
#include "options.h"
#include "pbs_error.h"
#include "script.h"
#include "send.h"
#include "server_defaults.h"
#include "submission.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

static char program_name[] = "qsub";

/* Built-in values, in this order after all others. */
static const struct {
	const char *name, *value;
} built_in[] = {
	{ ATTR_c, CHECKPOINT_UNSPECIFIED }, { ATTR_h, NO_HOLD },  { ATTR_j, NO_JOIN },
	{ ATTR_k, NO_KEEP },		    { ATTR_m, MAIL_AT_ABORT }, { ATTR_p, "0" },
	{ ATTR_r, "TRUE" },
};

/* The program of the job: a script, or words. */
struct job_text {
	const char *script; /* its name, NULL: standard input */
	char **words; /* NULL: a script */
	int n_words;
};

static int usage_wrong(void)
{
	fputs(qsub_usage, stderr);
	return EXIT_USAGE;
}

static int out_of_memory(void)
{
	fprintf(stderr, "qsub: out of memory\n");
	return EXIT_FAULT;
}

static int command_line_read(struct submission *s, int argc, char **argv, struct job_text *ret)
{
	int operand;
	bool dashes;

	argv[0] = program_name;
	if (options_read(s, argc, argv, FROM_COMMAND_LINE, &operand, &dashes) < 0)
		return usage_wrong();
	*ret = (struct job_text){ 0 };
	if (dashes) {
		ret->words = argv + operand;
		ret->n_words = argc - operand;
		return ret->n_words > 0 ? 0 : usage_wrong();
	}
	if (argc - operand > 1)
		return usage_wrong();
	if (operand < argc && strcmp(argv[operand], "-") != 0)
		ret->script = argv[operand];
	return 0;
}

static int directives_take(struct submission *s, struct script *script)
{
	const char *prefix = s->prefix;

	if (prefix == NULL)
		prefix = getenv("PBS_DPREFIX");
	if (prefix == NULL)
		prefix = DIRECTIVE_PREFIX;
	return directives_read(s, script, prefix) < 0 ? EXIT_FAULT : 0;
}

/* Checks settings that exclude each other. Returns 0 or the exit status after a message. */
static int wishes_check(const struct submission *s)
{
	const char *mail = submission_get(s, ATTR_m), *rerunable = submission_get(s, ATTR_r);

	if (s->is_array && s->interactive) {
		fprintf(stderr, "qsub: interactive and array job submission cannot be used "
				"together\n");
		return usage_wrong();
	}
	if (s->is_array && rerunable != NULL && strcmp(rerunable, "FALSE") == 0) {
		fprintf(stderr, "qsub:  cannot submit non-rerunable Array Job\n");
		return usage_wrong();
	}
	if (!s->is_array && mail != NULL && strchr(mail, 'j') != NULL) {
		fprintf(stderr, "qsub: mail option 'j' can not be used without array job\n");
		return EXIT_FAULT;
	}
	return 0;
}

/* A session needs a terminal on both ends; this server has no service for it. */
static int session_check(const struct submission *s)
{
	if (s->x11 && (getenv("DISPLAY") == NULL || !s->interactive)) {
		fprintf(stderr, getenv("DISPLAY") == NULL ? "qsub: DISPLAY not set\n" :
							    "qsub: X11 Forwarding possible only for interactive jobs\n");
		return EXIT_FAULT;
	}
	if (!s->interactive)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "qsub:\tstandard input and output must be a terminal for\n"
				"\tinteractive job submission\n");
		return EXIT_FAULT;
	}
	fprintf(stderr, "qsub: No support for requested service\n");
	return reach_exit_status(PBSE_NOSUP);
}

/* Job_Name and the words, as attributes. */
static int name_and_words(struct submission *s, const struct job_text *what)
{
	const char *slash = what->script == NULL ? NULL : strrchr(what->script, '/');
	const char *name = "STDIN";
	char *list;
	int ret;

	if (what->script != NULL)
		name = slash == NULL ? what->script : slash + 1;
	ret = submission_set(s, ATTR_N, NULL, name, BUILT_IN);
	submission_move_first(s, ATTR_N);
	if (ret < 0 || what->words == NULL)
		return ret;
	list = arguments_encode("Executable", what->words, 1);
	ret = list == NULL ? -ENOMEM : submission_set(s, ATTR_executable, NULL, list, BUILT_IN);
	free(list);
	if (ret < 0 || what->n_words == 1)
		return ret;
	list = arguments_encode("Argument", what->words + 1, what->n_words - 1);
	ret = list == NULL ? -ENOMEM : submission_set(s, ATTR_Arglist, NULL, list, BUILT_IN);
	free(list);
	return ret;
}

static int submit_arguments(struct submission *s, int argc, char **argv)
{
	char *list;
	int ret;

	if (argc < 2)
		return 0;
	list = arguments_encode("Argument", argv + 1, argc - 1);
	if (list == NULL)
		return -ENOMEM;
	ret = submission_set(s, ATTR_submit_arguments, NULL, list, BUILT_IN);
	free(list);
	submission_move_first(s, ATTR_submit_arguments);
	return ret;
}

static int defaults_add(struct submission *s)
{
	const char *shell = getenv("PBS_SHELL");
	int ret = 0;

	if (shell != NULL && *shell != '\0')
		ret = submission_set(s, ATTR_S, NULL, shell, FROM_ENVIRONMENT);
	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]) && ret == 0; i++) {
		ret = submission_set(s, built_in[i].name, NULL, built_in[i].value, BUILT_IN);
		submission_move_last(s, built_in[i].name);
	}
	return ret;
}

static int variables_add(struct submission *s)
{
	char *list;
	int ret = environment_list(s->variables.text, s->all_variables, &list);

	if (ret == -ENOMEM)
		return out_of_memory();
	if (ret < 0) {
		fprintf(stderr, "qsub: cannot send environment with the job\n");
		return EXIT_FAULT;
	}
	ret = submission_set(s, ATTR_v, NULL, list, BUILT_IN);
	free(list);
	return ret < 0 ? out_of_memory() : 0;
}

/* Collects the settings of the command line and the directives. */
static int gather(struct submission *s, struct script *script, struct job_text *what, int argc,
		  char **argv)
{
	int status = command_line_read(s, argc, argv, what);

	if (status == 0 && what->words == NULL && (what->script != NULL || !s->interactive))
		status = script_read(script, what->script);
	if (status == 0 && script->text != NULL)
		status = directives_take(s, script);
	if (status == 0)
		status = wishes_check(s);
	return status == 0 ? session_check(s) : status;
}

/* Completes the attributes and submits. `defaults`, the server's, are in the settings already. */
static int submit(int c, struct submission *s, struct script *script, const struct job_text *what,
		  const char *defaults, int argc, char **argv)
{
	int status;

	if (name_and_words(s, what) < 0 || submit_arguments(s, argc, argv) < 0 || defaults_add(s) < 0)
		return out_of_memory();
	status = variables_add(s);
	if (status == 0 && what->words == NULL)
		status = script_store(script);
	return status == 0 ? send_submission(c, s, what->words == NULL ? script->path : NULL, defaults)
			   : status;
}

/* The server has other defaults than those used: collects all settings again, with them. */
static int gather_again(struct submission *s, struct script *script, const char *defaults, int argc,
			char **argv)
{
	struct job_text what;
	int status;

	submission_fini(s);
	submission_init(s);
	status = command_line_read(s, argc, argv, &what);
	if (status == 0 && script->text != NULL)
		status = directives_take(s, script);
	if (status == 0 && server_defaults_take(s, defaults) < 0)
		status = usage_wrong();
	return status == 0 ? wishes_check(s) : status;
}

/* One request if the server has no defaults. They may change while they are read. */
static int submit_until_taken(int c, struct submission *s, struct script *script,
			      const struct job_text *what, int argc, char **argv)
{
	char *defaults = NULL;
	int status, tries = 5;

	do {
		status = submit(c, s, script, what, defaults == NULL ? "" : defaults, argc, argv);
		if (status != SEND_DEFAULTS_CHANGED)
			break;
		free(defaults);
		defaults = server_defaults_read(c);
		status = gather_again(s, script, defaults == NULL ? "" : defaults, argc, argv);
	} while (status == 0 && --tries > 0);
	free(defaults);
	if (tries == 0)
		fprintf(stderr, "qsub: default_qsub_arguments of the server change too often\n");
	return tries == 0 ? EXIT_FAULT : status;
}

int main(int argc, char **argv)
{
	struct script script = { .fd = -1 };
	struct submission s;
	struct job_text what;
	int status, c;

	if (reach_asked(argc, argv, qsub_usage))
		return 0;
	submission_init(&s);
	status = gather(&s, &script, &what, argc, argv);
	if (status == 0)
		status = send_connect(&s, &c);
	if (status == 0) {
		status = submit_until_taken(c, &s, &script, &what, argc, argv);
		pbs_disconnect(c);
	}
	script_fini(&script);
	submission_fini(&s);
	return status;
}
