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

KEEL_ATTRS_OF(job, Resource_List, exec_vnode, exec_host, exec_vnode_deallocated, resources_deallocated);
KEEL_ATTR_OF(server, resources_assigned);
KEEL_ATTR_OF(queue, resources_assigned);

static void charge_list(struct keel_mod *mod, struct keel_obj *job, const struct keel_attr *attr, int32_t sign,
			const char *only)
{
	const struct keel_reslist *list = keel_get_ptr(job, attr);
	struct keel_obj *queue = job_queue(mod, job);
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	if (server) /* none in the replay of another server's store, which manager refuses to start with */
		keel_resource_charge_list(server, server_resources_assigned, list, sign, only);
	if (queue)
		keel_resource_charge_list(queue, queue_resources_assigned, list, sign, only);
}

void job_charge(struct keel_mod *mod, struct keel_obj *job, int32_t sign, const char *only)
{
	charge_list(mod, job, job_Resource_List, sign, only);
	if (keel_get_ptr(job, job_resources_deallocated))
		charge_list(mod, job, job_resources_deallocated, sign, only);
}

void job_recharge(struct keel_mod *mod, struct keel_obj *job, int32_t sign)
{
	const enum occupies occupies = job_slot(mod, job)->occupies;

	if (occupies == OCCUPIES_NOTHING)
		return;
	if (occupies == OCCUPIES_REST && sign < 0) /* first, because amounts do not go below 0 */
		job_charge(mod, job, 1, released(mod, job));
	job_charge(mod, job, sign, NULL);
	if (occupies == OCCUPIES_REST && sign > 0)
		job_charge(mod, job, -1, released(mod, job));
}

char *job_vnodes(struct keel_obj *job)
{
	const char *more = keel_get_str(job, job_exec_vnode_deallocated);
	char *text;

	if (asprintf(&text, "%s%s%s", job_text(job, job_exec_vnode), more ? "+" : "", more ? more : "") < 0)
		return NULL;
	return text;
}

int32_t job_share(struct keel_obj *job)
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

	job_charge(mod, job, 1, j->occupies == OCCUPIES_REST ? released(mod, job) : NULL);
	j->occupies = OCCUPIES_ALL;
	keel_note(mod, KEEL_POINT_job_placed,
		  KEEL_EVENT(job_placed, .id = job_id(mod, job), .job = job));
}

/* Items of exec_host are of chunks; those of what the job has given up are behind the others. */
static void exec_host_set(struct keel_obj *job, char *exec_host)
{
	const char *vnodes = job_text(job, job_exec_vnode);
	char *end = exec_host;

	for (const char *at = vnodes; (at = strchr(at, '(')); at++) {
		end += end != exec_host;
		end += strcspn(end, "+");
	}
	*end = '\0';
	keel_set_str(job, job_exec_host, exec_host);
}

static int32_t no_memory(struct keel_err *err)
{
	return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

int32_t job_occupy(struct keel_mod *mod, struct keel_obj *job, struct keel_err *err)
{
	char *exec_host, *vnodes = job_vnodes(job);
	int32_t code = vnodes ? keel_node_assign(job_id(mod, job), vnodes, job_share(job), &exec_host, err) : no_memory(err);

	free(vnodes);
	if (code)
		return code;
	if (keel_is_set(job, job_exec_vnode_deallocated))
		exec_host_set(job, exec_host);
	else
		keel_set_str(job, job_exec_host, exec_host);
	free(exec_host);
	occupied(mod, job);
	return 0;
}

int32_t job_occupy_again(struct keel_mod *mod, struct keel_obj *job, const char *exec_host, struct keel_err *err)
{
	char *vnodes = job_vnodes(job);
	int32_t code = vnodes ? keel_node_assign_again(job_id(mod, job), vnodes, job_share(job), exec_host, err)
			      : no_memory(err);

	free(vnodes);
	if (!code)
		occupied(mod, job);
	return code;
}

static void nodes_release(struct keel_mod *mod, struct keel_obj *job, const char *only, bool ended)
{
	char *vnodes = job_vnodes(job);

	keel_node_release(job_id(mod, job), vnodes ? vnodes : job_text(job, job_exec_vnode), only, ended);
	free(vnodes);
}

void job_vacate(struct keel_mod *mod, struct keel_obj *job, bool ended)
{
	struct job *j = job_slot(mod, job);

	if (j->occupies == OCCUPIES_NOTHING)
		return;
	nodes_release(mod, job, NULL, ended);
	job_recharge(mod, job, -1);
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
	nodes_release(mod, job, names, false);
	job_charge(mod, job, -1, names);
	j->occupies = OCCUPIES_REST;
	step_notify(mod, job);
	scheduler_wake(mod);
}
