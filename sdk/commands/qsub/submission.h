/* SPDX-License-Identifier: Apache-2.0
 *
 * submission.h - the settings of one qsub, collected from several sources.
 */
#ifndef QSUB_SUBMISSION_H
#define QSUB_SUBMISSION_H

#include <stdbool.h>

#include "pbs_ifl.h"

/* The source of a value; a lower number takes precedence. */
enum source { FROM_COMMAND_LINE, FROM_DIRECTIVE, FROM_SERVER_DEFAULT, FROM_ENVIRONMENT, BUILT_IN };

struct setting {
	struct attropl attribute; /* its strings are owned */
	enum source source;
};

struct text_from {
	char *text; /* owned */
	enum source source;
};

struct submission {
	struct setting *settings; /* owned */
	unsigned n, size;
	struct text_from destination, variables; /* -q, -v */
	char *prefix; /* of directives (-C), owned; NULL: not given */
	bool all_variables, quiet, block, interactive, x11, is_array, runs_program;
	int max_run_given; /* times max_run_subjobs was given by one source */
};

void submission_init(struct submission *s);
void submission_fini(struct submission *s);

/* Sets attribute `name`[.`resource`] unless a source with precedence did. From one source the last value
 * counts; of resources in directives and defaults the first. Strings are copied. Returns 0 or -ENOMEM. */
int submission_set(struct submission *s, const char *name, const char *resource, const char *value,
		   enum source source);

/* Returns the value in force, or NULL. */
const char *submission_get(const struct submission *s, const char *name);

/* Move attribute `name` behind all others. */
void submission_move_last(struct submission *s, const char *name);

/* Put attribute `name` before all others. */
void submission_move_first(struct submission *s, const char *name);

/* Sets the text unless a source with precedence did. Returns 0 or -ENOMEM. */
int text_from_set(struct text_from *t, const char *text, enum source source);

/* Links the settings to a list, borrowed until the next change. NULL: none. */
struct attropl *submission_list(struct submission *s);

#endif
