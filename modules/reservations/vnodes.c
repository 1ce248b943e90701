/* SPDX-License-Identifier: Apache-2.0
 *
 * vnodes.c - vnodes of reservations.
 */
#include "reservations.h"

const struct keel_node_state_def resv_exclusive_row = { .size = sizeof(struct keel_node_state_def), .bit = 0x2000, .place = 110, .unavailable = KEEL_NODE_STATE_CLOSED | KEEL_NODE_STATE_OUTSIDE, .name = "resv-exclusive", .doc = "a reservation that runs has it for itself" };
void vnodes_listed(struct keel_mod *mod, const char *nodes) { (void)mod, (void)nodes; }
keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev) { (void)c, (void)ev; return KEEL_NEXT; }
bool span_is_broken(struct keel_mod *mod, struct keel_obj *resv, uint32_t i) { (void)mod, (void)resv, (void)i; return false; }
