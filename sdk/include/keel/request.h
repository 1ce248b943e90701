/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/request.h - answer clients.
 */
#ifndef KEEL_REQUEST_H
#define KEEL_REQUEST_H

#include "keel/api.h"
#include "keel/use.h"

/* The requester: taken from the socket, never from the message. Borrowed until the answer. */
static inline const struct keel_session *keel_req_session(struct keel_req *req)
{
	return KEEL_MODULE_kernel.request->session(req);
}

/* The body of the request. Borrowed until the reply. */
static inline const struct keel_msg *keel_req_body(struct keel_req *req)
{
	return KEEL_MODULE_kernel.request->body(req);
}

/* The one answer. fmt NULL: the table text of the code. Released after this turn's changes are durable. The req is
 * gone after it, and only then. */
#define keel_reply(...) (KEEL_MODULE_kernel.request->reply(__VA_ARGS__))

/* The one answer, code 0 with results. The out is moved. */
static inline void keel_reply_out(struct keel_req *req, struct keel_out *out)
{
	KEEL_MODULE_kernel.request->reply_out(req, out);
}

/* A PART, sent at once. Fails with -ENOBUFS when the client reads too slowly: the part was taken all the same, and
 * the caller calls keel_drained() and goes on later; with -EPIPE when the client is gone. */
static inline int32_t keel_part(struct keel_req *req, struct keel_out *out)
{
	return KEEL_MODULE_kernel.request->part(req, out);
}

/* Calls fn when the client has read what was sent to it. Fails with -EPIPE: the client is gone, fn is not called. */
static inline int32_t keel_drained(struct keel_req *req, keel_fn *fn, void *arg)
{
	return KEEL_MODULE_kernel.request->drained(req, fn, arg);
}

/* fn runs when the client disconnects before the reply. The req stays valid until the caller replies; that reply
 * then goes nowhere. */
static inline void keel_on_gone(struct keel_req *req, keel_fn *fn, void *arg)
{
	KEEL_MODULE_kernel.request->on_gone(req, fn, arg);
}

/* The body of a request that a row with KEEL_REQUEST_OTHERS took, as its client sent it; borrowed until the reply.
 * NULL: it is another one. keel_req_body() of such a request is NULL. */
static inline const void *keel_req_raw(struct keel_req *req, uint32_t *ret_len)
{
	return KEEL_MODULE_kernel.request->raw(req, ret_len);
}

/* keel_part() with a body that another daemon has packed; copied. */
static inline int32_t keel_part_raw(struct keel_req *req, const void *bytes, uint32_t len)
{
	return KEEL_MODULE_kernel.request->part_raw(req, bytes, len);
}
/* The one answer, with such a body; copied. */
static inline void keel_reply_raw(struct keel_req *req, const void *bytes, uint32_t len)
{
	KEEL_MODULE_kernel.request->reply_raw(req, bytes, len);
}

/* fn runs once when the daemon ends or restarts while the request is open. It need not answer: but what is open at the
 * deadline (5 s of a restart) is answered with an error. */
static inline void keel_on_leave(struct keel_req *req, keel_fn *fn, void *arg)
{
	KEEL_MODULE_kernel.request->on_leave(req, fn, arg);
}

/* The one answer: nothing was done, the library sends the request again. */
static inline void keel_reply_again(struct keel_req *req)
{
	KEEL_MODULE_kernel.request->again(req);
}

/* The name of the request's row. Borrowed until the reply. */
static inline const char *keel_req_name(struct keel_req *req)
{
	return KEEL_MODULE_kernel.request->name(req);
}

#endif
