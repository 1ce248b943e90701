/* SPDX-License-Identifier: Apache-2.0
 *
 * err.c - fill a struct keel_err where the cause is known, once; the texts of batch errors.
 *
 * The text is built in a second buffer, so arguments may point into the one it replaces.
 */
#include "util/err.h"

#include <stdio.h>
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

/* From the one table of batch errors. */
const char *pbse_text(int code)
{
	const char *text;

	switch (code) {
#define PBSE(number, name, words)     \
	case number:                  \
		text = words;         \
		break;
#include "keel/pbse.def"
#undef PBSE
	default:
		text = NULL;
	}
	return text == NULL ? "" : text;
}
