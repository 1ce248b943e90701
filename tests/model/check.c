/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - what must hold after every turn of the server, whatever has happened:
 *
 *   amounts    resources_assigned of every vnode, queue and the server is the sum over jobs, and no
 *              more than what is available (but for jobs that took their resources again without a
 *              check for room: a suspended job that is killed, or continued by an administrator; and jobs
 *              that run beyond their walltime into the time of a reservation)
 *   counts     state_count and total_jobs are the sum over jobs
 *   shrinking  what a job asks for is what it has, and what it gave up is its own until the host has ended its part
 *   releases   what a suspended job gave back and what it holds are what it requested
 *   listings   maintenance_jobs and the state word are those of the admin-suspended jobs
 *   jobs       what was acknowledged exists, or has ended
 *   holds      each hold ends once
 *   promises   of reservations: promise.c
 *
 * The sums are made from what jobs say of themselves (state, exec_vnode, released_names), never from
 * counters. A suspended job holds everything again while it is being resumed or killed: whether it is
 * can be seen in the list of jobs of its vnode.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "store/store.h"

#define SWEEP_EVERY 64
#define LETTERS "TQHWREB"

static struct checker *checker_of(struct sim *s)
{
	return s->checker;
}

/* ---- readings ------------------------------------------------------------------------------------- */

static void reading_free(struct checker *c, struct reading *r)
{
	HASH_DEL(c->readings, r);
	free(r->id);
	free(r->exec);
	free(r->part);
	free(r);
}

void check_forget(struct sim *s)
{
	struct checker *c = checker_of(s);

	while (c->readings != NULL)
		reading_free(c, c->readings);
}

struct place *place_get(struct place **all, const char *name)
{
	struct place *p;

	HASH_FIND_STR(*all, name, p);
	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p));
	p->name = strdup(name);
	HASH_ADD_KEYPTR(hh, *all, p->name, strlen(p->name), p);
	return p;
}

static void part_add(struct checker *c, struct reading *r, const struct keel_exec_part *part, uint32_t i)
{
	for (uint32_t k = 0; k < part->n; k++) {
		const struct keel_res_value *v = &part->v[k];
		bool counts = (v->res->flags & KEEL_RES_EACH) || ((v->res->flags & KEEL_RES_FIRST) && i == 0);

		if (!counts || !keel_res_is_number(v->res))
			continue;
		r->part = reallocarray(r->part, r->n + 1, sizeof(*r->part));
		r->part[r->n].vnode = place_get(&c->vnodes, part->vnode);
		r->part[r->n].res = v->res;
		r->part[r->n++].n = v->res->type == KEEL_RES_SIZE ? ceil(v->n / 1024) * 1024 : v->n;
	}
}

struct reading *reading_of(struct checker *c, const char *id, const char *text)
{
	struct sim *s = c->sim;
	struct keel_exec *exec;
	struct reading *r;

	HASH_FIND_STR(c->readings, id, r);
	if (r != NULL && strcmp(r->exec, text) == 0)
		return r;
	if (r != NULL)
		reading_free(c, r);
	if (s->resource->exec_parse(s->resource->self, text, &exec, NULL) != 0)
		return NULL;
	r = calloc(1, sizeof(*r));
	r->id = strdup(id);
	r->exec = strdup(text);
	for (uint32_t i = 0; i < exec->n; i++)
		part_add(c, r, &exec->part[i], i);
	s->resource->exec_free(exec);
	HASH_ADD_KEYPTR(hh, c->readings, r->id, strlen(r->id), r);
	return r;
}

/* ---- sums -------------------------------------------------------------------------------------------- */

static double *amount_of(struct bag *b, const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; i < b->n; i++)
		if (b->of[i].res == res)
			return &b->of[i].n;
	if (b->n == RESOURCES)
		return NULL;
	b->of[b->n].res = res;
	b->of[b->n].n = 0;
	return &b->of[b->n++].n;
}

void bag_add(struct bag *b, const struct keel_resource *res, double n)
{
	double *at = amount_of(b, res);

	if (at != NULL)
		*at += n;
}

static bool names(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == '\0'))
			return true;
	return false;
}

/* Does the job hold this resource? `given`: names that it gave back, NULL none, "*" all. */
static bool holds(const char *given, const struct keel_resource *res)
{
	return given == NULL || (given[0] != '*' && !names(given, res->name));
}

static bool listed_on(struct sim *s, struct checker *c, const char *id, const char *vnode)
{
	struct keel_obj *node = s->object->find(&s->owner.pub, "node", vnode);
	char text[8192] = " ", mark[300];

	if (node == NULL || s->object->text(node, c->a.node_jobs, NULL, text + 1, sizeof(text) - 1) < 0)
		return false;
	snprintf(mark, sizeof(mark), " %s/", id);
	return strstr(text, mark) != NULL;
}

/* What of its resources a job has given back. */
static const char *given_back(struct checker *c, struct keel_obj *job, const struct reading *r)
{
	struct sim *s = c->sim;
	const char *list = c->a.released != NULL ? s->object->get_str(job, c->a.released) : NULL;

	if (!s->job->is_suspended(s->job->self, job))
		return NULL;
	for (uint32_t i = 0; i < r->n; i++)
		if (listed_on(s, c, r->id, r->part[i].vnode->name))
			return NULL; /* it is being resumed, or killed */
	return list != NULL ? list : "*";
}

struct past *past_of(struct checker *c, const char *id)
{
	struct past *p;

	HASH_FIND_STR(c->past, id, p);
	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p));
	p->id = strdup(id);
	HASH_ADD_KEYPTR(hh, c->past, p->id, strlen(p->id), p);
	return p;
}

/* Its host took a while to begin, or it was suspended: it runs beyond the time that was kept for it. */
static bool is_late(const struct checker *c, struct keel_obj *job, const struct past *p)
{
	return p->due > 0 && p->run == c->sim->object->get_int(job, c->a.run) && sim_time(c->sim) >= p->due;
}

/* Returns whether the job has its resources though no check for room was made. */
static bool is_forced(struct checker *c, struct keel_obj *job, const char *id, bool rests)
{
	struct sim *s = c->sim;
	struct past *p = past_of(c, id);
	bool dying = s->object->is_set(job, c->a.ending);

	if (rests)
		p->forced = false;
	else if (p->rested || s->job->is_suspended(s->job->self, job))
		p->forced |= p->marked || dying;
	p->rested = rests;
	p->marked = c->a.mark != NULL && s->object->is_set(job, c->a.mark);
	return p->forced || is_late(c, job, p);
}

static double exec_sum(const struct reading *r, const struct keel_resource *res)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->part[i].res == res)
			sum += r->part[i].n;
	return sum;
}

/* An amount that is computed when it is read. */
static double number_text(struct sim *s, struct keel_obj *job, const struct keel_attr *attr,
			  const struct keel_resource *res)
{
	struct keel_res_value v = { 0 };
	char text[128];

	if (s->object->text(job, attr, res->name, text, sizeof(text)) < 0 ||
	    s->resource->value_parse(res, text, &v, NULL) != 0)
		return 0;
	return v.n;
}

/* What a suspended job has given back of its vnodes and what it holds are together what it requested. */
static void released_compare(struct checker *c, struct keel_obj *job, const struct reading *r,
			     const char *given)
{
	struct sim *s = c->sim;

	if (c->a.released_list == NULL || given == NULL || given[0] == '*')
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct keel_resource *res = r->part[i].res;
		double sum = exec_sum(r, res), back = number_text(s, job, c->a.released_list, res);

		if (fabs(back + (holds(given, res) ? sum : 0) - sum) > 1e-6)
			sim_wrong(s, "job %s: resource_released_list.%s is %.17g of %.17g, given back is '%s'",
				  r->id, res->name, back, sum, given);
	}
}

static void charge(struct place *p, const struct keel_resource *res, double n, bool forced)
{
	bag_add(&p->want, res, n);
	if (forced)
		bag_add(&p->forced, res, n);
}

static void list_charge(struct checker *c, struct place *queue, const struct keel_reslist *list, const char *given,
			bool forced)
{
	struct sim *s = c->sim;

	for (uint32_t i = 0; i < s->resource->list_count(list); i++) {
		const struct keel_res_value *v = s->resource->list_at(list, i);

		if (!(v->res->flags & KEEL_RES_SUM) || !holds(given, v->res))
			continue;
		charge(&c->server, v->res, v->n, forced);
		charge(queue, v->res, v->n, forced);
	}
}

/* What a job that has shrunk asks for is what it has. */
static void shrunk_compare(struct checker *c, struct keel_obj *job, const struct reading *r)
{
	struct sim *s = c->sim;
	const struct keel_reslist *list = s->object->get_ptr(job, c->a.list);

	for (uint32_t i = 0; i < r->n; i++) {
		const struct keel_resource *res = r->part[i].res;
		double sum = exec_sum(r, res), asks = s->resource->list_number(list, res->name, 0);

		if ((res->flags & KEEL_RES_SUM) && fabs(sum - asks) > 1e-6)
			sim_wrong(s, "job %s: Resource_List.%s is %.17g, its vnodes have %.17g", r->id, res->name, asks, sum);
	}
}

/* What the job gave up counts as its own until its hosts have ended their parts. */
static const struct reading *all_of(struct checker *c, struct keel_obj *job, const char *exec, const struct reading *r)
{
	struct sim *s = c->sim;
	const char *more = s->object->get_str(job, c->a.given_up);
	const struct reading *all;
	char *text, *id;

	if (more == NULL)
		return r;
	if (asprintf(&text, "%s+%s", exec, more) < 0 || asprintf(&id, "%s with what it gave up", r->id) < 0)
		abort();
	all = reading_of(c, id, text);
	free(text);
	free(id);
	if (all == NULL)
		sim_wrong(s, "job %s has an exec_vnode_deallocated that cannot be read: %s", r->id, more);
	return all;
}

static void job_charge(struct checker *c, struct keel_obj *job, struct place *queue, const char *exec)
{
	struct sim *s = c->sim;
	const struct reading *r = reading_of(c, s->object->id(job), exec), *all;
	const char *given;
	bool forced;

	if (r == NULL) {
		sim_wrong(s, "job %s has an exec_vnode that cannot be read: %s", s->object->id(job), exec);
		return;
	}
	all = all_of(c, job, exec, r);
	if (all == NULL)
		return;
	given = given_back(c, job, r);
	forced = is_forced(c, job, r->id, given != NULL);
	released_compare(c, job, r, given);
	if (s->object->is_set(job, c->a.shrunk))
		shrunk_compare(c, job, r);
	for (uint32_t i = 0; i < all->n; i++)
		if (holds(given, all->part[i].res) &&
		    !promises_charge(c, job, all->part[i].vnode, all->part[i].res, all->part[i].n, forced))
			charge(all->part[i].vnode, all->part[i].res, all->part[i].n, forced);
	list_charge(c, queue, s->object->get_ptr(job, c->a.list), given, forced);
	/* a reservation that is made from a job, and its queue, are as large as what the job has not given up */
	forced |= c->a.inside != NULL && s->object->is_set(job, c->a.inside);
	list_charge(c, queue, s->object->get_ptr(job, c->a.given_up_list), given, forced);
	for (uint32_t i = 0; c->a.mark != NULL && s->object->is_set(job, c->a.mark) && i < r->n; i++) {
		bool first = true;

		for (uint32_t k = 0; k < i; k++)
			first &= r->part[k].vnode != r->part[i].vnode;
		r->part[i].vnode->marked += first;
	}
}

static void job_seen(struct checker *c, const char *id, bool over)
{
	struct acknowledged *a;

	HASH_FIND_STR(c->jobs, id, a);
	if (a != NULL && !over)
		a->over = false; /* queued again, or a crash took its end back */
}

/* As people see it; a suspended job is one that runs. */
static char letter_of(struct checker *c, struct keel_obj *job)
{
	char text[8] = "?";

	c->sim->object->text(job, c->a.state, NULL, text, sizeof(text));
	return text[0] == 'S' || text[0] == 'U' ? 'R' : text[0];
}

static void jobs_sum(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL) {
		char letter = letter_of(c, job);
		const char *at = strchr(LETTERS, letter), *exec = s->object->get_str(job, c->a.exec_vnode);
		const char *name = s->object->get_str(job, c->a.queue);
		struct place *queue = place_get(&c->queues, name != NULL ? name : "");

		if (at != NULL) {
			c->server.letters[at - LETTERS]++;
			queue->letters[at - LETTERS]++;
		}
		c->server.jobs++;
		queue->jobs++;
		job_seen(c, s->object->id(job), letter == 'F');
		if ((letter == 'R' || letter == 'E') && exec != NULL)
			job_charge(c, job, queue, exec);
	}
	s->object->cursor_close(walk);
}

/* ---- comparisons ---------------------------------------------------------------------------------------- */

double amount_in(const struct bag *b, const struct keel_resource *res)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->of[i].res == res)
			return b->of[i].n;
	return 0;
}

static void amounts_compare(struct checker *c, const char *what, const struct place *p,
			    const struct keel_reslist *have, const struct keel_reslist *most)
{
	struct sim *s = c->sim;

	for (uint32_t i = 0; i < p->want.n; i++) {
		const struct keel_resource *res = p->want.of[i].res;
		double n = s->resource->list_number(have, res->name, 0);
		double limit = s->resource->list_number(most, res->name, INFINITY);

		if (fabs(n - p->want.of[i].n) > 1e-6)
			sim_wrong(s, "%s %s: resources_assigned.%s is %.17g, its jobs have %.17g", what,
				  p->name, res->name, n, p->want.of[i].n);
		if (n - amount_in(&p->forced, res) > limit + 1e-6)
			sim_wrong(s, "%s %s: resources_assigned.%s is %.17g of %.17g", what, p->name,
				  res->name, n, limit);
	}
	for (uint32_t i = 0; i < s->resource->list_count(have); i++) {
		const struct keel_res_value *v = s->resource->list_at(have, i);

		if (keel_res_is_number(v->res) && v->n != 0 && amount_in(&p->want, v->res) == 0)
			sim_wrong(s, "%s %s: resources_assigned.%s is %.17g, no job has any", what, p->name,
				  v->res->name, v->n);
	}
}

static void counts_compare(struct checker *c, const char *what, const struct place *p,
			   struct keel_obj *obj, const struct keel_attr *counts,
			   const struct keel_attr *total)
{
	struct sim *s = c->sim;
	unsigned n[7] = { 0 };
	char text[256] = "", number[32] = "0";

	if (s->object->text(obj, counts, NULL, text, sizeof(text)) < 0 ||
	    sscanf(text, "Transit:%u Queued:%u Held:%u Waiting:%u Running:%u Exiting:%u Begun:%u", &n[0],
		   &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]) != 7)
		sim_wrong(s, "%s %s: state_count is '%s'", what, p->name, text);
	for (uint32_t i = 1; i < 7; i++)
		if (n[i] != p->letters[i])
			sim_wrong(s, "%s %s: state_count is '%s', but %u jobs are in state %c", what,
				  p->name, text, p->letters[i], LETTERS[i]);
	s->object->text(obj, total, NULL, number, sizeof(number));
	if ((uint32_t)atoi(number) != p->jobs)
		sim_wrong(s, "%s %s: total_jobs is %s, there are %u", what, p->name, number, p->jobs);
}

static uint32_t items(const char *list)
{
	uint32_t n = *list != '\0';

	for (; *list != '\0'; list++)
		n += *list == ',';
	return n;
}

static void maintenance_compare(struct checker *c, const struct place *p, struct keel_obj *node)
{
	struct sim *s = c->sim;
	char jobs[4096] = "", state[256] = "";

	if (c->a.maintenance == NULL)
		return;
	s->object->text(node, c->a.maintenance, NULL, jobs, sizeof(jobs));
	s->object->text(node, c->a.node_state, NULL, state, sizeof(state));
	if (items(jobs) != p->marked)
		sim_wrong(s, "vnode %s: maintenance_jobs is '%s', %u of its jobs are admin-suspended",
			  p->name, jobs, p->marked);
	if ((strstr(state, "maintenance") != NULL) != (p->marked > 0))
		sim_wrong(s, "vnode %s: state is '%s', %u of its jobs are admin-suspended", p->name, state,
			  p->marked);
}

static void vnodes_compare(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "node");
	struct keel_obj *node;

	while ((node = s->object->next(walk)) != NULL) {
		const struct place *p = place_get(&c->vnodes, s->object->id(node));

		amounts_compare(c, "vnode", p, s->object->get_ptr(node, c->a.node_assigned),
				s->object->get_ptr(node, c->a.node_available));
		maintenance_compare(c, p, node);
	}
	s->object->cursor_close(walk);
}

static void queues_compare(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "queue");
	struct keel_obj *queue;

	while ((queue = s->object->next(walk)) != NULL) {
		const struct place *p = place_get(&c->queues, s->object->id(queue));

		amounts_compare(c, "queue", p, s->object->get_ptr(queue, c->a.queue_assigned),
				s->object->get_ptr(queue, c->a.queue_available));
		counts_compare(c, "queue", p, queue, c->a.queue_counts, c->a.queue_total);
	}
	s->object->cursor_close(walk);
}

static void server_compare(struct checker *c)
{
	struct sim *s = c->sim;
	struct keel_obj *server = s->object->find(&s->owner.pub, "server", s->parts->server_name);

	amounts_compare(c, "server", &c->server, s->object->get_ptr(server, c->a.server_assigned),
			s->object->get_ptr(server, c->a.server_available));
	counts_compare(c, "server", &c->server, server, c->a.server_counts, c->a.server_total);
}

static void acknowledged_compare(struct checker *c)
{
	struct sim *s = c->sim;
	struct acknowledged *a, *next;

	HASH_ITER(hh, c->jobs, a, next) {
		if (!a->known || a->over || a->asked > 0 || s->object->find(&s->owner.pub, "job", a->id) != NULL)
			continue;
		sim_wrong(s, "job %s was acknowledged, has not ended and is not there", a->id);
		return;
	}
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static void place_reset(struct place *p)
{
	p->want.n = p->forced.n = p->jobs = p->marked = 0;
	memset(p->letters, 0, sizeof(p->letters));
}

void check_now(struct sim *s)
{
	struct checker *c = checker_of(s);
	struct place *p, *next;

	c->checks++;
	place_reset(&c->server);
	HASH_ITER(hh, c->vnodes, p, next)
		place_reset(p);
	HASH_ITER(hh, c->queues, p, next)
		place_reset(p);
	promises_read(c);
	jobs_sum(c);
	promises_sum(c);
	vnodes_compare(c);
	queues_compare(c);
	server_compare(c);
	acknowledged_compare(c);
	holds_compare(s);
	promises_compare(c);
}

/* Jobs that are over and stored as such need not be remembered. */
static void sweep(struct checker *c)
{
	struct sim *s = c->sim;
	struct acknowledged *a, *next_a;
	struct past *p, *next_p;

	HASH_ITER(hh, c->jobs, a, next_a)
		if ((a->over || !a->known) && a->asked == 0 && s->object->find(&s->owner.pub, "job", a->id) == NULL) {
			HASH_DEL(c->jobs, a);
			free(a->id);
			free(a);
		}
	HASH_ITER(hh, c->past, p, next_p)
		if (s->object->find(&s->owner.pub, "job", p->id) == NULL) {
			HASH_DEL(c->past, p);
			free(p->id);
			free(p);
		}
}

/* What is not stored has not changed when nothing waits for the disk. */
static void after_turn(struct sim *s)
{
	struct checker *c = checker_of(s);

	if (!store_idle(s->parts->store))
		check_now(s);
	else if (++c->idle % SWEEP_EVERY == 0)
		sweep(c);
}

static bool is_stored(struct sim *s)
{
	return s->server != NULL && store_idle(s->parts->store);
}

static void server_is_up(struct sim *s)
{
	const struct keel_object_api *o = s->object;
	struct keel_mod *m = &s->owner.pub;
	struct checker *c = checker_of(s);

	check_forget(s);
	c->a = (struct attrs){
		.state = o->attr(m, "job", "job_state"),
		.ending = o->attr(m, "job", "ending"),
		.exec_vnode = o->attr(m, "job", "exec_vnode"),
		.given_up = o->attr(m, "job", "exec_vnode_deallocated"),
		.given_up_list = o->attr(m, "job", "resources_deallocated"),
		.shrunk = o->attr(m, "job", "schedselect_orig"),
		.queue = o->attr(m, "job", "queue"),
		.list = o->attr(m, "job", "Resource_List"),
		.released = o->attr(m, "job", "released_names"),
		.released_list = o->attr(m, "job", "resource_released_list"),
		.mark = o->attr(m, "job", "admin_suspended"),
		.node_assigned = o->attr(m, "node", "resources_assigned"),
		.node_available = o->attr(m, "node", "resources_available"),
		.node_jobs = o->attr(m, "node", "jobs"),
		.node_state = o->attr(m, "node", "state"),
		.maintenance = o->attr(m, "node", "maintenance_jobs"),
		.server_assigned = o->attr(m, "server", "resources_assigned"),
		.server_available = o->attr(m, "server", "resources_available"),
		.server_counts = o->attr(m, "server", "state_count"),
		.server_total = o->attr(m, "server", "total_jobs"),
		.queue_assigned = o->attr(m, "queue", "resources_assigned"),
		.queue_available = o->attr(m, "queue", "resources_available"),
		.queue_counts = o->attr(m, "queue", "state_count"),
		.queue_total = o->attr(m, "queue", "total_jobs"),
		.run = o->attr(m, "job", "run_version"),
		.stime = o->attr(m, "job", "stime"),
		.inside = o->attr(m, "job", "reserve_ID"),
	};
	promises_up(c);
	check_now(s);
}

static void purged(struct sim *s, const char *id)
{
	check_ended(s, id);
}

/* Known from its answer on, or from the first deletion: that may come before. */
static struct acknowledged *record_of(struct checker *c, const char *id)
{
	struct acknowledged *a;

	HASH_FIND_STR(c->jobs, id, a);
	if (a != NULL)
		return a;
	a = calloc(1, sizeof(*a));
	a->id = strdup(id);
	HASH_ADD_KEYPTR(hh, c->jobs, a->id, strlen(a->id), a);
	return a;
}

void check_acknowledged(struct sim *s, const char *id)
{
	record_of(checker_of(s), id)->known = true;
}

void check_deletion(struct sim *s, const char *id, int asked)
{
	record_of(checker_of(s), id)->asked += (uint32_t)asked;
}

void check_ended(struct sim *s, const char *id)
{
	record_of(checker_of(s), id)->over = true;
}

static void emit(void *arg, const char *key, const char *text, uint32_t len)
{
	trace(arg, "    %s = %.*s", key != NULL ? key : "", (int)len, text);
}

/* The state of all objects, for the record of a run that found an error. */
void check_dump(struct sim *s)
{
	static const struct {
		const char *klass, *attrs[7];
	} shown[] = {
		{ "server", { "resources_assigned", "resources_available", "state_count" } },
		{ "queue", { "resources_assigned", "state_count" } },
		{ "node", { "state", "jobs", "resources_assigned", "maintenance_jobs" } },
		{ "job", { "job_state", "substate", "queue", "exec_vnode", "released_names", "ending",
			   "Resource_List" } },
		{ "job", { "exec_vnode_deallocated", "resources_deallocated", "schedselect", "reserve_ID", "stime" } },
		{ "resv", { "reserve_state", "reserve_substate", "reserve_start", "reserve_end", "resv_nodes", "schedselect",
			    "reserve_alter_revert" } },
		{ "resv", { "reserve_rules", "reserve_index", "reserve_execvnodes", "reserve_lost_to", "reserve_why" } },
	};

	for (size_t i = 0; s->server != NULL && i < KEEL_COUNT(shown); i++) {
		struct keel_cursor *walk = s->object->cursor(&s->owner.pub, shown[i].klass);
		struct keel_obj *obj;

		while ((obj = s->object->next(walk)) != NULL) {
			trace(s, "%s %s", shown[i].klass, s->object->id(obj));
			for (size_t k = 0; k < KEEL_COUNT(shown[i].attrs) && shown[i].attrs[k] != NULL; k++) {
				const struct keel_attr *a =
					s->object->attr(&s->owner.pub, shown[i].klass, shown[i].attrs[k]);

				if (a == NULL)
					continue;
				trace(s, "  %s", shown[i].attrs[k]);
				s->object->emit(obj, a, NULL, &(struct keel_emit){ emit, s });
			}
		}
		s->object->cursor_close(walk);
	}
}

uint64_t check_count(struct sim *s)
{
	return checker_of(s)->checks;
}

void check_begin(struct sim *s)
{
	static struct checker checker;

	checker = (struct checker){ .sim = s, .server = { .name = (char *)"svr" } };
	s->checker = &checker;
	s->after_turn = after_turn;
	s->server_is_up = server_is_up;
	s->purged = purged;
	s->is_stored = is_stored;
	if (s->server != NULL)
		server_is_up(s);
}
