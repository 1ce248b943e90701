/* SPDX-License-Identifier: Apache-2.0
 *
 * drain.c - the end of service: each request that was read gets a reply, then each client a goodbye.
 *
 *	SERVING  (of a restart) requests are served as ever, until those that were open at the start and have acted have ended
 *	ENDING   nothing more is read; what only waits, or has changed nothing, is answered "again", others end
 *	LEAVING  every request has its reply; goodbyes are written, connections closed
 *
 * At the deadline what is open still is answered. So what has no reply before the goodbye was not read, and a
 * client may send it once more.
 */
#include <utlist.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "request/inside.h"
#include "util/crumb.h"
#include "util/err.h"

static void drain_step(void *arg);

/* Returns whether nothing changes when the request ends now and is sent again; a stream, which has sent parts, is begun anew. */
static bool is_repeatable(const struct keel_req *q)
{
	const struct router *r = q->router;

	if (q->state != REQ_OPEN)
		return false;
	if (q->parts)
		return q->route->def.flags & KEEL_REQUEST_WAITS;
	return q->receiving || (q->route->def.flags & KEEL_REQUEST_WAITS) || hooks_sole(r->parts->hooks, q) ||
	       (r->drain.late && (q->route->def.flags & (KEEL_REQUEST_READ | KEEL_REQUEST_OTHERS)) == KEEL_REQUEST_READ);
}

/* Calls on_leave() of its requests; each may answer any of them. */
static void requests_notify(struct client *c)
{
	struct keel_req *q = c->reqs;

	while (q != NULL) {
		keel_fn *fn = q->state == REQ_OPEN && q->route != NULL ? q->leave : NULL;

		q->leave = NULL;
		if (fn != NULL)
			CRUMB_CALL(q->route->owner, "on_leave()", q->route->def.name,
				   fn(&q->route->owner->pub, q->leave_arg));
		q = fn != NULL ? c->reqs : q->next;
	}
}

static void requests_end(struct client *c)
{
	struct keel_req *q = c->reqs;

	while (q != NULL) {
		if (is_repeatable(q)) {
			req_again(q); /* its module may end others of this client */
			q = c->reqs;
		} else {
			q = q->next;
		}
	}
	while (c->router->drain.late && c->reqs != NULL)
		req_withdraw(c->reqs, PBSE_SVRDOWN,
			     "The server ends or restarts before this request has ended; look at what it was about");
}

void client_leave(struct client *c)
{
	bool waits = c->reqs == NULL && c->queued == 0; /* for its body, or to be served */

	requests_end(c);
	c->closing = true;
	if (waits)
		client_send(c, out_create(), WIRE_GOODBYE, 0);
}

/* Of the requests, then of the goodbyes: clients that do not read theirs are dropped. */
static void deadline_passed(void *arg)
{
	struct router *r = arg;

	r->drain.deadline = NULL;
	if (r->drain.phase == DRAIN_LEAVING) {
		while (r->clients != NULL)
			client_drop(r->clients);
		return;
	}
	r->drain.late = true;
	log_add(r->parts->log, KEEL_LOG_SYSTEM, "Req", "client", "%u requests have not ended", r->n_open);
	loop_timer_cancel(r->drain.step);
	drain_step(r);
}

static void goodbyes_send(struct router *r)
{
	struct client *c;

	r->drain.phase = DRAIN_LEAVING;
	DL_FOREACH(r->clients, c) {
		struct keel_out *o = out_create();

		c->closing = true;
		if (r->drain.for_good)
			out_put_int(o, "stop", 1);
		if (c->remote.owner == NULL || c->queued == 0)
			client_send(c, o, WIRE_GOODBYE, 0);
		else
			out_drop(o); /* it waits for the window, and is the last one */
	}
	loop_timer_cancel(r->drain.deadline);
	r->drain.deadline = loop_timer(r->parts->loop, r->limits.goodbye_ms, deadline_passed, r);
	if (r->drain.deadline == NULL)
		deadline_passed(r);
}

void drain_due(struct router *r)
{
	if (r->drain.phase != DRAIN_NONE && r->drain.step == NULL)
		r->drain.step = loop_timer(r->parts->loop, 0, drain_step, r);
}

static void drain_step(void *arg)
{
	struct router *r = arg;
	struct drain *d = &r->drain;
	struct client *c;

	d->step = NULL;
	if (d->phase != DRAIN_LEAVING) {
		DL_FOREACH(r->clients, c)
			requests_notify(c);
	}
	if (d->phase == DRAIN_SERVING && (d->n_old == 0 || d->late)) {
		d->phase = DRAIN_ENDING;
		router_listen_pause(r);
		DL_FOREACH(r->clients, c)
			client_rearm(c);
	}
	if (d->phase == DRAIN_ENDING) {
		DL_FOREACH(r->clients, c)
			requests_end(c);
		if (r->n_open == 0)
			goodbyes_send(r);
	}
	if (d->phase == DRAIN_LEAVING && r->n_clients == 0) {
		void (*done)(void *arg) = d->done;

		drain_end(r);
		d->done = NULL;
		if (done != NULL)
			done(d->arg);
	}
}

void drain_end(struct router *r)
{
	loop_timer_cancel(r->drain.step);
	loop_timer_cancel(r->drain.deadline);
	r->drain.step = r->drain.deadline = NULL;
}

/* `n_old` of the router's drain is set. */
static void drain_begin(struct router *r, int64_t left_ms, void (*done)(void *arg), void *arg)
{
	struct drain *d = &r->drain;

	d->phase = DRAIN_SERVING;
	d->done = done;
	d->arg = arg;
	d->deadline = loop_timer(r->parts->loop, left_ms > 0 ? left_ms : 0, deadline_passed, r);
	d->late = d->deadline == NULL;
	d->step = loop_timer(r->parts->loop, 0, drain_step, r);
	if (d->step == NULL)
		drain_step(r);
}

void router_drain(struct router *r, int64_t deadline_ms, void (*done)(void *arg), void *arg)
{
	struct client *c;
	struct keel_req *q;

	DL_FOREACH(r->clients, c) {
		DL_FOREACH(c->reqs, q) {
			q->old = !is_repeatable(q);
			r->drain.n_old += q->old;
		}
	}
	drain_begin(r, deadline_ms - loop_now_ms(r->parts->loop), done, arg);
}

void router_shutdown(struct router *r, bool for_good)
{
	if (r->drain.phase != DRAIN_NONE)
		return;
	r->drain.for_good = for_good;
	router_listen_stop(r);
	drain_begin(r, r->limits.shutdown_ms, NULL, NULL);
}

bool router_idle(const struct router *r)
{
	if (r->drain.phase != DRAIN_NONE)
		return r->drain.phase == DRAIN_LEAVING && r->n_clients == 0;
	return r->n_open == 0 && r->queued == 0;
}
