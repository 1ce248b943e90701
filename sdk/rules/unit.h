/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h - parses numbers with units and comma lists of a configuration. Errors: -EINVAL: malformed, -ERANGE.
 */
#ifndef KEELSON_RULES_UNIT_H
#define KEELSON_RULES_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "250ms" "10s" "5m" "1h" "2d", or seconds without a unit. Returns 0 or an error. */
int duration_parse(const char *text, int64_t *ret_ms);

/* "64kb" "1gb" "512b", 'w' for words of 8 bytes ("4kw"), or bytes. Returns 0 or an error. */
int size_parse(const char *text, int64_t *ret_bytes);

/* A whole decimal or 0x number and nothing else. Returns 0 or an error. */
int integer_parse(const char *text, int64_t *ret);

/* Returns whether `word` is an item of the comma list. */
bool list_has(const char *list, const char *word);

/* Returns the items of a comma list without blanks around them and without empty ones: a NULL-terminated array in one
 * allocation, which the caller frees. NULL: out of memory. */
char **list_split(const char *text, size_t *ret_n);

#endif
