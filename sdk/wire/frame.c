/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.c - cuts a byte stream into frames.
 *
 * Invariant: start <= end <= size. Bytes before start were returned to the caller and are overwritten by
 * frame_reader_room(); bytes from end on are free.
 */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROW_MIN 4096u

enum { AT_LENGTH = 0, AT_TYPE = 4, AT_FLAGS = 6, AT_CORR = 8 };

static uint64_t get_be(const char *at, unsigned n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | (unsigned char)at[i];
	return value;
}

static void put_be(char *at, unsigned n, uint64_t value)
{
	while (n > 0) {
		at[--n] = (char)(value & 0xff);
		value >>= 8;
	}
}

void frame_reader_init(struct frame_reader *r, uint32_t body_max)
{
	*r = (struct frame_reader){ .body_max = body_max };
}

void frame_reader_fini(struct frame_reader *r)
{
	free(r->buf);
	r->buf = NULL;
	r->start = r->end = r->size = 0;
}

/* Doubling, so that a long body is copied a bounded number of times. */
static size_t grown_size(const struct frame_reader *r, size_t want)
{
	size_t size = r->size < GROW_MIN ? GROW_MIN : r->size;

	while (size - r->end < want) {
		if (size > SIZE_MAX / 2)
			return 0;
		size *= 2;
	}
	return size;
}

int frame_reader_room(struct frame_reader *r, size_t want, char **ret_room, size_t *ret_len)
{
	if (r->start == r->end)
		r->start = r->end = 0;
	if (r->size - r->end < want && r->start > 0) {
		memmove(r->buf, r->buf + r->start, r->end - r->start);
		r->end -= r->start;
		r->start = 0;
	}
	if (r->size - r->end < want || r->buf == NULL) {
		size_t size = grown_size(r, want);
		char *buf = size == 0 ? NULL : realloc(r->buf, size);

		if (buf == NULL)
			return -ENOMEM;
		r->buf = buf;
		r->size = size;
	}
	*ret_room = r->buf + r->end;
	*ret_len = r->size - r->end;
	return 0;
}

void frame_reader_added(struct frame_reader *r, size_t n)
{
	size_t free_bytes = r->size - r->end;

	r->end += n < free_bytes ? n : free_bytes;
}

/* As frame_next(), without consuming the frame. */
static int frame_peek(const struct frame_reader *r, struct frame *ret_frame)
{
	const char *head;
	uint64_t len, type;

	if (r->end - r->start < WIRE_HEADER_SIZE)
		return 0;
	head = r->buf + r->start;
	len = get_be(head + AT_LENGTH, 4);
	type = get_be(head + AT_TYPE, 2);
	if (type < WIRE_REQUEST || type > WIRE_GOODBYE || get_be(head + AT_FLAGS, 2) != 0 ||
	    len > r->body_max)
		return -EPROTO;
	if (r->end - r->start - WIRE_HEADER_SIZE < len)
		return 0;
	*ret_frame = (struct frame){
		.type = (uint16_t)type,
		.corr = get_be(head + AT_CORR, 8),
		.body = head + WIRE_HEADER_SIZE,
		.len = (uint32_t)len,
	};
	return 1;
}

size_t frame_lacks(const struct frame_reader *r)
{
	size_t there = r->end - r->start;
	uint64_t all;

	if (there < WIRE_HEADER_SIZE)
		return 0;
	all = WIRE_HEADER_SIZE + get_be(r->buf + r->start + AT_LENGTH, 4);
	return all > there ? (size_t)(all - there) : 0;
}

bool frame_is_whole(const struct frame_reader *r)
{
	struct frame f;

	return frame_peek(r, &f) != 0;
}

int frame_next(struct frame_reader *r, struct frame *ret_frame)
{
	int ret = frame_peek(r, ret_frame);

	if (ret == 1)
		r->start += WIRE_HEADER_SIZE + ret_frame->len;
	return ret;
}

char *frame_take(struct frame_reader *r, const struct frame *f)
{
	char *memory = r->buf;

	if (r->start != r->end || r->end == r->size || r->size / 4 > f->len + GROW_MIN || f->body + f->len != memory + r->end)
		return NULL;
	frame_reader_init(r, r->body_max);
	return memory;
}

void frames_each(const char *bytes, size_t len, void (*fn)(void *arg, const struct frame *f), void *arg)
{
	struct frame_reader r;
	struct frame f;
	size_t room_len;
	char *room;

	frame_reader_init(&r, WIRE_BODY_MAX);
	if (frame_reader_room(&r, len, &room, &room_len) == 0) {
		memcpy(room, bytes, len);
		frame_reader_added(&r, len);
		while (frame_next(&r, &f) == 1)
			fn(arg, &f);
	}
	frame_reader_fini(&r);
}

void frame_header(char head[WIRE_HEADER_SIZE], uint16_t type, uint64_t corr, uint32_t len)
{
	put_be(head + AT_LENGTH, 4, len);
	put_be(head + AT_TYPE, 2, type);
	put_be(head + AT_FLAGS, 2, 0);
	put_be(head + AT_CORR, 8, corr);
}
