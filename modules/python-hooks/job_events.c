/* SPDX-License-Identifier: Apache-2.0
 *
 * job_events.c - events of jobs on a server: queuejob, postqueuejob, modifyjob, movejob, runjob, jobobit.
 *
 * What a script at runjob changes is made by how it ends: some with the start, some after the start was refused.
 */
#include "server.h"

#include <stdlib.h>

#include "keel/jobid.h"
#include "keel/service/job.h"
#include "keel/service/sched.h"

/* ---- queuejob ----------------------------------------------------------------------------------------------- */
int32_t server_fill_queuejob(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_job_submit *ev = event;

	server_about(r, ev->id, ev->who);
	server_submitted(r, params, "job", ev->job, r->call);
	return 1;
}

keel_verdict server_settle_queuejob(struct run *r, struct keel_call *c, const struct result *result)
{
	return server_settle(r, c, result, "job");
}

/* ---- modifyjob ---------------------------------------------------------------------------------------------- */
int32_t server_fill_modifyjob(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_job_modify *ev = event;

	server_about(r, ev->id, ev->who);
	server_requested(r, params, "job", ev->job, r->call);
	server_shown(r, params, "job_o", ev->job, NULL);
	return 2;
}

keel_verdict server_settle_modifyjob(struct run *r, struct keel_call *c, const struct result *result)
{
	return server_settle(r, c, result, "job");
}

/* ---- movejob ------------------------------------------------------------------------------------------------ */
/* job.queue is where it goes to. */
int32_t server_fill_movejob(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_job_move *ev = event;
	const struct keel_attr *attr = keel_attr_find(r->st->mod, "job", "queue");
	const char *from = attr && ev->job ? keel_get_str(ev->job, attr) : NULL;

	server_about(r, ev->id, ev->who);
	server_object(r, params, "job", ev->job, r->call);
	server_shown(r, params, "src_queue", from ? keel_find(r->st->mod, "queue", from) : NULL, NULL);
	return 2;
}

keel_verdict server_settle_movejob(struct run *r, struct keel_call *c, const struct result *result)
{
	for (uint32_t i = 0; result->how == ACCEPTED && i < result->n_changes; i++)
		if (strcmp(result->changes[i].attr, "queue") != 0)
			return keel_reject(c, PBSE_HOOKERROR, "%s event: rejected request", r->event->name);
	return server_settle(r, c, result, "job");
}

/* ---- after the fact: changes are made as qalter makes them -------------------------------------------------- */
/* The job; of a subjob that did not start and is no object now its array, which is held, or waits, as a whole. */
static struct keel_obj *job_for(const struct run *r, bool *ret_whole)
{
	struct keel_obj *job = run_find(r, "job");
	char whole[300];

	*ret_whole = !job && keel_id_whole(r->id, whole, sizeof(whole));
	return *ret_whole ? keel_find(r->st->mod, "job", whole) : job;
}

static bool is_of_start(const char *attr)
{
	return strcmp(attr, "Hold_Types") == 0 || strcmp(attr, "Execution_Time") == 0;
}

/* Those of the result that `wanted` lets through, in one set: all or none. */
static void job_change(struct run *r, const struct result *result, bool (*wanted)(struct run *, const struct change *))
{
	struct keel_mod *mod = r->st->mod;
	bool whole;
	struct keel_obj *job = job_for(r, &whole);
	struct keel_changes *ch = job && result->n_changes ? keel_changes(mod) : NULL;
	struct keel_err err = { 0 };
	int32_t code = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; ch && !code && i < result->n_changes; i++) {
		const struct change *change = &result->changes[i];
		const struct keel_attr *attr = keel_attr_find(mod, "job", change->attr);

		if (strcmp(change->target, "job") != 0 || !attr || (whole && !is_of_start(change->attr)) ||
		    !wanted(r, change))
			continue;
		code = keel_change(ch, &server_manager, job,
				   &(struct keel_attrop){ .name = change->attr, .key = change->key,
							 .value = change->text,
							  .op = change->text ? KEEL_SET : KEEL_UNSET }, &err);
		n++;
	}
	if (!code && n > 0 && keel_can(job, change))
		code = keel_job_change(job, ch, &err);
	else
		keel_discard(ch);
	if (code)
		keel_log(mod, KEEL_LOG_DEBUG2, "Hook", r->name, "what %s changes of job %s is refused: %s",
			 r->event->name, r->id, err.text);
}

static bool in_list(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list != NULL;
}

/* ---- postqueuejob ------------------------------------------------------------------------------------------- */
static bool changes_queued(struct run *r, const struct change *change)
{
	static const char *const settable[] = { "Hold_Types", "project", "Variable_List", "Resource_List", NULL };

	(void)r;
	return in_list(settable, change->attr);
}

/* Jobs that a script looks at after they were queued: they do not start before it has ended. */
struct queued {
	UT_hash_handle hh;
	char id[280];
	uint32_t runs;
};

/* r->own of such a run. */
struct queued_run {
	struct state *st;
	struct queued *q;
};

static keel_verdict on_start_job(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_start_job *ev = event;
	struct state *st = c->mod->state;
	struct queued *q = NULL;

	(void)point, (void)arg;
	if (st->server && st->server->queued)
		HASH_FIND_STR(st->server->queued, ev->id, q);
	return q ? keel_reject(c, PBSE_HOOKERROR, "a hook looks at it: it waits for that") : KEEL_NEXT;
}

static void queued_over(void *own)
{
	struct queued_run *run = own;
	struct server *server = run->st->server;
	struct queued *q = run->q;

	free(run);
	if (--q->runs > 0)
		return;
	if (server) {
		HASH_DEL(server->queued, q);
		if (keel_has(sched))
			keel_sched_reconsider();
	}
	free(q);
}

void queued_stop(struct server *server)
{
	if (server->queued)
		HASH_CLEAR(hh, server->queued); /* each is freed with the last of its runs */
}

static struct queued *queued_get(struct server *server, const char *id)
{
	struct queued *q;

	HASH_FIND_STR(server->queued, id, q);
	if (q || !(q = calloc(1, sizeof(*q))))
		return q;
	snprintf(q->id, sizeof(q->id), "%s", id);
	HASH_ADD_STR(server->queued, id, q);
	if (q->hh.tbl)
		return q;
	free(q);
	return NULL;
}

/* Without memory the job may start before its script has ended. */
static void queued_begin(struct run *r)
{
	struct server *server = r->st->server;
	struct queued_run *run = server ? calloc(1, sizeof(*run)) : NULL;
	struct queued *q = run ? queued_get(server, r->id) : NULL;
	struct keel_err err = { 0 };

	if (!q) {
		free(run);
		return;
	}
	if (!server->holds_starts)
		server->holds_starts = keel_tap_add(r->st->mod, KEEL_POINT_start_job, "postqueuejob", 0,
						    on_start_job, NULL, &err) == 0;
	q->runs++;
	*run = (struct queued_run){ r->st, q };
	r->own = run;
	r->free_own = queued_over;
}

int32_t server_fill_postqueuejob(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_job_queued *ev = event;
	const struct keel_attr *owner = keel_attr_find(r->st->mod, "job", "Job_Owner");
	char who[512] = "";

	if (owner)
		keel_get_text(ev->job, owner, NULL, who, sizeof(who));
	server_about(r, ev->id, who);
	queued_begin(r);
	server_object(r, params, "job", ev->job, NULL);
	return 1;
}

keel_verdict server_settle_postqueuejob(struct run *r, struct keel_call *c, const struct result *result)
{
	(void)c;
	server_restarts_cycle(r, result);
	if (result->how == ACCEPTED)
		job_change(r, result, changes_queued);
	return KEEL_NEXT;
}

/* ---- jobobit ------------------------------------------------------------------------------------------------ */
int32_t server_fill_jobobit(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_job_ended *ev = event;

	server_about(r, ev->id, NULL);
	server_shown(r, params, "job", ev->job, NULL);
	return 1;
}

/* ---- runjob ------------------------------------------------------------------------------------------------- */
static const char *const with_start[] = { "Output_Path", "Error_Path", "Resource_List", "Variable_List",
					 "create_resv_from_job",
					  NULL };
static const char *const after_refusal[] = { "Execution_Time", "Hold_Types", "project", "depend", "Variable_List",
					     "Resource_List", NULL };

/* Why the start cannot be accepted with this change; NULL: it can. */
static const char *contradiction(const struct change *change)
{
	if (strcmp(change->target, "job") != 0)
		return "vnode";
	return in_list(with_start, change->attr) ? NULL : "job";
}

static keel_verdict start_accepted(struct run *r, struct keel_call *c, const struct result *result)
{
	for (uint32_t i = 0; i < result->n_changes; i++) {
		const char *what = contradiction(&result->changes[i]);

		if (what)
			return keel_reject(c, PBSE_HOOKERROR,
					   "request rejected by filter hook '%s': cannot modify %s after runjob request has been accepted.",
					   r->name, what);
	}
	return server_changes(r, c, result, "job");
}

static bool changes_refused(struct run *r, const struct change *change)
{
	if (in_list(after_refusal, change->attr))
		return true;
	keel_log(r->st->mod, KEEL_LOG_DEBUG2, "Hook", r->name,
		 "cannot modify job attribute '%s' after runjob request has been rejected.",
		 change->attr);
	return false;
}

/* What is to be changed once the refusal of the start is through. */
struct aftermath {
	struct run run;
	struct result result;
};

static void aftermath_free(struct aftermath *a)
{
	changes_free(a->result.changes, a->result.n_changes);
	free(a);
}

/* NULL without memory. */
static struct aftermath *aftermath_new(const struct run *r, const struct result *result)
{
	struct aftermath *a = calloc(1, sizeof(*a));

	if (!a || !(a->result.changes = changes_copy(result->changes, result->n_changes))) {
		free(a);
		return NULL;
	}
	a->result.n_changes = result->n_changes;
	a->run = *r;
	a->run.call = NULL;
	a->run.hook = NULL;
	a->run.own = NULL;
	return a;
}

static void start_refused(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct aftermath *a = arg;

	(void)mod, (void)outcome;
	job_change(&a->run, &a->result, changes_refused);
	vnodes_change_all(a->run.st, a->run.name, &a->result);
	aftermath_free(a);
}

static keel_verdict start_rejected(struct run *r, struct keel_call *c, const struct result *result)
{
	struct aftermath *a = result->how == REJECTED && result->n_changes > 0 ? aftermath_new(r, result) : NULL;

	if (a && keel_settled(c, start_refused, a))
		aftermath_free(a);
	return server_refusal(r, c, result);
}

/* A start that is only tried out asks no script. */
int32_t server_fill_runjob(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_start_now *ev = event;

	if (ev->dry)
		return -1;
	server_about(r, ev->id, ev->who);
	server_object(r, params, "job", ev->job, r->call);
	return 1;
}

keel_verdict server_settle_runjob(struct run *r, struct keel_call *c, const struct result *result)
{
	server_restarts_cycle(r, result);
	return result->how == ACCEPTED ? start_accepted(r, c, result) : start_rejected(r, c, result);
}
