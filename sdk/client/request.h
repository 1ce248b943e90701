/* SPDX-License-Identifier: Apache-2.0
 *
 * request.h - the body of one request, with its header, in one buffer.
 */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pbs_ifl.h"
#include "wire/buf.h"

enum arg_kind { ARG_STR, ARG_INT, ARG_BOOL, ARG_BIN, ARG_ATTRS, ARG_WANT, ARG_STRS };

/* One argument of a request; what it points to is borrowed until the request is sent. */
struct arg {
	const char *key;
	enum arg_kind kind;
	const void *ptr;
	int64_t n; /* ARG_INT, ARG_BOOL: the value; ARG_BIN, ARG_STRS: the number */
};

static inline struct arg arg_str(const char *key, const char *text)
{
	return (struct arg){ key, ARG_STR, text, 0 };
}

static inline struct arg arg_int(const char *key, int64_t n)
{
	return (struct arg){ key, ARG_INT, NULL, n };
}

static inline struct arg arg_bool(const char *key, bool on)
{
	return (struct arg){ key, ARG_BOOL, NULL, on };
}

static inline struct arg arg_bin(const char *key, const void *bytes, size_t len)
{
	return (struct arg){ key, ARG_BIN, bytes, (int64_t)len };
}

/* NULL is sent as nil. */
static inline struct arg arg_attrs(const char *key, const struct attropl *list)
{
	return (struct arg){ key, ARG_ATTRS, list, 0 };
}

static inline struct arg arg_want(const char *key, const struct attrl *list)
{
	return (struct arg){ key, ARG_WANT, list, 0 };
}

static inline struct arg arg_strs(const char *key, char *const *texts, size_t n)
{
	return (struct arg){ key, ARG_STRS, texts, (int64_t)n };
}

/* Writes header and body. Returns 0, -ENOMEM, or -EMSGSIZE if the body exceeds WIRE_BODY_MAX; the caller calls buf_fini()
 * in any case. */
int request_init(struct buf *b, const char *name, const struct arg *args, size_t n, uint64_t corr);

#endif
