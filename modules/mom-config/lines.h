/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h - the lines of mom_priv/config; calls no API.
 */
#ifndef MOM_CONFIG_LINES_H
#define MOM_CONFIG_LINES_H

#include <stdint.h>

#define FILE_MAX (256 * 1024)
#define LINES_MAX 4096 /* with a directive in them */

struct line {
	uint32_t number;	 /* in the file, the first is 1 */
	const char *whole;	 /* without its end */
	const char *name, *value; /* `$usecp`, and what stands behind it */
};
struct lines {
	struct line *at;
	uint32_t n;
	char *text; /* owns what the lines point to */
};

/* Splits `text`, which is copied. 0; fails with -ENOMEM, or -E2BIG: more than LINES_MAX. The caller frees them. */
int lines_split(struct lines *ret, const char *text);
void lines_free(struct lines *lines);

#endif
