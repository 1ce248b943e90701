/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.c - a running job is saved by its host and goes back to its queue, to go on there later.
 */
#include "jobs.h"

#include <string.h>

void job_request_checkpoint(struct keel_mod *mod, struct keel_obj *job, const char *who,
			    struct keel_mod *me, keel_job_done *done, void *arg)
{
	(void)mod, (void)job, (void)who;
	done(me, arg, PBSE_NOSUP, NULL);
}
