/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c - jobs name the ticket they belong to; those that do not wait at the door.
 *
 * A whole feature in a folder: an attribute (`qsub -W template_id=ABC-12`), a key of the configuration, and a
 * tap at job_submit, which asks whether a job may be queued. A job with a ticket passes, a ticket that
 * looks wrong is refused, and a submission without one is held for `pause` before it is accepted.
 * Invariant: a wait has one hold and one timer; whichever ends first ends the other.
 */
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"
#include "pbs_error.h"

enum { TICKET_MAX = 64 };

struct conf {
	int64_t pause; /* ms */
};
struct state {
	const struct keel_core_api *core;
	const struct keel_call_api *call;
};
struct wait {
	const struct keel_call_api *call;
	struct keel_hold *hold;
	struct keel_timer *timer;
};

static void on_time(struct keel_mod *mod, void *arg)
{
	struct wait *w = arg;

	(void)mod;
	w->timer = NULL;
	w->call->release(w->hold); /* on_waited() runs now or soon; w is gone after it */
}

static keel_verdict on_waited(struct keel_call *c, void *arg)
{
	(void)c;
	free(arg);
	return KEEL_NEXT;
}

/* The submitter went away, or this module stops: the job is not queued. */
static void on_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	const struct state *st = keel_state(c);
	struct wait *w = arg;

	(void)reason;
	st->core->timer_cancel(w->timer);
	free(w);
}

static keel_verdict wait_at_the_door(struct keel_call *c)
{
	const struct state *st = keel_state(c);
	const struct conf *cf = keel_conf(c);
	struct wait *w = calloc(1, sizeof(*w));
	const struct keel_hold_opts opts = { .size = sizeof(opts), .why = "submitted without a ticket",
					     .timeout_ms = cf->pause + 60000, .resume = on_waited,
					     .cancel = on_cancelled, .arg = w };
	keel_verdict verdict;

	if (w == NULL)
		return st->call->fail(c, "no memory to wait");
	w->call = st->call;
	verdict = st->call->hold(c, &opts, &w->hold);
	if (verdict != KEEL_WAIT) {
		free(w);
		return verdict;
	}
	w->timer = st->core->timer(c->mod, cf->pause, on_time, w);
	return KEEL_WAIT; /* without memory for a timer the hold's own deadline ends it */
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	const struct state *st = keel_state(c);
	const struct conf *cf = keel_conf(c);
	char ticket[TICKET_MAX + 1];
	int32_t len = st->call->get(c, ev->job, "template_id", NULL, ticket, sizeof(ticket));

	if (len < 0)
		return cf->pause > 0 ? wait_at_the_door(c) : KEEL_NEXT;
	if (len > TICKET_MAX || strchr(ticket, '-') == NULL)
		return st->call->reject(c, PBSE_BADATVAL, "template_id: expected KEY-NUMBER, got '%s'", ticket);
	st->core->log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "belongs to ticket %s", ticket);
	return KEEL_NEXT;
}

/* ---- what the module brings -------------------------------------------------------------------- */

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, pause, .fallback = "2s", .max = 3600000,
		       .doc = "how long a submission without a ticket waits; 0: not at all"),
};
static const struct keel_need needs[] = { KEEL_NEED(core, 0, struct state, core),
					  KEEL_NEED(call, 0, struct state, call) };
static const struct keel_attr_def ticket =
	KEEL_ATTR_DEF("job", "template_id", "string", .order = 900, .flags = KEEL_ATTR_SAVE,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY,
		      .doc = "the ticket that the job belongs to");
static const struct keel_contrib contribs[] = { KEEL_ROW(ATTR, ticket) };
static const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit, .order = 10) };

KEEL_MODULE(.name = "template", .version = "1.0", .vendor = "Example",
	    .summary = "jobs name the ticket they belong to", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), .conf_size = sizeof(struct conf),
	    .conf = rules, .n_conf = KEEL_COUNT(rules), .needs = needs, .n_needs = KEEL_COUNT(needs),
	    .contribs = contribs, .n_contribs = KEEL_COUNT(contribs),
	    .taps = taps, .n_taps = KEEL_COUNT(taps));
