/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the option letters of qsub.
 */
#ifndef QSUB_OPTIONS_H
#define QSUB_OPTIONS_H

#include "date.h"
#include "submission.h"

/* Parses the options of argv (argv[0] is a program name). *ret_operand is the index of the first
 * operand; *ret_after_dashes: "--" was before it. Returns 0; -EINVAL: a message was printed. */
int options_read(struct submission *s, int argc, char **argv, enum source source, int *ret_operand,
		 bool *ret_after_dashes);

/* Returns the letter of attribute `name`; 'W' for one that has no letter. */
char options_letter_of(const char *name);

extern const char qsub_usage[];

/* Values with a syntax of their own; each returns 0, -EINVAL (the letter's value is illegal), -EALREADY (a
 * message was printed), or -ENOMEM. */
struct option_target {
	struct submission *s;
	enum source source;
};
int option_resources(struct submission *s, const char *value, enum source source); /* -l */
int option_others(struct submission *s, const char *value, enum source source);	   /* -W */
int option_array(struct submission *s, const char *value, enum source source);	   /* -J */

#endif
