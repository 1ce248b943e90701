/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - the jobs of a routing queue: due, or parked until something may have changed.
 *
 *   submitted, moved in, altered, released -> DUE -> (route.c) -> gone, or PARKED
 *                                              ^                     |
 *                                              '--- route_retry_time, a queue changed
 *
 * A slice of SLICE jobs is tried per turn, so that a long line does not stop the server.
 */
#include "routing.h"

#include <string.h>

#include <utlist.h>

KEEL_ATTRS_OF(queue, queue_type, route_retry_time);
KEEL_ATTR_OF(job, queue);

#define SLICE 32
#define RETRY_SECONDS 30

static void due_now(struct keel_mod *mod, struct router *r);

bool is_routing(struct keel_obj *queue)
{
	const char *type = keel_get_str(queue, queue_queue_type);

	return type && strcmp(type, ROUTE) == 0;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

static void line_leave(struct entry *e)
{
	if (!e->line)
		return;
	DL_DELETE(e->line->first, e);
	e->line = NULL;
	e->prev = e->next = NULL;
}

static void line_join(struct line *l, struct entry *e)
{
	line_leave(e);
	e->line = l;
	DL_APPEND(l->first, e);
}

void entry_fini(struct keel_mod *mod, void *slot)
{
	(void)mod;
	line_leave(slot);
}

void router_fini(struct keel_mod *mod, void *slot)
{
	struct router *r = slot;

	(void)mod;
	while (r->due.first)
		line_leave(r->due.first);
	while (r->parked.first)
		line_leave(r->parked.first);
	keel_timer_cancel(r->work);
	keel_timer_cancel(r->retry);
}

static struct router *router_of(struct keel_mod *mod, struct keel_obj *queue)
{
	struct router *r = keel_slot(mod, queue);

	if (r)
		r->queue = queue;
	return r;
}

/* ---- due ------------------------------------------------------------------------------------------------ */

static void work(struct keel_mod *mod, void *arg)
{
	struct router *r = arg; /* its slot cancels the timer when the queue goes */
	int n = SLICE;

	r->work = NULL;
	while (r->due.first && n-- > 0) {
		struct entry *e = r->due.first;

		line_leave(e);
		route(mod, e, r->queue);
	}
	if (r->due.first)
		due_now(mod, r);
}

static void due_now(struct keel_mod *mod, struct router *r)
{
	if (!r->work)
		r->work = keel_timer(mod, 0, work, r);
}

void line_consider(struct keel_mod *mod, struct keel_obj *job)
{
	const char *name = keel_get_str(job, job_queue);
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;
	bool waits = queue && is_routing(queue) &&
		     strchr("TQHW", keel_job_state(job));
	struct entry *e;
	struct router *r;

	if (!waits)
		return; /* an entry that is still in a line is seen to be elsewhere when it is due */
	e = keel_slot(mod, job);
	r = router_of(mod, queue);
	if (!e || !r || e->under_way)
		return;
	e->job = job;
	e->router = r;
	line_join(&r->due, e);
	due_now(mod, r);
}

/* ---- parked ----------------------------------------------------------------------------------------------- */

static void wake(struct keel_mod *mod, struct router *r)
{
	while (r->parked.first)
		line_join(&r->due, r->parked.first);
	if (r->due.first)
		due_now(mod, r);
}

static void retry(struct keel_mod *mod, void *arg)
{
	struct router *r = arg;

	r->retry = NULL;
	wake(mod, r);
}

void line_park(struct keel_mod *mod, struct entry *e)
{
	struct router *r = e->router;
	int64_t seconds = RETRY_SECONDS;

	line_join(&r->parked, e);
	if (keel_is_set(r->queue, queue_route_retry_time))
		seconds = keel_get_int(r->queue, queue_route_retry_time);
	if (!r->retry)
		r->retry = keel_timer(mod, (seconds > 0 ? seconds : 1) * 1000, retry, r);
}

void line_wake(struct keel_mod *mod, struct keel_obj *queue)
{
	struct router *r = is_routing(queue) ? router_of(mod, queue) : NULL;

	if (r)
		wake(mod, r);
}
