/* SPDX-License-Identifier: Apache-2.0
 *
 * pbse.c - the texts of batch errors, from the one table. Rows are in order of their numbers.
 */
#include <stdlib.h>

#include "util/err.h"

struct row {
	int number;
	const char *text;
};

static const struct row rows[] = {
#define PBSE(number, name, text) { number, text },
#include "keel/pbse.def"
#undef PBSE
};

static int row_compare(const void *key, const void *row)
{
	int number = *(const int *)key, other = ((const struct row *)row)->number;

	return (number > other) - (number < other);
}

const char *pbse_text(int code)
{
	const struct row *row = bsearch(&code, rows, sizeof(rows) / sizeof(rows[0]), sizeof(rows[0]),
					row_compare);

	return row == NULL || row->text == NULL ? "" : row->text;
}
