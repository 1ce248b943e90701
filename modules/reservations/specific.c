/* SPDX-License-Identifier: Apache-2.0
 *
 * specific.c - reservations made from jobs.
 */
#include "reservations.h"

int32_t specific_prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft, struct keel_req *req,
			 struct keel_err *err)
{
	(void)mod, (void)ch, (void)draft, (void)req, (void)err;
	return 0;
}

void specific_made(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod, (void)resv;
}

void specific_confirmed(struct keel_mod *mod, struct keel_obj *resv)
{
	(void)mod, (void)resv;
}
