/* SPDX-License-Identifier: Apache-2.0
 *
 * confirm.c - confirmed, or denied.
 */
#include "reservations.h"

void resv_confirmed(struct keel_mod *mod, struct keel_obj *resv, const char *who, const char *const *nodes, uint32_t n) { (void)mod, (void)resv, (void)who, (void)nodes, (void)n; }
void resv_denied(struct keel_mod *mod, struct keel_obj *resv, const char *why) { (void)mod, (void)resv, (void)why; }
void on_resv_confirm(struct keel_mod *mod, struct keel_req *req) { (void)mod; keel_reply(req, PBSE_NOSUP, NULL); }
