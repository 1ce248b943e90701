/* SPDX-License-Identifier: Apache-2.0
 *
 * limits.c - every bound on what clients may take, in one table.
 */
#include "request/inside.h"

const struct router_limits router_limits_default = {
	.clients = 1024,           /* connections in all */
	.clients_per_uid = 256,    /* not root's */
	.reserve = 64,
	.reserve_root = 32,
	.deciding = 4,
	.idle_ms = 1000,
	.accepts_per_turn = 32,
	.requests_per_turn = 64,   /* then the other clients are served */
	.serve_ns = 3 * 1000 * 1000,
	.requests_open = 1024,     /* unanswered on one connection; then it is not read */
	.request = 1u << 20,       /* it is decoded and served in one turn */
	.queued_high = 1u << 20,   /* part() fails with -ENOBUFS, requests are not read */
	.queued_low = 256u << 10,  /* the callback of drained() is called */
	.queued_uid = 32u << 20,   /* as queued_high */
	.queued_small = 64u << 10,
	.input_all = 512u << 20,   /* a long request that would pass it is dropped */
	.input_small = 1u << 20,
	.open_all = 512u << 20,    /* a request that would pass it is refused */
	.open_small = 1u << 20,
	.stall_ms = 60 * 1000,     /* half a request, or replies that the client does not read; client.stall */
	.sweep_ms = 2000,
	.shutdown_ms = 2000,       /* then open requests are answered "shutting down" */
	.goodbye_ms = 100,         /* then a client that does not read its replies is dropped without a goodbye */
	.quarantine = 1024,
};
