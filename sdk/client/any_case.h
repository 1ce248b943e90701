/* SPDX-License-Identifier: Apache-2.0
 *
 * any_case.h - comparison of words ignoring case.
 *
 * strcasecmp() depends on the locale of the calling program: in a Turkish one "I" and "i" differ.
 */
#ifndef CLIENT_ANY_CASE_H
#define CLIENT_ANY_CASE_H

#include <stdbool.h>
#include <stddef.h>

/* As strncasecmp(), of ASCII letters. */
static inline int any_case_order(const char *a, const char *b, size_t n)
{
	for (; n > 0; a++, b++, n--) {
		int x = *a >= 'A' && *a <= 'Z' ? *a + ('a' - 'A') : (unsigned char)*a;
		int y = *b >= 'A' && *b <= 'Z' ? *b + ('a' - 'A') : (unsigned char)*b;

		if (x != y || x == '\0')
			return x - y;
	}
	return 0;
}

static inline bool same_word(const char *a, const char *b)
{
	return any_case_order(a, b, (size_t)-1) == 0;
}

#endif
