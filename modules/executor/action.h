/* SPDX-License-Identifier: Apache-2.0
 *
 * action.h - an action of a host: "30 !/site/save %jobid %sid": seconds, a program, its arguments.
 */
#ifndef EXECUTOR_ACTION_H
#define EXECUTOR_ACTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What stands for a word that begins with %. */
struct action_word {
	const char *name, *value;
};

/* The words of the command, NULL-terminated; the caller frees them with one free(). Fails with NULL: an error in the
 * line, or no memory. `*ret_ms`: how long it may take. */
char **action_parse(const char *line, const struct action_word *words, int64_t *ret_ms);

#endif
