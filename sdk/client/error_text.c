/* SPDX-License-Identifier: Apache-2.0
 *
 * error_text.c - the table of errors, sorted by number.
 */
#include "error_text.h"

#include <stdlib.h>

struct row {
	int code;
	const char *text;
};

static const struct row rows[] = {
#define PBSE(number, name, text) { number, text },
#include "keel/pbse.def"
#undef PBSE
};

static int row_compare(const void *key, const void *row)
{
	return *(const int *)key - ((const struct row *)row)->code;
}

const char *error_text(int code)
{
	const struct row *row;

	row = bsearch(&code, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]), row_compare);
	return row == NULL ? NULL : row->text;
}
