/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h - a module that does what a job tells it to, and says in the log what happens to it.
 *
 * Included once by each of its names, which define ME, ORDER, and perhaps BEFORE, AFTER and SCOPE. A tap reads the
 * job's attribute <ME>_do and does that: the row of that word in the table `deeds`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"

#ifndef BEFORE
#define BEFORE NULL
#endif
#ifndef AFTER
#define AFTER NULL
#endif
#ifndef SCOPE
#define SCOPE ME
#endif

struct conf {
	int64_t level, pause, room;
	const char *word;
	const char *const *names;
	int32_t colour;
	bool loud;
};
struct state {
	const struct keel_core_api *core;
	const struct keel_object_api *object;
	const struct keel_call_api *call;
	const struct keel_hook_api *hook;
	const void *nowhere; /* an optional need that nobody offers */
	struct keel_hold *last;
	struct wait *waits; /* the newest */
};
struct wait {
	struct state *st;
	struct keel_hold *hold;
	struct keel_timer *timer;
	const char *then; /* what resume() does */
	int64_t since;
};

#define SAY(st, mod, id, ...) (st)->core->log((mod), KEEL_LOG_DEBUG, "Probe", (id), ME ": " __VA_ARGS__)

static keel_verdict take_hold(struct keel_call *c, const char *why, const char *then, uint32_t until,
			      const char *id, int64_t timeout_ms);

/* ---- holds --------------------------------------------------------------------------------------- */
static keel_verdict on_resume(struct keel_call *c, void *arg)
{
	struct wait *w = arg;
	struct state *st = keel_state(c);
	const char *then = w->then;

	SAY(st, c->mod, NULL, "resume %s", then);
	st->core->timer_cancel(w->timer);
	free(w);
	if (strcmp(then, "reject") == 0)
		return st->call->reject(c, 15014, "%s rejects late", ME);
	if (strcmp(then, "fail") == 0)
		return st->call->fail(c, "%s broke late", ME);
	if (strcmp(then, "done") == 0)
		return KEEL_DONE;
	if (strcmp(then, "again") == 0)
		return take_hold(c, "once more", "go", 0, NULL, 3000);
	if (strcmp(then, "forget") == 0)
		return KEEL_WAIT;
	return KEEL_NEXT;
}

static void on_cancel(struct keel_call *c, void *arg, int32_t reason)
{
	struct wait *w = arg;
	struct state *st = keel_state(c);

	SAY(st, c->mod, NULL, "cancel %d", (int)reason);
	st->core->timer_cancel(w->timer);
	free(w);
}

static void on_time(struct keel_mod *mod, void *arg)
{
	struct wait *w = arg;

	SAY(w->st, mod, NULL, "timer after %lld", (long long)(w->st->core->now_ms(mod) - w->since));
	w->timer = NULL;
	w->st->call->release(w->hold);
}

static keel_verdict take_hold(struct keel_call *c, const char *why, const char *then, uint32_t until,
			      const char *id, int64_t timeout_ms)
{
	struct state *st = keel_state(c);
	struct wait *w = calloc(1, sizeof(*w));
	const struct keel_hold_opts opts = { .size = sizeof(opts), .until_point = until, .until_id = id,
					     .why = why, .timeout_ms = timeout_ms, .resume = on_resume,
					     .cancel = on_cancel, .arg = w };
	keel_verdict v;

	if (w == NULL)
		return KEEL_FAIL;
	w->st = st;
	w->then = then;
	w->since = st->core->now_ms(c->mod);
	v = st->call->hold(c, &opts, &w->hold);
	if (v != KEEL_WAIT)
		free(w);
	else
		*st = (struct state){ st->core, st->object, st->call, st->hook, st->nowhere, w->hold, w };
	return v;
}

/* ---- what a job may ask for ------------------------------------------------------------------------ */
struct deed {
	struct keel_call *c;
	struct state *st;
	const char *id;
	struct keel_obj *job;
};

static keel_verdict done(const struct deed *d)
{
	(void)d;
	return KEEL_DONE;
}

static keel_verdict reject(const struct deed *d)
{
	return d->st->call->reject(d->c, 15016, "%s says no to %s", ME, d->id);
}

static keel_verdict reject_bare(const struct deed *d)
{
	return d->st->call->reject(d->c, 0, NULL);
}

static keel_verdict fail(const struct deed *d)
{
	return d->st->call->fail(d->c, "%s broke", ME);
}

static keel_verdict fail_bare(const struct deed *d)
{
	(void)d;
	return KEEL_FAIL;
}

static keel_verdict odd(const struct deed *d)
{
	(void)d;
	return 7;
}

static keel_verdict answer(const struct deed *d)
{
	return d->st->call->answer(d->c, "answer of " ME);
}

static keel_verdict set(const struct deed *d)
{
	struct keel_err err = { 0 };
	char text[64] = "";
	int32_t code = d->st->call->set(d->c, d->job, "Priority", NULL, "5", &err), len;

	len = d->st->call->get(d->c, d->job, "Priority", NULL, text, sizeof(text));
	SAY(d->st, d->c->mod, d->id, "set %d, now %s (%d) [%s]", (int)code, text, (int)len, err.text);
	return KEEL_NEXT;
}

static keel_verdict set_wrong(const struct deed *d)
{
	struct keel_err err = { 0 };
	int32_t code = d->st->call->set(d->c, d->job, "Priority", NULL, "much", &err);

	SAY(d->st, d->c->mod, d->id, "set %d %d [%s]", (int)code, (int)err.code, err.text);
	code = d->st->call->set(d->c, d->job, "nothing", NULL, "1", &err);
	SAY(d->st, d->c->mod, d->id, "set %d %d [%s]", (int)code, (int)err.code, err.text);
	return KEEL_NEXT;
}

/* About the same object: told when this operation is over. About another: now. */
static keel_verdict note(const struct deed *d)
{
	d->st->hook->note(d->c->mod, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = d->id, .job = d->job));
	d->st->hook->note(d->c->mod, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "other"));
	SAY(d->st, d->c->mod, d->id, "noted");
	return KEEL_NEXT;
}

static void on_nested(struct keel_mod *mod, void *arg, const struct keel_outcome *out)
{
	struct state *st = mod->state;

	(void)arg;
	SAY(st, mod, NULL, "nested %d %d [%s] by %s", out->verdict, out->code, out->text != NULL ? out->text : "",
	    out->by != NULL ? out->by : "nobody");
}

static keel_verdict nest(const struct deed *d)
{
	keel_verdict v = d->st->hook->raise(d->c->mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_delete,
		.event = KEEL_EVENT(job_delete, .id = d->id, .job = d->job, .who = ME), .done = on_nested });

	SAY(d->st, d->c->mod, d->id, "raised %d", v);
	return KEEL_NEXT;
}

static keel_verdict deep(const struct deed *d)
{
	return d->st->hook->raise(d->c->mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_submit,
		.event = KEEL_EVENT(job_submit, .id = d->id, .job = d->job), .done = on_nested });
}

static keel_verdict hold(const struct deed *d)
{
	return take_hold(d->c, "it was told to", "go", 0, NULL, 2000);
}

static keel_verdict hold_default(const struct deed *d)
{
	return take_hold(d->c, "for as long as usual", "go", 0, NULL, 0);
}

static keel_verdict hold_two(const struct deed *d)
{
	take_hold(d->c, "the first", "done", 0, NULL, 5000);
	return take_hold(d->c, "the second", "reject", KEEL_POINT_job_purged, "9.svr", 1000000);
}

static keel_verdict hold_until(const struct deed *d)
{
	return take_hold(d->c, "until it is gone", "go", KEEL_POINT_job_purged, d->id, 4000);
}

static keel_verdict hold_reject(const struct deed *d)
{
	return take_hold(d->c, "then no", "reject", KEEL_POINT_job_purged, d->id, 4000);
}

static keel_verdict hold_again(const struct deed *d)
{
	return take_hold(d->c, "first", "again", KEEL_POINT_job_purged, d->id, 4000);
}

static keel_verdict hold_fail(const struct deed *d)
{
	return take_hold(d->c, "then broken", "fail", KEEL_POINT_job_purged, d->id, 4000);
}

static keel_verdict hold_forget(const struct deed *d)
{
	return take_hold(d->c, "then nothing", "forget", KEEL_POINT_job_purged, d->id, 4000);
}

static keel_verdict hold_timer(const struct deed *d)
{
	keel_verdict v = take_hold(d->c, "for a while", "go", 0, NULL, 9000);

	d->st->waits->timer = d->st->core->timer(d->c->mod, 500, on_time, d->st->waits);
	return v;
}

static keel_verdict hold_now(const struct deed *d)
{
	keel_verdict v = take_hold(d->c, "not at all", "go", 0, NULL, 9000);

	d->st->call->release(d->st->last);
	return v;
}

static keel_verdict hold_silent(const struct deed *d)
{
	(void)take_hold(d->c, "nobody waits for it", "go", 0, NULL, 9000);
	return KEEL_NEXT;
}

static keel_verdict hold_nothing(const struct deed *d)
{
	(void)d;
	return KEEL_WAIT;
}

static keel_verdict hold_wrong(const struct deed *d)
{
	keel_verdict v[] = { take_hold(d->c, "", "go", 0, NULL, 0), take_hold(d->c, "why", "go", 0, NULL, -1),
			     take_hold(d->c, "why", "go", KEEL_POINT_job_submit, "x", 0),
			     take_hold(d->c, "why", "go", KEEL_POINT_job_purged, NULL, 0) };

	SAY(d->st, d->c->mod, d->id, "refused %d %d %d %d", v[0], v[1], v[2], v[3]);
	return KEEL_FAIL;
}

static keel_verdict release(const struct deed *d)
{
	d->st->call->release(d->st->last);
	return KEEL_NEXT;
}

static keel_verdict who(const struct deed *d)
{
	const struct keel_session *s = d->st->call->session(d->c);

	SAY(d->st, d->c->mod, d->id, "for %s", s != NULL ? s->who : "the system");
	return KEEL_NEXT;
}

static const struct {
	const char *word;
	keel_verdict (*fn)(const struct deed *);
} deeds[] = {
	{ "done", done }, { "reject", reject }, { "reject-bare", reject_bare }, { "fail", fail },
	{ "fail-bare", fail_bare }, { "odd", odd }, { "answer", answer }, { "set", set },
	{ "set-wrong", set_wrong }, { "note", note }, { "nest", nest }, { "deep", deep }, { "hold", hold },
	{ "hold-default", hold_default }, { "hold-two", hold_two }, { "hold-until", hold_until },
	{ "hold-reject", hold_reject }, { "hold-again", hold_again }, { "hold-fail", hold_fail },
	{ "hold-forget", hold_forget }, { "hold-timer", hold_timer }, { "hold-now", hold_now },
	{ "hold-silent", hold_silent }, { "hold-nothing", hold_nothing }, { "hold-wrong", hold_wrong },
	{ "release", release }, { "who", who },
};

static keel_verdict act(struct keel_call *c, const char *point, const char *id, struct keel_obj *job)
{
	const struct deed d = { c, keel_state(c), id, job };
	char word[64] = "";

	if (job != NULL)
		d.st->call->get(c, job, ME "_do", NULL, word, sizeof(word));
	SAY(d.st, c->mod, id, "%s %s", point, word);
	for (uint32_t i = 0; i < KEEL_COUNT(deeds); i++)
		if (strcmp(deeds[i].word, word) == 0)
			return deeds[i].fn(&d);
	return KEEL_NEXT;
}

#define TAP(point)                                                                                 \
	static keel_verdict on_##point(struct keel_call *c, const struct keel_ev_##point *ev)      \
	{                                                                                          \
		return act(c, #point, ev->id, ev->job);                                            \
	}
TAP(job_submit)
TAP(job_modify)
TAP(job_hold)
TAP(job_delete)
TAP(plan_time)
TAP(job_purged)
TAP(job_known)

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	return act(c, ev->job != NULL ? "job_queued" : "job_queued of nobody", ev->id, NULL);
}

static keel_verdict on_rank(struct keel_call *c, const struct keel_ev_job_rank *ev)
{
	const struct state *st = keel_state(c);

	st->call->add(c, ORDER);
	return act(c, "job_rank", ev->id, ev->job);
}

static keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	const struct state *st = keel_state(c);

	st->call->append(c, ME);
	st->call->append(c, "");
	return act(c, "job_explain", ev->id, ev->job);
}

#include "probe_life.h"

/* ---- the descriptor ------------------------------------------------------------------------------------ */
static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, level, .fallback = "3", .min = 1, .max = 9, .doc = "how much"),
	KEEL_CONF_RULE(DURATION, struct conf, pause, .fallback = "2s", .min = 1000, .max = 60000,
		       .doc = "how long"),
	KEEL_CONF_RULE(SIZE, struct conf, room, .fallback = "64kb", .min = 1024, .max = INT64_MAX,
		       .doc = "how large"),
	KEEL_CONF_RULE(STRING, struct conf, word, .doc = "a word"),
	KEEL_CONF_RULE(LIST, struct conf, names, .fallback = "a, b", .doc = "names"),
	KEEL_CONF_RULE(ENUM, struct conf, colour, .fallback = "green", .choices = "red,green,blue",
		       .flags = KEEL_CONF_RESTART, .doc = "a colour"),
	KEEL_CONF_RULE(BOOL, struct conf, loud, .doc = "whether it is loud"),
};
static const struct keel_need needs[] = {
	KEEL_NEED(core, 0, struct state, core), KEEL_NEED(object, 0, struct state, object),
	KEEL_NEED(call, 0, struct state, call), KEEL_NEED(hook, 0, struct state, hook),
	KEEL_NEED_OPT(nowhere, 0, struct state, nowhere),
};
#define STR_ROW(what, ...)                                                                         \
	KEEL_ATTR_DEF("job", ME "_" what, "string", .order = 900, .read_roles = KEEL_EVERYBODY,    \
		      .write_roles = KEEL_EVERYBODY, .doc = "of a probe", __VA_ARGS__)
static const struct keel_attr_def attrs[] = {
	STR_ROW("do", .flags = KEEL_ATTR_SAVE),
	STR_ROW("judged", .flags = KEEL_ATTR_SAVE | KEEL_ATTR_EMPTY, .check = check, .changed = changed),
	STR_ROW("fixed", .flags = KEEL_ATTR_SAVE | KEEL_ATTR_NO_INCR | KEEL_ATTR_RESET, .fallback = "usual"),
	KEEL_ATTR_DEF("job", ME "_told", "string", .order = 901, .read_roles = KEEL_EVERYBODY,
		      .write_roles = KEEL_EVERYBODY, .doc = "of a probe", .derive = derive),
};
static const struct keel_contrib contribs[] = {
	{ "ATTR", &attrs[0] }, { "ATTR", &attrs[1] }, { "ATTR", &attrs[2] }, { "ATTR", &attrs[3] },
	{ "SCOPE", &scope },
};
static const struct keel_tap taps[] = {
	KEEL_TAP(job_submit, on_job_submit, .order = ORDER, .before = BEFORE, .after = AFTER),
	KEEL_TAP(job_modify, on_job_modify, .order = ORDER, .flags = KEEL_ON_FAIL_SKIP),
	KEEL_TAP(job_hold, on_job_hold, .order = ORDER, .flags = KEEL_ON_FAIL_BENCH),
	KEEL_TAP(job_delete, on_job_delete, .order = -ORDER),
	KEEL_TAP(plan_time, on_plan_time, .order = ORDER),
	KEEL_TAP(job_rank, on_rank, .order = ORDER),
	KEEL_TAP(job_explain, on_explain),
	KEEL_TAP(job_queued, on_queued),
	KEEL_TAP(job_purged, on_job_purged),
	KEEL_TAP(job_known, on_job_known),
};

KEEL_MODULE(.name = ME, .version = "1.0", .vendor = "Test", .summary = "does what it is told",
	    .roles = KEEL_SERVER, .state_size = sizeof(struct state), .conf_size = sizeof(struct conf),
	    .conf = rules, .n_conf = KEEL_COUNT(rules), .needs = needs, .n_needs = KEEL_COUNT(needs),
	    .contribs = contribs, .n_contribs = KEEL_COUNT(contribs), .taps = taps,
	    .n_taps = KEEL_COUNT(taps), .check = check_conf, .init = on_init, .start = on_start,
	    .reconf = on_reconf, .stop = on_stop, .fini = on_fini);
