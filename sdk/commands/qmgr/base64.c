/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.c - RFC 4648 section 4.
 */
#include "base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE 76

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void group_encode(const unsigned char *in, size_t n, char out[4])
{
	unsigned long bits = (unsigned long)in[0] << 16;

	if (n > 1)
		bits |= (unsigned long)in[1] << 8;
	if (n > 2)
		bits |= in[2];
	out[0] = digits[bits >> 18];
	out[1] = digits[bits >> 12 & 63];
	out[2] = n > 1 ? digits[bits >> 6 & 63] : '=';
	out[3] = n > 2 ? digits[bits & 63] : '=';
}

char *base64_encode(const void *bytes, size_t len)
{
	size_t groups = (len + 2) / 3, column = 0, at = 0, n;
	char *text = malloc(groups * 4 + groups * 4 / LINE + 2);

	if (!text)
		return NULL;
	for (const unsigned char *in = bytes; len > 0; in += n, len -= n) {
		n = len < 3 ? len : 3;
		group_encode(in, n, text + at);
		at += 4;
		column += 4;
		if (column == LINE || len == n) {
			text[at++] = '\n';
			column = 0;
		}
	}
	text[at] = '\0';
	return text;
}

int base64_decode(const char *text, char **ret_bytes, size_t *ret_len)
{
	char *out = malloc(strlen(text) * 3 / 4 + 4);
	unsigned long bits = 0;
	size_t len = 0, have = 0;

	if (!out)
		return -ENOMEM;
	for (; *text && *text != '='; text++) {
		const char *digit = strchr(digits, *text);

		if (strchr(" \t\r\n", *text))
			continue;
		if (!digit) {
			free(out);
			return -EINVAL;
		}
		bits = bits << 6 | (unsigned long)(digit - digits);
		if (++have % 4 != 1)
			out[len++] = (char)(bits >> (6 - 2 * ((have - 1) % 4)) & 255);
	}
	if (have % 4 == 1 || text[strspn(text, "= \t\r\n")] != '\0') {
		free(out);
		return -EINVAL;
	}
	out[len] = '\0';
	*ret_bytes = out;
	*ret_len = len;
	return 0;
}
