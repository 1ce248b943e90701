/* SPDX-License-Identifier: Apache-2.0
 *
 * after.c - when an array is over its expired subjobs (X) become history (F), or are erased with it; and
 * what a restart finds. In slices: an array may have a million of them.
 */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, array_failures, Exit_status, array_erased);

#define SLICE 512

struct sweep {
	struct indices x;
	uint32_t next;
	bool erase;
	char whole[];
};

static void sweep_one(struct keel_mod *mod, const struct sweep *s, uint32_t ordinal)
{
	size_t head = strcspn(s->whole, "[") + 1;
	struct keel_obj *part;
	char id[600];

	snprintf(id, sizeof(id), "%.*s%u%s", (int)head, s->whole, indices_index(&s->x, ordinal),
		 s->whole + head);
	part = keel_find(mod, "job", id);
	if (part)
		keel_job_settle(part);
	if (part && s->erase)
		keel_job_erase(part);
}

static void sweep(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct sweep *s = arg;
	struct keel_obj *whole;
	uint32_t n;

	for (n = 0; n < SLICE && s->next < s->x.count; n++)
		sweep_one(mod, s, s->next++);
	if (s->next < s->x.count && keel_timer(mod, 0, sweep, s))
		return;
	whole = s->erase ? keel_find(mod, "job", s->whole) : NULL;
	if (whole)
		keel_job_erase(whole);
	st->open_fans--;
	free(s);
}

void after_end(struct keel_mod *mod, const char *whole_id, const struct indices *x, bool erase)
{
	struct state *st = mod->state;
	struct sweep *s = malloc(sizeof(*s) + strlen(whole_id) + 1);

	if (!s)
		return; /* a restart does it */
	s->x = *x;
	s->next = 0;
	s->erase = erase;
	strcpy(s->whole, whole_id);
	st->open_fans++;
	sweep(mod, s);
}

/* ---- restart ------------------------------------------------------------------------------------------ */

/* Subjobs' objects that are not where they should be. */
struct todo {
	struct todo *next;
	char id[];
};

static void todo_add(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct todo *t = malloc(sizeof(*t) + strlen(id) + 1);

	if (!t)
		return;
	strcpy(t->id, id);
	t->next = st->todo;
	st->todo = t;
}

void todo_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct todo *t, *next;

	for (t = st->todo; t; t = next) {
		next = t->next;
		free(t);
	}
	st->todo = NULL;
}

keel_verdict on_job_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	uint32_t ordinal;
	struct array *a = strchr(ev->id, '[') ? array_of_part(c->mod, ev->job, &ordinal) : NULL;
	char letter = a ? keel_job_state(ev->job) : 0;

	if (!a) {
		if (strchr(ev->id, '['))
			todo_add(c->mod, ev->id);
		return KEEL_NEXT;
	}
	array_mark(a, ordinal, letter == 'X' || letter == 'F' ? KEPT : LIVES);
	part_suspended(c->mod, ev->job, keel_job_is_suspended(ev->job));
	if ((letter == 'X' || letter == 'F') && !keel_is_set(a->whole, job_array_failures))
		a->failed += keel_get_int(ev->job, job_Exit_status) != 0;
	if (letter != 'R' && letter != 'E')
		todo_add(c->mod, ev->id);
	return KEEL_NEXT;
}

/* One that waits goes back, its start was not; one that expired is history when its array is. */
static void put_right(struct keel_mod *mod, struct keel_obj *job)
{
	char letter = keel_job_state(job);
	struct array *a;
	uint32_t ordinal;

	if (!is_subjob(mod, job)) {
		a = array_of(mod, job);
		if (letter == 'F' && a && keel_is_set(job, job_array_erased))
			after_end(mod, keel_id(job), &a->x, true);
		else if (letter == 'F')
			return;
		else if (a && a->n[KIND_WAITS])
			keel_job_waits(job);
		else if (a)
			array_check_end(mod, a);
		return;
	}
	a = array_of_part(mod, job, &ordinal);
	if (letter == 'Q' || letter == 'H' || letter == 'W')
		keel_job_back(job);
	else if (letter == 'X' && (!a || keel_job_state(a->whole) == 'F'))
		keel_job_settle(job);
}

int32_t after_replay(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct todo *t;

	(void)err;
	for (t = st->todo; t; t = t->next) {
		struct keel_obj *job = keel_find(mod, "job", t->id);

		if (job)
			put_right(mod, job);
	}
	todo_drop(mod);
	return 0;
}

/* ---- a site that wants subjobs started again ------------------------------------------------------------ */

static void rerun_ignore(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	(void)mod, (void)arg, (void)code, (void)text;
}

keel_verdict on_server_start(struct keel_call *c, const struct keel_ev_server_start *ev)
{
	const struct conf *conf = keel_conf(c);
	struct keel_cursor *walk = conf->requeue_subjobs_at_restart
					   ? keel_cursor(c->mod, "job")
					   : NULL;
	struct keel_obj *job;
	char who[300];

	(void)ev;
	snprintf(who, sizeof(who), "Server@%s", keel_host_name(c->mod));
	while (walk && (job = keel_next(walk)))
		if (is_subjob(c->mod, job) && keel_job_state(job) == 'R')
			keel_job_ask(job,
				     &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask),
							     .verb = "rerun",
							     .detail = "force",
							     .who = who },
				     c->mod, rerun_ignore, NULL);
	if (walk)
		keel_cursor_close(walk);
	return KEEL_NEXT;
}
