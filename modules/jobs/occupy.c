/* SPDX-License-Identifier: Apache-2.0
 *
 * occupy.c - a job takes its vnodes and is charged to queue and server, and gives them back.
 *
 *	OCCUPIES_NOTHING -- occupy --> OCCUPIES_ALL -- vacate --> OCCUPIES_NOTHING
 *	                                ^   | release(names)
 *	                         occupy |   v
 *	                              OCCUPIES_REST -- vacate --> OCCUPIES_NOTHING
 *
 * A function whose change is already there does nothing. What OCCUPIES_REST gave back is on the job
 * (released_names), and nodes keep it for their vnodes: only that is taken again.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

static void charge_list(struct keel_mod *mod, struct keel_obj *job, int32_t sign, const char *only)
{
	struct state *st = mod->state;
	const struct keel_reslist *list = st->object->get_ptr(job, st->a.list);
	struct keel_obj *queue = job_queue(mod, job);
	struct keel_obj *server = st->object->find(mod, "server", st->core->server_name(mod));

	st->resource->charge_list(st->resource->self, server, st->server.assigned, list, sign, only);
	if (queue)
		st->resource->charge_list(st->resource->self, queue, st->queue.assigned, list, sign, only);
}

static int32_t share_of(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct keel_place place = { 0 };
	char text[128];

	if (st->object->text(job, st->a.list, "place", text, sizeof(text)) > 0)
		st->resource->place_parse(text, &place, NULL);
	return place.share;
}

static void occupied(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	charge_list(mod, job, 1, j->occupies == OCCUPIES_REST ? released(mod, job) : NULL);
	j->occupies = OCCUPIES_ALL;
	st->hook->note(mod, KEEL_POINT_job_placed,
		       KEEL_EVENT(job_placed, .id = job_id(mod, job), .job = job));
}

int32_t job_occupy(struct keel_mod *mod, struct keel_obj *job, struct keel_err *err)
{
	struct state *st = mod->state;
	char *exec_host;
	int32_t code = st->node->assign(st->node->self, job_id(mod, job), job_text(mod, job, st->a.exec_vnode),
					share_of(mod, job), &exec_host, err);

	if (code)
		return code;
	st->object->set_str(job, st->a.exec_host, exec_host);
	free(exec_host);
	occupied(mod, job);
	return 0;
}

int32_t job_occupy_again(struct keel_mod *mod, struct keel_obj *job, const char *exec_host, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t code = st->node->assign_again(st->node->self, job_id(mod, job),
					      job_text(mod, job, st->a.exec_vnode), share_of(mod, job), exec_host,
					      err);

	if (!code)
		occupied(mod, job);
	return code;
}

void job_vacate(struct keel_mod *mod, struct keel_obj *job, bool ended)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	if (j->occupies == OCCUPIES_NOTHING)
		return;
	st->node->release(st->node->self, job_id(mod, job), job_text(mod, job, st->a.exec_vnode), NULL,
			  ended);
	if (j->occupies == OCCUPIES_REST)
		charge_list(mod, job, 1, released(mod, job));
	charge_list(mod, job, -1, NULL);
	j->occupies = OCCUPIES_NOTHING;
	step_notify(mod, job);
	scheduler_wake(mod);
}

void job_release(struct keel_mod *mod, struct keel_obj *job, const char *names)
{
	struct state *st = mod->state;
	struct job *j = job_slot(mod, job);

	if (!names) {
		job_vacate(mod, job, false);
		return;
	}
	if (j->occupies != OCCUPIES_ALL)
		return;
	st->node->release(st->node->self, job_id(mod, job), job_text(mod, job, st->a.exec_vnode), names,
			  false);
	charge_list(mod, job, -1, names);
	j->occupies = OCCUPIES_REST;
	step_notify(mod, job);
	scheduler_wake(mod);
}
