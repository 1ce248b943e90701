/* SPDX-License-Identifier: Apache-2.0
 *
 * clock_text.h - epoch seconds as "Fri Jan  2 03:04:05 2026", many per second.
 *
 * Local time, C names in every locale. The zone's offset changes only on a quarter of an hour, so
 * one conversion serves all the seconds of a quarter.
 */
#ifndef KEELSON_COMMANDS_CLOCK_TEXT_H
#define KEELSON_COMMANDS_CLOCK_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_TEXT_LEN 24
#define CLOCK_TEXT_SLOTS 64

struct clock_text {
	struct {
		int64_t quarter; /* seconds / 900, plus 1; 0 empty */
		char text[CLOCK_TEXT_LEN + 1]; /* of its first second */
	} slot[CLOCK_TEXT_SLOTS];
	char text[CLOCK_TEXT_LEN + 8]; /* the text returned last */
};

/* Returns the text of `when`, in `c`, valid until the next call. *ret_len is its length. */
const char *clock_text(struct clock_text *c, int64_t when, size_t *ret_len);

#endif
