/* SPDX-License-Identifier: Apache-2.0
 *
 * err.c - fill a struct keel_err where the cause is known, once; the texts of batch errors.
 *
 * The text is built in a second buffer, so arguments may point into the one it replaces.
 */
#include "util/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_setv(struct keel_err *err, int ret, const char *fmt, va_list ap)
{
	char text[sizeof(err->text)];

	if (err == NULL)
		return ret;
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	memcpy(err->text, text, strlen(text) + 1);
	err->code = ret > PBSE_ ? ret : ret < -PBSE_ && ret > INT32_MIN ? -ret : 0; /* of a module: may be any value */
	return ret;
}

int err_set(struct keel_err *err, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(err, ret, fmt, ap);
	va_end(ap);
	return ret;
}

int err_no_memory(struct keel_err *err)
{
	return err_set(err, PBSE_SYSTEM, "%sno memory", pbse_text(PBSE_SYSTEM));
}

/* ---- texts of batch errors, from the one table ---- */
struct row {
	int number;
	const char *text;
};

/* In order of their numbers. */
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
