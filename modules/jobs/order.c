/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - the order of jobs: queue_rank, and the walk that listings follow.
 *
 * The rank is the truth. The store hands jobs out in order of creation, so after a restart the walk is
 * made to follow the ranks again, if any two were ever exchanged.
 */
#include "jobs.h"

#include <stdlib.h>

KEEL_ATTRS_OF(job, mtime, queue_rank);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

static void placed_anew(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *other,
			const char *who)
{
	keel_set_int(job, job_mtime, keel_time(mod));
	keel_log(mod, KEEL_LOG_JOB, "Job", job_id(mod, job),
		 "Job changed places with %s at request of %s", job_id(mod, other), who);
	keel_note(mod, KEEL_POINT_job_moved,
		  KEEL_EVENT(job_moved, .id = job_id(mod, job), .job = job,
			     .from = job_text(job, attr_job_queue)));
}

void on_order(struct keel_mod *mod, struct keel_req *req)
{
	const char *who = keel_req_session(req)->who;
	struct keel_obj *one = job_for(mod, req, KEEL_EVERYBODY), *other;
	int64_t rank;

	if (!one || !(other = job_named(mod, req, "id2", KEEL_EVERYBODY)))
		return;
	if (!step_is_pending(job_slot(mod, one)->step) ||
	    !step_is_pending(job_slot(mod, other)->step)) {
		keel_reply(req, PBSE_BADSTATE, NULL);
		return;
	}
	if (one != other) {
		rank = keel_get_int(one, job_queue_rank);
		keel_set_int(one, job_queue_rank, keel_get_int(other, job_queue_rank));
		keel_set_int(other, job_queue_rank, rank);
		keel_swap(one, other);
		placed_anew(mod, one, other, who);
		placed_anew(mod, other, one, who);
		scheduler_wake(mod);
	}
	keel_reply(req, 0, NULL);
}

/* ---- after a restart --------------------------------------------------------------------------------- */

struct placed {
	int64_t rank;
	struct keel_obj *job;
	size_t at; /* its place in the walk */
};

static int by_rank(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Bring sorted[i].job to place i, by exchanges. */
static void walk_follow(struct placed *sorted, struct placed **at, size_t n)
{
	size_t i, place;

	for (i = 0; i < n; i++)
		at[sorted[i].at] = &sorted[i];
	for (i = 0; i < n; i++) {
		struct placed *here = at[i];

		if (here == &sorted[i])
			continue;
		place = sorted[i].at;
		keel_swap(here->job, sorted[i].job);
		at[place] = here;
		here->at = place;
		at[i] = &sorted[i];
		sorted[i].at = i;
	}
}

void order_known(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	int64_t rank = keel_get_int(job, job_queue_rank);

	if (rank < st->last_rank)
		st->ranks_mixed = true;
	st->last_rank = rank;
}

void order_start(struct keel_mod *mod)
{
	struct state *st = mod->state;
	size_t n = keel_count(mod, "job"), i = 0;
	struct placed *sorted = st->ranks_mixed ? calloc(n, sizeof(*sorted)) : NULL;
	struct placed **at = sorted ? calloc(n, sizeof(struct placed *)) : NULL;
	struct keel_cursor *walk = at ? keel_cursor(mod, "job") : NULL;
	struct keel_obj *job;

	while (walk && i < n && (job = keel_next(walk))) {
		sorted[i] = (struct placed){ keel_get_int(job, job_queue_rank), job, i };
		i++;
	}
	if (walk) {
		keel_cursor_close(walk);
		qsort(sorted, i, sizeof(*sorted), by_rank);
		walk_follow(sorted, at, i);
	}
	free(at);
	free(sorted);
}
