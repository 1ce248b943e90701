/* SPDX-License-Identifier: Apache-2.0
 *
 * show.h - the attributes of one object as text: full format, one line per attribute, dsv.
 *
 * A value is shown as the server sent it, except dates (if `dates`) and coded words.
 */
#ifndef KEELSON_COMMANDS_SHOW_H
#define KEELSON_COMMANDS_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "clock_text.h"
#include "out.h"
#include "pbs_ifl.h"
#include "trait.h"

struct show {
	struct out *out; /* borrowed */
	struct trait_index traits;
	struct clock_text clock;
	bool dates; /* epoch seconds of TIME attributes become text */
	char *scratch; /* owned; decoded values */
	size_t scratch_size;
};

/* The word behind -F. Returns 0 or -EINVAL. */
enum show_format { FORMAT_TEXT, FORMAT_DSV, FORMAT_JSON };
int show_format_find(const char *word, enum show_format *ret);

/* Returns 0 or -ENOMEM. */
int show_init(struct show *s, struct out *out, bool dates);
void show_fini(struct show *s);

/* Returns the text to print for `a`; in `s` or in `a`, valid until the next call. *ret_kind as trait_find(). */
const char *show_value(struct show *s, const struct attrl *a, size_t *ret_len,
		       enum trait *ret_kind);

/* Prints "    name.resource = value" for each attribute. Wrapped: values go on in lines that begin with a
 * TAB; joining = deleting each newline and TAB. Not wrapped: a newline in a value is "\n". */
void show_attributes(struct show *s, const struct attrl *list, bool wrapped);

/* The same with `indent` blanks and never wrapped. */
void show_attributes_plain(struct show *s, const struct attrl *list, size_t indent);

/* Prints "DELIM" name=value for each attribute, on the current line. `skip_blanks_of` names an attribute
 * whose blanks are left out (or NULL). */
void show_dsv(struct show *s, const struct attrl *list, const char *delim,
	      const char *skip_blanks_of);

/* Prints a text with the delimiter and line ends escaped. */
void show_dsv_text(struct out *o, const char *text, size_t len, const char *delim);

#endif
