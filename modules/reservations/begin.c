/* SPDX-License-Identifier: Apache-2.0
 *
 * begin.c - a time begins.
 */
#include "reservations.h"

void resv_begin(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
