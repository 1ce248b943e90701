/* SPDX-License-Identifier: Apache-2.0
 *
 * increment.h - a select with more chunks than it has: what increment_chunks() of a select object computes.
 */
#ifndef INCREMENT_H
#define INCREMENT_H

#include <stdint.h>

#include "keel/text.h"

/* More is no select (it has at most so many chunks). */
#define INCREMENT_COUNT_MAX 65536

/* By how much the chunks of one item grow: text "2", "-1" or "23.5%"; NULL: there is no rule for it. */
typedef const char *increment_rule(void *arg, uint32_t item);

/* Appends the select to *ret, with a count at each item. Item i with count n gets n + k for a rule "k", and
 * ceil(n * (1 + p / 100)) for "p%"; the first item keeps one chunk apart, for the primary; a count of 0 stays. Fails
 * with -EINVAL: a rule is missing, or is none of these; -ERANGE: a count would be below 0 or above the maximum;
 * -ENOMEM. */
int32_t increment_select(const char *select, increment_rule *rule, void *arg, struct keel_text *ret);
/* The same rule for each item. */
int32_t increment_chunks(const char *select, const char *rule, struct keel_text *ret);

/* The select with the counts of another one that has as many items, such as that before it was incremented. -EINVAL. */
int32_t increment_counts_of(const char *select, const char *counts, struct keel_text *ret);

#endif
