/* SPDX-License-Identifier: Apache-2.0
 *
 * stubs.c - weak definitions of what is not written yet. It goes when it is empty: who writes a function deletes its line.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "host.h"
#include "hostwide.h"
#include "server.h"
#define WEAK __attribute__((weak))
WEAK void run_object(struct run *r, struct pack *p, const char *target, struct keel_obj *obj, struct keel_call *c, const struct pack *facts) {}
WEAK void pack_object(struct state *st, struct pack *p, struct keel_obj *obj, struct keel_call *c, const struct pack *facts) {}
WEAK struct keel_obj *run_find(const struct run *r, const char *target) { return NULL; }
WEAK void result_fini(struct result *r) {}
WEAK int32_t runs_start(struct state *st, struct keel_err *err) { return 0; }
WEAK void runs_stop(struct state *st) {}
WEAK void taps_follow(struct state *st, struct hook *h) {}
WEAK int32_t run_now(struct state *st, enum event_id event, struct hook *only, void (*done)(struct state *, void *arg, bool accepted), void *arg) { return 0; }
WEAK bool run_goes(const struct state *st, const struct hook *h, enum event_id event) { return false; }
WEAK int32_t result_text(const struct run *r, const struct result *result, char *buf, uint32_t len) { return 0; }
WEAK int32_t change_make(struct run *r, struct keel_call *c, const struct change *change, struct keel_err *err) { return 0; }
WEAK int32_t pools_start(struct state *st, struct keel_err *err) { return 0; }
WEAK void pools_stop(struct state *st) {}
WEAK struct ask *pool_ask(struct state *st, struct hook *h, const char *user, const struct pack *event, ask_done *done, void *arg) { return NULL; }
WEAK void ask_cancel(struct ask *a) {}
WEAK void pool_retire(struct state *st, struct hook *h) {}
WEAK void pools_stale(struct state *st) {}
WEAK void pool_free(struct state *st, struct hook *h) {}
WEAK int32_t pool_check(struct state *st, const char *name, const char *script, uint32_t len, check_done *done, void *arg) { return -ENOMEM; }
WEAK bool answer_host(struct state *st, struct run *r, const struct value *frame, struct pack *out) { return false; }
WEAK void timed_follow(struct state *st, struct hook *h) { hostwide_follow(st, h); }
WEAK void timed_free(struct state *st, struct hook *h) { hostwide_free(st, h); }
WEAK int32_t host_start(struct state *st, struct keel_err *err) { return 0; }
WEAK void host_stop(struct state *st) {}
WEAK int32_t server_fill_periodic(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict server_settle_periodic(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_begin(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_begin(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_prologue(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_prologue(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_epilogue(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_epilogue(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_preterm(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_preterm(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_end(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_end(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_launch(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_launch(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_attach(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_attach(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_resize(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_resize(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_abort(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_abort(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_postsuspend(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_postsuspend(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK int32_t host_fill_execjob_preresume(struct run *r, const void *ev, struct pack *params) { return -1; }
WEAK keel_verdict host_settle_execjob_preresume(struct run *r, struct keel_call *c, const struct result *result) { return KEEL_NEXT; }
WEAK void host_update(struct run *r, const struct result *result) {}
WEAK void host_offline(struct state *st, const char *hook, bool on) {}
WEAK int32_t updates_start(struct state *st, struct keel_err *err) { return 0; }
WEAK void updates_stop(struct state *st) {}
WEAK uint32_t host_pack_vnodes(struct state *st, struct pack *p, const char *exec_vnode) { return 0; }
WEAK void host_pack_job(struct state *st, struct pack *p, const char *id) { pack_nothing(p); }
