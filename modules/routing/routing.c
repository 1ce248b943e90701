/* SPDX-License-Identifier: Apache-2.0
 *
 * routing.c - queues whose jobs are passed on to others: the queue type Route and its attributes.
 *
 *   job_queued, job_known, job_moved, job_step   a job in a routing queue is due
 *   management                                   no routing queue without destinations; any change of a
 *                                                queue may let jobs go on
 */
#include "routing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_USE(job);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, hops, .fallback = "10", .min = 1, .max = 1000,
		       .doc = "how often a job may be routed"),
};

static const struct keel_queue_type_def route_type = {
	.size = sizeof(struct keel_queue_type_def),
	.name = ROUTE,
	.doc = "its jobs are passed on to other queues",
};

static int32_t check_destinations(struct keel_mod *mod, const struct keel_session *who,
				  struct keel_obj *queue, int32_t op, const char *key, const char *text,
				  struct keel_err *err)
{
	(void)who, (void)queue, (void)op, (void)key, (void)mod;
	return destinations_fine(text)
		       ? 0
		       : keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

/* Destinations are tried in one way. */
static int32_t check_router(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *queue,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)queue, (void)op, (void)key, (void)mod;
	return who && strcasecmp(text, "True") == 0 ? keel_error(err, PBSE_NOSUP, "alt_router is not obeyed: destinations are tried in the order of route_destinations") : 0;
}

static int32_t check_seconds(struct keel_mod *mod, const struct keel_session *who,
			     struct keel_obj *queue, int32_t op, const char *key, const char *text,
			     struct keel_err *err)
{
	long long seconds = strtoll(text, NULL, 10);

	(void)who, (void)queue, (void)op, (void)key, (void)mod;
	return seconds >= 0 && seconds <= INT32_MAX
		       ? 0
		       : keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

#define ROW(name, type, place, writers, ...)                                                        \
	KEEL_ATTR_DEF("queue", name, type, .order = (place), .flags = KEEL_ATTR_SAVE,              \
		      .read_roles = KEEL_EVERYBODY, .write_roles = (writers), ##__VA_ARGS__)
static const struct keel_attr_def rows[] = {
	ROW("route_destinations", "string_array", 230, KEEL_MANAGERS, .check = check_destinations,
	    .doc = "queue[@server],...: where its jobs are moved to, in the order they are tried"),
	ROW("alt_router", "bool", 231, KEEL_MANAGERS, .check = check_router,
	    .doc = "another router: refused, there is one"),
	ROW("route_held_jobs", "bool", 240, KEEL_OPERATORS, .doc = "whether held jobs are routed, too; unset: False"),
	ROW("route_waiting_jobs", "bool", 241, KEEL_OPERATORS,
	    .doc = "whether jobs that wait for their Execution_Time are routed, too; unset: False"),
	ROW("route_retry_time", "long", 242, KEEL_OPERATORS, .check = check_seconds,
	    .doc = "seconds between attempts to route a job; unset: 30"),
	ROW("route_lifetime", "long", 243, KEEL_OPERATORS, .check = check_seconds,
	    .doc = "seconds after which a job that could not be routed is deleted; unset or 0: never"),
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(QUEUE_TYPE, route_type), KEEL_ROW(ATTR, rows[0]), KEEL_ROW(ATTR, rows[1]),
	KEEL_ROW(ATTR, rows[2]),	       KEEL_ROW(ATTR, rows[3]), KEEL_ROW(ATTR, rows[4]),
	KEEL_ROW(ATTR, rows[5]),
};

/* ---- jobs ---------------------------------------------------------------------------------------------- */

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	if (ev->job)
		line_consider(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	line_consider(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_moved(struct keel_call *c, const struct keel_ev_job_moved *ev)
{
	if (ev->job)
		line_consider(c->mod, ev->job);
	return KEEL_NEXT;
}

static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	if (ev->job)
		line_consider(c->mod, ev->job);
	return KEEL_NEXT;
}

/* ---- queues --------------------------------------------------------------------------------------------- */

static bool becomes(struct keel_call *c, struct keel_obj *queue, const char *attr, const char *value)
{
	char text[64];

	return keel_call_get(c, queue, attr, NULL, text, sizeof(text)) > 0 &&
	       strncasecmp(text, value, strlen(text)) == 0;
}

/* Later, when the change is made. */
static void wake_all(struct keel_mod *mod, void *arg)
{
	struct keel_cursor *walk = keel_cursor(mod, "queue");
	struct keel_obj *queue;

	(void)arg;
	while (walk && (queue = keel_next(walk)))
		line_wake(mod, queue);
	keel_cursor_close(walk);
}

static keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	enum { CMD_DELETE = 1 };
	bool queue = strcmp(ev->klass, "queue") == 0;
	char list[4];

	if (!queue && strcmp(ev->klass, "server") != 0)
		return KEEL_NEXT;
	if (keel_defer(c->mod, wake_all, NULL))
		return keel_fail(c, "out of memory");
	/* A routing queue that takes jobs must know where to. */
	if (queue && ev->cmd != CMD_DELETE && becomes(c, ev->obj, "queue_type", ROUTE) &&
	    keel_call_get(c, ev->obj, "route_destinations", NULL, list, sizeof(list)) <= 0 &&
	    becomes(c, ev->obj, "enabled", "True"))
		return keel_reject(c, PBSE_QUENOEN, NULL);
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_queued, on_queued),
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(job_moved, on_moved),
	KEEL_TAP(job_step, on_step),
	KEEL_TAP(management, on_management, .order = -900),
};

/* ---- module --------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_slot_bind(mod, "job", sizeof(struct entry), entry_fini) ||
	    keel_slot_bind(mod, "queue", sizeof(struct router), router_fini))
		return keel_error(err, -1, "cannot attach to classes job and queue");
	return 0;
}

static const char *const requires_modules[] = { "queues", "jobs", NULL };

KEEL_MODULE(.name = "routing", .version = "1.0", .vendor = "Keelson",
	    .summary = "queues that pass their jobs on", .roles = KEEL_SERVER,
	    KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires_modules,
	    .init = init);
