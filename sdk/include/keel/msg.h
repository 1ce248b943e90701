/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/msg.h - read and build message bodies: maps with string keys.
 */
#ifndef KEEL_MSG_H
#define KEEL_MSG_H

#include "keel/api.h"
#include "keel/use.h"

/* A string; NULL: absent, no string, or a NUL in it. Borrowed from the message, as what follows is. */
static inline const char *keel_msg_str(const struct keel_msg *msg, const char *key)
{
	return KEEL_MODULE_kernel.msg->str(msg, key);
}

/* Bytes and how many; NULL: absent. */
static inline const void *keel_msg_bytes(const struct keel_msg *msg, const char *key, uint32_t *ret_len)
{
	return KEEL_MODULE_kernel.msg->bytes(msg, key, ret_len);
}

/* An integer, or `otherwise` when it is absent or none. */
static inline int64_t keel_msg_int(const struct keel_msg *msg, const char *key, int64_t otherwise)
{
	return KEEL_MODULE_kernel.msg->integer(msg, key, otherwise);
}

/* Array of strings: *ret_n of them, borrowed; NULL when absent. -1 in *ret_n: not that. */
static inline const char *const *keel_msg_strings(const struct keel_msg *msg, const char *key, uint32_t *ret_n)
{
	return KEEL_MODULE_kernel.msg->strings(msg, key, ret_n);
}

/* Attribute list of a request, borrowed. Fails with -ENODATA when it is absent, -EPROTO when it is no such list. */
static inline int32_t keel_msg_attrs(const struct keel_msg *msg, const char *key,
				     const struct keel_attrop **ret, uint32_t *ret_n)
{
	return KEEL_MODULE_kernel.msg->attrs(msg, key, ret, ret_n);
}

/* A body to build: it starts as an open map; keys in any order, each once. The caller sends it or calls drop().
 * NULL without memory: every function here takes that, and the reply becomes an error. */
static inline struct keel_out *keel_out(struct keel_mod *mod)
{
	return KEEL_MODULE_kernel.msg->out(mod);
}

/* Add text; NULL: nil. */
static inline void keel_put_str(struct keel_out *out, const char *key, const char *text)
{
	KEEL_MODULE_kernel.msg->put_str(out, key, text);
}

/* Add an integer. */
static inline void keel_put_int(struct keel_out *out, const char *key, int64_t value)
{
	KEEL_MODULE_kernel.msg->put_int(out, key, value);
}

/* Add bytes; copied. */
static inline void keel_put_bytes(struct keel_out *out, const char *key, const void *bytes, uint32_t len)
{
	KEEL_MODULE_kernel.msg->put_bytes(out, key, bytes, len);
}

/* Add an array of strings; copied. */
static inline void keel_put_strings(struct keel_out *out, const char *key, const char *const *texts, uint32_t n)
{
	KEEL_MODULE_kernel.msg->put_strings(out, key, texts, n);
}

/* Open an array; add values (keel_add_str, keel_add_int, keel_pack), then keel_close() it. */
static inline void keel_open_array(struct keel_out *out, const char *key)
{
	KEEL_MODULE_kernel.msg->open_array(out, key);
}

/* Add to the open array. */
static inline void keel_add_str(struct keel_out *out, const char *text)
{
	KEEL_MODULE_kernel.msg->add_str(out, text);
}

/* Add to the open array. */
static inline void keel_add_int(struct keel_out *out, int64_t value)
{
	KEEL_MODULE_kernel.msg->add_int(out, value);
}

/* Open an array inside an array. */
static inline void keel_open_list(struct keel_out *out)
{
	KEEL_MODULE_kernel.msg->open_list(out);
}

/* End the array that was opened last. */
static inline void keel_close(struct keel_out *out)
{
	KEEL_MODULE_kernel.msg->close(out);
}

/* How many bytes it is so far. */
static inline uint32_t keel_out_length(const struct keel_out *out)
{
	return KEEL_MODULE_kernel.msg->length(out);
}

/* It is not sent after all: free it. NULL is fine. */
static inline void keel_out_drop(struct keel_out *out)
{
	KEEL_MODULE_kernel.msg->drop(out);
}

#endif
