/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h - numbers with units and comma lists, as people write them in configuration.
 */
#ifndef KEELSON_RULES_UNIT_H
#define KEELSON_RULES_UNIT_H

#include <stddef.h>
#include <stdint.h>

/* "250ms" "10s" "5m" "1h" "2d", or seconds without a unit. 0, -EINVAL (not that), -ERANGE. */
int duration_parse(const char *text, int64_t *ret_ms);

/* "64kb" "1gb" "512b", 'w' for words of 8 bytes ("4kw"), or bytes. 0, -EINVAL, -ERANGE. */
int size_parse(const char *text, int64_t *ret_bytes);

/* A whole decimal or 0x number and nothing else. 0, -EINVAL, -ERANGE. */
int integer_parse(const char *text, int64_t *ret);

/* The items of a comma list, blanks around them cut, empty ones left out: a NULL-terminated array in
 * one malloc'ed block (free() it once). NULL: no memory. */
char **list_split(const char *text, size_t *ret_n);

#endif
