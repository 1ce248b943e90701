/* SPDX-License-Identifier: Apache-2.0
 *
 * occupy.c - a job takes its vnodes and is charged to queue and server, and gives them back.
 *
 * job->assigned says which; both directions do nothing when there is nothing to do.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

static void charge(struct keel_mod *mod, struct keel_obj *job, int32_t sign)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	struct keel_obj *queue = job_queue(mod, job);
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	st->resource->charge_list(st->resource->self, server, st->server.assigned, list, sign, NULL);
	if (queue)
		st->resource->charge_list(st->resource->self, queue, st->queue.assigned, list, sign, NULL);
}

int32_t job_occupy(struct keel_mod *mod, struct keel_obj *job, char **ret_exec_host,
		   struct keel_err *err)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);
	struct keel_place place = { 0 };
	char text[128];
	int32_t code;

	if (st->object->text(job, st->a.list, "place", text, sizeof(text)) > 0)
		st->resource->place_parse(text, &place, NULL);
	code = st->node->assign(st->node->self, job_id(mod, job), job_text(mod, job, st->a.exec_vnode),
				place.share, ret_exec_host, err);
	if (code)
		return code;
	charge(mod, job, 1);
	j->assigned = true;
	st->hook->note(mod, KEEL_POINT_job_placed,
		       KEEL_EVENT(job_placed, .id = job_id(mod, job), .job = job));
	return 0;
}

void job_vacate(struct keel_mod *mod, struct keel_obj *job, bool ended)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	if (!j->assigned)
		return;
	st->node->release(st->node->self, job_id(mod, job), job_text(mod, job, st->a.exec_vnode), NULL,
			  ended);
	charge(mod, job, -1);
	j->assigned = false;
	step_tell(mod, job);
	poke(mod);
}
