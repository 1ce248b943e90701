/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.h - an input of several texts, each ended by a byte 0xff.
 */
#ifndef TESTS_FUZZ_PARTS_H
#define TESTS_FUZZ_PARTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The next part as a string of its own, which the caller frees: a sanitizer sees what is read behind it. */
static inline char *text_take(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *stop = memchr(*at, 0xff, (size_t)(end - *at));
	size_t len = (size_t)((stop != NULL ? stop : end) - *at);
	char *text = malloc(len + 1);

	if (text == NULL)
		abort();
	memcpy(text, *at, len);
	text[len] = '\0';
	*at += len + (stop != NULL);
	return text;
}

#endif
