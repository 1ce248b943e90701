/* SPDX-License-Identifier: Apache-2.0
 *
 * altered.c - what becomes of an alteration.
 */
#include "reservations.h"

void alter_revert(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void alter_done(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n) { (void)mod, (void)resv, (void)nodes, (void)n; }
