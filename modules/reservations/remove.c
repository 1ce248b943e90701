/* SPDX-License-Identifier: Apache-2.0
 *
 * remove.c - it is deleted.
 */
#include "reservations.h"

void on_resv_delete(struct keel_mod *mod, struct keel_req *req) { (void)mod; keel_reply(req, PBSE_NOSUP, NULL); }
void resv_remove(struct keel_mod *mod, struct keel_obj *resv, const char *who) { (void)mod, (void)resv, (void)who; }
