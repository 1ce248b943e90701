/* SPDX-License-Identifier: Apache-2.0
 *
 * submit.c - a new reservation.
 */
#include "reservations.h"

void on_resv_submit(struct keel_mod *mod, struct keel_req *req)
{
	(void)mod;
	keel_reply(req, PBSE_NOSUP, NULL);
}

void resv_make(struct keel_mod *mod, const struct keel_resv_new *new, struct keel_mod *me, keel_resv_done *done, void *arg)
{
	(void)mod, (void)new;
	done(me, arg, PBSE_NOSUP, NULL);
}
