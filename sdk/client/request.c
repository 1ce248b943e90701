/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - the body of one request, with its header, in one buffer.
 *
 * The buffer keeps the first error.
 */
#include "request.h"

#include <errno.h>

#include "frame.h"
#include "pack.h"

static const char *or_nil(const char *text)
{
	return text == NULL || *text == '\0' ? NULL : text;
}

static void pack_attrs(struct buf *b, const struct attropl *list)
{
	size_t n = 0;

	for (const struct attropl *a = list; a != NULL; a = a->next)
		n++;
	pack_array(b, n);
	for (const struct attropl *a = list; a != NULL; a = a->next) {
		pack_array(b, 4);
		pack_str(b, a->name == NULL ? "" : a->name);
		pack_str(b, or_nil(a->resource));
		pack_str(b, a->value);
		pack_number(b, a->op);
	}
}

static void pack_want(struct buf *b, const struct attrl *list)
{
	size_t n = 0;

	for (const struct attrl *a = list; a != NULL; a = a->next)
		n++;
	pack_array(b, n);
	for (const struct attrl *a = list; a != NULL; a = a->next) {
		pack_array(b, 2);
		pack_str(b, a->name == NULL ? "" : a->name);
		pack_str(b, or_nil(a->resource));
	}
}

static void pack_arg(struct buf *b, const struct arg *a)
{
	char *const *texts;

	pack_str(b, a->key);
	if (a->ptr == NULL && a->kind != ARG_INT && a->kind != ARG_BOOL && a->kind != ARG_STRS) {
		pack_nil(b);
		return;
	}
	switch (a->kind) {
	case ARG_STR:
		pack_str(b, a->ptr);
		break;
	case ARG_INT:
		pack_number(b, a->n);
		break;
	case ARG_BOOL:
		pack_bool(b, a->n != 0);
		break;
	case ARG_BIN:
		pack_bin(b, a->ptr, (size_t)a->n);
		break;
	case ARG_ATTRS:
		pack_attrs(b, a->ptr);
		break;
	case ARG_WANT:
		pack_want(b, a->ptr);
		break;
	case ARG_STRS:
		texts = a->ptr;
		pack_array(b, (size_t)a->n);
		for (int64_t i = 0; i < a->n; i++)
			pack_str(b, texts[i] == NULL ? "" : texts[i]);
		break;
	}
}

int request_init(struct buf *b, const char *name, const struct arg *args, size_t n, uint64_t corr)
{
	static const char head_space[WIRE_HEADER_SIZE];

	buf_init(b);
	buf_add(b, head_space, sizeof(head_space));
	pack_map(b, n + 1);
	pack_key_str(b, "req", name);
	for (size_t i = 0; i < n; i++)
		pack_arg(b, &args[i]);
	if (b->failed)
		return -ENOMEM;
	if (b->len - WIRE_HEADER_SIZE > WIRE_BODY_MAX)
		return -EMSGSIZE;
	frame_header(b->data, WIRE_REQUEST, corr, (uint32_t)(b->len - WIRE_HEADER_SIZE));
	return 0;
}
