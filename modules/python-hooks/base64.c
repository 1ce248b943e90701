/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.c - the form in which bodies of hooks travel between qmgr and the server. Pure.
 */
#include "manage.h"

#include <stdlib.h>
#include <string.h>

#define LINE 76

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_text(const void *bytes, uint32_t len)
{
	size_t groups = ((size_t)len + 2) / 3, at = 0;
	char *text = malloc(groups * 4 + groups * 4 / LINE + 2);
	const unsigned char *in = bytes;

	for (uint32_t i = 0; text && i < len; i += 3) {
		uint32_t left = len - i, bits = (uint32_t)in[i] << 16;

		bits |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		bits |= left > 2 ? in[i + 2] : 0;
		text[at++] = digits[bits >> 18];
		text[at++] = digits[bits >> 12 & 63];
		text[at++] = left > 1 ? digits[bits >> 6 & 63] : '=';
		text[at++] = left > 2 ? digits[bits & 63] : '=';
		if (left <= 3 || (i / 3 + 1) % (LINE / 4) == 0)
			text[at++] = '\n';
	}
	if (text)
		text[at] = '\0';
	return text;
}

/* Its digits and padding without what is between them; false: there is something else. */
static bool digits_only(const char *text, size_t size, char *to, size_t *ret_len)
{
	size_t n = 0, padding = 0;

	for (const char *end = text + size; text < end; text++) {
		if (*text && strchr(" \t\r\n", *text))
			continue;
		if (*text == '=')
			padding++;
		else if (padding || !*text || !strchr(digits, *text))
			return false;
		to[n++] = *text;
	}
	*ret_len = n - padding;
	return n % 4 == 0 && padding <= 2;
}

char *base64_bytes(const char *text, uint32_t size, uint32_t *ret_len)
{
	char *out = malloc((size_t)size + 1);
	size_t n = 0, len = 0;
	uint32_t bits = 0;

	if (!out) {
		errno = ENOMEM;
		return NULL;
	}
	errno = EINVAL;
	if (!digits_only(text, size, out, &n)) {
		free(out);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) { /* what is read is always ahead of what is written */
		bits = bits << 6 | (uint32_t)(strchr(digits, out[i]) - digits);
		if (i % 4)
			out[len++] = (char)(bits >> (6 - 2 * (i % 4)) & 255);
	}
	if ((n % 4 == 2 && bits & 15) || (n % 4 == 3 && bits & 3)) { /* bits that no encoder writes */
		free(out);
		return NULL;
	}
	out[len] = '\0';
	*ret_len = (uint32_t)len;
	return out;
}
