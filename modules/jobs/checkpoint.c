/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.c - a running job is saved by its host and goes back to its queue, to go on there later.
 */
#include "jobs.h"

#include <string.h>

void job_request_checkpoint(struct keel_mod *mod, struct keel_obj *job, const char *who,
			    struct keel_mod *me, keel_job_done *done, void *arg)
{
	(void)who; /* a subjob cannot be held */
	done(me, arg, job_role(mod, job) == ROLE_PART ? PBSE_IVALREQ : PBSE_NOSUP, NULL);
}
