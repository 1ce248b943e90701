/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - accounting records.
 */
#include "reservations.h"

void record_submit(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void record_confirm(struct keel_mod *mod, struct keel_obj *resv, const char *who) { (void)mod, (void)resv, (void)who; }
void record_begin(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void record_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who) { (void)mod, (void)resv, (void)who; }
