/* SPDX-License-Identifier: Apache-2.0
 *
 * route.c - one attempt to route a job: its queue's destinations in the order they are listed.
 *
 * For each the point job_route is raised, then the job is moved as qmove would. The first that accepts it
 * gets it. Errors that may go away with time make the job wait; when all refuse for good, it is aborted.
 */
#include "routing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, queue, hop_count, qtime);
KEEL_ATTRS_OF(queue, route_destinations, started, route_held_jobs, route_waiting_jobs,
	      route_lifetime);

struct attempt {
	char *id, *from; /* the job, and the queue it is routed from */
	uint32_t next;	 /* destination to be tried */
	bool hopeful;	 /* one of them may take it later */
	bool calling, answered;
	int32_t code;	 /* the answer */
	char queue[64];	 /* the destination that is tried */
	char why[400];	 /* the last refusal, in words */
};

static void attempt_free(struct attempt *a)
{
	free(a->id);
	free(a->from);
	free(a);
}

/* The job, if it is still where it was. */
static struct keel_obj *still_there(struct keel_mod *mod, const struct attempt *a)
{
	struct keel_obj *job = keel_find(mod, "job", a->id);
	const char *queue = job ? keel_get_str(job, job_queue) : NULL;

	return queue && strcmp(queue, a->from) == 0 ? job : NULL;
}

static void end(struct keel_mod *mod, struct attempt *a)
{
	struct keel_obj *job = keel_find(mod, "job", a->id);
	struct entry *e = job ? keel_slot(mod, job) : NULL;

	if (e)
		e->under_way = false;
	attempt_free(a);
}

static void give_up(struct keel_mod *mod, struct attempt *a, struct keel_obj *job, int32_t code)
{
	char why[512];

	snprintf(why, sizeof(why), "%s", keel_pbse_text(code));
	end(mod, a);
	keel_job_abort(job, why);
}

static void wait_more(struct keel_mod *mod, struct attempt *a, struct keel_obj *job)
{
	struct entry *e = keel_slot(mod, job);
	char text[512];

	if (a->why[0]) {
		snprintf(text, sizeof(text), "Not Routed: %s", a->why);
		keel_job_set_comment(job, text);
	}
	end(mod, a);
	if (e)
		line_park(mod, e);
}

/* What the answer means. True: the attempt is over and freed. */
static bool settle(struct keel_mod *mod, struct attempt *a)
{
	/* Errors that may go away later, without a change of the job. */
	static const int32_t may_heal[] = { PBSE_QUNOENB, PBSE_MAXQUED,	PBSE_ENTLIMCT,
					    PBSE_ENTLIMRESC, PBSE_BADHOST, PBSE_SYSTEM,
					    PBSE_RESCUNAV,	PBSE_HOOKERROR };
	struct keel_obj *job = still_there(mod, a);

	if (!job || a->code == 0) { /* moved, by us or by a request; or deleted */
		job = keel_find(mod, "job", a->id);
		end(mod, a);
		if (job)
			line_consider(mod, job); /* into a routing queue again? */
		return true;
	}
	if (a->code == PBSE_HOPCOUNT || a->code == PBSE_BADSTATE) {
		if (a->code == PBSE_HOPCOUNT)
			give_up(mod, a, job, PBSE_HOPCOUNT);
		else
			end(mod, a);
		return true;
	}
	for (size_t i = 0; i < KEEL_COUNT(may_heal); i++)
		a->hopeful |= may_heal[i] == a->code;
	return false;
}

/* ---- one destination ----------------------------------------------------------------------------------- */

static void go(struct keel_mod *mod, struct attempt *a);

static void answered(struct keel_mod *mod, struct attempt *a, int32_t code, const char *text)
{
	a->answered = true;
	a->code = code;
	if (code)
		snprintf(a->why, sizeof(a->why), "%s: %s", a->queue,
			 text && *text ? text : keel_pbse_text(code));
	if (!a->calling && !settle(mod, a))
		go(mod, a);
}

static void moved(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	answered(mod, arg, code, text);
}

static void decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct attempt *a = arg;
	struct keel_obj *job = still_there(mod, a), *queue;
	char who[600];

	queue = keel_find(mod, "queue", a->queue);
	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		answered(mod, a, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
		return;
	}
	if (!job || !queue) {
		answered(mod, a, PBSE_UNKQUE, NULL);
		return;
	}
	snprintf(who, sizeof(who), "%s@%s", keel_server_name(mod), keel_host_name(mod));
	keel_job_move(job, queue, who, mod, moved, a);
}

static void ask(struct keel_mod *mod, struct attempt *a, struct keel_obj *job, const char *dest)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *queue;
	int32_t code = keel_job_destination(dest, &queue);

	snprintf(a->queue, sizeof(a->queue), "%.63s", code ? dest : keel_id(queue));
	if (!code && keel_get_int(job, job_hop_count) >= conf->hops)
		code = PBSE_HOPCOUNT;
	if (code) {
		answered(mod, a, code, NULL);
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_route,
		.event = KEEL_EVENT(job_route, .id = a->id, .job = job, .queue = queue),
		.done = decided,
		.arg = a,
	});
}

/* From one destination to the next, until one has to be waited for or all have answered. */
static void go(struct keel_mod *mod, struct attempt *a)
{
	for (;;) {
		struct keel_obj *job = still_there(mod, a);
		struct keel_obj *from = keel_find(mod, "queue", a->from);
		const char *list = from ? keel_get_str(from, queue_route_destinations) : NULL;
		char dest[512];

		if (!job || !from) {
			end(mod, a);
			return;
		}
		if (!list || !destinations_at(list, a->next, dest, sizeof(dest))) {
			if (a->hopeful || a->next == 0)
				wait_more(mod, a, job);
			else
				give_up(mod, a, job, PBSE_ROUTEREJ);
			return;
		}
		a->next++;
		a->answered = false;
		a->calling = true;
		ask(mod, a, job, dest);
		a->calling = false;
		if (!a->answered || settle(mod, a))
			return;
	}
}

/* ---- may it be tried now? -------------------------------------------------------------------------------- */

static bool is_ready(struct keel_obj *job, struct keel_obj *queue)
{
	if (!keel_get_int(queue, queue_started))
		return false;
	switch (keel_job_state(job)) {
	case 'H':
		return keel_get_int(queue, queue_route_held_jobs);
	case 'W':
		return keel_get_int(queue, queue_route_waiting_jobs);
	default:
		return true;
	}
}

static struct attempt *attempt_new(struct keel_obj *job,
				   struct keel_obj *queue)
{
	struct attempt *a = calloc(1, sizeof(*a));

	if (!a || !(a->id = strdup(keel_id(job))) ||
	    !(a->from = strdup(keel_id(queue)))) {
		if (a)
			attempt_free(a);
		return NULL;
	}
	return a;
}

void route(struct keel_mod *mod, struct entry *e, struct keel_obj *queue)
{
	const char *name = keel_get_str(e->job, job_queue);
	struct attempt *a;
	int64_t most;

	if (!name || strcmp(name, keel_id(queue)) != 0 ||
	    !strchr("TQHW", keel_job_state(e->job)))
		return; /* it has gone elsewhere, or is over */
	most = keel_get_int(queue, queue_route_lifetime);
	if (most > 0 && keel_time(mod) - keel_get_int(e->job, job_qtime) > most) {
		keel_job_abort(e->job, "Route queue lifetime exceeded");
		return;
	}
	a = is_ready(e->job, queue) ? attempt_new(e->job, queue) : NULL;
	if (!a) {
		line_park(mod, e);
		return;
	}
	e->under_way = true;
	go(mod, a);
}
