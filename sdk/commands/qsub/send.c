/* SPDX-License-Identifier: Apache-2.0
 *
 * send.c - submits, and prints the id or the error.
 */
#include "send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/operand.h"
#include "../lib/reach.h"
#include "block.h"
#include "options.h"
#include "pbs_error.h"

enum { EXIT_USAGE = 2 };

/* In `extend`, before the default_qsub_arguments that the submission used. */
#define EXTEND_DEFAULTS "defaults:"

/* Prints the error for a value that the library refused, with its letter; for resources the text has it. */
static int value_refused(const struct ecl_attrerr *refused, const char *text)
{
	const char *name = refused->ecl_attribute->name, *value = refused->ecl_attribute->value, *index;

	if (refused->ecl_errcode == PBSE_JOBNBIG) {
		fprintf(stderr, "qsub: Job name is too long \n");
		return EXIT_USAGE;
	}
	if (strcmp(name, ATTR_l) == 0 || text == NULL)
		return 0;
	/* `12[3]`, `12[1-5]`; an array as a whole, `12[]`, is none. */
	for (index = value != NULL ? strchr(value, '[') : NULL; index != NULL && index[1] == ']';)
		index = strchr(index + 1, '[');
	if (strcmp(name, ATTR_depend) == 0 && index != NULL)
		fprintf(stderr, "cannot have dependancy on subjob or range\n");
	fprintf(stderr, "qsub: illegal -%c value\n", options_letter_of(name));
	fputs(qsub_usage, stderr);
	return EXIT_USAGE;
}

static int submit_failed(int c)
{
	const struct ecl_attribute_errors *refused = pbs_get_attributes_in_error(c);
	const char *text = pbs_geterrmsg(c);
	int error = pbs_errno, status = 0;

	if (refused != NULL && refused->ecl_numerrors > 0)
		status = value_refused(&refused->ecl_attrerr[0], text);
	if (status != 0)
		return status;
	if (text != NULL && *text != '\0')
		fprintf(stderr, "qsub: %s\n", text);
	else
		fprintf(stderr, "qsub: Error (%d) submitting job\n", error);
	return reach_exit_status(error);
}

static int submitted(int c, const struct submission *s, const char *id)
{
	if (!s->quiet)
		puts(id);
	if (fflush(stdout) != 0 || ferror(stdout))
		fprintf(stderr, "qsub: the job was submitted, it is %s\n", id);
	return s->block ? block_until_end(c, id) : 0;
}

static int destination_read(const struct submission *s, struct operand *ret)
{
	const char *named = s->destination.text == NULL ? "" : s->destination.text;

	*ret = (struct operand){ .id = "" };
	if (*named == '\0' || operand_destination(named, ret) == 0)
		return 0;
	fprintf(stderr, "qsub: illegally formed destination: %s\n", named);
	return EXIT_USAGE;
}

int send_connect(const struct submission *s, int *ret_c)
{
	struct operand to;
	int status = destination_read(s, &to);

	if (status != 0)
		return status;
	*ret_c = reach_connect(to.server);
	if (*ret_c > 0)
		return 0;
	fprintf(stderr, "qsub: cannot connect to server %s (errno=%d)\n", reach_default_name(), pbs_errno);
	return reach_exit_status(pbs_errno);
}

int send_submission(int c, struct submission *s, const char *script, const char *defaults)
{
	struct operand to;
	int status = destination_read(s, &to);
	char *id, *extend;

	if (status != 0)
		return status;
	if (asprintf(&extend, "%s%s", EXTEND_DEFAULTS, defaults) < 0)
		return 1;
	id = pbs_submit(c, submission_list(s), script, to.id, extend);
	free(extend);
	if (id == NULL && pbs_errno == PBSE_FORCE_QSUB_UPDATE)
		return SEND_DEFAULTS_CHANGED;
	status = id == NULL ? submit_failed(c) : submitted(c, s, id);
	free(id);
	return status;
}
