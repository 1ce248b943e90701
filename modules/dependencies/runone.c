/* SPDX-License-Identifier: Apache-2.0
 *
 * runone.c - sets of jobs of which one is to run: depend=runone:12 puts a job into the set of job 12.
 *
 *   one starts -> the others are held -> it is queued again: they are let go
 *                                     -> it is over: they are deleted
 *
 * Who comes later names all who are there, so a set stays whole when one of them leaves. Whether a job is
 * held for its set is seen from the states of the others, whenever one of them changes.
 */
#include "dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct others {
	char **id; /* owned */
	uint32_t n;
	bool failed; /* there was no memory for some */
};

static void others_free(struct others *o)
{
	while (o->n)
		free(o->id[--o->n]);
	free(o->id);
	*o = (struct others){ 0 };
}

static void others_add(struct others *o, const char *id)
{
	char **bigger = reallocarray(o->id, o->n + 1, sizeof(*bigger)), *copy = strdup(id);

	if (bigger)
		o->id = bigger;
	if (bigger && copy)
		o->id[o->n++] = copy;
	else
		free(copy);
	o->failed |= !bigger || !copy;
}

/* Those it names, and those that name it. Copies: what is done with them changes the index. */
static struct others others_of(struct state *st, const char *id)
{
	const struct child *c = child_find(st, id);
	const struct parent *p = parent_find(st, id);
	struct others o = { 0 };
	char named[ID_MAX];

	for (uint32_t i = 0; c && i < c->clause.n; i++)
		if (c->clause.item[i].type == RUN_ONE) {
			item_id(&c->clause.item[i], st->server, named);
			others_add(&o, named);
		}
	for (const struct link *l = p ? p->links : NULL; l; l = l->next)
		if (l->type == RUN_ONE)
			others_add(&o, l->child->id);
	return o;
}

static char letter_of(struct keel_mod *mod, const char *id)
{
	struct keel_obj *job = keel_find(mod, "job", id);

	return job ? keel_job_state(job) : '\0';
}

bool runone_waits(struct keel_mod *mod, const char *id)
{
	struct others o = others_of(mod->state, id);
	bool waits = o.failed;

	for (uint32_t i = 0; i < o.n && !waits; i++)
		waits = strchr("REB", letter_of(mod, o.id[i])) && letter_of(mod, o.id[i]);
	others_free(&o);
	return waits;
}

static void hold_or_let(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", id);
	const struct child *c = child_find(st, id);

	if (job && strchr("QHWT", keel_job_state(job)))
		keel_job_depend(job, (c && child_waits(c)) || runone_waits(mod, id));
}

void runone_changed(struct keel_mod *mod, const char *id)
{
	struct others o = others_of(mod->state, id);

	for (uint32_t i = 0; i < o.n; i++)
		hold_or_let(mod, o.id[i]);
	others_free(&o);
}

void runone_over(struct keel_mod *mod, const char *id, bool ran)
{
	struct state *st = mod->state;
	struct others o = others_of(st, id);

	for (uint32_t i = 0; i < o.n; i++) { /* one has run: there is no set any more */
		struct keel_obj *job = keel_find(mod, "job", o.id[i]);

		if (job)
			clause_drop(mod, job, ran ? NULL : id);
	}
	for (uint32_t i = 0; i < o.n; i++) {
		struct keel_obj *job = keel_find(mod, "job", o.id[i]);

		if (job && ran && strchr("QHWT", keel_job_state(job)))
			job_drop(mod, job, id);
		else
			hold_or_let(mod, o.id[i]);
	}
	others_free(&o);
}

/* A job that is named stands for its whole set. */
int32_t runone_join(struct state *st, struct clause *c)
{
	uint32_t n = c->n;

	for (uint32_t i = 0; i < n; i++) {
		struct others o = { 0 };
		char id[ID_MAX];
		int32_t code = 0;

		if (c->item[i].type != RUN_ONE)
			continue;
		item_id(&c->item[i], st->server, id);
		o = others_of(st, id);
		for (uint32_t k = 0; k < o.n && !code; k++)
			code = clause_add(c, RUN_ONE, o.id[k], true);
		others_free(&o);
		if (code)
			return code;
	}
	return 0;
}
