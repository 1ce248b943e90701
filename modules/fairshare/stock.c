/* SPDX-License-Identifier: Apache-2.0
 *
 * stock.c - usage is kept in the store: an object of the class "share" per entity that has used anything,
 * and one of "fairshare" with the unit and the time of the last decay.
 */
#include "fairshare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(share, usage);
KEEL_ATTRS_OF(fairshare, unit, decayed);

static double number(struct keel_obj *obj, const struct keel_attr *attr,
		     double otherwise)
{
	const char *text = keel_get_str(obj, attr);
	double n = text ? strtod(text, NULL) : otherwise;

	return n >= 0 && n < 1e300 ? n : otherwise;
}

static void set_number(struct keel_obj *obj, const struct keel_attr *attr, double n)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", n);
	keel_set_str(obj, attr, text);
}

static struct keel_obj *obj_of(struct keel_mod *mod, const char *klass, const char *id)
{
	struct keel_obj *obj = keel_find(mod, klass, id);

	if (obj)
		return obj;
	obj = keel_draft(mod, klass, id, NULL);
	if (obj && keel_publish(obj)) {
		keel_destroy(obj);
		obj = NULL;
	}
	return obj;
}

void stock_put(struct keel_mod *mod, struct share *s)
{
	struct keel_obj *obj = obj_of(mod, "share", s->name);

	if (obj)
		set_number(obj, share_usage, s->own);
}

static void put_unit(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *obj = obj_of(mod, "fairshare", "state");

	if (!obj)
		return;
	set_number(obj, fairshare_unit, st->unit);
	keel_set_int(obj, fairshare_decayed, st->decayed);
}

void stock_load(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = keel_cursor(mod, "share");
	struct keel_obj *obj = keel_find(mod, "fairshare", "state");

	st->unit = obj ? number(obj, fairshare_unit, 1) : 1;
	st->decayed = obj ? keel_get_int(obj, fairshare_decayed) : 0;
	if (!(st->unit > 0))
		st->unit = 1;
	while (walk && (obj = keel_next(walk))) {
		struct share *s = tree_get(&st->tree, keel_id(obj));

		if (strcmp(s->name, keel_id(obj)) == 0)
			tree_set(&st->tree, s, number(obj, share_usage, 0));
	}
	if (walk)
		keel_cursor_close(walk);
	tree_begin_with(&st->tree, 1 / st->unit);
	if (st->decayed)
		return;
	st->decayed = keel_time(mod);
	put_unit(mod);
}

/* ---- decay ------------------------------------------------------------------------------------------ */

#define UNIT_MIN 1e-100

static void rewrite(void *arg, struct share *s)
{
	struct keel_mod *mod = arg;
	struct state *st = mod->state;

	if (!(s->own > 0))
		return;
	s->own *= st->unit;
	stock_put(mod, s);
}

/* Once in some hundred decays the unit is 1 again. */
static void unit_shrink(struct keel_mod *mod, double factor)
{
	struct state *st = mod->state;

	st->unit *= factor;
	if (st->unit < UNIT_MIN) {
		tree_each(&st->tree, rewrite, mod);
		st->unit = 1;
	}
	tree_begin_with(&st->tree, 1 / st->unit);
	keel_log(mod, KEEL_LOG_DEBUG, "Server", "Fairshare", "Decaying Fairshare Tree");
}

void decay_now(struct keel_mod *mod)
{
	struct state *st = mod->state;

	unit_shrink(mod, st->rules.decay_factor);
	st->decayed = keel_time(mod);
	put_unit(mod);
	decay_plan(mod);
}

static void time_came(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->decay_timer = NULL;
	decay_plan(mod);
}

#define NAP_LONGEST 3600 /* s: clocks are set */

/* Decays that are due are made at once, also those that were missed while no server ran. */
void decay_plan(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int64_t now = keel_time(mod), every = st->rules.decay_time, due, nap;

	keel_timer_cancel(st->decay_timer);
	st->decay_timer = NULL;
	if (every <= 0)
		return;
	if (st->decayed > now)
		st->decayed = now;
	due = (now - st->decayed) / every;
	if (due) {
		unit_shrink(mod, pow(st->rules.decay_factor, (double)due));
		st->decayed += due * every;
		put_unit(mod);
	}
	nap = st->decayed + every - now;
	st->decay_timer = keel_timer(mod, (nap < NAP_LONGEST ? nap : NAP_LONGEST) * 1000, time_came, NULL);
}
