/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - one run-time tap per enabled hook and event; an operation waits while the script decides.
 *
 *   GATE   fill() -> the operation is held -> the call's answer releases it -> settle() makes changes, and the verdict
 *   NOTE   fill() -> series.c; nothing waits
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define ORDER (-600) /* of all: their names say which is the first */
#define HOLD_MS INT64_C(86400000) /* never: the alarm ends a script, and a call has an end before */

struct tap {
	struct tap *next; /* by rank */
	struct state *st;
	struct hook *hook;
	enum event_id event;
	bool is_note;
	int32_t order; /* of its hook when it was added, as place: both are in its name */
	int64_t place;
	char name[192];
	struct pack about; /* of its hook, as scripts see it */
};

enum event_id run_event(const struct run *r)
{
	return (enum event_id)(r->event - events);
}

/* ---- runs ------------------------------------------------------------------------------------------------ */
struct going *run_new(struct state *st, struct hook *h, enum event_id event)
{
	struct going *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->run.st = st;
	g->run.hook = h;
	g->run.event = &events[event];
	snprintf(g->run.name, sizeof(g->run.name), "%s", h->name);
	DL_APPEND(st->runs->all, &g->run);
	return g;
}

void run_free(struct going *g)
{
	if (g->run.free_own)
		g->run.free_own(g->run.own);
	if (g->run.st->runs)
		DL_DELETE(g->run.st->runs->all, &g->run);
	pack_fini(&g->event);
	record_free(g->record);
	result_fini(&g->result);
	free(g);
}

static void hook_pack(const struct hook *h, struct pack *out)
{
	uint32_t open = pack_open_map(out), n = 1;
	char text[1024];

	pack_pair_text(out, "name", h->name);
	for (const char *const *attr = hook_attrs; *attr; attr++) {
		if (hook_text(h, *attr, text, sizeof(text)) < 0)
			continue;
		pack_pair_text(out, *attr, text);
		n++;
	}
	pack_close(out, open, n);
}

bool run_write(struct going *g, const void *ev, const struct pack *about, struct pack *event)
{
	struct run *r = &g->run;
	struct pack params = { .data = NULL };
	int32_t n = r->event->fill ? r->event->fill(r, ev, &params) : -1;
	uint32_t open = pack_open_map(event), inner;

	pack_pair_int(event, "type", r->event->bit);
	pack_pair_text(event, "event", r->event->name);
	pack_key(event, "hook");
	if (about && about->len > 0)
		pack_raw(event, about);
	else
		hook_pack(r->hook, event);
	pack_pair_text(event, "requestor", r->requestor);
	pack_pair_text(event, "requestor_host", r->requestor_host);
	pack_key(event, "params");
	inner = pack_open_map(event);
	if (n > 0)
		pack_raw(event, &params);
	pack_close(event, inner, n > 0 ? (uint32_t)n : 0);
	pack_close(event, open, 6);
	pack_fini(&params);
	return n >= 0 && !event->failed;
}

void run_over(struct going *g, struct result *result)
{
	g->ask = NULL;
	g->over = true;
	g->result = *result;
	*result = (struct result){ .how = ACCEPTED };
}

void run_ask(struct going *g, const struct pack *event, ask_done *done)
{
	struct result none = { .how = BROKEN };
	struct ask *a = pool_ask(&g->run, event, done);

	if (g->over) /* and perhaps what `a` was is gone */
		return;
	g->ask = a;
	if (a)
		return;
	none.text = strdup("no memory, or too many calls wait for its script");
	done(&g->run, &none);
}

bool run_goes(const struct state *st, const struct hook *h, enum event_id event)
{
	const struct run *r;

	DL_FOREACH(st->runs->all, r)
		if (r->hook == h && run_event(r) == event)
			return true;
	return false;
}

/* ---- GATE ------------------------------------------------------------------------------------------------ */
static void answered(struct run *r, struct result *result)
{
	struct going *g = (struct going *)r;

	run_over(g, result);
	keel_release(g->hold);
}

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	struct going *g = arg;
	struct run *r = &g->run;
	keel_verdict v;

	r->call = c;
	run_ended(r, &g->result);
	v = r->event->settle(r, c, &g->result);
	run_free(g);
	return v;
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct going *g = arg;

	(void)c, (void)reason;
	if (g->ask)
		ask_cancel(g->ask);
	run_free(g);
}

static keel_verdict gate(const struct tap *t, struct keel_call *c, const void *ev)
{
	struct going *g = run_new(t->st, t->hook, t->event);
	struct pack event = { .data = NULL };
	struct keel_hold_opts o = { .size = sizeof(o), .resume = resumed, .cancel = cancelled, .arg = g, .timeout_ms = HOLD_MS };
	char why[160];

	if (!g)
		return keel_fail(c, "no memory for hook %s", t->hook->name);
	g->run.call = c;
	if (!run_write(g, ev, &t->about, &event)) {
		bool failed = event.failed;

		pack_fini(&event);
		run_free(g);
		return failed ? keel_fail(c, "no memory for hook %s", t->hook->name) : KEEL_NEXT;
	}
	snprintf(why, sizeof(why), "hook %s", t->hook->name);
	o.why = why;
	if (keel_hold(c, &o, &g->hold) != KEEL_WAIT) {
		pack_fini(&event);
		run_free(g);
		return KEEL_FAIL;
	}
	run_started(&g->run);
	if (t->hook->debug)
		record_in(&g->run, &event);
	run_ask(g, &event, answered);
	g->run.call = NULL;
	pack_fini(&event);
	return KEEL_WAIT;
}

/* ---- taps ------------------------------------------------------------------------------------------------ */
static bool is_to_run(const struct tap *t)
{
	const struct state *st = t->st;

	if (!st->started) {
		keel_log(st->mod, KEEL_LOG_DEBUG3, "Hook", "process_hooks", "Python interpreter not started, skipping hooks");
		return false;
	}
	if (!t->hook->script && !t->hook->loading) {
		keel_log(st->mod, KEEL_LOG_DEBUG3, "Hook", t->hook->name, "Hook has no script content. Skipping hook.");
		return false;
	}
	return events[t->event].daemon == KEEL_MOM || t->hook->user != HOOK_OWNER;
}

static keel_verdict note(const struct tap *t, const void *ev)
{
	struct going *g = run_new(t->st, t->hook, t->event);
	bool is_kept;

	if (!g)
		return KEEL_NEXT;
	g->run.note = true;
	is_kept = run_write(g, ev, &t->about, &g->event) && note_add(g);
	if (!is_kept)
		run_free(g);
	return KEEL_NEXT;
}

static keel_verdict tapped(struct keel_call *c, uint32_t point, const void *ev, void *arg)
{
	const struct tap *t = arg;

	(void)point;
	if (t == t->st->runs->taps[t->event]) /* another event than the last one */
		t->st->runs->current = NULL;
	if (!is_to_run(t))
		return KEEL_NEXT;
	return t->is_note ? note(t, ev) : gate(t, c, ev);
}

static int by_order(const void *a, const void *b)
{
	const struct hook *x = *(struct hook *const *)a, *y = *(struct hook *const *)b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* The hooks of an event in their order, ending with NULL; the caller frees the list. */
struct hook **hooks_of_event(const struct state *st, enum event_id event)
{
	struct hook **all = calloc(HASH_COUNT(st->hooks) + 1, sizeof(struct hook *)), *h, *next;
	uint32_t n = 0;

	if (!all)
		return NULL;
	HASH_ITER(hh, st->hooks, h, next)
		if (hook_has(h, event))
			all[n++] = h;
	qsort(all, n, sizeof(struct hook *), by_order);
	return all;
}

/* A task beside the program of a job is launched, too. */
static uint32_t other_point(enum event_id event)
{
	return event == EVENT_execjob_launch ? KEEL_POINT_task_spawn : 0;
}

static void tap_end(struct tap *t)
{
	keel_tap_remove(t->st->mod, events[t->event].point, t->name);
	if (other_point(t->event))
		keel_tap_remove(t->st->mod, other_point(t->event), t->name);
	pack_fini(&t->about);
	free(t);
}

/* "order-place-hook": where it is among the others depends on its hook alone. No tap has a dot in its name, hooks may. */
static void tap_name(struct tap *t)
{
	snprintf(t->name, sizeof(t->name), "%04d-%010lld-%s", (int)t->order, (long long)t->place, t->hook->name);
	for (char *c = t->name; *c; c++)
		if (*c == '.')
			*c = '_';
}

static void tap_begin(struct state *st, struct hook *h, enum event_id event, struct tap **end)
{
	struct keel_about_point about = { .size = sizeof(about) };
	struct keel_err err = { .code = 0 };
	struct tap *t = calloc(1, sizeof(*t));

	if (!t)
		return;
	keel_point_about(st->mod, events[event].point, &about);
	*t = (struct tap){ .st = st, .hook = h, .event = event, .is_note = about.kind == KEEL_NOTE, .order = h->order, .place = h->place };
	tap_name(t);
	if (keel_tap_add(st->mod, events[event].point, t->name, ORDER, tapped, t, &err) < 0) {
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name, "%s: %s", events[event].name, err.text);
		free(t);
		return;
	}
	if (other_point(event) && keel_tap_add(st->mod, other_point(event), t->name, ORDER, tapped, t, &err) < 0)
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name, "%s of tasks: %s", events[event].name, err.text);
	*end = t;
}

/* Takes the hook's tap out of a list, if it has its place already. */
static struct tap *tap_take(struct tap **at, const struct hook *h)
{
	struct tap *t;

	while ((t = *at) != NULL && t->hook != h)
		at = &t->next;
	if (!t || t->order != h->order || t->place != h->place)
		return NULL;
	*at = t->next;
	t->next = NULL;
	return t;
}

/* Taps of hooks that stay are left alone: an operation that waits goes on with those it began with, and with no new ones. */
static void event_follow(struct state *st, enum event_id event)
{
	struct hook **want = hooks_of_event(st, event), **h;
	struct tap **end = &st->runs->taps[event], *old = *end, *next;

	if (!want)
		return;
	*end = NULL;
	for (h = want; *h; h++) {
		*end = tap_take(&old, *h);
		if (!*end)
			tap_begin(st, *h, event, end);
		if (*end)
			end = &(*end)->next;
	}
	LL_FOREACH_SAFE(old, old, next)
		tap_end(old);
	free(want);
}

static struct tap *tap_of(const struct state *st, const struct hook *h, enum event_id event)
{
	struct tap *t;

	LL_FOREACH(st->runs->taps[event], t)
		if (t->hook == h)
			return t;
	return NULL;
}

void taps_follow(struct state *st, struct hook *h)
{
	if (!st->runs)
		return;
	for (uint32_t e = 0; e < EVENTS; e++)
		if (events[e].point && (events[e].daemon & keel_daemon(st->mod)) && (hook_has(h, e) || tap_of(st, h, e)))
			event_follow(st, e);
	for (uint32_t e = 0; e < EVENTS; e++) {
		struct tap *t = tap_of(st, h, e);

		if (t) {
			pack_fini(&t->about);
			hook_pack(h, &t->about);
		}
	}
	pool_wake(h);
}

void taps_free(struct state *st, struct hook *h)
{
	struct run *r;

	if (!st->runs)
		return;
	for (uint32_t e = 0; e < EVENTS; e++) {
		struct tap **at = &st->runs->taps[e], *t;

		while ((t = *at) != NULL && t->hook != h)
			at = &t->next;
		if (t) {
			*at = t->next;
			tap_end(t);
		}
	}
	DL_FOREACH(st->runs->all, r)
		if (r->hook == h)
			r->hook = NULL;
}

/* ---- the daemon -------------------------------------------------------------------------------------------- */
int32_t runs_start(struct state *st, struct keel_err *err)
{
	struct hook *h, *next;

	st->runs = calloc(1, sizeof(*st->runs));
	if (!st->runs)
		return keel_error(err, -ENOMEM, "no memory");
	HASH_ITER(hh, st->hooks, h, next)
		taps_follow(st, h);
	return 0;
}

void runs_stop(struct state *st)
{
	struct hook *h, *next;
	struct run *r, *after;

	if (!st->runs)
		return;
	HASH_ITER(hh, st->hooks, h, next)
		taps_free(st, h);
	series_stop(st);
	DL_FOREACH_SAFE(st->runs->all, r, after) { /* their holds are cancelled later, if they have any */
		if (((struct going *)r)->ask)
			ask_cancel(((struct going *)r)->ask);
		((struct going *)r)->ask = NULL;
	}
	shapes_free(st);
	free(st->runs);
	st->runs = NULL;
}
