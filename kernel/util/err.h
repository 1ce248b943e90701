/* SPDX-License-Identifier: Apache-2.0
 *
 * err.h - fill a struct keel_err where the cause is known, once.
 */
#ifndef KEELSON_ERR_H
#define KEELSON_ERR_H

#include "keel/types.h"
#include "pbs_error.h"

/* Fill *err (may be NULL) with the text and return `ret`: `return err_set(err, -EINVAL, "queue '%s' ...", name);`
 * err->code becomes `ret` when that is a PBSE number (> 15000), else stays 0. */
int err_set(struct keel_err *err, int ret, const char *fmt, ...) KEEL_PRINTF(3, 4);
int err_setv(struct keel_err *err, int ret, const char *fmt, va_list ap);
/* The error for users "System error: no memory". Returns PBSE_SYSTEM. */
int err_no_memory(struct keel_err *err);

/* Returns the table text of a PBSE code (keel/pbse.def), "" for an unknown one. */
const char *pbse_text(int code);

#endif
