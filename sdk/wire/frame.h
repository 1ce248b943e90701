/* SPDX-License-Identifier: Apache-2.0
 *
 * frame.h - cut a byte stream into frames, and put the header before a body.
 *
 * A reader keeps the bytes that are not yet a whole frame. It grows with the bytes that came, never
 * with the length a peer announced.
 */
#ifndef KEELSON_FRAME_H
#define KEELSON_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keel/wire.h"

struct frame {
	uint16_t type; /* enum wire_type */
	uint64_t corr;
	const char *body; /* borrowed from the reader until the next frame_* call on it */
	uint32_t len;
};

struct frame_reader {
	char *buf;
	size_t start, end, size; /* bytes start..end of buf are unread */
	uint32_t body_max;
};

void frame_reader_init(struct frame_reader *r, uint32_t body_max);
void frame_reader_fini(struct frame_reader *r);

/* Makes room for at least `want` more bytes, at *ret_room; *ret_len is its size. Returns 0 or -ENOMEM. */
int frame_reader_room(struct frame_reader *r, size_t want, char **ret_room, size_t *ret_len);

/* The caller wrote `n` bytes into the room. */
void frame_reader_added(struct frame_reader *r, size_t n);

/* Returns 1 and the next whole frame in *ret_frame; 0: more bytes are needed; -EPROTO: the header is
 * wrong (unknown type, flags, length above body_max), the stream cannot be used after that. */
int frame_next(struct frame_reader *r, struct frame *ret_frame);

/* Returns the number of bytes missing in the first frame; 0: none, or its header is incomplete. */
size_t frame_lacks(const struct frame_reader *r);

/* Returns whether frame_next() would return anything but 0. */
bool frame_is_whole(const struct frame_reader *r);

/* Returns the reader's memory, if nothing follows frame `f`, the last one returned, and it is not much larger: the
 * caller frees it; it has at least one byte behind the body at f->body, and the reader is empty. Else NULL. */
char *frame_take(struct frame_reader *r, const struct frame *f);

/* Calls fn for each whole frame in `bytes`; what is not one ends it, without memory there is none. */
void frames_each(const char *bytes, size_t len, void (*fn)(void *arg, const struct frame *f), void *arg);

/* Writes a header for a body of `len` bytes into `head`. */
void frame_header(char head[WIRE_HEADER_SIZE], uint16_t type, uint64_t corr, uint32_t len);

#endif
