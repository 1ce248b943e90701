/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c - a job goes into another queue: a waiting one for qmove and for what routes jobs, any one for a module that made
 * the queue for it (job_put()).
 *
 * The queue admits it, its defaults are computed anew, the point job_move agrees; then queue, counters
 * and place change in one turn. The resources that its submitter named stay, and so does its rank.
 */
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTRS_OF(job, comment, hop_count, qtime, mtime, exec_vnode);
KEEL_ATTR_OF(server, default_queue);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

struct moving {
	char *id, *queue, *who;
	struct keel_mod *me;
	keel_job_done *done;
	void *arg;
	struct keel_req *req; /* NULL: a module calls */
	char key[AGAIN_KEY];
};

static void move(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who,
		 struct keel_req *req, struct keel_mod *me, keel_job_done *done, void *arg);

static void moving_free(struct moving *m)
{
	free(m->id);
	free(m->queue);
	free(m->who);
	free(m);
}

static struct moving *moving_new(const char *id, const char *queue, const char *who,
				 struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct moving *m = calloc(1, sizeof(*m));

	if (!m || !(m->id = strdup(id)) || !(m->queue = strdup(queue)) || !(m->who = strdup(who))) {
		if (m)
			moving_free(m);
		return NULL;
	}
	m->me = me;
	m->done = done;
	m->arg = arg;
	return m;
}

static bool is_routed(struct keel_mod *mod, struct keel_obj *job)
{
	struct keel_obj *queue = job_queue(mod, job);

	return queue && !keel_queue_runs(queue);
}

/* Its vnodes may be those of a holder that goes by queues. */
static void lodge(struct keel_mod *mod, struct keel_obj *job)
{
	char *vnodes = job_vnodes(job);
	struct keel_err err = { 0 };

	if (keel_node_lodge(job_id(mod, job), vnodes ? vnodes : job_text(job, job_exec_vnode), &err))
		keel_log(mod, KEEL_LOG_ERROR, "Job", job_id(mod, job), "its vnodes are charged as in the queue it was in: %s",
			 err.text);
	free(vnodes);
}

/* What is counted and charged of it goes from one queue to the other. */
static void exchange_queue(struct keel_mod *mod, struct keel_obj *job, const char *name)
{
	const enum step step = job_slot(mod, job)->step;

	edits_count(mod, job);
	log_dequeuing(mod, job, step_letter(step));
	counts_add(mod, job, step, -1);
	job_recharge(mod, job, -1);
	keel_set_str(job, attr_job_queue, name);
	job_recharge(mod, job, 1);
	counts_add(mod, job, step, 1);
	if (job_slot(mod, job)->occupies != OCCUPIES_NOTHING)
		lodge(mod, job);
	keel_set_int(job, job_mtime, keel_time(mod));
}

/* It waits, so its place among those that wait there is a new one. */
static void wait_there(struct keel_mod *mod, struct keel_obj *job)
{
	static const char *const reasons[] = { "Not Running", "Can Never Run", "Not Routed" };

	keel_set_int(job, job_qtime, keel_time(mod));
	/* A scheduler's comment about the queue it was in is no longer true. */
	for (size_t i = 0; i < KEEL_COUNT(reasons); i++)
		if (strncmp(job_text(job, job_comment), reasons[i], strlen(reasons[i])) == 0)
			keel_unset(job, job_comment, NULL);
	step_evaluate(mod, job);
}

static void change_queue(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue,
			 const char *who)
{
	struct job *j = job_slot(mod, job);
	const char *id = job_id(mod, job), *name = keel_id(queue);
	const bool waits = step_is_open(j->step);
	char from[64];

	strncpy(from, job_text(job, attr_job_queue), sizeof(from) - 1);
	from[sizeof(from) - 1] = '\0';
	if (is_routed(mod, job))
		keel_set_int(job, job_hop_count, keel_get_int(job, job_hop_count) + 1);
	exchange_queue(mod, job, name);
	if (waits)
		wait_there(mod, job);
	keel_log(mod, KEEL_LOG_JOB, "Job", id, "Job moved to %s at request of %s", name, who);
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", id, "enqueuing into %s, state %c hop %lld", name,
		 step_letter(j->step), (long long)keel_get_int(job, job_hop_count) + 1);
	if (waits)
		keel_acct_job('Q', job);
	keel_note(mod, KEEL_POINT_job_moved,
		  KEEL_EVENT(job_moved, .id = id, .job = job, .from = from));
	scheduler_wake(mod);
}

int32_t job_put(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who)
{
	const enum step step = job_slot(mod, job)->step;

	if (step == STEP_NEW || step_is_over(step) || step_is_expired(step))
		return PBSE_BADSTATE;
	change_queue(mod, job, queue, who);
	return 0;
}

static void move_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct moving *m = arg;
	struct keel_obj *job = keel_find(mod, "job", m->id);
	const char *where = again_queue(mod, m->key);
	struct keel_obj *queue = keel_find(mod, "queue", edits_stale(outcome) || !where ? m->queue : where);

	again_over(mod, m->key);
	if (edits_stale(outcome) && job && queue) {
		move(mod, job, queue, m->who, m->req, m->me, m->done, m->arg);
	} else if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		m->done(m->me, m->arg, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	} else if (!job || !queue) {
		m->done(m->me, m->arg, job ? PBSE_UNKQUE : PBSE_UNKJOBID, NULL);
	} else if (!step_is_pending(job_slot(mod, job)->step)) {
		m->done(m->me, m->arg, PBSE_BADSTATE, NULL);
	} else {
		change_queue(mod, job, queue, m->who);
		m->done(m->me, m->arg, 0, NULL);
	}
	moving_free(m);
}

/* All checks before the point job_move is raised; *ret_changes gets the new resources. Returns 0, or fails with 15016
 * (it has started), an error of admit(), 15010 without memory, or what service `resource` says; *err has the sentence. */
static int32_t move_prepare(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue,
		       const struct keel_session *asker, struct keel_changes **ret_changes,
		       char key[AGAIN_KEY], struct keel_err *err)
{
	struct keel_session owner;
	struct keel_changes *ch;
	int32_t code;

	if (!step_is_pending(job_slot(mod, job)->step))
		return keel_error(err, PBSE_BADSTATE, "%s", keel_pbse_text(PBSE_BADSTATE));
	admit_owner(mod, job, asker, &owner);
	code = admit(mod, queue, &owner, is_routed(mod, job), err);
	if (code)
		return code;
	ch = keel_changes(mod);
	code = ch ? keel_resource_prepare(ch, job, queue, err)
		  : keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code)
		code = keel_change_text(ch, job, attr_job_queue, KEEL_SET, NULL, keel_id(queue), err);
	if (!code)
		code = edits_expect(mod, ch, job, keel_id(queue), key, err);
	if (code)
		keel_discard(ch);
	else
		*ret_changes = ch;
	return code;
}

static void move(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who,
		 struct keel_req *req, struct keel_mod *me, keel_job_done *done, void *arg)
{
	struct keel_changes *ch = NULL;
	struct keel_err err = { 0 };
	struct moving *m;
	char key[AGAIN_KEY];
	int32_t code = move_prepare(mod, job, queue, req ? keel_req_session(req) : NULL, &ch, key, &err);

	if (code) {
		done(me, arg, code, err.text);
		return;
	}
	m = moving_new(job_id(mod, job), keel_id(queue), who, me, done, arg);
	if (m) {
		m->req = req;
		memcpy(m->key, key, sizeof(key));
	} else {
		again_over(mod, key);
		keel_discard(ch);
		done(me, arg, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_move,
		.event = KEEL_EVENT(job_move, .id = m->id, .job = job, .queue = queue,
			       .who = m->who),
		.changes = ch,
		.req = req,
		.done = move_decided,
		.arg = m,
	});
}

void job_move(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *queue, const char *who,
	      struct keel_mod *me, keel_job_done *done, void *arg)
{
	move(mod, job, queue, who, NULL, me, done, arg);
}

/* ---- qmove -------------------------------------------------------------------------------------------- */

int32_t destination_find(struct keel_mod *mod, const char *dest, struct keel_obj **ret_queue)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *fallback = keel_get_str(server, server_default_queue);
	const char *const here[] = { keel_server_name(mod), keel_host_name(mod), "localhost" };
	size_t len = strcspn(dest, "@"), host, i = 0;
	char name[256];

	if (dest[len] == '@' && dest[len + 1]) { /* host[:port], which must be this server */
		host = strcspn(dest + len + 1, ":");
		while (i < KEEL_COUNT(here) &&
		       (strlen(here[i]) != host || strncasecmp(here[i], dest + len + 1, host) != 0))
			i++;
		snprintf(name, sizeof(name), "%.*s", (int)host, dest + len + 1);
		if (i == KEEL_COUNT(here) && !keel_find(mod, "server", name)) /* one that it had before */
			return PBSE_BADHOST;
	}
	if (len == 0 && !fallback)
		return PBSE_QUENODFLT;
	if (len >= sizeof(name))
		return PBSE_UNKQUE;
	memcpy(name, dest, len);
	name[len] = '\0';
	*ret_queue = keel_find(mod, "queue", len ? name : fallback);
	return *ret_queue ? 0 : PBSE_UNKQUE;
}

void on_move(struct keel_mod *mod, struct keel_req *req)
{
	struct keel_obj *job = job_for(mod, req, KEEL_EVERYBODY), *queue;
	const char *dest;
	int32_t code;

	if (!job)
		return; /* it is answered, and gone */
	dest = keel_msg_str(keel_req_body(req), "dest");
	code = step_is_pending(job_slot(mod, job)->step)
		       ? destination_find(mod, dest ? dest : "", &queue)
		       : PBSE_BADSTATE;
	if (code)
		keel_reply(req, code, NULL);
	else
		move(mod, job, queue, keel_req_session(req)->who, req, mod, reply_later, req);
}
