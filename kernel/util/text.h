/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - small work on strings.
 */
#ifndef KEELSON_TEXT_H
#define KEELSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Returns `dir/name`, `name` alone when it is absolute; the caller frees it. NULL without memory. */
char *path_join(const char *dir, const char *name);

/* printf into a string that the caller frees. NULL without memory. */
char *text_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* FNV-1a. */
uint64_t bytes_hash(const void *bytes, size_t len);

#endif
