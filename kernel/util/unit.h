/* SPDX-License-Identifier: Apache-2.0
 *
 * unit.h - numbers with units, as people write them in configuration.
 */
#ifndef KEELSON_UNIT_H
#define KEELSON_UNIT_H

#include <stdint.h>

/* "250ms" "10s" "5m" "1h" "2d", or seconds without a unit. 0, -EINVAL (not that), -ERANGE. */
int duration_parse(const char *text, int64_t *ret_ms);

/* "64kb" "1gb" "512b", 'w' for words of 8 bytes ("4kw"), or bytes. 0, -EINVAL, -ERANGE. */
int size_parse(const char *text, int64_t *ret_bytes);

/* A whole decimal or 0x number and nothing else. 0, -EINVAL, -ERANGE. */
int integer_parse(const char *text, int64_t *ret);

#endif
