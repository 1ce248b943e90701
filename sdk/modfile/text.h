/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - untrusted texts on a terminal.
 */
#ifndef KEELSON_MODFILE_TEXT_H
#define KEELSON_MODFILE_TEXT_H

#include <stddef.h>

/* In place: line breaks and tabs become blanks, other control characters and what is no UTF-8 '?'. */
void text_make_printable(char *text, size_t len);

#endif
