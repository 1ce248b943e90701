/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - the body of one request, with its header, in one buffer.
 *
 * The packer's return values are not checked one by one: the buffer keeps the first error.
 */
#include "request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "pack.h"

#define FIRST_SIZE 8192u

static int request_write(void *arg, const char *bytes, size_t len)
{
	struct request *rq = arg;

	if (rq->failed || rq->size - rq->len < len) {
		size_t size = rq->size < FIRST_SIZE ? FIRST_SIZE : rq->size;
		char *grown;

		while (size - rq->len < len)
			size *= 2;
		grown = rq->failed ? NULL : realloc(rq->bytes, size);
		if (grown == NULL) {
			rq->failed = true;
			return -1;
		}
		rq->bytes = grown;
		rq->size = size;
	}
	memcpy(rq->bytes + rq->len, bytes, len);
	rq->len += len;
	return 0;
}

static const char *or_nil(const char *text)
{
	return text == NULL || *text == '\0' ? NULL : text;
}

static void pack_attrs(msgpack_packer *pk, const struct attropl *list)
{
	size_t n = 0;

	for (const struct attropl *a = list; a != NULL; a = a->next)
		n++;
	msgpack_pack_array(pk, n);
	for (const struct attropl *a = list; a != NULL; a = a->next) {
		msgpack_pack_array(pk, 4);
		pack_str(pk, a->name == NULL ? "" : a->name);
		pack_str(pk, or_nil(a->resource));
		pack_str(pk, a->value);
		msgpack_pack_int(pk, (int)a->op);
	}
}

static void pack_want(msgpack_packer *pk, const struct attrl *list)
{
	size_t n = 0;

	for (const struct attrl *a = list; a != NULL; a = a->next)
		n++;
	msgpack_pack_array(pk, n);
	for (const struct attrl *a = list; a != NULL; a = a->next) {
		msgpack_pack_array(pk, 2);
		pack_str(pk, a->name == NULL ? "" : a->name);
		pack_str(pk, or_nil(a->resource));
	}
}

static void pack_strs(msgpack_packer *pk, char *const *texts, size_t n)
{
	msgpack_pack_array(pk, n);
	for (size_t i = 0; i < n; i++)
		pack_str(pk, texts[i] == NULL ? "" : texts[i]);
}

static void pack_arg(msgpack_packer *pk, const struct arg *a)
{
	pack_str(pk, a->key);
	if (a->ptr == NULL && a->kind != ARG_INT && a->kind != ARG_BOOL && a->kind != ARG_STRS) {
		msgpack_pack_nil(pk);
		return;
	}
	switch (a->kind) {
	case ARG_STR:
		pack_str(pk, a->ptr);
		break;
	case ARG_INT:
		msgpack_pack_int64(pk, a->n);
		break;
	case ARG_BOOL:
		a->n ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
		break;
	case ARG_BIN:
		msgpack_pack_bin_with_body(pk, a->ptr, (size_t)a->n);
		break;
	case ARG_ATTRS:
		pack_attrs(pk, a->ptr);
		break;
	case ARG_WANT:
		pack_want(pk, a->ptr);
		break;
	case ARG_STRS:
		pack_strs(pk, a->ptr, (size_t)a->n);
		break;
	}
}

int request_init(struct request *rq, const char *name, const struct arg *args, size_t n,
		 uint64_t corr)
{
	static const char head_space[WIRE_HEADER_SIZE];
	msgpack_packer pk;

	*rq = (struct request){ 0 };
	request_write(rq, head_space, sizeof(head_space));
	msgpack_packer_init(&pk, rq, request_write);
	msgpack_pack_map(&pk, n + 1);
	pack_key_str(&pk, "req", name);
	for (size_t i = 0; i < n; i++)
		pack_arg(&pk, &args[i]);
	if (rq->failed)
		return -ENOMEM;
	if (rq->len - WIRE_HEADER_SIZE > WIRE_BODY_MAX)
		return -EMSGSIZE;
	frame_header(rq->bytes, WIRE_REQUEST, corr, (uint32_t)(rq->len - WIRE_HEADER_SIZE));
	return 0;
}

void request_fini(struct request *rq)
{
	free(rq->bytes);
	*rq = (struct request){ 0 };
}
