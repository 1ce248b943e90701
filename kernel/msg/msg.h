/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.h - message bodies, read and built; the group "msg" and the kernel's own use of it.
 */
#ifndef KEELSON_MSG_H
#define KEELSON_MSG_H

#include "keel/api.h"
#include "wire/buf.h"

/* Decode a body that pack_check() accepted. The bytes are copied. 0 or -errno. */
int msg_open(const char *bytes, size_t len, struct keel_msg **ret_msg);
/* As msg_open(), without a copy: the body is the `len` bytes at memory[at], with a spare byte behind them. `memory` is
 * from malloc() and owned by the message from here on; on an error it is freed. */
int msg_take(char *memory, size_t at, size_t len, struct keel_msg **ret_msg);
/* Returns the message of msg_take() that these bytes are part of, referenced until one more msg_destroy(), or NULL. */
struct keel_msg *msg_hold(const void *bytes, size_t len);
void msg_destroy(struct keel_msg *m);
/* Append the body to `out`. */
void msg_pack(const struct keel_msg *m, struct buf *out);

/* Returns the finished map, borrowed until the out is dropped; NULL: an allocation failed, or an array is open. */
struct keel_out *out_create(void);
const char *out_bytes(struct keel_out *o, uint32_t *ret_len);
void out_drop(struct keel_out *o);
/* For object->pack: returns the buffer, to which the caller writes the next value of the array that is open; NULL: failed. */
struct buf *out_value(struct keel_out *o);

/* Turns a new out into this finished map, which comes from another process. Returns false when it is no map. */
bool out_adopt(struct keel_out *o, const void *bytes, uint32_t len);

const struct keel_msg_api *msg_api(void);

#endif
