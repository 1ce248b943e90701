/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.c - times that are left, and their vnodes.
 */
#include "reservations.h"

int32_t spans_read(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; return 0; }
int32_t span_place(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, const char *nodes) { (void)mod, (void)resv, (void)i, (void)nodes; return 0; }
bool span_next(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; return false; }
void spans_block(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void spans_release(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void spans_hold(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void spans_free(struct resv *r) { (void)r; }
bool nodes_name(const char *nodes, const char *vnode) { (void)nodes, (void)vnode; return false; }
bool nodes_without(struct keel_mod *mod, const char *nodes, const char *const *vnodes, uint32_t n, char **ret) { (void)mod, (void)nodes, (void)vnodes, (void)n, *ret = NULL; return false; }
