/* SPDX-License-Identifier: Apache-2.0
 *
 * msg.h - message bodies, read and built; the group "msg" and the kernel's own use of it.
 */
#ifndef KEELSON_MSG_H
#define KEELSON_MSG_H

#include "keel/api.h"
#include "util/buf.h"

/* Decode a body (pack_check()ed). The bytes are copied. */
int msg_open(const char *bytes, size_t len, struct keel_msg **ret_msg);
/* As msg_open(), without a copy: the body is the `len` bytes at memory[at], with a spare byte behind them. `memory` is
 * from malloc() and is the message's from here on; freed on error, too. */
int msg_take(char *memory, size_t at, size_t len, struct keel_msg **ret_msg);
/* The message of msg_take() that these bytes are a part of, held until one more msg_destroy(); NULL: there is none. */
struct keel_msg *msg_hold(const void *bytes, size_t len);
void msg_destroy(struct keel_msg *m);
/* The body again, appended. */
void msg_pack(const struct keel_msg *m, struct buf *out);

/* The finished map, borrowed until the out is dropped; NULL when an allocation failed or an array is
 * still open. */
struct keel_out *out_create(void);
const char *out_bytes(struct keel_out *o, uint32_t *ret_len);
void out_drop(struct keel_out *o);
/* For object->pack: raw MessagePack of one value, appended to the array that is open. */
void out_raw(struct keel_out *o, const void *bytes, uint32_t len);

/* An out that is just begun becomes this finished map, which a stranger wrote. False: it is none. */
bool out_adopt(struct keel_out *o, const void *bytes, uint32_t len);

const struct keel_msg_api *msg_api(void);

#endif
