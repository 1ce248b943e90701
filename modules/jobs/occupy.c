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

KEEL_ATTRS_OF(job, Resource_List, exec_vnode, exec_host);
KEEL_ATTR_OF(server, resources_assigned);
KEEL_ATTR_OF(queue, resources_assigned);

static void charge_list(struct keel_mod *mod, struct keel_obj *job, int32_t sign, const char *only)
{
	const struct keel_reslist *list = keel_get_ptr(job, job_Resource_List);
	struct keel_obj *queue = job_queue(mod, job);
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	if (server) /* none in the replay of another server's store, which manager refuses to start with */
		keel_resource_charge_list(server, server_resources_assigned, list, sign, only);
	if (queue)
		keel_resource_charge_list(queue, queue_resources_assigned, list, sign, only);
}

static int32_t share_of(struct keel_obj *job)
{
	struct keel_place place = { 0 };
	char text[128];

	if (keel_get_text(job, job_Resource_List, "place", text, sizeof(text)) > 0)
		keel_resource_place_parse(text, &place, NULL);
	return place.share;
}

static void occupied(struct keel_mod *mod, struct keel_obj *job)
{
	struct job *j = job_slot(mod, job);

	charge_list(mod, job, 1, j->occupies == OCCUPIES_REST ? released(mod, job) : NULL);
	j->occupies = OCCUPIES_ALL;
	keel_note(mod, KEEL_POINT_job_placed,
		  KEEL_EVENT(job_placed, .id = job_id(mod, job), .job = job));
}

int32_t job_occupy(struct keel_mod *mod, struct keel_obj *job, struct keel_err *err)
{
	char *exec_host;
	int32_t code = keel_node_assign(job_id(mod, job), job_text(job, job_exec_vnode),
					share_of(job), &exec_host, err);

	if (code)
		return code;
	keel_set_str(job, job_exec_host, exec_host);
	free(exec_host);
	occupied(mod, job);
	return 0;
}

int32_t job_occupy_again(struct keel_mod *mod, struct keel_obj *job, const char *exec_host, struct keel_err *err)
{
	int32_t code = keel_node_assign_again(job_id(mod, job),
					      job_text(job, job_exec_vnode), share_of(job), exec_host,
					      err);

	if (!code)
		occupied(mod, job);
	return code;
}

void job_vacate(struct keel_mod *mod, struct keel_obj *job, bool ended)
{
	struct job *j = job_slot(mod, job);

	if (j->occupies == OCCUPIES_NOTHING)
		return;
	keel_node_release(job_id(mod, job), job_text(job, job_exec_vnode), NULL,
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
	struct job *j = job_slot(mod, job);

	if (!names) {
		job_vacate(mod, job, false);
		return;
	}
	if (j->occupies != OCCUPIES_ALL)
		return;
	keel_node_release(job_id(mod, job), job_text(job, job_exec_vnode), names,
			  false);
	charge_list(mod, job, -1, names);
	j->occupies = OCCUPIES_REST;
	step_notify(mod, job);
	scheduler_wake(mod);
}
