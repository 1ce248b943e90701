/* SPDX-License-Identifier: Apache-2.0
 *
 * admit.c - may a job come into this queue? The same checks for a submission, a move and a route.
 *
 * In this order: enabled, from_route_only, lists. Limits and resources are checked later, against the job's
 * draft or change set.
 */
#include "jobs.h"

#include <string.h>

static int32_t refuse(struct keel_mod *mod, int32_t code, struct keel_err *err)
{
	struct state *st = mod->state;

	return st->core->error(err, code, "%s", st->core->pbse_text(code));
}

int32_t admit(struct keel_mod *mod, struct keel_obj *queue, const struct keel_session *owner,
	      bool routed, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t code;

	if (!st->object->get_int(queue, st->queue.enabled))
		return refuse(mod, PBSE_QUNOENB, err);
	if (!routed && st->queue.route_only && st->object->get_int(queue, st->queue.route_only))
		return refuse(mod, PBSE_QACESS, err);
	code = acl_check(mod, owner, queue);
	return code ? refuse(mod, code, err) : 0;
}

/* Lists mean the job's owner, not the requester. The owner's groups are known from the requester's session when both
 * are the same user, else from the job when it was routed. */
void admit_owner(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *asker,
		 struct keel_session *ret)
{
	struct state *st = mod->state;
	const char *at = strchr(job_text(mod, job, st->a.owner), '@');

	*ret = (struct keel_session){ .size = sizeof(*ret), .roles = KEEL_USER };
	ret->user = job_text(mod, job, st->a.euser);
	ret->group = job_text(mod, job, st->a.egroup);
	ret->groups = asker && is_owner(mod, asker, job) ? asker->groups
							 : st->object->get_str(job, st->a.groups);
	ret->host = at ? at + 1 : "";
	ret->who = job_text(mod, job, st->a.owner);
}

bool queue_runs(struct keel_mod *mod, struct keel_obj *queue)
{
	struct state *st = mod->state;

	return st->queues->runs(st->queues->self, queue);
}
