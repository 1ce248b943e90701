/* SPDX-License-Identifier: Apache-2.0
 *
 * usage.c - what running jobs use is charged to their entities: when a cycle begins, every `usage_interval`
 * a few jobs at a time, and when a job ends.
 *
 * A job keeps what was charged of its run (`fairshare_charged`, stored with the charge), so that nothing is
 * charged twice or lost by a restart.
 */
#include "fairshare.h"

#include <stdio.h>
#include <stdlib.h>

#include <utlist.h>

KEEL_ATTR_OF(job, fairshare_charged);

#define AT_A_TIME 256
#define AT_A_CYCLE 1024

static struct running *running_of(struct keel_mod *mod, struct keel_obj *job)
{
	return keel_slot(mod, job);
}

static void unlink_it(struct state *st, struct running *r)
{
	if (!r->job)
		return;
	if (st->round == r)
		st->round = r->next;
	DL_DELETE(st->first, r);
	r->next = r->prev = NULL;
	r->job = NULL;
}

void running_fini(struct keel_mod *mod, void *slot)
{
	unlink_it(mod->state, slot);
}

void job_enter(struct keel_mod *mod, struct keel_obj *job, bool from_nothing)
{
	struct state *st = mod->state;
	struct running *r = running_of(mod, job);
	const char *charged;

	if (!r || r->job)
		return;
	if (from_nothing)
		keel_unset(job, job_fairshare_charged, NULL);
	charged = keel_get_str(job, job_fairshare_charged);
	r->charged = charged ? strtod(charged, NULL) : 0;
	r->job = job;
	DL_PREPEND(st->first, r);
}

void job_charge(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct running *r = running_of(mod, job);
	struct share *s;
	double amount;
	char text[40];

	if (!r || !r->job || !st->rules.on)
		return;
	amount = amount_of(st, job);
	if (!(amount > r->charged))
		return;
	s = share_of(mod, job);
	tree_charge(&st->tree, s, (amount - r->charged) / st->unit);
	stock_put(mod, s);
	r->charged = amount;
	snprintf(text, sizeof(text), "%.17g", amount);
	keel_set_str(job, job_fairshare_charged, text);
}

keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	struct running *r = ev->job ? running_of(c->mod, ev->job) : NULL;

	if (!r)
		return KEEL_NEXT;
	job_charge(c->mod, ev->job);
	unlink_it(c->mod->state, r);
	return KEEL_NEXT;
}

/* ---- rounds ------------------------------------------------------------------------------------------ */

static void charge_some(struct keel_mod *mod, void *arg)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	uint32_t n;

	(void)arg;
	st->charge_timer = NULL;
	if (!st->round)
		st->round = st->first;
	for (n = 0; n < AT_A_TIME && st->round; n++) {
		struct running *r = st->round;

		st->round = r->next;
		job_charge(mod, r->job);
	}
	st->charge_timer = keel_timer(mod, st->round ? 0 : conf->usage_interval, charge_some, NULL);
}

/* All of them, or so many that a cycle does not wait: the next one goes on from there. */
void usage_now(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct running *r = st->round ? st->round : st->first, *begun = r;
	uint32_t n = 0;

	if (!r || !st->rules.on)
		return;
	do {
		job_charge(mod, r->job);
		r = r->next ? r->next : st->first;
	} while (r != begun && ++n < AT_A_CYCLE);
	st->round = r == st->first ? NULL : r;
}

void usage_start(struct keel_mod *mod)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;

	keel_timer_cancel(st->charge_timer);
	st->charge_timer = keel_timer(mod, conf->usage_interval, charge_some, NULL);
}

void usage_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->charge_timer);
	keel_timer_cancel(st->decay_timer);
	st->charge_timer = st->decay_timer = NULL;
}
