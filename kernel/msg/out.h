/* SPDX-License-Identifier: Apache-2.0
 *
 * out.h - message bodies that go out, and the frame around them.
 *
 * Every function takes a NULL out (no memory at its creation) and does nothing. After the first error
 * out_bytes() and out_frame() return NULL, so that the caller checks once.
 */
#ifndef KEELSON_OUT_H
#define KEELSON_OUT_H

#include "msg/msg.h"

void out_put_str(struct keel_out *o, const char *key, const char *text);
void out_put_int(struct keel_out *o, const char *key, int64_t n);
void out_put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len);
void out_put_strings(struct keel_out *o, const char *key, const char *const *strings, uint32_t n);
void out_open_array(struct keel_out *o, const char *key);
void out_open_list(struct keel_out *o);
void out_add_str(struct keel_out *o, const char *text);
void out_add_int(struct keel_out *o, int64_t n);
void out_close(struct keel_out *o);
uint32_t out_length(const struct keel_out *o);

/* Returns the body as one frame, header first; borrowed like out_bytes(). The out must not grow afterwards. */
const char *out_frame(struct keel_out *o, uint16_t type, uint64_t corr, size_t *ret_len);

/* Returns the frame again. */
const char *out_data(const struct keel_out *o, size_t *ret_len);

/* For lists of frames that are to be written: the caller, who owns the outs, links them by these. */
size_t out_weight(const struct keel_out *o); /* bytes of memory, about */
struct keel_out *out_next(const struct keel_out *o);
void out_link(struct keel_out *o, struct keel_out *next);

#endif
