/* SPDX-License-Identifier: Apache-2.0
 *
 * alter.c - request resv_alter.
 */
#include "reservations.h"

void on_resv_alter(struct keel_mod *mod, struct keel_req *req) { (void)mod; keel_reply(req, PBSE_NOSUP, NULL); }
