/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - the text of a record about a job: items in a fixed order, made from its attributes now.
 *
 * While it is built every item ends with a blank; only the letters of `blank_ended` keep the last one.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_ROOM 65536 /* bytes that taps append to one record, as a rule */

static const char blank_ended[] = "QScB";

/* The job class belongs to a module that needs this one, so its rows are looked up at first use. */
static void resolve(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->resolved)
		return;
#define FIND(member, name) st->a.member = st->object->attr(mod, "job", name);
	ACCOUNTING_ATTRIBUTES(FIND)
#undef FIND
	st->resolved = st->a.euser && st->a.list;
}

static const char *string_of(struct state *st, struct keel_obj *job, const struct keel_attr *attr)
{
	return attr ? st->object->get_str(job, attr) : NULL;
}

static void add_string(struct state *st, struct text *t, struct keel_obj *job, const char *key,
		       const struct keel_attr *attr, bool always)
{
	const char *value = string_of(st, job, attr);

	if (value && *value)
		text_item(t, key, value, always);
}

static bool is_set(struct state *st, struct keel_obj *job, const struct keel_attr *attr)
{
	return attr && st->object->is_set(job, attr);
}

static void add_int(struct state *st, struct text *t, struct keel_obj *job, const char *key,
		    const struct keel_attr *attr)
{
	long long n = is_set(st, job, attr) ? (long long)st->object->get_int(job, attr) : 0;

	text_printf(t, "%s=%lld ", key, n);
}

/* ---- resource lists --------------------------------------------------------------------------- */

struct listing {
	struct text *t;
	const char *prefix;
};

static void add_entry(void *arg, const char *key, const char *text, uint32_t len)
{
	struct listing *l = arg;
	char name[256], *value = strndup(text, len);

	if (!value) {
		l->t->broken = true;
		return;
	}
	snprintf(name, sizeof(name), "%s.%s", l->prefix, key ? key : "");
	text_item(l->t, name, value, false);
	free(value);
}

static void add_list(struct state *st, struct text *t, struct keel_obj *job, const char *prefix,
		     const struct keel_attr *attr)
{
	struct listing l = { t, prefix };
	const struct keel_emit emit = { add_entry, &l };

	if (is_set(st, job, attr))
		st->object->emit(job, attr, NULL, &emit);
}

struct sums {
	struct keel_res_value *v;
	uint32_t n;
};

static int order_of_sums(const void *a, const void *b)
{
	const struct keel_res_value *x = a, *y = b;
	uint32_t own_x = x->res->flags & KEEL_RES_BUILTIN, own_y = y->res->flags & KEEL_RES_BUILTIN;

	if (own_x != own_y)
		return own_x ? -1 : 1;
	return strcmp(x->res->name, y->res->name);
}

static bool sums_add(struct sums *s, const struct keel_res_value *v)
{
	struct keel_res_value *bigger;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		if (s->v[i].res == v->res) {
			s->v[i].n += v->n;
			return true;
		}
	}
	bigger = reallocarray(s->v, s->n + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	s->v = bigger;
	s->v[s->n++] = *v;
	return true;
}

static void add_sums(struct state *st, struct text *t, struct sums *s)
{
	char name[256], value[64];
	uint32_t i;

	if (s->n)
		qsort(s->v, s->n, sizeof(s->v[0]), order_of_sums);
	for (i = 0; i < s->n; i++) {
		snprintf(name, sizeof(name), "resource_assigned.%s", s->v[i].res->name);
		st->resource->value_text(&s->v[i], true, value, sizeof(value));
		text_item(t, name, value, false);
	}
}

/* What exec_vnode takes, summed over its vnodes; sizes in kb. */
static void add_assigned(struct state *st, struct text *t, struct keel_obj *job)
{
	const char *exec_vnode = string_of(st, job, st->a.exec_vnode);
	struct keel_exec *exec = NULL;
	struct sums sums = { 0 };
	uint32_t i, k;

	if (!exec_vnode ||
	    st->resource->exec_parse(st->resource->self, exec_vnode, &exec, NULL) || !exec)
		return;
	for (i = 0; i < exec->n; i++)
		for (k = 0; k < exec->part[i].n; k++)
			if (exec->part[i].v[k].res->type < KEEL_RES_BOOL &&
			    !sums_add(&sums, &exec->part[i].v[k]))
				t->broken = true;
	add_sums(st, t, &sums);
	free(sums.v);
	st->resource->exec_free(exec);
}

/* ---- groups of items ---------------------------------------------------------------------------- */

static void add_general(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	struct state *st = mod->state;

	add_string(st, t, job, "user", st->a.euser, false);
	add_string(st, t, job, "group", st->a.egroup, false);
	add_string(st, t, job, "account", st->a.account, true);
	add_string(st, t, job, "project", st->a.project, false);
	add_string(st, t, job, "jobname", st->a.name, false);
	add_string(st, t, job, "queue", st->a.queue, false);
	add_int(st, t, job, "ctime", st->a.ctime);
	add_int(st, t, job, "qtime", st->a.qtime);
	add_int(st, t, job, "etime", st->a.etime);
	if (letter != 'Q')
		add_int(st, t, job, "start", st->a.stime);
	items_add(mod, t, letter, job, INT32_MIN, ITEMS_LATE);
	add_string(st, t, job, "exec_host", st->a.exec_host, false);
	add_string(st, t, job, "exec_vnode", st->a.exec_vnode, false);
	add_list(st, t, job, "Resource_List", st->a.list);
}

static void add_end(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	struct state *st = mod->state;
	long long end = is_set(st, job, st->a.obittime)
				? (long long)st->object->get_int(job, st->a.obittime)
				: (long long)st->core->time(mod);
	bool whole = keel_id_is_whole(st->object->id(job));

	if (!whole)
		add_int(st, t, job, "session", st->a.session);
	text_printf(t, "end=%lld ", end);
	add_int(st, t, job, "Exit_status", st->a.exit_status);
	add_list(st, t, job, "resources_used", st->a.used);
	items_add(mod, t, letter, job, ITEMS_LATE, INT32_MAX);
	if (!whole)
		add_int(st, t, job, "run_count", st->a.run_count);
}

static void add_from_taps(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char name[2] = { letter, '\0' };
	char *items = NULL;

	if (!st->hook->tapped(mod, KEEL_POINT_acct_record))
		return;
	/* fold() does not say how much did not fit */
	for (uint32_t room = ITEMS_ROOM; room && (!items || strlen(items) == room / 2 - 1); room *= 2) {
		free(items);
		items = calloc(1, room);
		if (!items)
			break;
		st->hook->fold(mod, KEEL_POINT_acct_record,
			       KEEL_EVENT(acct_record, .id = st->object->id(job), .job = job, .letter = name),
			       items, room);
	}
	if (!items) {
		t->broken = true;
		return;
	}
	if (*items) {
		text_add(t, items, strlen(items));
		text_add(t, " ", 1);
	}
	free(items);
}

bool record_text(struct keel_mod *mod, char letter, struct keel_obj *job, struct text *ret)
{
	struct state *st = mod->state;

	resolve(mod);
	if (letter == 'z')
		add_list(st, ret, job, "resources_used", st->a.used);
	else
		add_general(mod, ret, letter, job);
	if (letter == 'S' || letter == 'T')
		add_assigned(st, ret, job);
	if (letter == 'E' || letter == 'R')
		add_end(mod, ret, letter, job);
	add_from_taps(mod, ret, letter, job);
	text_trim(ret);
	if (letter == 'z')
		return ret->n > 0;
	if (strchr(blank_ended, letter))
		text_add(ret, " ", 1);
	return true;
}
