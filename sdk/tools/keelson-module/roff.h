/* SPDX-License-Identifier: Apache-2.0
 *
 * roff.h - texts of modules in the macros of man(7).
 */
#ifndef KEELSON_ROFF_H
#define KEELSON_ROFF_H

#include <stdio.h>

/* A part of a line. */
void roff_line(const char *text, FILE *out);
/* A text that is broken at blanks; ends the line. */
void roff_text(const char *text, FILE *out);
/* A paragraph with this title. */
void roff_tag(const char *title, FILE *out);

#endif
