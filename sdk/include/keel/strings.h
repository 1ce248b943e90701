/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/strings.h - copies of lists of strings, which end with NULL. Header only. Any thread.
 */
#ifndef KEEL_STRINGS_H
#define KEEL_STRINGS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of a list, which may be NULL. */
static inline uint32_t keel_strings_count(const char *const *list)
{
	uint32_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Also of NULL. */
static inline void keel_strings_free(char **list)
{
	for (char **at = list; at && *at; at++)
		free(*at);
	free(list);
}

/* The caller calls keel_strings_free(). NULL without memory; n 0 is an empty list. */
static inline char **keel_strings_copy(const char *const *from, uint32_t n)
{
	char **list = (char **)calloc((size_t)n + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < n; i++) {
		const size_t size = strlen(from[i]) + 1;

		list[i] = (char *)malloc(size);
		if (!list[i]) {
			keel_strings_free(list);
			return NULL;
		}
		memcpy(list[i], from[i], size);
	}
	return list;
}

#endif
