/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.c - links between the simulated hosts of a job, which lose, delay and repeat what is said.
 *
 * A wire is the link between a primary and one of its sisters. Each end notices some time later that it is cut, and the
 * primary links again.
 */
#include <stdlib.h>
#include <string.h>

#include "part.h"

#ifdef HAS_SISTERS

#define GRACE_MS 15000
#define NOTICE_MS 12000
#define BACKOFF_MS 5000
#define LATE_MS 8000

struct task *part_find(struct host *h, const char *id, int64_t run)
{
	struct task *t;

	HASH_FIND_STR(h->tasks, id, t);
	return h->alive && t != NULL && t->run == run && t->part != NULL ? t : NULL;
}

static void happens(void *arg)
{
	struct later *l = arg;

	l->fn(l);
	free(l->id);
	free(l);
}

struct later *later_make(const struct task *t, uint32_t index)
{
	struct later *l = calloc(1, sizeof(*l));

	*l = (struct later){ .sim = t->host->sim, .primary = t->part->hosts[0], .sister = t->part->hosts[index],
			     .id = strdup(t->id), .run = t->run, .index = index };
	return l;
}

void later_in(struct later *l, int64_t ms, void (*fn)(struct later *))
{
	l->fn = fn;
	loop_timer(l->sim->loop, ms, happens, l);
}

/* ---- wires ------------------------------------------------------------------------------------------------ */

static struct wire *wire_of(struct later *l)
{
	struct task *t = part_find(l->primary, l->id, l->run);
	struct wire *w = t != NULL ? &t->part->wires[l->index] : NULL;

	return w != NULL && w->epoch == l->epoch ? w : NULL;
}

static void grace_over(struct later *l)
{
	struct wire *w = wire_of(l);

	if (w != NULL && !w->up)
		primary_down(&part_find(l->primary, l->id, l->run)->part->primary, l->index);
}

static void primary_notices(struct later *l)
{
	struct wire *w = wire_of(l);
	struct task *t = part_find(l->primary, l->id, l->run);
	struct later *grace;

	if (w == NULL || w->up)
		return;
	w->retry_ms = l->sim->now_ms + chance_between(&l->sim->net, 0, BACKOFF_MS);
	grace = later_make(t, l->index);
	grace->epoch = l->epoch;
	later_in(grace, GRACE_MS, grace_over);
	primary_link(&t->part->primary, l->index, false, l->sim->now_ms);
}

static void sister_notices(struct later *l)
{
	struct task *t = part_find(l->sister, l->id, l->run);

	if (t != NULL && t->part->epoch == l->epoch)
		sister_link(&t->part->sister, false, l->sim->now_ms);
}

static void notice(const struct task *t, uint32_t index, uint32_t epoch, void (*fn)(struct later *))
{
	struct later *l = later_make(t, index);

	l->epoch = epoch;
	later_in(l, chance_between(&l->sim->net, 0, NOTICE_MS), fn);
}

void wire_cut(const struct task *t, uint32_t index)
{
	struct wire *w = &t->part->wires[index];

	if (!w->up)
		return;
	w->up = false;
	notice(t, index, w->epoch, primary_notices);
	notice(t, index, w->epoch, sister_notices);
}

void wire_taken(struct task *t, const struct wire *w)
{
	t->part->epoch = w->epoch;
	sister_link(&t->part->sister, false, t->host->sim->now_ms);
	sister_link(&t->part->sister, true, t->host->sim->now_ms);
}

void wires_try(struct task *t)
{
	struct part *p = t->part;
	struct sim *s = t->host->sim;

	for (uint32_t i = 1; i < p->n; i++) {
		struct wire *w = &p->wires[i];
		struct task *other;

		if (w->up || p->released[i] || p->mates[i].linked || w->retry_ms > s->now_ms || !p->hosts[i]->alive)
			continue;
		*w = (struct wire){ .epoch = ++s->wires, .up = true, .last_ms = { s->now_ms, s->now_ms } };
		other = part_find(p->hosts[i], t->id, t->run);
		if (other != NULL)
			wire_taken(other, w);
		primary_link(&p->primary, i, true, s->now_ms);
	}
}

/* ---- words ------------------------------------------------------------------------------------------------- */

static void primary_hears(struct later *l)
{
	struct task *t = wire_of(l) != NULL && wire_of(l)->up ? part_find(l->primary, l->id, l->run) : NULL;
	struct primary *p = t != NULL ? &t->part->primary : NULL;

	if (p == NULL)
		return;
	switch (l->word) {
	case JOINED:
		primary_joined(p, l->index, l->stopped);
		break;
	case FAILED:
		primary_failed(p, l->index, l->status, l->code, "refused");
		break;
	case ANSWER:
		primary_answer(p, l->index, l->number, l->code, "no");
		break;
	case ENDED:
		if (l->left && l->index < t->part->n)
			t->part->released[l->index] = true;
		if (l->left)
			primary_released(p, l->index);
		else
			primary_ended(p, l->index);
		break;
	default:
		primary_nothing(p, l->index);
	}
}

static void sister_hears(struct later *l)
{
	struct task *lead = wire_of(l) != NULL && wire_of(l)->up ? part_find(l->primary, l->id, l->run) : NULL;
	struct task *t = part_find(l->sister, l->id, l->run);

	if (lead == NULL || !l->sister->alive)
		return;
	if (t == NULL) {
		if (l->word == JOIN)
			wire_send(lead, l->index, (struct later){ .word = NONE });
	} else if (l->word == JOIN) {
		sister_asked(&t->part->sister);
	} else {
		sister_order(&t->part->sister, l->number, l->name);
	}
}

void wire_send(const struct task *from, uint32_t index, struct later what)
{
	struct sim *s = from->host->sim;
	struct task *lead = part_find(from->part->hosts[0], from->id, from->run);
	struct wire *w = lead != NULL ? &lead->part->wires[index] : NULL;
	int64_t at_ms = s->now_ms + chance_between(&s->net, 0, 2);
	int to = what.word >= JOINED;

	if (w == NULL || !w->up)
		return;
	if (!s->calm && chance_is(&s->net, s->conf.faults.drop)) {
		trace(s, "%s %s %s wire breaks", from->id, lead->host->name, from->part->hosts[index]->name);
		wire_cut(lead, index);
		return;
	}
	if (!s->calm && chance_is(&s->net, s->conf.faults.delay))
		at_ms += chance_between(&s->net, 1, LATE_MS);
	if (at_ms < w->last_ms[to])
		at_ms = w->last_ms[to];
	w->last_ms[to] = at_ms;
	for (int i = 0; i == 0 || (i == 1 && !s->calm && chance_is(&s->net, s->conf.faults.dup)); i++) {
		struct later *l = later_make(from, index);

		l->epoch = w->epoch;
		l->word = what.word;
		l->number = what.number;
		l->status = what.status;
		l->code = what.code;
		l->stopped = what.stopped;
		memcpy(l->name, what.name, sizeof(l->name));
		later_in(l, at_ms - s->now_ms, to ? primary_hears : sister_hears);
	}
}

#endif
