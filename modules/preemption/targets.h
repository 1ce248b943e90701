/* SPDX-License-Identifier: Apache-2.0
 *
 * targets.h - the language of preempt_targets.
 */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>
#include <stddef.h>

enum target_kind { TARGET_NONE, TARGET_QUEUE, TARGET_RESOURCE };
struct target {
	enum target_kind kind;
	const char *name; /* queue or resource; not terminated */
	size_t name_len;
	const char *value; /* of a resource; not terminated */
	size_t value_len;
};

/* Quotes around the whole value, which keep its commas together on a command line, are taken off. */
void targets_unquote(char *text);
/* The next target at *at, which moves on. Returns 1 with *ret, 0 at the end; fails with -1: that is no target. */
int target_next(const char **at, struct target *ret);
/* Is this no preempt_targets? None stands alone. */
bool targets_are_wrong(const char *text);

#endif
