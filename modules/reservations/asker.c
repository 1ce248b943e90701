/* SPDX-License-Identifier: Apache-2.0
 *
 * asker.c - requests that wait for a decision.
 */
#include "reservations.h"

void asker_wait(struct keel_mod *mod, struct keel_obj *resv, struct keel_req *req, int64_t seconds, bool alters,
		const char *word_now)
{
	(void)mod, (void)resv, (void)seconds, (void)alters, (void)word_now;
	keel_reply(req, PBSE_NOSUP, NULL);
}

void askers_answer(struct keel_mod *mod, struct keel_obj *resv, const char *word)
{
	(void)mod, (void)resv, (void)word;
}

void askers_gone(struct keel_mod *mod, struct keel_req *req)
{
	(void)mod, (void)req;
}

void on_resv_wait(struct keel_mod *mod, struct keel_req *req)
{
	(void)mod;
	keel_reply(req, PBSE_UNKRESVID, NULL);
}
