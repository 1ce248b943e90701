/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - untrusted texts on a terminal: no control characters, no broken UTF-8.
 */
#include "modfile/text.h"

#include <stdint.h>
#include <string.h>

/* Returns the length of the printable character at `p`; 0: it is not printable. */
static size_t character(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char mask, head;
		uint32_t least;
	} forms[] = { { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };

	if (*p < 0x80)
		return *p >= ' ' && *p != 127;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		uint32_t code = *p & (unsigned char)~forms[i].mask;

		if ((*p & forms[i].mask) != forms[i].head || left < i + 2)
			continue;
		for (size_t n = 1; n < i + 2; n++) {
			if ((p[n] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (p[n] & 0x3f);
		}
		return code < forms[i].least || code < 0xa0 || code > 0x10ffff || (code & 0xfffff800) == 0xd800 ?
			       0 :
			       i + 2;
	}
	return 0;
}

void text_make_printable(char *text, size_t len)
{
	unsigned char *p = (unsigned char *)text;

	while (len > 0) {
		size_t n = character(p, len);

		if (n == 0) {
			*p = strchr("\n\t\r\v\f", *p) != NULL ? ' ' : '?';
			n = 1;
		}
		p += n;
		len -= n;
	}
}
