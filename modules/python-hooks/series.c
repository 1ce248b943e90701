/* SPDX-License-Identifier: Apache-2.0
 *
 * series.c - runs that nothing waits for: those of a note, and of run_now().
 *
 *   line ("12.svr") -> series -> series ...
 *                        run -> run ...	    of the hooks of one event, in their order
 *
 * The runs of a series are done one after the other; the first that is not accepted ends it. What is about the same object is in
 * one line, in order. A note's series begins when all of its hooks have seen the note.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define SAY_MS 10000

struct series {
	struct series *prev, *next; /* of its line */
	struct state *st;
	struct going *runs;
	bool accepted;
	void (*done)(struct state *st, void *arg, bool accepted);
	void *arg;
};

struct line {
	UT_hash_handle hh;
	struct state *st;
	char *about;
	struct series *series; /* the first one is being done */
	bool is_due;   /* line_due() will be called */
	bool is_going; /* it is on the stack */
};

static void line_go(struct line *l);

/* ---- ends ------------------------------------------------------------------------------------------------ */
static void line_free(struct line *l)
{
	HASH_DEL(l->st->runs->lines, l);
	free(l->about);
	free(l);
}

static void going_free(struct series *s, struct going *g)
{
	DL_DELETE(s->runs, g);
	s->st->runs->n_notes--;
	s->st->runs->note_bytes -= g->bytes;
	run_free(g);
}

static void series_free(struct line *l, struct series *s)
{
	struct going *g, *next;

	DL_FOREACH_SAFE(s->runs, g, next)
		going_free(s, g);
	if (l->st->runs->current == s)
		l->st->runs->current = NULL;
	DL_DELETE(l->series, s);
	free(s);
}

static void series_end(struct line *l, struct series *s)
{
	void (*done)(struct state *, void *, bool) = s->done;
	void *arg = s->arg;
	bool accepted = s->accepted;

	series_free(l, s);
	if (done)
		done(l->st, arg, accepted);
}

/* ---- a run ----------------------------------------------------------------------------------------------- */
static void line_due(struct keel_mod *mod, void *arg)
{
	struct line *l = arg;

	l->is_due = false;
	if (((struct state *)mod->state)->runs)
		line_go(l);
	else
		free(l);
}

static void line_go_soon(struct line *l)
{
	if (!l->is_due && !l->is_going && keel_defer(l->st->mod, line_due, l) == 0)
		l->is_due = true;
}

/* The result is there: what becomes of it is decided by line_go(), so that one answer does not lead into the next call. */
static void answered(struct run *r, struct result *result)
{
	struct going *g = (struct going *)r;

	run_over(g, result);
	line_go_soon(g->line);
}

static bool begin(struct going *g)
{
	struct run *r = &g->run;

	if (!r->hook || (g->event.len == 0 && !run_write(g, NULL, NULL, &g->event)))
		return false;
	run_started(r);
	if (r->hook->debug)
		record_in(r, &g->event);
	run_ask(g, &g->event, answered);
	g->has_begun = true;
	pack_fini(&g->event);
	return true;
}

static void end(struct series *s, struct going *g)
{
	struct run *r = &g->run;

	run_ended(r, &g->result);
	if (r->event->settle(r, NULL, &g->result) == KEEL_REJECT || g->result.how != ACCEPTED)
		s->accepted = false;
	going_free(s, g);
}

static void line_go(struct line *l)
{
	struct series *s;
	struct going *g;

	l->is_going = true;
	while ((s = l->series) != NULL) {
		g = s->runs;
		if (!g || !s->accepted)
			series_end(l, s);
		else if (g->over)
			end(s, g);
		else if (g->has_begun)
			break;
		else if (!begin(g))
			going_free(s, g);
	}
	l->is_going = false;
	if (!l->series && !l->is_due)
		line_free(l);
}

/* ---- notes ----------------------------------------------------------------------------------------------- */
static struct line *line_of(struct state *st, const char *about)
{
	struct line *l;

	HASH_FIND_STR(st->runs->lines, about, l);
	if (l)
		return l;
	ROW_ADD(st->runs->lines, l, about, about);
	if (l)
		l->st = st;
	return l;
}

static struct series *series_new(struct line *l)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct series){ .st = l->st, .accepted = true };
	DL_APPEND(l->series, s);
	line_go_soon(l);
	return s;
}

static void series_add(struct line *l, struct series *s, struct going *g)
{
	g->line = l;
	g->bytes = g->event.len;
	DL_APPEND(s->runs, g);
	l->st->runs->n_notes++;
	l->st->runs->note_bytes += g->bytes;
}

static bool is_room(struct runs *runs, struct keel_mod *mod, const char *hook)
{
	int64_t now = keel_now_ms(mod);

	if (runs->n_notes < NOTES_MAX && runs->note_bytes < NOTE_BYTES_MAX)
		return true;
	if (runs->said_ms == 0 || now - runs->said_ms > SAY_MS)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", hook, "%u events wait for scripts; others are passed over", runs->n_notes);
	runs->said_ms = now;
	return false;
}

bool note_add(struct going *g)
{
	struct state *st = g->run.st;
	struct runs *runs = st->runs;
	struct line *l = is_room(runs, st->mod, g->run.name) ? line_of(st, g->run.id) : NULL;

	if (!l)
		return false;
	if (!runs->current)
		runs->current = series_new(l);
	if (!runs->current)
		return false;
	series_add(l, runs->current, g);
	return true;
}

/* ---- events without a point ------------------------------------------------------------------------------ */
static bool hook_add(struct line *l, struct series *s, struct hook *h, enum event_id event)
{
	struct going *g = h->script || h->loading ? run_new(l->st, h, event) : NULL;

	if (!g)
		return false;
	g->run.note = true;
	series_add(l, s, g);
	return true;
}

int32_t run_now(struct state *st, enum event_id event, struct hook *only, void (*done)(struct state *, void *arg, bool accepted), void *arg)
{
	struct hook **all = only ? NULL : hooks_of_event(st, event), **h;
	struct series *s;
	struct line *l;
	char about[256];

	snprintf(about, sizeof(about), "\n%s\n%s", events[event].name, only ? only->name : "");
	l = only || all ? line_of(st, about) : NULL;
	s = l ? series_new(l) : NULL;
	if (!s) {
		free(all);
		return -ENOMEM;
	}
	s->done = done;
	s->arg = arg;
	if (only)
		hook_add(l, s, only, event);
	for (h = all; h && *h; h++)
		hook_add(l, s, *h, event);
	free(all);
	return 0;
}

void series_stop(struct state *st)
{
	struct line *l, *next;

	HASH_ITER(hh, st->runs->lines, l, next) {
		for (struct series *s; (s = l->series) != NULL;) {
			if (s->runs && s->runs->ask)
				ask_cancel(s->runs->ask);
			series_free(l, s);
		}
		HASH_DEL(st->runs->lines, l);
		free(l->about);
		l->about = NULL;
		if (!l->is_due)
			free(l);
	}
}
