/* SPDX-License-Identifier: Apache-2.0
 *
 * admit.c - may a job come into this queue? The same checks for a submission, a move and a route.
 *
 * In this order: enabled, from_route_only, lists. Limits and resources are checked later, against the job's
 * draft or change set.
 */
#include "jobs.h"

#include <string.h>

KEEL_ATTRS_OF(queue, enabled, from_route_only);
KEEL_ATTRS_OF(job, Job_Owner, euser, egroup, owner_groups);

static int32_t refuse(int32_t code, struct keel_err *err)
{
	return keel_error(err, code, "%s", keel_pbse_text(code));
}

int32_t admit(struct keel_mod *mod, struct keel_obj *queue, const struct keel_session *owner,
	      bool routed, struct keel_err *err)
{
	int32_t code;

	if (!keel_get_int(queue, queue_enabled))
		return refuse(PBSE_QUNOENB, err);
	if (!routed && queue_from_route_only && keel_get_int(queue, queue_from_route_only))
		return refuse(PBSE_QACESS, err);
	code = acl_check(mod, owner, queue);
	return code ? refuse(code, err) : 0;
}

/* Lists mean the job's owner, not the requester. The owner's groups are known from the requester's session when both
 * are the same user, else from the job when it was routed. */
void admit_owner(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *asker,
		 struct keel_session *ret)
{
	const char *at = strchr(job_text(job, job_Job_Owner), '@');

	*ret = (struct keel_session){ .size = sizeof(*ret), .roles = KEEL_USER };
	ret->user = job_text(job, job_euser);
	ret->group = job_text(job, job_egroup);
	ret->groups = asker && is_owner(mod, asker, job) ? asker->groups
							 : keel_get_str(job, job_owner_groups);
	ret->host = at ? at + 1 : "";
	ret->who = job_text(job, job_Job_Owner);
}

