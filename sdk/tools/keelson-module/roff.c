/* SPDX-License-Identifier: Apache-2.0
 *
 * roff.c - texts of modules in the macros of man(7): no text is taken for a request.
 */
#include "roff.h"

#include <string.h>

enum { LINE_LEN = 76 };

static void roff_char(char c, FILE *out)
{
	if (c == '\\')
		fputs("\\e", out);
	else if (c == '-')
		fputs("\\-", out);
	else
		putc(c, out);
}

void roff_line(const char *text, FILE *out)
{
	fputs(*text == '.' || *text == '\'' ? "\\&" : "", out);
	for (; *text != '\0'; text++)
		roff_char(*text, out);
}

void roff_text(const char *text, FILE *out)
{
	int column = 0;

	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (len > 0) {
			fputs(column == 0 ? "" : column + len > LINE_LEN ? "\n" : " ", out);
			column = column == 0 || column + len > LINE_LEN ? 0 : column + 1;
			if (column == 0 && (*text == '.' || *text == '\''))
				fputs("\\&", out);
			for (int i = 0; i < len; i++)
				roff_char(text[i], out);
			column += len;
		}
		text += len + (text[len] == ' ');
	}
	fputs(column == 0 ? "" : "\n", out);
}

void roff_tag(const char *title, FILE *out)
{
	fputs(".TP\n.B \"", out);
	for (; *title != '\0'; title++)
		*title == '"' ? (void)fputs("\\(dq", out) : roff_char(*title, out);
	fputs("\"\n", out);
}
