/* SPDX-License-Identifier: Apache-2.0
 *
 * promise.c - what must hold of reservations:
 *
 *   held       a vnode counts of each reservation that has begun what it holds or what its jobs use, whichever is more
 *   inside     jobs of a reservation have no more than it holds when they start
 *   twice      no vnode is promised twice for a moment in time, unless one of the two is a maintenance window, or was
 *              altered by force
 *   starts     no job starts whose walltime reaches into a time that is promised to others
 *   alone      resv-exclusive are the vnodes of those that run and have them for themselves
 *   queues     enabled and started are as the state says; each queue has its reservation, each reservation its queue
 *   listings   the attribute `resv` of a vnode names those that have it
 *   restarts   what is promised is the same after a restart (plan_keep(), plan_compare())
 *
 * Times and vnodes are those of service resv, the rest is made from jobs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "registry/registry.h"

#define WHATEVER 1   /* of reserve_rules: KEEL_RESV_WHATEVER */
#define BEGUN 0x100  /* its time has begun */
#define LONG 157680000 /* a job without a walltime */

/* What a reservation has of a vnode, and what its jobs use there. */
struct holding {
	const struct window *of;
	struct bag held, inside, forced;
	struct holding *next;
};

/* One of the times of a reservation. */
struct window {
	struct keel_obj *resv;
	const char *id;
	int32_t state;
	bool whatever, forced, first, holds, alone, whole; /* whole: hosts */
	int64_t from, till;
	const struct reading *nodes; /* NULL: none */
};

/* A reservation that was altered by force has what it has. */
struct forced {
	char *id;
	UT_hash_handle hh;
};

struct promises {
	const struct keel_resv_api *api; /* NULL: no module brings reservations */
	struct window *w;
	uint32_t n, room;
	uint64_t digest;
	struct forced *forced;
	char *plan; /* before a restart */
	const struct keel_attr *rules, *list, *queue, *enabled, *started, *node_resv;
};

static struct promises *promises_of(struct checker *c)
{
	static struct promises promises;

	return c->promises = &promises;
}

void promises_up(struct checker *c)
{
	struct sim *s = c->sim;
	const struct keel_object_api *o = s->object;
	struct keel_mod *m = &s->owner.pub;
	struct promises *p = promises_of(c);
	struct keel_err err;

	p->api = registry_service(s->parts->registry, "resv", 0, NULL, &err);
	p->digest = 0;
	if (p->api == NULL)
		return;
	p->rules = o->attr(m, "resv", "reserve_rules");
	p->list = o->attr(m, "resv", "Resource_List");
	p->queue = o->attr(m, "resv", "queue");
	p->enabled = o->attr(m, "queue", "enabled");
	p->started = o->attr(m, "queue", "started");
	p->node_resv = o->attr(m, "node", "resv");
}

void check_forced(struct sim *s, const char *id)
{
	struct promises *p = promises_of(s->checker);
	struct forced *f;

	HASH_FIND_STR(p->forced, id, f);
	if (f != NULL)
		return;
	f = calloc(1, sizeof(*f));
	f->id = strdup(id);
	HASH_ADD_KEYPTR(hh, p->forced, f->id, strlen(f->id), f);
}

/* ---- the plan ------------------------------------------------------------------------------------------------ */

static struct window *window_new(struct promises *p)
{
	if (p->n == p->room) {
		p->room = 2 * p->room + 16;
		p->w = reallocarray(p->w, p->room, sizeof(*p->w));
	}
	return &p->w[p->n++];
}

static bool has_begun(int32_t state, int64_t rules, int32_t substate)
{
	return state == KEEL_RESV_RUNNING || (rules & BEGUN) ||
	       (state == KEEL_RESV_BEING_ALTERED && substate == KEEL_RESV_RUNNING);
}

static const struct reading *nodes_read(struct checker *c, const char *id, uint32_t occurrence, const char *nodes)
{
	const struct reading *r;
	char key[320];

	if (nodes == NULL)
		return NULL;
	snprintf(key, sizeof(key), "%s#%u", id, occurrence);
	r = reading_of(c, key, nodes);
	if (r == NULL)
		sim_wrong(c->sim, "reservation %s has vnodes that cannot be read: %s", id, nodes);
	return r;
}

static void digest_add(struct promises *p, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		p->digest = (p->digest ^ at[i]) * UINT64_C(1099511628211);
}

static struct window *window_last(struct promises *p)
{
	return &p->w[p->n - 1];
}

/* While it is altered its vnodes are promised for the time that it had. */
static void before_altered(struct sim *s, struct keel_obj *resv, struct window *w)
{
	const struct keel_attr *a = s->object->attr(&s->owner.pub, "resv", "reserve_alter_revert");
	const struct keel_reslist *had = s->object->get_ptr(resv, a);
	double start = s->resource->list_number(had, "start_time", 0);

	if (start <= 0)
		return;
	w->from = (int64_t)start;
	w->till = w->from + (int64_t)s->resource->list_number(had, "walltime", 0);
}

static void resv_read(struct checker *c, struct keel_obj *resv)
{
	struct sim *s = c->sim;
	struct promises *p = c->promises;
	const char *id = s->object->id(resv);
	int32_t state = p->api->state(p->api->self, resv);
	int64_t rules = s->object->get_int(resv, p->rules);
	bool begun = has_begun(state, rules, p->api->substate(p->api->self, resv));
	char place[256] = "";
	struct keel_resv_window at = { .size = sizeof(at) };
	struct forced *f;

	HASH_FIND_STR(p->forced, id, f);
	s->object->text(resv, p->list, "place", place, sizeof(place));
	for (uint32_t i = 0; p->api->window(p->api->self, resv, i, &at); i++) {
		*window_new(p) = (struct window){
			.resv = resv, .id = id, .state = state, .whatever = rules & WHATEVER, .forced = f != NULL,
			.first = i == 0, .holds = i == 0 && begun, .alone = strstr(place, "excl") != NULL,
			.whole = strstr(place, "exclhost") != NULL, .from = at.from, .till = at.till,
			.nodes = nodes_read(c, id, at.occurrence, at.nodes),
		};
		if (i == 0 && state == KEEL_RESV_BEING_ALTERED)
			before_altered(s, resv, window_last(p));
		digest_add(p, id, strlen(id));
		digest_add(p, (int64_t[]){ at.from, at.till, state, begun }, 4 * sizeof(int64_t));
		digest_add(p, at.nodes != NULL ? at.nodes : "-", at.nodes != NULL ? strlen(at.nodes) : 1);
	}
	digest_add(p, (int64_t[]){ state, rules }, 2 * sizeof(int64_t));
}

static void holdings_free(struct place *v)
{
	while (v->holdings != NULL) {
		struct holding *h = v->holdings;

		v->holdings = h->next;
		free(h);
	}
}

void promises_read(struct checker *c)
{
	struct sim *s = c->sim;
	struct promises *p = c->promises;
	struct place *v, *next;
	struct keel_cursor *walk;
	struct keel_obj *resv;

	HASH_ITER(hh, c->vnodes, v, next)
		holdings_free(v);
	p->n = 0;
	p->digest = UINT64_C(14695981039346656037);
	if (p->api == NULL)
		return;
	walk = s->object->cursor(&s->owner.pub, "resv");
	while ((resv = s->object->next(walk)) != NULL)
		resv_read(c, resv);
	s->object->cursor_close(walk);
}

/* ---- what is held -------------------------------------------------------------------------------------------------- */

static struct holding *holding_of(struct place *vnode, const struct window *w)
{
	struct holding *h = vnode->holdings;

	while (h != NULL && h->of != w)
		h = h->next;
	if (h != NULL)
		return h;
	h = calloc(1, sizeof(*h));
	h->of = w;
	h->next = vnode->holdings;
	return vnode->holdings = h;
}

/* The soonest time of the reservation a job is in; NULL: it is in none. */
static const struct window *window_of(struct checker *c, struct keel_obj *job)
{
	const struct promises *p = c->promises;
	const char *id = p->n > 0 && c->a.inside != NULL ? c->sim->object->get_str(job, c->a.inside) : NULL;

	for (uint32_t i = 0; id != NULL && i < p->n; i++)
		if (p->w[i].first && strcmp(p->w[i].id, id) == 0)
			return &p->w[i];
	return NULL;
}

bool promises_charge(struct checker *c, struct keel_obj *job, struct place *vnode, const struct keel_resource *res, double n,
		     bool forced)
{
	const struct window *w = window_of(c, job);
	struct holding *h;

	if (w == NULL)
		return false;
	h = holding_of(vnode, w);
	bag_add(&h->inside, res, n);
	if (forced)
		bag_add(&h->forced, res, n);
	return true;
}

/* The part that is no promise of room: more than it holds because a job was forced, or all that its jobs do not use. */
static double without_room(const struct window *w, int64_t now, double held, double inside, double forced)
{
	if (w->state != KEEL_RESV_RUNNING && w->state != KEEL_RESV_BEING_ALTERED) /* over: until its last job is */
		return fmax(held, inside);
	if (w->till < now) /* what was over when the server came up ends a moment later, others begin at once */
		return fmax(held, inside);
	if (w->forced) /* it is promised though others have it, and its jobs run there */
		return fmax(held, inside);
	if (w->whatever)
		return fmax(held, inside) - (inside - forced);
	return fmax(held, inside) - fmax(held, inside - forced);
}

static void holding_sum(struct place *v, const struct holding *h, int64_t now)
{
	struct bag all = h->held;

	for (uint32_t i = 0; i < h->inside.n; i++)
		bag_add(&all, h->inside.of[i].res, 0);
	for (uint32_t i = 0; i < all.n; i++) {
		const struct keel_resource *res = all.of[i].res;
		double held = amount_in(&h->held, res), inside = amount_in(&h->inside, res);

		bag_add(&v->want, res, fmax(held, inside));
		bag_add(&v->forced, res, without_room(h->of, now, held, inside, amount_in(&h->forced, res)));
	}
}

/* A vnode that was made again, and whose host has not answered so far, is charged when it has. */
static bool is_new(struct checker *c, const struct place *vnode)
{
	struct sim *s = c->sim;
	struct keel_obj *node = s->object->find(&s->owner.pub, "node", vnode->name);
	const struct keel_reslist *has = node != NULL ? s->object->get_ptr(node, c->a.node_assigned) : NULL;

	for (uint32_t i = 0; i < s->resource->list_count(has); i++)
		if (s->resource->list_at(has, i)->n > 0)
			return false;
	return node != NULL && (s->node->state(s->node->self, node) & (KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN));
}

static void window_hold(struct checker *c, const struct window *w)
{
	for (uint32_t i = 0; w->holds && w->nodes != NULL && i < w->nodes->n; i++)
		if (!is_new(c, w->nodes->part[i].vnode))
			bag_add(&holding_of(w->nodes->part[i].vnode, w)->held, w->nodes->part[i].res, w->nodes->part[i].n);
}

void promises_sum(struct checker *c)
{
	const struct promises *p = c->promises;
	struct place *v, *next;

	for (uint32_t i = 0; i < p->n; i++)
		window_hold(c, &p->w[i]);
	HASH_ITER(hh, c->vnodes, v, next)
		for (const struct holding *h = v->holdings; h != NULL; h = h->next)
			holding_sum(v, h, sim_time(c->sim));
}

/* ---- two at a time -------------------------------------------------------------------------------------------------- */

/* Promises that others can rely on. */
static bool is_firm(const struct window *w)
{
	return w->nodes != NULL && !w->whatever && !w->forced && w->state != KEEL_RESV_UNCONFIRMED &&
	       (w->state != KEEL_RESV_BEING_DELETED || w->holds);
}

/* One that is altered, or waits for its last jobs, may hold for longer than its time: now, but nothing is promised for later. */
static bool covers(const struct window *w, int64_t at, int64_t now)
{
	return w->from <= at && (at < w->till || (w->holds && at <= now));
}

static double amount_of(const struct reading *r, const struct place *vnode, const struct keel_resource *res)
{
	double sum = 0;

	for (uint32_t i = 0; r != NULL && i < r->n; i++)
		if (r->part[i].vnode == vnode && (res == NULL || r->part[i].res == res))
			sum += res == NULL ? 1 : r->part[i].n;
	return sum;
}

static bool has(const struct reading *r, const struct place *vnode)
{
	return amount_of(r, vnode, NULL) > 0;
}

static double available_of(struct checker *c, const struct place *vnode, const struct keel_resource *res)
{
	struct sim *s = c->sim;
	struct keel_obj *node = s->object->find(&s->owner.pub, "node", vnode->name);

	if (node == NULL)
		return INFINITY;
	return s->resource->list_number(s->object->get_ptr(node, c->a.node_available), res->name, INFINITY);
}

/* Others that have something of the vnode when a window begins; now, if it has: it may have got its vnodes since. */
static void twice_compare(struct checker *c, const struct window *w, const struct place *vnode, const struct keel_resource *res)
{
	const struct promises *p = c->promises;
	const int64_t at = w->from > sim_time(c->sim) ? w->from : sim_time(c->sim);
	double sum = 0, limit = available_of(c, vnode, res);

	for (uint32_t i = 0; i < p->n && w->till > at; i++) {
		const struct window *o = &p->w[i];

		if (!is_firm(o) || o->from > at || o->till <= at || !has(o->nodes, vnode))
			continue;
		sum += amount_of(o->nodes, vnode, res);
		if (o->resv != w->resv && (o->alone || w->alone))
			sim_wrong(c->sim, "vnode %s is promised to %s and to %s at %lld, one of them has it for itself",
				  vnode->name, w->id, o->id, (long long)at);
	}
	if (sum > limit + 1e-6)
		sim_wrong(c->sim, "vnode %s: %.17g of %.17g %s are promised at %lld, when %s begins", vnode->name, sum, limit,
			  res->name, (long long)at, w->id);
}

static void all_compare(struct checker *c)
{
	const struct promises *p = c->promises;

	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t k = 0; is_firm(&p->w[i]) && k < p->w[i].nodes->n; k++)
			twice_compare(c, &p->w[i], p->w[i].nodes->part[k].vnode, p->w[i].nodes->part[k].res);
}

/* ---- starts ---------------------------------------------------------------------------------------------------------- */

static int64_t until(struct checker *c, struct keel_obj *job)
{
	struct sim *s = c->sim;
	double walltime = s->resource->list_number(s->object->get_ptr(job, c->a.list), "walltime", LONG);
	int64_t now = sim_time(s), begun = s->object->get_int(job, c->a.stime);

	return (begun > 0 && begun < now ? begun : now) + (int64_t)walltime;
}

static bool is_running(struct sim *s, struct keel_obj *job)
{
	return s->job->state(s->job->self, job) == 'R' && !s->job->is_suspended(s->job->self, job);
}

/* What jobs outside of reservations use then, as their walltimes say. */
static double used_at(struct checker *c, const struct place *vnode, const struct keel_resource *res, int64_t at)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;
	double sum = 0;

	while ((job = s->object->next(walk)) != NULL) {
		const char *exec = s->object->get_str(job, c->a.exec_vnode);

		if (exec != NULL && is_running(s, job) && window_of(c, job) == NULL && until(c, job) > at)
			sum += amount_of(reading_of(c, s->object->id(job), exec), vnode, res);
	}
	s->object->cursor_close(walk);
	return sum;
}

static double promised_at(struct checker *c, const struct place *vnode, const struct keel_resource *res, int64_t at)
{
	const struct promises *p = c->promises;
	double sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (is_firm(&p->w[i]) && covers(&p->w[i], at, sim_time(c->sim)))
			sum += amount_of(p->w[i].nodes, vnode, res);
	return sum;
}

/* A job outside has started on this vnode, and a reservation has something of it before the job's end. */
static void reach_compare(struct checker *c, struct keel_obj *job, const struct reading *r, uint32_t part, const struct window *w)
{
	const struct place *vnode = r->part[part].vnode;
	const struct keel_resource *res = r->part[part].res;
	int64_t at = w->from > sim_time(c->sim) ? w->from : sim_time(c->sim);
	double promised, used, limit = available_of(c, vnode, res);

	if (w->alone || w->whatever) {
		sim_wrong(c->sim, "job %s starts on %s until %lld, which %s has for itself from %lld on", r->id, vnode->name,
			  (long long)until(c, job), w->id, (long long)w->from);
		return;
	}
	promised = promised_at(c, vnode, res, at);
	used = used_at(c, vnode, res, at);
	if (promised + used > limit + 1e-6)
		sim_wrong(c->sim, "job %s starts on %s until %lld: of %.17g %s at %lld %.17g are promised (%s), jobs have %.17g",
			  r->id, vnode->name, (long long)until(c, job), limit, res->name, (long long)at, promised, w->id, used);
}

static void outside_compare(struct checker *c, struct keel_obj *job, const struct reading *r)
{
	const struct promises *p = c->promises;
	int64_t now = sim_time(c->sim), end = until(c, job);

	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t k = 0; (is_firm(&p->w[i]) || p->w[i].whatever) && k < r->n; k++)
			if (p->w[i].from < end && p->w[i].till > now && has(p->w[i].nodes, r->part[k].vnode))
				reach_compare(c, job, r, k, &p->w[i]);
}

static bool is_named_in(const struct bag *b, const struct keel_resource *res)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->of[i].res == res)
			return true;
	return b->n == 0;
}

/* What it says nothing about its jobs may have as it is there. */
static void inside_compare(struct checker *c, const struct window *w, const struct reading *r)
{
	if (w->state != KEEL_RESV_RUNNING && w->state != KEEL_RESV_BEING_ALTERED)
		sim_wrong(c->sim, "job %s starts in %s, whose state is %d", r->id, w->id, w->state);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct holding *h = holding_of(r->part[i].vnode, w);
		const struct keel_resource *res = r->part[i].res;
		double held = amount_in(&h->held, res), forced = amount_in(&h->forced, res);

		if (is_named_in(&h->held, res) && amount_in(&h->inside, res) - forced > held + 1e-6)
			sim_wrong(c->sim, "job %s starts in %s: of %s its jobs have %.17g %s, it has %.17g", r->id, w->id,
				  r->part[i].vnode->name, amount_in(&h->inside, res), res->name, held);
	}
}

static void start_compare(struct checker *c, struct keel_obj *job)
{
	struct sim *s = c->sim;
	const char *id = s->object->id(job), *exec = s->object->get_str(job, c->a.exec_vnode);
	int64_t run = s->object->get_int(job, c->a.run);
	const struct window *w = window_of(c, job);
	const struct reading *r = exec != NULL ? reading_of(c, id, exec) : NULL;
	struct past *p = past_of(c, id);

	if (r == NULL || p->run == run)
		return;
	p->run = run;
	p->due = until(c, job);
	if (w == NULL)
		outside_compare(c, job, r);
	else if (!w->whatever)
		inside_compare(c, w, r);
}

static void starts_compare(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL)
		if (s->job->state(s->job->self, job) == 'R')
			start_compare(c, job);
	s->object->cursor_close(walk);
}

/* ---- vnodes and queues ------------------------------------------------------------------------------------------------- */

/* Does a text as `R12.svr, R9.svr` name it? */
static bool is_named(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (const char *at = list; (at = strstr(at, id)) != NULL; at += len)
		if ((at == list || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

static void vnode_compare(struct checker *c, struct keel_obj *node)
{
	struct sim *s = c->sim;
	const struct promises *p = c->promises;
	const struct place *vnode = place_get(&c->vnodes, s->object->id(node));
	char list[4096] = "", state[256] = "";
	bool alone = false;
	uint32_t n = 0, listed;

	s->object->text(node, p->node_resv, NULL, list, sizeof(list));
	s->object->text(node, c->a.node_state, NULL, state, sizeof(state));
	listed = list[0] != '\0';
	for (const char *at = list; *at != '\0'; at++)
		listed += *at == ',';
	for (uint32_t i = 0; i < p->n; i++) {
		const struct window *w = &p->w[i];
		bool again = false;

		if (!has(w->nodes, vnode))
			continue;
		alone |= w->holds && (w->alone || w->whatever);
		for (uint32_t k = 0; k < i; k++)
			again |= p->w[k].resv == w->resv && has(p->w[k].nodes, vnode);
		n += !again;
		if (!is_named(list, w->id))
			sim_wrong(s, "vnode %s: resv is '%s', without %s", vnode->name, list, w->id);
	}
	if (n != listed)
		sim_wrong(s, "vnode %s: resv is '%s', %u have it", vnode->name, list, n);
	if (alone != (strstr(state, "resv-exclusive") != NULL) && !is_new(c, vnode))
		sim_wrong(s, "vnode %s: state is '%s', %s reservation has it for itself now", vnode->name, state,
			  alone ? "a" : "no");
}

static void each_vnode(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "node");
	struct keel_obj *node;

	while ((node = s->object->next(walk)) != NULL)
		vnode_compare(c, node);
	s->object->cursor_close(walk);
}

static void queue_compare(struct checker *c, const struct window *w)
{
	struct sim *s = c->sim;
	const struct promises *p = c->promises;
	const char *name = s->object->get_str(w->resv, p->queue);
	struct keel_obj *queue = name != NULL ? s->object->find(&s->owner.pub, "queue", name) : NULL;
	bool runs = w->holds && (w->state == KEEL_RESV_RUNNING || w->state == KEEL_RESV_BEING_ALTERED);
	bool enabled = w->state != KEEL_RESV_UNCONFIRMED && w->state != KEEL_RESV_BEING_DELETED;
	bool started = runs && w->nodes != NULL;

	if (queue == NULL) {
		sim_wrong(s, "%s has no queue", w->id);
		return;
	}
	if ((w->state != KEEL_RESV_BEING_ALTERED && enabled != (bool)s->object->get_int(queue, p->enabled)) ||
	    started != (bool)s->object->get_int(queue, p->started))
		sim_wrong(s, "queue %s: enabled is %d, started %d; the state of its reservation is %d, it has %s", name,
			  (int)s->object->get_int(queue, p->enabled), (int)s->object->get_int(queue, p->started), w->state,
			  w->nodes != NULL ? w->nodes->exec : "no vnodes");
}

/* A queue as R12 belongs to a reservation. */
static void queue_owned(struct checker *c, const char *name)
{
	const struct promises *p = c->promises;
	size_t len = strlen(name);

	if (strchr("RSM", name[0]) == NULL || len < 2 || strspn(name + 1, "0123456789") != len - 1)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (strncmp(p->w[i].id, name, len) == 0 && p->w[i].id[len] == '.')
			return;
	sim_wrong(c->sim, "queue %s is there, its reservation is not", name);
}

static void queues_compare(struct checker *c)
{
	struct sim *s = c->sim;
	const struct promises *p = c->promises;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "queue");
	struct keel_obj *queue;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->w[i].first)
			queue_compare(c, &p->w[i]);
	while ((queue = s->object->next(walk)) != NULL)
		queue_owned(c, s->object->id(queue));
	s->object->cursor_close(walk);
}

void promises_compare(struct checker *c)
{
	struct promises *p = c->promises;
	static uint64_t seen;

	if (p->api == NULL)
		return;
	starts_compare(c);
	each_vnode(c);
	queues_compare(c);
	if (p->digest != seen)
		all_compare(c);
	seen = p->digest;
}

/* ---- restarts ------------------------------------------------------------------------------------------------------------- */

#define SOON 60 /* seconds: what begins or ends meanwhile is not compared */

static char *plan_text(struct checker *c, int64_t now)
{
	const struct promises *p = c->promises;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	for (uint32_t i = 0; i < p->n; i++)
		if (p->w[i].from > now + SOON && p->w[i].state != KEEL_RESV_UNCONFIRMED &&
		    (p->w[i].nodes != NULL || p->w[i].state != KEEL_RESV_BEING_ALTERED))
			fprintf(f, "%s [%lld,%lld) %s\n", p->w[i].id, (long long)p->w[i].from, (long long)p->w[i].till,
				p->w[i].nodes != NULL ? p->w[i].nodes->exec : "none");
	fclose(f);
	return text;
}

static int64_t kept_at; /* when that was */

void plan_keep(struct sim *s)
{
	struct checker *c = s->checker;

	check_now(s);
	kept_at = sim_time(s);
	free(c->promises->plan);
	c->promises->plan = plan_text(c, kept_at);
}

/* At once after the restart, before anything else happens. */
void plan_compare(struct sim *s)
{
	struct checker *c = s->checker;
	char *now = plan_text(c, kept_at);

	if (strcmp(now, c->promises->plan) != 0)
		sim_wrong(s, "before the restart\n%safter it\n%s", c->promises->plan, now);
	free(now);
}
