/* SPDX-License-Identifier: Apache-2.0
 *
 * busy.c - changing a resource that an object uses, or deleting one that a job or a reservation uses, fails with `Resource busy on
 * <object>`; a change names the first such object. Deleting one removes the values that server, queues, vnodes and schedulers have of
 * it. Jobs of the history stop no change: what they have of it is shown as it is, as far as the new type goes.
 */
#include "resources.h"

#include <string.h>

KEEL_ATTR_OPT(job, job_state);

struct search {
	struct keel_mod *mod;
	const char *klass, *name;
	struct keel_call *clear; /* the operation that removes the values; NULL: search only */
	struct keel_obj *found;
	bool finished; /* jobs of the history count, too */
	bool blind; /* out of memory: the search is incomplete */
};

/* Does a chunk of a job's select name it? Numbers are in the job's list as sums too, texts are in the select only. */
static bool selects(struct search *s, const struct keel_reslist *list)
{
	const struct keel_res_value *v = list_get(list, "select");
	struct keel_select *select;
	bool found = false;
	uint32_t i, k;
	int32_t code;

	if (!v || !v->text || !strstr(v->text, s->name))
		return false;
	code = select_parse(s->mod, v->text, &select, NULL);
	if (code) {
		s->blind = s->blind || code == PBSE_SYSTEM;
		return false;
	}
	for (i = 0; i < select->n; i++)
		for (k = 0; k < select->chunk[i].n; k++)
			found |= strcmp(select->chunk[i].v[k].res->name, s->name) == 0;
	select_free(select);
	return found;
}

static bool is_history(const struct search *s, struct keel_obj *obj)
{
	char state[16] = "";

	return strcmp(s->klass, "job") == 0 && job_job_state && keel_get_text(obj, job_job_state, NULL, state, sizeof(state)) > 0 &&
	       (strcmp(state, "F") == 0 || strcmp(state, "X") == 0);
}

/* Searches one attribute of type resource_list, whichever module declared it. */
static void attr_search(void *arg, const struct keel_attr_def *def)
{
	struct search *s = arg;
	const struct keel_attr *attr;
	struct keel_cursor *walk;
	struct keel_obj *obj;

	if (s->found || strcmp(def->type, list_type.name) != 0 || def->derive)
		return;
	attr = keel_attr_find(s->mod, s->klass, def->name);
	walk = attr ? keel_cursor(s->mod, s->klass) : NULL;
	s->blind = s->blind || !walk;
	while (walk && !s->found && (obj = keel_next(walk))) {
		const struct keel_reslist *list = keel_get_ptr(obj, attr);
		const struct keel_res_value *v = list_get(list, s->name);

		if (v && s->clear) /* removed when the operation is accepted */
			s->blind |= keel_call_set(s->clear, obj, def->name, s->name, NULL, NULL) != 0;
		else if ((selects(s, list) || (v && (!(def->flags & KEEL_ATTR_SAVE) ? v->n != 0 : true))) &&
			 (s->finished || !is_history(s, obj)))
			s->found = obj;
	}
	if (walk)
		keel_cursor_close(walk);
}

/* A deletion says which kind of object alone, as tools read it. */
static keel_verdict busy_reject(struct keel_call *c, const char *klass, const char *words, const char *id, bool clear)
{
	const char *busy = keel_pbse_text(PBSE_RESCBUSY);

	if (strcmp(klass, "server") == 0 || (clear && strcmp(klass, "job") == 0))
		return keel_reject(c, PBSE_RESCBUSY, "%s on %s", busy, klass);
	if (clear)
		return keel_reject(c, PBSE_RESCBUSY, "%s on %s", busy, id);
	return keel_reject(c, PBSE_RESCBUSY, "%s on %s %s", busy, words, id);
}

/* Rejects the call if an object uses the resource; `clear`: only if a job does, other objects lose their value. */
keel_verdict check_idle(struct keel_call *c, const char *name, bool clear)
{
	/* What jobs and reservations ask for is not taken from them. */
	static const char *const classes[] = { "job", "server", "resv", "queue", "node", "sched" },
			  *const words[] = { "job", "server", "reservation", "queue", "node", "sched" };
	size_t i;

	for (i = 0; i < KEEL_COUNT(classes); i++) {
		struct search s = { .mod = c->mod, .klass = classes[i], .name = name, .finished = clear,
				    .clear = clear && i != 0 && i != 2 ? c : NULL };

		keel_rows(c->mod, classes[i], attr_search, &s);
		if (s.found)
			return busy_reject(c, classes[i], words[i], keel_id(s.found), clear);
		if (s.blind)
			return keel_fail(c, "no memory to look for who uses resource %s; try again", name);
	}
	return KEEL_NEXT;
}

keel_verdict on_resource_delete(struct keel_call *c, const struct keel_ev_resource_delete *ev)
{
	struct state *st = keel_state(c);
	const struct keel_resource *res = table_find(st, ev->id);

	if (res && (res->flags & KEEL_RES_BUILTIN))
		return keel_reject(c, PBSE_IVALREQ, NULL);
	return check_idle(c, ev->id, true);
}
