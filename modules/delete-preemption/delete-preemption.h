/* SPDX-License-Identifier: Apache-2.0
 *
 * delete-preemption.h - what the files of this module share.
 */
#ifndef DELETE_PREEMPTION_H
#define DELETE_PREEMPTION_H

#include "keel/keel.h"
#include "keel/service/job.h"
#include "pbs_error.h"
#include "scope.h"

struct conf {
	int64_t timeout, grace; /* ms */
	int64_t max_per_cycle;
	const char *grace_signal, *queue, *user, *host;
};

struct state {
	struct scope *scope;
	uint32_t leaving;      /* victims being deleted */
	uint64_t cycle;	       /* number of the running cycle; 0: none */
	int64_t in_this_cycle; /* deletions begun and not refused */
};

/* leave.c */
bool delete_applies(struct keel_mod *mod, struct keel_obj *job);
uint32_t delete_room(struct keel_mod *mod);
/* WAIT: the job is being deleted; REJECT when it cannot be; FAIL without memory. */
keel_verdict delete_start(struct keel_mod *mod, struct keel_call *c, struct keel_obj *job,
			  const char *who);

#endif
