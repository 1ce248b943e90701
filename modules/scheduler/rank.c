/* SPDX-License-Identifier: Apache-2.0
 *
 * rank.c - which job goes before which: numbers, compared one after the other.
 *
 * JOB_KEY rows with a place, taps at job_rank, the formula, the job_sort_key lines; then arrival. What
 * all jobs of a group share is kept there, the rest on each job; numbers that move by themselves are
 * read again in each cycle.
 */
#include "scheduler.h"

#include "formula.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <utlist.h>

KEEL_ATTRS_OF(job, Priority, Resource_List);
KEEL_ATTR_OF(sched, job_sort_formula);
KEEL_ATTR_OF(server, job_sort_formula);

#define PLACE_RANK 25
#define PLACE_FORMULA 30
#define PLACE_LINES 50

/* A JOB_KEY row. */
struct job_key {
	const struct keel_job_key_def *def;
	struct keel_mod *owner;
	struct job_key *next;
};

enum source { FROM_ROW, FROM_LIST, FROM_ATTR, FROM_QUEUE, FROM_RANK, FROM_FORMULA };

/* Where a number comes from. */
struct number {
	enum source source;
	const struct job_key *row;
	const struct keel_attr *attr;
	char name[FORMULA_NAME_MAX + 1]; /* FROM_LIST: the resource */
	bool shared, moves;
	bool in_kb; /* a size */
};

struct order_key {
	struct number number;
	int32_t place;
	bool low_first, before_queues;
	uint8_t slot; /* in entry->key, or group->shared */
};

struct ranks {
	struct order_key key[2 * JOB_KEYS_MAX];
	uint32_t n, n_job, n_shared;
	bool moves;
	struct formula *formula;
	char *text; /* of the formula; owned */
	struct number wanted[FORMULA_NAMES]; /* by the formula, in its order */
	const struct order_key *formula_key;
};

/* ---- names of numbers ---------------------------------------------------------------------------------- */

/* Names of a formula, and of job_sort_key lines, that are no resources and no JOB_KEY rows. */
static const struct {
	const char *name;
	enum source source;
	const struct keel_attr *const *attr;
} words[] = {
	{ "queue_priority", FROM_QUEUE, NULL },
	{ "job_priority", FROM_ATTR, &job_Priority },
};

static const struct job_key *row_named(const struct state *st, const char *name)
{
	const struct job_key *k = st->keys;

	while (k && strcmp(k->def->name, name) != 0)
		k = k->next;
	return k;
}

static void number_of_row(struct number *n, const struct job_key *row)
{
	n->source = FROM_ROW;
	n->row = row;
	n->shared = row->def->flags & KEEL_JOB_KEY_SHARED;
	n->moves = row->def->flags & KEEL_JOB_KEY_MOVES;
}

/* 0, or PBSE: 15124 unknown, 15125 is no number. */
static int32_t number_find(struct keel_mod *mod, const char *name, struct number *ret)
{
	struct state *st = mod->state;
	const struct keel_resource *res;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < KEEL_COUNT(words); i++) {
		if (strcmp(words[i].name, name) != 0)
			continue;
		ret->source = words[i].source;
		ret->attr = words[i].attr ? *words[i].attr : NULL;
		return 0;
	}
	if (row_named(st, name)) {
		number_of_row(ret, row_named(st, name));
		return 0;
	}
	res = keel_resource_find(name);
	if (!res)
		return PBSE_BAD_FORMULA_KW;
	if (res->type >= KEEL_RES_BOOL)
		return PBSE_BAD_FORMULA_TYPE;
	ret->source = FROM_LIST;
	ret->in_kb = res->type == KEEL_RES_SIZE;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

static double number_now(struct keel_mod *mod, const struct number *n, struct keel_obj *job,
			 const struct group *g)
{
	double amount;

	switch (n->source) {
	case FROM_ROW: return n->row->def->value(n->row->owner, job);
	case FROM_LIST:
		amount = keel_resource_list_number(keel_get_ptr(job, job_Resource_List), n->name, 0);
		return n->in_kb ? ceil(amount / 1024) : amount;
	case FROM_ATTR: return n->attr ? (double)keel_get_int(job, n->attr) : 0;
	case FROM_QUEUE: return (double)g->line->priority;
	case FROM_RANK:
		return (double)keel_fold(mod, KEEL_POINT_job_rank,
					 KEEL_EVENT(job_rank, .id = keel_id(job),
						    .job = job),
					 NULL, 0);
	default: return 0;
	}
}

/* ---- the order ----------------------------------------------------------------------------------------- */

static struct order_key *key_add(struct keel_mod *mod, struct ranks *o, const struct number *n,
				 int32_t place, const char *what)
{
	uint32_t *used = n->shared ? &o->n_shared : &o->n_job, i;

	if (*used == JOB_KEYS_MAX) {
		keel_log(mod, KEEL_LOG_ERROR, "Sched", "order",
			 "%s has no effect: jobs are ordered by %d numbers at most", what, JOB_KEYS_MAX);
		return NULL;
	}
	for (i = o->n++; i > 0 && o->key[i - 1].place > place; i--)
		o->key[i] = o->key[i - 1];
	memset(&o->key[i], 0, sizeof(o->key[i]));
	o->key[i].number = *n;
	o->key[i].place = place;
	o->key[i].slot = (uint8_t)(*used)++;
	o->moves |= n->moves && !n->shared;
	return &o->key[i];
}

static void add_rows(struct keel_mod *mod, struct ranks *o)
{
	struct state *st = mod->state;
	const struct job_key *row;

	for (row = st->keys; row; row = row->next) {
		struct number n = { .source = FROM_ROW };
		struct order_key *k;

		if (row->def->place <= 0)
			continue;
		number_of_row(&n, row);
		k = key_add(mod, o, &n, row->def->place, row->def->name);
		if (k)
			k->before_queues = row->def->flags & KEEL_JOB_KEY_BEFORE_QUEUES;
	}
}

static int32_t formula_name_known(void *arg, const char *name)
{
	struct number unused;

	return number_find(arg, name, &unused);
}

int32_t formula_check(struct keel_mod *mod, const char *text)
{
	struct formula *f = NULL;
	int32_t code = formula_make(text, formula_name_known, mod, &f);

	formula_free(f);
	return code;
}

static void add_formula(struct keel_mod *mod, struct ranks *o)
{
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *text = sched ? keel_get_str(sched, sched_job_sort_formula) : NULL;
	struct number n = { .source = FROM_FORMULA };
	int32_t code;
	uint32_t i;

	/* The scheduler's own, else the server's; they are equal when both are set. */
	if (!text && server)
		text = keel_get_str(server, server_job_sort_formula);
	if (!text || !*text)
		return;
	code = formula_make(text, formula_name_known, mod, &o->formula);
	if (code) {
		keel_log(mod, KEEL_LOG_ERROR, "Svr", keel_server_name(mod),
			 "job_sort_formula has no effect: %s", keel_pbse_text(code));
		return;
	}
	o->text = strdup(text);
	for (i = 0; i < formula_count(o->formula); i++) {
		number_find(mod, formula_name(o->formula, i), &o->wanted[i]);
		n.moves |= o->wanted[i].moves;
	}
	key_add(mod, o, &n, PLACE_FORMULA, "job_sort_formula");
}

/* `ncpus HIGH` */
static void add_line(struct keel_mod *mod, struct ranks *o, const char *line)
{
	char name[FORMULA_NAME_MAX + 1] = "", way[8] = "", what[300];
	struct number n;
	struct order_key *k;

	if (sscanf(line, "%255s %7s", name, way) != 2 ||
	    (strcasecmp(way, "HIGH") != 0 && strcasecmp(way, "LOW") != 0)) {
		keel_log(mod, KEEL_LOG_ERROR, "Fil", "sched_config",
			 "job_sort_key \"%s\" has no effect: expected \"<name> HIGH|LOW\"", line);
		return;
	}
	if (number_find(mod, name, &n)) {
		keel_log(mod, KEEL_LOG_ERROR, "Fil", "sched_config",
			 "job_sort_key \"%s\" has no effect: %s is no number of a job", line, name);
		return;
	}
	snprintf(what, sizeof(what), "job_sort_key \"%s\"", line);
	k = key_add(mod, o, &n, PLACE_LINES, what);
	if (k)
		k->low_first = strcasecmp(way, "LOW") == 0;
}

static bool is_same(const struct ranks *a, const struct ranks *b)
{
	const char *x = a->text ? a->text : "", *y = b->text ? b->text : "";
	uint32_t i;

	if (a->n != b->n || strcmp(x, y) != 0)
		return false;
	for (i = 0; i < a->n; i++) {
		const struct order_key *k = &a->key[i], *l = &b->key[i];

		if (k->number.source != l->number.source || k->number.row != l->number.row ||
		    k->number.attr != l->number.attr || strcmp(k->number.name, l->number.name) != 0 ||
		    k->place != l->place || k->low_first != l->low_first)
			return false;
	}
	for (i = 0; a->formula && i < formula_count(a->formula); i++)
		if (a->wanted[i].row != b->wanted[i].row)
			return false;
	return true;
}

static void ranks_fini(struct ranks *o)
{
	formula_free(o->formula);
	free(o->text);
	memset(o, 0, sizeof(*o));
}

/* When it is another order than before, numbers of jobs in groups are of the old one: each is ranked
 * again. */
void rank_make(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct ranks *o = st->ranks, now;
	char *all, *save = NULL, *line;
	uint32_t i;

	if (!o)
		return;
	memset(&now, 0, sizeof(now));
	add_rows(mod, &now);
	if (keel_tapped(mod, KEEL_POINT_job_rank))
		key_add(mod, &now, &(struct number){ .source = FROM_RANK, .moves = true }, PLACE_RANK,
			"job_rank");
	add_formula(mod, &now);
	all = setting_dup(mod, SET_job_sort_key);
	for (line = all ? strtok_r(all, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
		add_line(mod, &now, line);
	free(all);
	if (is_same(&now, o)) {
		ranks_fini(&now);
		return;
	}
	turn_clear(mod);
	ranks_fini(o);
	*o = now;
	for (i = 0; i < o->n; i++)
		if (o->key[i].number.source == FROM_FORMULA)
			o->formula_key = &o->key[i];
	st->reorder = true;
}

int32_t rank_init(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->ranks = calloc(1, sizeof(*st->ranks));
	return st->ranks ? 0 : -ENOMEM;
}

void rank_free(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->ranks)
		ranks_fini(st->ranks);
	free(st->ranks);
	st->ranks = NULL;
	while (st->keys) {
		struct job_key *k = st->keys;

		st->keys = k->next;
		free(k);
	}
}

bool rank_moves(const struct state *st)
{
	return st->ranks->moves;
}

/* ---- numbers of jobs ------------------------------------------------------------------------------------ */

void rank_job(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	const struct ranks *o = st->ranks;
	double v[FORMULA_NAMES] = { 0 };
	uint32_t i, k;

	for (i = 0; i < o->n; i++)
		if (o->key[i].number.source == FROM_FORMULA) {
			for (k = 0; k < formula_count(o->formula); k++)
				v[k] = number_now(mod, &o->wanted[k], e->job, e->group);
			e->key[o->key[i].slot] = formula_value(o->formula, v);
		} else if (!o->key[i].number.shared) {
			e->key[o->key[i].slot] = number_now(mod, &o->key[i].number, e->job, e->group);
		}
}

void rank_group(struct keel_mod *mod, struct group *g)
{
	struct state *st = mod->state;
	const struct ranks *o = st->ranks;
	struct entry *head = group_head(g);
	uint32_t i;

	for (i = 0; head && i < o->n; i++)
		if (o->key[i].number.shared)
			g->shared[o->key[i].slot] = number_now(mod, &o->key[i].number, head->job, g);
}

bool formula_of(const struct state *st, const struct entry *e, double *ret)
{
	if (!st->ranks->formula_key)
		return false;
	*ret = e->key[st->ranks->formula_key->slot];
	return true;
}

/* ---- comparing -------------------------------------------------------------------------------------------- */

static double value_of(const struct order_key *k, const struct entry *e)
{
	return k->number.shared ? e->group->shared[k->slot] : e->key[k->slot];
}

bool entry_before(const struct ranks *o, const struct entry *a, const struct entry *b)
{
	uint32_t i;

	for (i = 0; i < o->n; i++) {
		double x = value_of(&o->key[i], a), y = value_of(&o->key[i], b);

		if (x != y)
			return o->key[i].low_first ? x < y : x > y;
	}
	if (a->arrival != b->arrival)
		return a->arrival < b->arrival;
	return a->resumes && !b->resumes; /* subjobs that have begun before those that have not */
}

bool group_before(const struct heap_node *x, const struct heap_node *y)
{
	struct group *a = (struct group *)(const void *)x, *b = (struct group *)(const void *)y;

	if (!group_head(a) || !group_head(b))
		return group_head(a) != NULL;
	return entry_before(a->ranks, group_head(a), group_head(b));
}

bool goes_first(const struct group *g)
{
	const struct entry *head = group_head((struct group *)g);
	const struct ranks *o = g->ranks;
	uint32_t i;

	for (i = 0; head && i < o->n; i++)
		if (o->key[i].before_queues && value_of(&o->key[i], head) > 0)
			return true;
	return false;
}

double rank_key_at(const struct state *st, const struct entry *e, int32_t place)
{
	const struct ranks *o = st->ranks;
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (o->key[i].place == place)
			return value_of(&o->key[i], e);
	return 0;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	const struct keel_job_key_def *row = def;
	struct state *st = self->state;
	struct job_key *k;

	if (!row->name || !*row->name || !row->value)
		return keel_error(err, -EINVAL, "a JOB_KEY of %s has no name or no value()",
				  owner->name);
	if (row_named(st, row->name))
		return keel_error(err, -EEXIST, "JOB_KEY %s of %s is there already, from %s",
				  row->name, owner->name, row_named(st, row->name)->owner->name);
	k = calloc(1, sizeof(*k));
	if (!k)
		return keel_error(err, -ENOMEM, "out of memory");
	k->def = row;
	k->owner = owner;
	k->next = st->keys;
	st->keys = k;
	rank_make(self);
	return 0;
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct job_key *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->keys, gone, def, def);
	if (gone)
		LL_DELETE(st->keys, gone);
	free(gone);
	if (keel_attr_find(self, "sched", "job_sort_formula")) /* else we are leaving ourselves */
		rank_make(self);
}

const struct keel_kind_def job_key_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_job_key_def),
	.name = "JOB_KEY",
	.doc = "a number about a job that orders jobs",
	.add = row_add,
	.remove = row_remove,
};
