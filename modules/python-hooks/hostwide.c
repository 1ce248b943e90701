/* SPDX-License-Identifier: Apache-2.0
 *
 * hostwide.c - exechost_startup, when the mom starts and at SIGHUP; exechost_periodic, when the hook is there and `freq` seconds after each
 * run of it. Before a run the server says what the vnodes of this host are like (host_vnodes.c).
 */
#include "host.h"
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keel/service/part.h"

KEEL_USE_OPT(part);

/* A periodic hook. */
struct slot {
	UT_hash_handle hh;
	char *name;
	struct keel_timer *timer;
	bool busy, gone; /* busy: it runs, or is about to; gone: it is freed then */
	int64_t ended_ms;
	bool ran;
};

struct hostwide {
	struct slot *slots;
	int64_t join, second; /* sums of alarms, as they were logged */
	bool began, startup_busy, startup_again;
};

/* ---- how long starts wait -------------------------------------------------------------------------------------------------- */
static int64_t alarms(const struct state *st, enum event_id event)
{
	int64_t sum = 0;

	for (const struct hook *h = st->hooks; h; h = h->hh.next)
		if (hook_has(h, event))
			sum += h->alarm < 86400 ? h->alarm : 86400;
	return sum;
}

keel_verdict hostwide_alarm(struct keel_call *c, const struct keel_ev_start_alarm *ev)
{
	bool join = strcmp(ev->stage, KEEL_STAGE_JOIN) == 0;

	keel_add(c, alarms(keel_state(c), join ? EVENT_execjob_begin : EVENT_execjob_prologue));
	return KEEL_NEXT;
}

static void alarms_follow(struct state *st)
{
	struct hostwide *w = st->hostwide;
	int64_t join = alarms(st, EVENT_execjob_begin), second = alarms(st, EVENT_execjob_prologue);

	if (join != w->join)
		keel_log(st->mod, KEEL_LOG_DEBUG, "Hook", "", "joinjob_alarm_time updated to %ld", (long)(join ? join : 30));
	if (second != w->second)
		keel_log(st->mod, KEEL_LOG_DEBUG, "Hook", "", "job_launch_delay updated to %ld", (long)(second ? second : 30));
	w->join = join;
	w->second = second;
}

/* ---- exechost_periodic -------------------------------------------------------------------------------------------------------- */
static void slot_free(struct hostwide *w, struct slot *s)
{
	HASH_DEL(w->slots, s);
	free(s->name);
	free(s);
}

static struct slot *slot_find(struct hostwide *w, const char *name)
{
	struct slot *s;

	HASH_FIND_STR(w->slots, name, s);
	return s;
}

static struct slot *slot_add(struct hostwide *w, const char *name)
{
	struct slot *s;

	ROW_ADD(w->slots, s, name, name);
	return s;
}

static bool is_periodic(const struct hook *h)
{
	return hook_has(h, EVENT_exechost_periodic) && h->script && h->freq > 0;
}

static void periodic_due(struct keel_mod *mod, void *arg);

static void slot_schedule(struct state *st, struct slot *s, const struct hook *h)
{
	int64_t freq = h->freq < 365 * 86400 ? h->freq : 365 * 86400, ms = 0;
	time_t then;
	char text[32];

	if (s->ran)
		ms = s->ended_ms + freq * 1000 - keel_now_ms(st->mod);
	ms = ms > 0 ? ms : 0;
	keel_timer_cancel(s->timer);
	s->timer = keel_timer(st->mod, ms, periodic_due, s);
	then = (time_t)(keel_time(st->mod) + ms / 1000);
	if (ms > 0 && ctime_r(&then, text)) {
		text[strcspn(text, "\n")] = '\0';
		keel_log(st->mod, KEEL_LOG_DEBUG3, "Hook", s->name, "will run on %s", text);
	}
}

/* A run has ended, or could not begin. */
static void periodic_done(struct state *st, void *arg, bool accepted)
{
	struct slot *s = arg;
	const struct hook *h;

	(void)accepted;
	if (!st->hostwide)
		return;
	s->busy = false;
	s->ran = true;
	s->ended_ms = keel_now_ms(st->mod);
	h = hook_find(st, s->name);
	if (s->gone || !h || !is_periodic(h))
		slot_free(st->hostwide, s);
	else
		slot_schedule(st, s, h);
}

static void periodic_run(struct state *st, void *arg)
{
	struct slot *s = arg;
	struct hook *h = s->gone ? NULL : hook_find(st, s->name);

	if (!h || !is_periodic(h) || run_goes(st, h, EVENT_exechost_periodic) ||
	    run_now(st, EVENT_exechost_periodic, h, periodic_done, s) < 0)
		periodic_done(st, s, false);
}

static void periodic_due(struct keel_mod *mod, void *arg)
{
	struct slot *s = arg;

	s->timer = NULL;
	s->busy = true;
	host_vnodes_fetch(mod->state, periodic_run, s);
}

void hostwide_free(struct state *st, struct hook *h)
{
	struct slot *s = st->hostwide ? slot_find(st->hostwide, h->name) : NULL;

	if (!s)
		return;
	keel_timer_cancel(s->timer);
	s->timer = NULL;
	s->gone = s->busy;
	if (!s->busy)
		slot_free(st->hostwide, s);
}

void hostwide_follow(struct state *st, struct hook *h)
{
	struct hostwide *w = st->hostwide;
	struct slot *s;

	if (!w)
		return;
	alarms_follow(st);
	if (!w->began)
		return;
	if (!is_periodic(h)) {
		hostwide_free(st, h);
		return;
	}
	s = slot_find(w, h->name);
	if (!s)
		s = slot_add(w, h->name);
	if (!s)
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name, "it does not run here every %lld seconds: no memory", (long long)h->freq);
	else if (s->busy)
		s->gone = false;
	else
		slot_schedule(st, s, h);
}

/* ---- exechost_startup ------------------------------------------------------------------------------------------------------------ */
static void startup(struct state *st);

static void startup_done(struct state *st, void *arg, bool accepted)
{
	struct hostwide *w = st->hostwide;

	(void)arg, (void)accepted;
	if (!w)
		return;
	w->startup_busy = false;
	if (w->startup_again)
		startup(st);
}

static void startup_run(struct state *st, void *arg)
{
	(void)arg;
	if (run_now(st, EVENT_exechost_startup, NULL, startup_done, NULL) < 0)
		startup_done(st, NULL, false);
}

static bool any_has(const struct state *st, enum event_id event)
{
	for (const struct hook *h = st->hooks; h; h = h->hh.next)
		if (hook_has(h, event))
			return true;
	return false;
}

static void startup(struct state *st)
{
	struct hostwide *w = st->hostwide;

	w->startup_again = w->startup_busy;
	if (w->startup_busy || !any_has(st, EVENT_exechost_startup))
		return;
	w->startup_busy = true;
	host_vnodes_fetch(st, startup_run, NULL);
}

static int32_t hup_read(struct keel_mod *mod, struct keel_err *err)
{
	(void)mod, (void)err;
	return 0;
}

static void hup_apply(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->hostwide && st->hostwide->began)
		startup(st);
}

const struct keel_reload_def hostwide_reload = {
	.size = sizeof(struct keel_reload_def), .name = "exechost_startup", .doc = "hooks of this event run at each reload",
	.read = hup_read, .apply = hup_apply,
};

keel_verdict hostwide_began(struct keel_call *c, const struct keel_ev_host_start *ev)
{
	struct state *st = keel_state(c);
	struct hook *h, *next;

	(void)ev;
	if (!st->hostwide)
		return KEEL_NEXT;
	st->hostwide->began = true;
	startup(st);
	HASH_ITER(hh, st->hooks, h, next)
		hostwide_follow(st, h);
	return KEEL_NEXT;
}

/* ---- what scripts see, and what becomes of it ------------------------------------------------------------------------------------- */
struct jobs {
	struct state *st;
	struct pack *p;
	uint32_t n;
};

static void job_pack(struct keel_mod *mod, const struct keel_part *part, void *arg)
{
	struct jobs *jobs = arg;

	(void)mod;
	if (part->state == KEEL_PART_ENDED)
		return;
	pack_key(jobs->p, part->id);
	host_pack_job(jobs->st, jobs->p, part->id);
	jobs->n++;
}

int32_t host_fill_exechost_startup(struct run *r, const void *ev, struct pack *params)
{
	(void)ev;
	host_about(r, "");
	pack_key(params, "vnode_list");
	host_pack_vnode_list(r->st, params);
	return 1;
}

int32_t host_fill_exechost_periodic(struct run *r, const void *ev, struct pack *params)
{
	struct jobs jobs = { .st = r->st, .p = params };
	uint32_t open;

	host_fill_exechost_startup(r, ev, params);
	pack_key(params, "job_list");
	open = pack_open_map(params);
	if (keel_has(part))
		keel_part_each(job_pack, r->st->mod, &jobs);
	pack_close(params, open, jobs.n);
	return 2;
}

/* What it changed goes to the server, if it accepts. */
static keel_verdict settle(struct run *r, const struct result *result)
{
	if (result->how != ACCEPTED)
		run_exit_log(r, result);
	else
		host_update(r, result);
	host_reboot(r, result);
	return result->how == ACCEPTED ? KEEL_NEXT : KEEL_REJECT;
}

keel_verdict host_settle_exechost_startup(struct run *r, struct keel_call *c, const struct result *result)
{
	(void)c;
	if (r->hook && result->how == ACCEPTED && r->hook->fail_action & FAIL_CLEAR)
		host_offline(r->st, r->name, false);
	if (r->hook && result->how != ACCEPTED && result->how != REJECTED && r->hook->fail_action & FAIL_OFFLINE)
		host_offline(r->st, r->name, true);
	return settle(r, result);
}

keel_verdict host_settle_exechost_periodic(struct run *r, struct keel_call *c, const struct result *result)
{
	(void)c;
	return settle(r, result);
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------ */
int32_t hostwide_start(struct state *st, struct keel_err *err)
{
	st->hostwide = calloc(1, sizeof(*st->hostwide));
	if (!st->hostwide)
		return keel_error(err, -ENOMEM, "no memory for events of this host");
	return 0;
}

void hostwide_stop(struct state *st)
{
	struct hostwide *w = st->hostwide;

	if (!w)
		return;
	host_vnodes_stop(st);
	while (w->slots) {
		keel_timer_cancel(w->slots->timer);
		slot_free(w, w->slots);
	}
	free(w);
	st->hostwide = NULL;
}
