/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c - a time is over.
 */
#include "reservations.h"

void resv_end(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
void job_left(struct keel_mod *mod, struct keel_obj *resv) { (void)mod, (void)resv; }
