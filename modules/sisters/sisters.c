/* SPDX-License-Identifier: Apache-2.0
 *
 * sisters.c - descriptor: what the module listens to, and the service it offers.
 *
 * primary.c, sister.c   the states, pure
 * lead.c, follow.c      what is done as they say, on a primary and on a sister
 * gate.c                the primary's taps, which wait
 * message.c             who may say what
 * output.c              output of tasks
 * task.c                tasks and signals on other hosts: call.c under way, errand.c for others, over.c their ends
 * job.c, pair.c         the jobs that are here; which moms are linked
 * limit.c               how long is waited
 */
#include "sisters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct keel_conf_rule conf_rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, sister_join_job_alarm, .fallback = "0", .max = 86400000,
		       .doc = "how long a start waits for the other hosts of the job to join; 0: as long as hooks of that time may take, "
			      "30s without any"),
	KEEL_CONF_RULE(DURATION, struct conf, job_launch_delay, .fallback = "0", .max = 86400000,
		       .doc = "how long a start waits for the prologues of the other hosts; 0: likewise"),
	KEEL_CONF_RULE(DURATION, struct conf, max_poll_downtime, .fallback = "300s", .min = 1000, .max = 86400000,
		       .doc = "how long a host of a running job may be without a link to the first one"),
	KEEL_CONF_RULE(DURATION, struct conf, act_within, .fallback = "30s", .min = 1000, .max = 86400000,
		       .doc = "how long a signal, suspension or resumption waits for the other hosts"),
	KEEL_CONF_RULE(DURATION, struct conf, end_delay, .fallback = "2s", .min = 0, .max = 3600000,
		       .doc = "from TERM to KILL for tasks on other hosts, when the job's program has ended"),
	KEEL_CONF_RULE(DURATION, struct conf, end_within, .fallback = "30s", .min = 1000, .max = 86400000,
		       .doc = "how long the end of a job waits for the other hosts"),
};

KEEL_USE(link);
KEEL_USE_OPT(part);
KEEL_USE_OPT(carrier);

static const struct keel_service_def service = {
	.size = sizeof(struct keel_service_def), .name = "sister", .doc = "jobs over several hosts", .table = &sister_api,
};
static const struct keel_contrib contribs[] = {
	KEEL_ROW(SERVICE, service),
	KEEL_ROW(MOM_DIRECTIVE, sister_join_job_alarm_directive),
	KEEL_ROW(MOM_DIRECTIVE, job_launch_delay_directive),
	KEEL_ROW(MOM_DIRECTIVE, max_poll_downtime_directive),
};

/* ---- links ---------------------------------------------------------------------------------------------- */
static keel_verdict peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct state *st = keel_state(c);
	int64_t now = keel_now_ms(c->mod);
	struct job *j, *next;

	HASH_ITER(hh, st->jobs, j, next) {
		int host = pair_host(j, ev->peer);

		if (host < 0 || (uint32_t)host == j->self || (j->self != 0 && host != 0))
			continue;
		if (j->self == 0) {
			primary_link(&j->primary, (uint32_t)host, false, now); /* the old one may not have been missed */
			primary_link(&j->primary, (uint32_t)host, true, now);
		} else {
			output_link(j);
			sister_link(&j->sister, false, now);
			sister_link(&j->sister, true, now);
		}
		tasks_link(c->mod, j, (uint32_t)host);
	}
	return KEEL_NEXT;
}

static keel_verdict peer_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	struct state *st = keel_state(c);
	int64_t now = keel_now_ms(c->mod);
	struct job *j, *next;

	HASH_ITER(hh, st->jobs, j, next) {
		int host = pair_host(j, ev->peer);

		if (j->self == 0 && host > 0) {
			primary_link(&j->primary, (uint32_t)host, false, now);
			primary_down(&j->primary, (uint32_t)host);
		} else if (j->self != 0 && host == 0) {
			sister_link(&j->sister, false, now);
		}
	}
	return KEEL_NEXT;
}

/* Behind all others, so that what is ordered elsewhere was accepted here. */
static const struct keel_tap taps[] = {
	KEEL_TAP(task_begin, on_arrival, .order = -1000),
	KEEL_TAP(peer_up, peer_up),
	KEEL_TAP(peer_down, peer_down),
	KEEL_TAP(task_begin, on_begin, .order = 1000),
	KEEL_TAP(task_prologue, on_prologue, .order = 1000),
	KEEL_TAP(task_act, on_act, .order = 1000),
	KEEL_TAP(task_preterm, on_preterm, .order = 1000),
	KEEL_TAP(task_epilogue, on_epilogue, .order = -1000), /* what comes after a job comes after all of it, and knows what it used */
};

/* ---- parts ---------------------------------------------------------------------------------------------- */
static void part_ready(struct keel_mod *mod, const struct keel_part *part)
{
	struct job *j = job_of(mod, part);

	if (j && j->self != 0)
		sister_ready(&j->sister);
}

static void part_refused(struct keel_mod *mod, const struct keel_part *part, int32_t status, int32_t code, const char *why)
{
	struct job *j = job_of(mod, part);

	if (j && j->self != 0)
		sister_refused(&j->sister, status, code, why);
}

static void part_started(struct keel_mod *mod, const struct keel_part *part)
{
	struct job *j = job_of(mod, part);

	if (j && j->self == 0)
		primary_runs(&j->primary);
}

static void part_ended(struct keel_mod *mod, const struct keel_part *part, const char *const *items, uint32_t n)
{
	struct job *j = job_of(mod, part);

	if (!j || j->self == 0)
		return;
	keel_strings_free(j->items);
	j->items = keel_strings_copy(items, n);
	sister_ended(&j->sister);
	output_pump(mod, j);
}

static void part_used(struct keel_mod *mod, const struct keel_part *part, const char *const *items, uint32_t n)
{
	struct job *j = job_of(mod, part);
	struct keel_out *out;

	if (!j || j->self == 0 || !j->sister.linked)
		return;
	out = message(mod, j);
	keel_put_strings(out, "items", items, n);
	message_send(mod, j, 0, "sister.used", out);
}

/* What makes it say so holds on: without a link it says it again. */
static void part_failing(struct keel_mod *mod, const struct keel_part *part, int32_t status, const char *line)
{
	struct job *j = job_of(mod, part);
	struct keel_out *out;

	if (!j || j->self == 0 || !j->sister.linked)
		return;
	out = message(mod, j);
	keel_put_int(out, "status", status);
	keel_put_str(out, "text", line);
	message_send(mod, j, 0, "sister.exceeded", out);
}

static void part_gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	struct job *j = job_find(mod, id, run);

	(void)discarded;
	if (!j)
		return;
	if (j->self != 0)
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "DELETE_JOB received");
	job_drop(mod, j);
}

static void part_resized(struct keel_mod *mod, const struct keel_part *part, const struct keel_part *before)
{
	struct job *j = job_find(mod, part->id, part->run);

	(void)before;
	if (j)
		job_resized(mod, j, part);
}

static const struct keel_part_events events = {
	.size = sizeof(struct keel_part_events), .ready = part_ready, .refused = part_refused, .started = part_started,
	.task_over = tasks_over, .ended = part_ended, .used = part_used, .gone = part_gone, .resized = part_resized,
	.failing = part_failing,
};

static void part_found(struct keel_mod *mod, const struct keel_part *part, void *arg)
{
	struct job *j = job_of(mod, part);

	(void)arg;
	if (j)
		j->found = true;
}

/* ---- life ------------------------------------------------------------------------------------------------ */
static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t r = keel_daemon(mod) & KEEL_MOM ? messages_listen(mod) : 0;

	/* Above the numbers of an earlier life of this daemon, whatever it did in a second. */
	st->number = (uint64_t)keel_time(mod) * 1000000u;
	return r ? keel_error(err, r, "messages between the hosts of a job cannot be received: no memory, or another module "
				      "has their names") : 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	if (!(keel_daemon(mod) & KEEL_MOM) || !keel_has(part))
		return 0;
	if (keel_part_listen(mod, &events) < 0)
		return keel_error(err, -ENOMEM, "no memory for the hosts of jobs");
	keel_part_each(part_found, mod, NULL);
	output_sweep(mod);
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->stopping = true;
	keel_timer_cancel(st->tick);
	st->tick = NULL;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct listener *l;

	st->stopping = true;
	keel_timer_cancel(st->tick);
	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		keel_part_listen(mod, NULL);
	while (st->jobs)
		job_drop(mod, st->jobs);
	while ((l = st->listeners)) {
		st->listeners = l->next;
		free(l);
	}
}

static const char *const requires[] = { "executor", NULL };

KEEL_MODULE(.name = "sisters", .version = "1.0", .vendor = "Keelson",
	    .summary = "a job over several hosts acts as one", .roles = KEEL_SERVER | KEEL_MOM, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, conf_rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .requires_modules = requires,
	    .init = init, .start = start, .stop = stop, .fini = fini);
