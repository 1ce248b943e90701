/* SPDX-License-Identifier: Apache-2.0
 *
 * queue.c - the queue of a reservation.
 */
#include "reservations.h"

int32_t queue_make(struct keel_mod *mod, struct keel_obj *resv, struct keel_err *err) { (void)mod, (void)resv, (void)err; return 0; }
void queue_enable(struct keel_mod *mod, struct keel_obj *resv, bool on) { (void)mod, (void)resv, (void)on; }
void queue_start(struct keel_mod *mod, struct keel_obj *resv, bool on) { (void)mod, (void)resv, (void)on; }
void queue_lists(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
bool queue_is_empty(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; return true; }
void queue_remove(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
keel_verdict queue_management(struct keel_call *c, const struct keel_ev_management *ev) { (void)c, (void)ev; return KEEL_NEXT; }
