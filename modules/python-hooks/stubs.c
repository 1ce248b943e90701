/* SPDX-License-Identifier: Apache-2.0
 *
 * stubs.c - weak definitions of what is not written yet. It goes when it is empty: who writes a function deletes its line.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "host.h"
#include "server.h"
#define WEAK __attribute__((weak))
WEAK keel_verdict host_settle_execjob_attach(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK keel_verdict host_settle_execjob_resize(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK keel_verdict host_settle_execjob_abort(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK keel_verdict host_settle_execjob_postsuspend(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK keel_verdict host_settle_execjob_preresume(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
