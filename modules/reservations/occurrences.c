/* SPDX-License-Identifier: Apache-2.0
 *
 * occurrences.c - when a rule recurs.
 */
#include "reservations.h"

int32_t occurrences_of(const char *rule, const char *zone, int64_t start, int64_t duration, uint32_t max, int64_t **ret, uint32_t *ret_n) { (void)rule, (void)zone, (void)start, (void)duration, (void)max; *ret = NULL, *ret_n = 0; return PBSE_BAD_RRULE_SYNTAX; }
