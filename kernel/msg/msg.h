/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.h - message bodies, read and built; the group "msg" and the kernel's own use of it.
 */
#ifndef KEELSON_MSG_H
#define KEELSON_MSG_H

#include "keel/api.h"
#include "wire/buf.h"
#include "wire/frame.h"

/* Decode a body that pack_check() accepted. The bytes are copied. 0 or -errno. */
int msg_open(const char *bytes, size_t len, struct keel_msg **ret_msg);
/* As msg_open(), without a copy: the body is the `len` bytes at memory[at], with a spare byte behind them. `memory` is
 * from malloc() and owned by the message from here on; on an error it is freed. */
int msg_take(char *memory, size_t at, size_t len, struct keel_msg **ret_msg);
/* Returns the message of msg_take() that these bytes are part of, referenced until one more msg_destroy(), or NULL. */
struct keel_msg *msg_hold(const void *bytes, size_t len);
void msg_destroy(struct keel_msg *m);

/* ---- bodies that go out ----
 * Every function takes a NULL out (no memory at its creation) and does nothing. After the first error out_bytes() and
 * out_frame() return NULL, so that the caller checks once. */
struct keel_out {
	struct buf b; /* room for the head of a frame, the body */
	uint32_t keys, depth; /* depth: of open[] */
	bool raw;             /* a body that is complete already */
	struct {
		uint32_t place, count;
	} open[WIRE_DEPTH_MAX - 1]; /* the map is the first level */
};
struct keel_out *out_create(void);
struct keel_out *out_raw(const void *bytes, uint32_t len); /* a body that another daemon has packed; copied */
void out_drop(struct keel_out *o);
void out_put_str(struct keel_out *o, const char *key, const char *text);
void out_put_int(struct keel_out *o, const char *key, int64_t n);

/* For object->pack: returns the buffer to which the caller writes the next value of the array that is open; it may have failed. */
struct buf *out_value(struct keel_out *o);

/* Returns the finished map, borrowed until the out is dropped; NULL: an allocation failed, or an array is open. */
const char *out_bytes(struct keel_out *o, uint32_t *ret_len);
/* Returns the body as one frame, header first; borrowed like out_bytes(). The out must not grow afterwards. */
const char *out_frame(struct keel_out *o, uint16_t type, uint64_t corr, size_t *ret_len);

extern const struct keel_msg_api msg_api;

#endif
