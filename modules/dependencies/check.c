/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - what a job may depend on, and what is done already when it asks.
 */
#include "dependencies.h"

#include <stdlib.h>
#include <string.h>

int64_t number_of(const char *id)
{
	return strtoll(id, NULL, 10);
}

bool fate_of(struct keel_mod *mod, const char *id, struct fate *ret)
{
	struct state *st = mod->state;
	struct keel_obj *job = st->object->find(mod, "job", id);
	char letter;

	if (!job)
		return false;
	letter = st->job->state(st->job->self, job);
	ret->over = strchr("FXM", letter) != NULL;
	ret->started = st->object->is_set(job, st->stime) || strchr("REB", letter);
	ret->exit = st->object->get_int(job, st->exit_status);
	return true;
}

/* An after... item: stays (WAITS), is left out (DONE), or is refused. */
static int32_t check_after(struct keel_mod *mod, const struct item *item, enum verdict *ret)
{
	struct state *st = mod->state;
	struct fate fate = { 0 };
	char id[ID_MAX];

	item_id(item, st->server, id);
	if (!fate_of(mod, id, &fate)) {
		*ret = WAITS; /* it may come one day, if its number has not come yet */
		return item->n < st->job->next_number(st->job->self) ? PBSE_BADDEPEND : 0;
	}
	*ret = type_judge((enum type)item->type, &fate);
	return *ret == NEVER ? PBSE_HISTDEPEND : 0;
}

static bool counts_reports(struct state *st, const char *id)
{
	const struct child *c = child_find(st, id);

	for (uint32_t i = 0; c && i < c->clause.n; i++)
		if (c->clause.item[i].type == ON)
			return true;
	return false;
}

static bool same_owner(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *other,
		       const struct keel_session *who)
{
	struct state *st = mod->state;
	const char *own = st->object->get_str(job, st->euser);
	const char *his = st->object->get_str(other, st->euser);

	return (own && his && strcmp(his, own) == 0) || (who && (who->roles & KEEL_OPERATORS));
}

/* The named job must wait for reports, and belong to the one who sends them. */
static int32_t check_before(struct keel_mod *mod, struct keel_obj *job, const struct item *item,
			    const struct keel_session *who)
{
	struct state *st = mod->state;
	struct keel_obj *named;
	char id[ID_MAX];

	item_id(item, st->server, id);
	named = st->object->find(mod, "job", id);
	if (!named || !counts_reports(st, id))
		return PBSE_BADDEPEND;
	return same_owner(mod, job, named, who) ? 0 : PBSE_PERM;
}

/* The named job must belong to the same owner, and nobody of its set have run. */
static int32_t check_runone(struct keel_mod *mod, struct keel_obj *job, const struct item *item,
			    const struct keel_session *who, enum verdict *ret)
{
	struct state *st = mod->state;
	struct fate fate = { 0 };
	char id[ID_MAX];

	item_id(item, st->server, id);
	if (!fate_of(mod, id, &fate))
		return PBSE_BADDEPEND;
	if (!same_owner(mod, job, st->object->find(mod, "job", id), who))
		return PBSE_PERM;
	*ret = fate.over ? DONE : WAITS;
	return fate.over && fate.started ? PBSE_HISTDEPEND : 0;
}

static int32_t check_item(struct keel_mod *mod, struct keel_obj *job, const struct item *item,
			  const struct keel_session *who, enum verdict *ret)
{
	struct state *st = mod->state;
	char id[ID_MAX];

	*ret = WAITS;
	if (item->type == ON)
		return 0;
	item_id(item, st->server, id);
	if (strcmp(id, st->object->id(job)) == 0)
		return PBSE_BADDEPEND;
	if (item->type == RUN_ONE)
		return check_runone(mod, job, item, who, ret);
	return type_is_before((enum type)item->type) ? check_before(mod, job, item, who)
						     : check_after(mod, item, ret);
}

int32_t check_clause(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *who,
		     struct clause *c)
{
	uint32_t i, left = 0, counters = 0;

	for (i = 0; i < c->n; i++) {
		enum verdict verdict;
		int32_t code = check_item(mod, job, &c->item[i], who, &verdict);

		counters += c->item[i].type == ON;
		if (code || counters > 1)
			return code ? code : PBSE_BADDEPEND;
		if (verdict == WAITS)
			c->item[left++] = c->item[i];
	}
	c->n = left;
	return runone_join(mod->state, c);
}
