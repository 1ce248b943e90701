/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - what is stored is read again.
 */
#include "reservations.h"

int32_t resv_replay(struct keel_mod *mod, struct keel_err *err) { (void)mod, (void)err; return 0; }
void resv_slot_fini(struct keel_mod *mod, void *slot) { askers_drop(mod, slot); }
