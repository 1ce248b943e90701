/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.c - a job that runs has less than before: exec_vnode, exec_host, select, amounts, records, its hosts, in one turn.
 *
 * What is given up and not free yet, because its host still has some of the job, is in exec_vnode_deallocated, and its
 * amounts in resources_deallocated: nodes, queue and server count it as the job's until the host has ended its part. What
 * the job was submitted with is in the attributes *_orig, which come back when it is queued again.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>

#include "remains.h"

KEEL_ATTRS_OF(job, exec_vnode, exec_host, schedselect, Resource_List, exec_vnode_acct, exec_host_acct, Resource_List_acct,
	      exec_vnode_orig, exec_host_orig, schedselect_orig, Resource_List_orig, exec_vnode_deallocated,
	      resources_deallocated, phase_start);

/* ---- lists --------------------------------------------------------------------------------------------- */

static void value_put(struct keel_obj *job, const struct keel_attr *attr, const struct keel_res_value *v, bool in_kb)
{
	char amount[64];

	if (!v->text)
		keel_resource_value_text(v, in_kb, amount, sizeof(amount));
	keel_set_text(job, attr, KEEL_SET, v->res->name, v->text ? v->text : amount, NULL);
}

static void list_copy(struct keel_obj *job, const struct keel_attr *to, const struct keel_attr *from)
{
	const struct keel_reslist *list;

	keel_unset(job, to, NULL);
	list = keel_get_ptr(job, from);
	for (uint32_t i = 0; i < keel_resource_list_count(list); i++)
		value_put(job, to, keel_resource_list_at(list, i), false);
}

static void text_copy(struct keel_obj *job, const struct keel_attr *to, const struct keel_attr *from)
{
	const char *text = keel_get_str(job, from);

	if (text)
		keel_set_str(job, to, text);
}

/* ---- what is given up and not free yet ---------------------------------------------------------------------- */

static void deallocated_set(struct keel_obj *job, const struct keel_text *vnodes)
{
	struct keel_exec *exec = NULL;
	struct sums sums = { 0 };

	keel_unset(job, job_resources_deallocated, NULL);
	if (!vnodes->len || vnodes->failed || keel_resource_exec_parse(vnodes->data, &exec, NULL)) {
		keel_unset(job, job_exec_vnode_deallocated, NULL);
		return;
	}
	keel_set_str(job, job_exec_vnode_deallocated, vnodes->data);
	if (sums_add_exec(&sums, exec))
		for (uint32_t i = 0; i < sums.n; i++)
			value_put(job, job_resources_deallocated, &sums.v[i], true);
	sums_fini(&sums);
	keel_resource_exec_free(exec);
}

struct giving {
	uint32_t frees; /* enum keel_shrink_frees */
	const struct keel_exec *has;
	const char **host; /* of each part of `has`, sorted; owned */
	uint32_t n;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool hosts_list(struct giving *g)
{
	g->host = calloc(g->has->n + 1u, sizeof(*g->host));
	for (uint32_t i = 0; g->host && i < g->has->n; i++) {
		const char *host = keel_node_host_of(g->has->part[i].vnode);

		if (host)
			g->host[g->n++] = host;
	}
	if (g->n > 1)
		qsort(g->host, g->n, sizeof(*g->host), by_name);
	return g->host != NULL;
}

/* Must what the job gives up on this vnode wait for its host? */
static bool has_to_wait(const struct giving *g, const char *vnode)
{
	const char *host = keel_node_host_of(vnode);

	if (g->frees == KEEL_SHRINK_ALL || !host)
		return false;
	return g->frees == KEEL_SHRINK_HOSTS || !bsearch(&host, g->host, g->n, sizeof(*g->host), by_name);
}

/* Appends the parts that are given up and wait for their hosts. */
static void waiting_parts(const struct giving *g, const struct remains *r, struct keel_text *out)
{
	for (uint32_t i = 0; i < r->had->n; i++)
		if (!r->stays[i] && has_to_wait(g, r->had->part[i].vnode))
			part_text(&r->had->part[i], out);
}

/* ---- Resource_List ------------------------------------------------------------------------------------- */

static bool sums_add_select(struct sums *s, const struct keel_select *select)
{
	for (uint32_t i = 0; i < select->n; i++)
		if (!sums_add(s, select->chunk[i].v, select->chunk[i].n, select->chunk[i].count))
			return false;
	return true;
}

/* The sums of exec_vnode, in kb, then those of the select, in its own units. Resources that neither has any more go. */
static void resources_set(struct keel_obj *job, const struct remains *r, const struct keel_select *was,
			  const struct keel_select *is)
{
	struct sums before = { 0 }, vnodes = { 0 }, chunks = { 0 };
	char count[16];

	if (!sums_add_exec(&before, r->had) || !sums_add_select(&before, was) || !sums_add_exec(&vnodes, r->has) ||
	    !sums_add_select(&chunks, is))
		goto out; /* it keeps its old amounts */
	for (uint32_t i = 0; i < before.n; i++)
		if (keel_resource_list_get(keel_get_ptr(job, job_Resource_List), before.v[i].res->name))
			keel_unset(job, job_Resource_List, before.v[i].res->name);
	for (uint32_t i = 0; i < vnodes.n; i++)
		value_put(job, job_Resource_List, &vnodes.v[i], true);
	for (uint32_t i = 0; i < chunks.n; i++)
		value_put(job, job_Resource_List, &chunks.v[i], false);
	snprintf(count, sizeof(count), "%u", r->has->chunks);
	keel_set_text(job, job_Resource_List, KEEL_SET, "nodect", count, NULL);
out:
	sums_fini(&before);
	sums_fini(&vnodes);
	sums_fini(&chunks);
}

/* ---- the steps ----------------------------------------------------------------------------------------- */

static void values_remember(struct keel_obj *job, bool released)
{
	text_copy(job, job_exec_vnode_acct, job_exec_vnode);
	text_copy(job, job_exec_host_acct, job_exec_host);
	list_copy(job, job_Resource_List_acct, job_Resource_List);
	if (released && !keel_is_set(job, job_exec_vnode_orig)) {
		text_copy(job, job_exec_vnode_orig, job_exec_vnode);
		text_copy(job, job_exec_host_orig, job_exec_host);
	}
	if (keel_is_set(job, job_schedselect_orig))
		return;
	text_copy(job, job_schedselect_orig, job_schedselect);
	list_copy(job, job_Resource_List_orig, job_Resource_List);
}

static void hosts_set(struct keel_obj *job, const struct keel_attr *attr, const struct remains *r)
{
	const char *hosts = attr ? keel_get_str(job, attr) : NULL;
	struct keel_text text;

	keel_text_init(&text);
	if (hosts && remains_hosts(r, hosts, &text))
		keel_set_str(job, attr, text.data);
	keel_text_fini(&text);
}

struct shrinking {
	const struct keel_job_shrink *to;
	struct remains r;
	struct keel_select *was, *is;
	struct keel_text waiting; /* exec_vnode_deallocated of afterwards */
	bool release;
};

static int32_t shrinking_make(struct keel_obj *job, struct shrinking *s, struct keel_err *err)
{
	const char *had = job_text(job, job_exec_vnode);
	struct giving giving = { .frees = s->to->frees };
	int32_t code = remains_find(had, s->to->exec_vnode, &s->r, err);

	if (!code)
		code = keel_resource_select_parse(job_text(job, job_schedselect), &s->was, err);
	if (!code)
		code = keel_resource_select_parse(s->to->schedselect, &s->is, err);
	if (code)
		return code;
	if (s->is->chunks != s->r.has->chunks)
		return keel_error(err, PBSE_IVALREQ, "a job that shrinks has as many chunks in its select as in exec_vnode");
	keel_text_str(&s->waiting, job_text(job, job_exec_vnode_deallocated));
	giving.has = s->r.has;
	if (!hosts_list(&giving))
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	waiting_parts(&giving, &s->r, &s->waiting);
	free(giving.host);
	return s->waiting.failed ? keel_error(err, PBSE_SYSTEM, "System error: out of memory") : 0;
}

/* Vnodes of afterwards: what it has and what waits. The caller frees it. */
static char *vnodes_of(const char *has, const char *waiting)
{
	char *text;

	return asprintf(&text, "%s%s%s", has, *waiting ? "+" : "", waiting) < 0 ? NULL : text;
}

static int32_t shrink(struct keel_mod *mod, struct keel_obj *job, struct shrinking *s, struct keel_err *err)
{
	char *after = vnodes_of(s->to->exec_vnode, s->waiting.data), *before = job_vnodes(job);
	int32_t code = after && before ? keel_node_shrink(job_id(mod, job), before, after, job_share(job), err)
				       : keel_error(err, PBSE_SYSTEM, "System error: out of memory");

	free(after);
	free(before);
	if (code)
		return code;
	if (s->release)
		keel_acct_job('u', job);
	job_charge(mod, job, -1, NULL);
	values_remember(job, s->release);
	hosts_set(job, job_exec_host, &s->r);
	resources_set(job, &s->r, s->was, s->is);
	keel_set_text(job, job_Resource_List, KEEL_SET, "select", s->to->schedselect, NULL);
	keel_set_str(job, job_schedselect, s->to->schedselect);
	keel_set_str(job, job_exec_vnode, s->to->exec_vnode);
	deallocated_set(job, &s->waiting);
	job_charge(mod, job, 1, NULL);
	keel_acct_job(s->release ? 'c' : 's', job);
	keel_set_int(job, job_phase_start, keel_time(mod));
	return 0;
}

int32_t job_shrink(struct keel_mod *mod, struct keel_obj *job, const struct keel_job_shrink *theirs, struct keel_err *err)
{
	const struct job *j = job_slot(mod, job);
	struct keel_job_shrink to;
	struct shrinking s = { .to = &to };
	int32_t code = 0;

	KEEL_SIZED(&to, theirs);
	if (!to.exec_vnode || !to.schedselect || !to.why)
		return keel_error(err, PBSE_IVALREQ, "a job that shrinks has an exec_vnode, a schedselect and a reason");
	s.release = strcmp(to.why, "release") == 0;
	if ((j->step != STEP_RUNNING && j->step != (s.release ? STEP_STAGING_OUT : STEP_SENT)) || j->busy || j->occupies != OCCUPIES_ALL)
		return keel_error(err, PBSE_BADSTATE, "%s", keel_pbse_text(PBSE_BADSTATE));
	if (strcmp(to.exec_vnode, job_text(job, job_exec_vnode)) == 0)
		return 0;
	keel_text_init(&s.waiting);
	code = shrinking_make(job, &s, err);
	if (!code)
		code = shrink(mod, job, &s, err);
	keel_text_fini(&s.waiting);
	remains_fini(&s.r);
	keel_resource_select_free(s.was);
	keel_resource_select_free(s.is);
	if (code)
		return code;
	keel_note(mod, KEEL_POINT_job_resized,
		  KEEL_EVENT(job_resized, .id = job_id(mod, job), .job = job, .why = s.release ? "release" : "prune"));
	keel_task_resize(job);
	scheduler_wake(mod);
	return 0;
}

/* ---- a host has ended its part --------------------------------------------------------------------------- */

static double cpus_of(const struct keel_exec_part *part)
{
	for (uint32_t i = 0; i < part->n; i++)
		if (strcmp(part->v[i].res->name, "ncpus") == 0)
			return part->v[i].n;
	return 0;
}

/* Parts of the deallocated ones that are not of this host; returns the cpus of those that are. */
static double parts_left(const struct keel_exec *exec, const char *host, struct keel_text *out)
{
	double cpus = 0;

	for (uint32_t i = 0; i < exec->n; i++) {
		const char *of = keel_node_host_of(exec->part[i].vnode);

		if (of && strcmp(of, host) != 0)
			part_text(&exec->part[i], out);
		else
			cpus += cpus_of(&exec->part[i]);
	}
	return cpus;
}

void task_released(struct keel_mod *mod, struct keel_obj *job, const char *host)
{
	const enum occupies occupies = job_slot(mod, job)->occupies;
	struct keel_exec *exec = NULL;
	struct keel_err err = { 0 };
	struct keel_text left;
	char *before, *after;
	double cpus;

	if (!keel_is_set(job, job_exec_vnode_deallocated) ||
	    keel_resource_exec_parse(job_text(job, job_exec_vnode_deallocated), &exec, NULL))
		return;
	keel_text_init(&left);
	cpus = parts_left(exec, host, &left);
	keel_resource_exec_free(exec);
	before = job_vnodes(job);
	after = left.failed ? NULL : vnodes_of(job_text(job, job_exec_vnode), left.data);
	if (before && after && strcmp(before, after) != 0) {
		if (occupies != OCCUPIES_NOTHING &&
		    keel_node_shrink(job_id(mod, job), before, after, job_share(job), &err))
			keel_log(mod, KEEL_LOG_ERROR, "Job", job_id(mod, job), "what it gave up on %s is not free: %s", host,
				 err.text);
		job_recharge(mod, job, -1);
		deallocated_set(job, &left);
		job_recharge(mod, job, 1);
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", job_id(mod, job), "clearing job %s from node %s", job_id(mod, job),
			 host);
		keel_log(mod, KEEL_LOG_DEBUG2, "Job", job_id(mod, job), "deallocating %lld cpu(s) from job %s",
			 (long long)cpus, job_id(mod, job));
		scheduler_wake(mod);
	}
	free(before);
	free(after);
	keel_text_fini(&left);
}

void task_pruned(struct keel_mod *mod, struct keel_obj *job, const char *exec_vnode, const char *schedselect)
{
	struct keel_err err = { 0 };
	int32_t code;

	if (job_slot(mod, job)->step == STEP_SENT && !shrunk(job))
		job_record_start(mod, job);
	code = job_shrink(mod, job,
			  &(struct keel_job_shrink){ .size = sizeof(struct keel_job_shrink), .frees = KEEL_SHRINK_ALL,
						     .exec_vnode = exec_vnode, .schedselect = schedselect, .why = "prune" },
			  &err);
	if (code && code != PBSE_BADSTATE)
		keel_log(mod, KEEL_LOG_ERROR, "Job", job_id(mod, job), "error assigning hosts...requeueing job: %s", err.text);
	if (code && code != PBSE_BADSTATE && step_is_running(job_slot(mod, job)->step) &&
	    !job_slot(mod, job)->ending) {
		keel_task_discard(job);
		job_requeue(mod, job, KEEL_TASK_RETRY);
	}
}

/* ---- it is queued again ---------------------------------------------------------------------------------- */

bool shrunk(struct keel_obj *job)
{
	return keel_is_set(job, job_schedselect_orig);
}

void shrink_undo(struct keel_obj *job)
{
	const struct keel_attr *const texts[] = { job_exec_vnode_acct, job_exec_host_acct, job_exec_vnode_orig,
						  job_exec_host_orig, job_schedselect_orig, job_exec_vnode_deallocated };
	const struct keel_attr *const lists[] = { job_Resource_List_acct, job_Resource_List_orig,
						  job_resources_deallocated, job_phase_start };

	if (!keel_is_set(job, job_schedselect_orig))
		return;
	text_copy(job, job_schedselect, job_schedselect_orig);
	list_copy(job, job_Resource_List, job_Resource_List_orig);
	for (size_t i = 0; i < KEEL_COUNT(texts); i++)
		keel_unset(job, texts[i], NULL);
	for (size_t i = 0; i < KEEL_COUNT(lists); i++)
		keel_unset(job, lists[i], NULL);
}
