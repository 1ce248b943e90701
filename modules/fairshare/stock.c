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

static double number(struct state *st, struct keel_obj *obj, const struct keel_attr *attr,
		     double otherwise)
{
	const char *text = st->object->get_str(obj, attr);
	double n = text ? strtod(text, NULL) : otherwise;

	return n >= 0 && n < 1e300 ? n : otherwise;
}

static void set_number(struct state *st, struct keel_obj *obj, const struct keel_attr *attr, double n)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", n);
	st->object->set_str(obj, attr, text);
}

static struct keel_obj *obj_of(struct keel_mod *mod, const char *klass, const char *id)
{
	struct state *st = mod->state;
	struct keel_obj *obj = st->object->find(mod, klass, id);

	if (obj)
		return obj;
	obj = st->object->draft(mod, klass, id, NULL);
	if (obj && st->object->publish(obj)) {
		st->object->destroy(obj);
		obj = NULL;
	}
	return obj;
}

void stock_put(struct keel_mod *mod, struct share *s)
{
	struct state *st = mod->state;
	struct keel_obj *obj = obj_of(mod, "share", s->name);

	if (obj)
		set_number(st, obj, st->usage, s->own);
}

static void put_unit(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *obj = obj_of(mod, "fairshare", "state");

	if (!obj)
		return;
	set_number(st, obj, st->unit_attr, st->unit);
	st->object->set_int(obj, st->decayed_attr, st->decayed);
}

void stock_load(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_cursor *walk = st->object->cursor(mod, "share");
	struct keel_obj *obj = st->object->find(mod, "fairshare", "state");

	st->unit = obj ? number(st, obj, st->unit_attr, 1) : 1;
	st->decayed = obj ? st->object->get_int(obj, st->decayed_attr) : 0;
	if (!(st->unit > 0))
		st->unit = 1;
	while (walk && (obj = st->object->next(walk))) {
		struct share *s = tree_get(&st->tree, st->object->id(obj));

		if (strcmp(s->name, st->object->id(obj)) == 0)
			tree_set(&st->tree, s, number(st, obj, st->usage, 0));
	}
	if (walk)
		st->object->cursor_close(walk);
	tree_begin_with(&st->tree, 1 / st->unit);
	if (st->decayed)
		return;
	st->decayed = st->core->time(mod);
	put_unit(mod);
}

void stock_forget(struct keel_mod *mod, struct share *s)
{
	struct state *st = mod->state;
	struct keel_obj *obj = st->object->find(mod, "share", s->name);

	if (obj)
		st->object->destroy(obj);
	tree_forget(&st->tree, s);
}

void usage_set(struct keel_mod *mod, struct share *s, double amount)
{
	struct state *st = mod->state;

	tree_set(&st->tree, s, amount / st->unit);
	stock_put(mod, s);
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
	st->core->log(mod, KEEL_LOG_DEBUG, "Server", "Fairshare", "Decaying Fairshare Tree");
}

void decay_now(struct keel_mod *mod)
{
	struct state *st = mod->state;

	unit_shrink(mod, st->rules.decay_factor);
	st->decayed = st->core->time(mod);
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
	int64_t now = st->core->time(mod), every = st->rules.decay_time, due, nap;

	st->core->timer_cancel(st->decay_timer);
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
	st->decay_timer = st->core->timer(mod, (nap < NAP_LONGEST ? nap : NAP_LONGEST) * 1000, time_came, NULL);
}
