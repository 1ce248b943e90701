/* SPDX-License-Identifier: Apache-2.0
 *
 * news.c - a job started, or is over: who waited for that.
 *
 * What follows is a list of small pieces of work, not a recursion: deleting a child is news for those
 * that wait for it. All of it belongs to the turn of its cause, so that a crash finds all or nothing; a
 * cascade longer than a SLICE goes on in the next turn, and news_missed() takes up what a crash cut off.
 */
#include "dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, depend, depend_dropped);

#define SLICE 4096

static void settle_rest(struct keel_mod *mod, void *arg);

static void news_add(struct state *st, const char *child, const char *parent, enum verdict verdict,
		     bool report)
{
	struct news *n = calloc(1, sizeof(*n));

	if (!n || !(n->child = strdup(child)) || !(n->parent = strdup(parent))) {
		if (n)
			free(n->child);
		free(n);
		return; /* the child goes on waiting; news_missed() finds it at the next start */
	}
	n->verdict = verdict;
	n->report = report;
	if (st->last)
		st->last->next = n;
	else
		st->first = n;
	st->last = n;
}

static void news_free(struct news *n)
{
	free(n->child);
	free(n->parent);
	free(n);
}

void news_drop(struct state *st)
{
	keel_timer_cancel(st->later);
	st->later = NULL;
	while (st->first) {
		struct news *n = st->first;

		st->first = n->next;
		news_free(n);
	}
	st->last = NULL;
}

/* ---- one child ------------------------------------------------------------------------------------------- */

/* The clause has become shorter: the attribute says so, and what is known in memory. */
static void rewrite(struct keel_mod *mod, struct keel_obj *job, struct clause *left)
{
	struct state *st = mod->state;
	struct keel_text text;

	keel_text_init(&text);
	if (!left->n)
		keel_unset(job, job_depend, NULL);
	else if (clause_text(left, keel_server_name(mod), mod, &text))
		keel_set_str(job, job_depend, text.data);
	keel_text_fini(&text);
	child_set(st, keel_id(job), left);
}

static void release(struct keel_mod *mod, struct keel_obj *job, struct child *c, const struct news *n,
		    const struct fate *fate)
{
	struct state *st = mod->state;
	struct clause left = { 0 };
	bool waits = false, counted = false, done;
	char id[ID_MAX];

	left.item = calloc(c->clause.n, sizeof(*left.item));
	if (!left.item)
		return;
	for (uint32_t i = 0; i < c->clause.n; i++) {
		struct item item = c->clause.item[i];

		/* Is it done by this piece of news? on:N counts down. */
		if (n->report) {
			done = item.type == ON && --item.n == 0;
		} else {
			item_id(&item, st->server, id);
			done = item.type != ON && type_waits((enum type)item.type) && job_key(id) == job_key(n->parent) &&
			       (!fate || type_judge((enum type)item.type, fate) == DONE);
		}
		if (done)
			continue;
		waits |= type_waits((enum type)item.type);
		counted |= item.n != c->clause.item[i].n;
		left.item[left.n++] = item;
	}
	if (left.n == c->clause.n && !counted) { /* heard before */
		clause_fini(&left);
		return;
	}
	keel_log(mod, KEEL_LOG_JOB, "Job", n->child, "Dependency on job %s released.", n->parent);
	rewrite(mod, job, &left);
	if (!waits)
		keel_job_depend(job, runone_waits(mod, n->child));
}

void clause_drop(struct keel_mod *mod, struct keel_obj *job, const char *id)
{
	struct state *st = mod->state;
	const struct child *c = child_find(st, keel_id(job));
	struct clause left = { .item = c ? calloc(c->clause.n, sizeof(*left.item)) : NULL };

	for (uint32_t i = 0; left.item && i < c->clause.n; i++) {
		char named[ID_MAX];

		item_id(&c->clause.item[i], st->server, named);
		if (c->clause.item[i].type != RUN_ONE || (id && job_key(named) != job_key(id)))
			left.item[left.n++] = c->clause.item[i];
	}
	if (left.item && left.n < c->clause.n)
		rewrite(mod, job, &left);
	else
		clause_fini(&left);
}

void job_drop(struct keel_mod *mod, struct keel_obj *job, const char *parent)
{
	struct state *st = mod->state;
	char why[ID_MAX + 64];

	if (!strchr("TQHW", keel_job_state(job))) /* a manager released its hold */
		return;
	snprintf(why, sizeof(why), "Job deleted as result of dependency on job %s", parent);
	keel_set_int(job, job_depend_dropped, 1);
	keep_fate(st, keel_id(job), (struct fate){ .dropped = true });
	keel_job_abort(job, why);
}

static void settle(struct keel_mod *mod, const struct news *n)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", n->child);
	struct child *c = child_find(st, n->child);
	struct parent *p = parent_find(st, n->parent);
	bool counts = !n->report;

	for (uint32_t i = 0; c && i < c->clause.n; i++)
		counts |= c->clause.item[i].type == ON;
	if (!job || !c || !counts)
		return;
	if (n->verdict == DONE) {
		release(mod, job, c, n, p ? &p->fate : NULL);
		return;
	}
	job_drop(mod, job, n->parent);
}

static void settle_all(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int left = SLICE;

	if (st->settling)
		return;
	st->settling = true;
	while (st->first && left-- > 0) {
		struct news *n = st->first;

		st->first = n->next;
		if (!st->first)
			st->last = NULL;
		settle(mod, n);
		news_free(n);
	}
	st->settling = false;
	if (st->first && !st->later && !(st->later = keel_timer(mod, 0, settle_rest, NULL)))
		keel_log(mod, KEEL_LOG_ERROR, "Svr", "dependencies",
			 "no memory to go on releasing jobs; the next event does");
}

static void settle_rest(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->later = NULL;
	settle_all(mod);
}

/* ---- a job did something ------------------------------------------------------------------------------------ */

/* Its before... items: the jobs named there count reports. */
static void report(struct keel_mod *mod, struct child *c)
{
	struct state *st = mod->state;

	for (uint32_t i = 0; i < c->clause.n; i++) {
		const struct item *item = &c->clause.item[i];
		enum verdict v = type_judge((enum type)item->type, &c->fate);
		char id[ID_MAX];

		if (!type_is_before((enum type)item->type) || v == WAITS)
			continue;
		if (type_at_start((enum type)item->type) && c->fate.over && c->fate.started)
			continue; /* done when it started */
		item_id(item, st->server, id);
		news_add(st, id, c->id, v, true);
	}
}

static void tell(struct keel_mod *mod, const char *id, const struct fate *fate)
{
	struct state *st = mod->state;
	struct parent *p = parent_find(st, id);
	struct child *c = child_find(st, id);
	struct link *l;

	if (p) {
		p->fate = *fate;
		for (l = p->links; l; l = l->next) {
			enum verdict v = type_judge(l->type, fate);

			if (v != WAITS)
				news_add(st, l->child->id, id, v, false);
		}
	}
	if (c) {
		c->fate = *fate;
		report(mod, c);
	}
	settle_all(mod);
}

keel_verdict on_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	const struct fate running = { .started = true, .exit = -1 }; /* until it is known */
	char array[ID_MAX];

	tell(c->mod, ev->id, &running);
	if (keel_id_whole(ev->id, array, sizeof(array)))
		tell(c->mod, array, &running);
	return KEEL_NEXT;
}

void news_over(struct keel_mod *mod, const char *id, const struct fate *fate)
{
	struct state *st = mod->state;
	struct child *c;

	tell(mod, id, fate);
	if ((c = child_find(st, id)))
		child_drop(st, c);
}

void news_too_late(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	const struct child *c = child_find(st, id);

	for (uint32_t i = 0; i < c->clause.n; i++) {
		const struct item *item = &c->clause.item[i];
		struct fate fate = { 0 };
		char named[ID_MAX];

		item_id(item, st->server, named);
		if (item->type == ON || !fate_of(mod, named, &fate) || !fate.over ||
		    (!type_is_before((enum type)item->type) &&
		     type_judge((enum type)item->type, &fate) != NEVER))
			continue;
		keel_log(mod, KEEL_LOG_JOB, "Job", id, "%s %s", named, keel_pbse_text(PBSE_HISTDEPEND));
		news_add(st, id, named, NEVER, false);
	}
	settle_all(mod);
}

void news_missed(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t next = keel_job_next_number();
	struct parent *p, *more;

	HASH_ITER(hh, st->parents, p, more) {
		struct fate fate = { .over = true };

		if (!fate_of(mod, p->id, &fate) && strtoll(p->id, NULL, 10) >= next)
			continue;
		p->fate = fate;
		runone_changed(mod, p->id);
		for (struct link *l = p->links; l; l = l->next) {
			enum verdict v = type_judge(l->type, &fate);

			if (v != WAITS)
				news_add(st, l->child->id, p->id, v, false);
		}
	}
	settle_all(mod);
}
