/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - when something happens next.
 */
#include "reservations.h"

void clock_set(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
