/* SPDX-License-Identifier: Apache-2.0
 *
 * count.c - counters of users, groups, projects and everybody, of the server and of each queue.
 *
 * A job remembers what was counted of it; when it changes, that is taken back and what it is now is
 * counted. A counter lives as long as a job counts there.
 */
#include "entity-limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 600

static const char letters[KINDS] = { [GROUP] = 'g', [PROJECT] = 'p', [OVERALL] = 'o', [USER] = 'u' };

void entity_text(enum kind kind, const char *name, char buf[300])
{
	snprintf(buf, 300, "%c:%s", letters[kind], name);
}

/* ---- the table ---------------------------------------------------------------------------------- */

/* "queue/u:name" */
static void key_text(const char *queue, enum kind kind, const char *name, char buf[KEY_SIZE])
{
	snprintf(buf, KEY_SIZE, "%s/%c:%s", queue, letters[kind], name);
}

const struct counter *counter_find(struct state *st, const char *queue, enum kind kind,
				   const char *name)
{
	struct counter *c;
	char key[KEY_SIZE];

	key_text(queue, kind, name, key);
	HASH_FIND_STR(st->counters, key, c);
	return c;
}

struct counter *counter_take(struct state *st, const char *queue, enum kind kind, const char *name)
{
	struct counter *c;
	char key[KEY_SIZE];
	size_t len;

	key_text(queue, kind, name, key);
	HASH_FIND_STR(st->counters, key, c);
	if (!c) {
		len = strlen(key);
		c = calloc(1, sizeof(*c) + len + 1);
		if (!c)
			return NULL;
		memcpy(c->key, key, len);
		HASH_ADD_KEYPTR(hh, st->counters, c->key, len, c);
		if (!c->hh.tbl) { /* no memory for it */
			free(c);
			return NULL;
		}
	}
	c->parties++;
	return c;
}

static void counter_free(struct state *st, struct counter *c)
{
	HASH_DEL(st->counters, c);
	free(c->amount);
	free(c);
}

void counter_drop(struct state *st, struct counter *c)
{
	if (c && --c->parties == 0)
		counter_free(st, c);
}

static struct amount *amount_of(struct counter *c, const struct keel_resource *res)
{
	struct amount *bigger;

	for (uint32_t i = 0; i < c->n_amount; i++)
		if (c->amount[i].res == res)
			return &c->amount[i];
	if (c->n_amount == c->room) {
		bigger = realloc(c->amount, (c->room + 4) * sizeof(*bigger));
		if (!bigger)
			return NULL;
		c->amount = bigger;
		c->room += 4;
	}
	c->amount[c->n_amount] = (struct amount){ .res = res };
	return &c->amount[c->n_amount++];
}

double counter_amount(const struct counter *c, const struct keel_resource *res, enum tally tally)
{
	for (uint32_t i = 0; c && i < c->n_amount; i++)
		if (c->amount[i].res == res)
			return c->amount[i].n[tally];
	return 0;
}

/* ---- a job's part -------------------------------------------------------------------------------- */

struct counted *counted_of(struct keel_mod *mod, struct keel_obj *job)
{
	return keel_slot(mod, job);
}

static void add(struct counted *j, enum tally tally, double sign)
{
	const double n = sign * j->weight;
	struct amount *a;

	for (int scope = 0; scope < SCOPES; scope++)
		for (int kind = 0; kind < KINDS; kind++) {
			struct counter *c = j->party->at[scope][kind];

			c->n[tally] += n;
			for (uint32_t i = 0; i < items_of(j); i++)
				if ((a = amount_of(c, j->wants->item[i].res)))
					a->n[tally] += n * j->wants->item[i].n;
		}
}

static void leave(struct state *st, struct counted *j)
{
	if (!j->party)
		return;
	for (int tally = 0; tally < TALLIES; tally++)
		if ((j->tallies & 1u << tally) && !(j->away && tally == TALLY_RUNS))
			add(j, (enum tally)tally, -1);
	party_drop(st, j->party);
	wants_drop(st, j->wants);
	j->party = NULL;
	j->wants = NULL;
	j->tallies = 0;
	j->away = false;
}

/* Are there places for all of its amounts? Then counting needs no memory. */
static bool has_places(const struct counted *j)
{
	if (!j->wants || j->wants->placed == j->party->serial)
		return true;
	for (uint32_t i = 0; i < items_of(j); i++)
		for (int scope = 0; scope < SCOPES; scope++)
			for (int kind = 0; kind < KINDS; kind++)
				if (!amount_of(j->party->at[scope][kind], j->wants->item[i].res))
					return false;
	j->wants->placed = j->party->serial;
	return true;
}

static void enter(struct keel_mod *mod, struct keel_obj *job, struct counted *j, uint32_t tallies,
		  double weight)
{
	j->party = party_take(mod, job);
	if (!j->party)
		return;
	j->wants = wants_take(mod->state, job);
	if (!has_places(j)) { /* not counted: then nothing of them is taken back, either */
		wants_drop(mod->state, j->wants);
		j->wants = NULL;
	}
	j->weight = weight;
	j->tallies = (uint8_t)tallies;
	for (int tally = 0; tally < TALLIES; tally++)
		if (tallies & 1u << tally)
			add(j, (enum tally)tally, 1);
}

static uint32_t tallies_of(char letter, bool placed)
{
	const uint32_t all = 1u << TALLY_ALL, waits = 1u << TALLY_WAITS, runs = 1u << TALLY_RUNS;

	switch (letter) {
	case 'Q':
	case 'B': return all | waits;
	case 'T':
	case 'H':
	case 'W': return all;
	case 'R':
	case 'E': return placed ? all | runs : all;
	default: return 0; /* history */
	}
}

void count_job(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct counted *j = counted_of(mod, job);
	uint32_t tallies;
	char name[600];
	struct keel_obj *whole;

	if (!j)
		return;
	tallies = tallies_of(keel_job_state(job), j->placed);
	leave(st, j);
	if (tallies)
		enter(mod, job, j, tallies, keel_job_members(job));
	/* `7[3].svr` has left `7[].svr`, or gone back. */
	whole = keel_id_whole(keel_id(job), name, sizeof(name)) ? keel_find(mod, "job", name)
								       : NULL;
	if (whole)
		count_job(mod, whole);
}

void count_placed(struct keel_mod *mod, struct keel_obj *job, bool placed)
{
	struct counted *j = counted_of(mod, job);

	if (!j)
		return;
	j->placed = placed;
	count_job(mod, job);
}

/* Its memory, and what is counted, went with a job that is gone. */
keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	struct counted *j = ev->job && !ev->requeued ? counted_of(c->mod, ev->job) : NULL;

	if (j)
		leave(c->mod->state, j);
	return KEEL_NEXT;
}

void count_away(struct keel_mod *mod, struct keel_obj *job, bool away)
{
	struct counted *j = counted_of(mod, job);

	if (!j || j->away == away || !(j->tallies & 1u << TALLY_RUNS))
		return;
	j->away = away;
	add(j, TALLY_RUNS, away ? -1 : 1);
}

void counted_fini(struct keel_mod *mod, void *slot)
{
	struct state *st = mod->state;
	struct counted *j = slot;

	if (st->closing)
		wants_drop(st, j->wants);
	else
		leave(st, j);
}

void count_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	parties_fini(st);
	while (st->counters)
		counter_free(st, st->counters);
	st->closing = true;
}
