/* SPDX-License-Identifier: Apache-2.0
 *
 * reserve.c - what people do with reservations, in a stream of chance of its own: make them (advance, standing, maintenance, from
 * a job), alter and delete them, put jobs into them; vnodes and hosts go and come meanwhile, and the server is started again.
 */
#include <stdlib.h>
#include <string.h>

#include "keel/service/resv.h"
#include "keel/service/sched.h"
#include "model.h"
#include "msg/msg.h"
#include "pbs_ifl.h"
#include "registry/registry.h"

#define ROOT 0u
#define MANY 25 /* reservations: from here on no more are made */
#define PICK(s, list) (list)[chance_below(&(s)->resv, KEEL_COUNT(list))]

bool reserve_loaded(struct sim *s)
{
	return s->server != NULL && s->object->attr(&s->owner.pub, "resv", "reserve_state") != NULL;
}

static uint32_t some_user(struct sim *s)
{
	return 1 + (uint32_t)chance_below(&s->resv, USERS - 1);
}

/* ---- to act upon ---------------------------------------------------------------------------------------- */

/* One of the objects of a class, each alike; NULL: there is none. */
static struct keel_obj *some(struct sim *s, const char *klass, bool (*fits)(struct sim *, struct keel_obj *))
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, klass);
	struct keel_obj *obj, *ret = NULL;
	uint64_t seen = 0;

	while ((obj = s->object->next(walk)) != NULL)
		if ((fits == NULL || fits(s, obj)) && chance_below(&s->resv, ++seen) == 0)
			ret = obj;
	s->object->cursor_close(walk);
	return ret;
}

static bool is_queued(struct sim *s, struct keel_obj *job) { return s->job->state(s->job->self, job) == 'Q'; }
static bool is_running(struct sim *s, struct keel_obj *job) { return s->job->state(s->job->self, job) == 'R'; }

static const char *text_of(struct sim *s, struct keel_obj *obj, const char *klass, const char *attr)
{
	const char *text = s->object->get_str(obj, s->object->attr(&s->owner.pub, klass, attr));

	return text != NULL ? text : "";
}

/* Who made it, as a number of a user. */
static uint32_t maker_of(struct sim *s, struct keel_obj *obj, const char *klass, const char *attr)
{
	const char *who = text_of(s, obj, klass, attr);

	for (uint32_t i = 0; i < USERS; i++)
		if (strncmp(who, user_names[i], strlen(user_names[i])) == 0 && who[strlen(user_names[i])] == '@')
			return i;
	return ROOT;
}

static void number_put(struct keel_out *o, const char *name, const char *resource, int64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	ask_attr(o, name, resource, text, SET);
}

/* ---- made ------------------------------------------------------------------------------------------------- */

static struct keel_out *submit_begin(struct sim *s, const char *extend)
{
	struct keel_out *o = ask_begin("resv_submit");

	(void)s;
	if (extend != NULL)
		out_put_str(o, "extend", extend);
	ask_attrs(o);
	return o;
}

static void submit_end(struct sim *s, uint32_t user, struct keel_out *o, const char *what)
{
	msg_api.close(o);
	ask(s, user, o, what, NULL, NULL);
}

static bool is_enough(struct sim *s)
{
	return s->object->count(&s->owner.pub, "resv") >= MANY;
}

static void select_put(struct sim *s, struct keel_out *o)
{
	static const char *const selects[] = { "1:ncpus=1", "1:ncpus=2", "2:ncpus=1", "2:ncpus=2", "1:ncpus=4", "3:ncpus=1:mem=512mb",
					       "1:ncpus=2:mem=2gb", "1:ncpus=1:tok=2", "2:ncpus=4", "1:ncpus=2:host=n1" };
	static const char *const places[] = { "free", "scatter", "excl", "scatter:excl", "pack", "exclhost", "vscatter", "free:shared" };

	ask_attr(o, "Resource_List", "select", PICK(s, selects), SET);
	if (chance_is(&s->resv, 0.4))
		ask_attr(o, "Resource_List", "place", PICK(s, places), SET);
}

static void times_put(struct sim *s, struct keel_out *o)
{
	int64_t from = sim_time(s) + chance_between(&s->resv, 2, 900);

	number_put(o, "reserve_start", NULL, from);
	if (chance_is(&s->resv, 0.5))
		number_put(o, "reserve_end", NULL, from + chance_between(&s->resv, 20, 1500));
	else
		number_put(o, "reserve_duration", NULL, chance_between(&s->resv, 20, 1500));
}

static void advance_make(struct sim *s)
{
	struct keel_out *o;

	if (is_enough(s))
		return;
	o = submit_begin(s, NULL);
	select_put(s, o);
	times_put(s, o);
	if (chance_is(&s->resv, 0.2))
		number_put(o, "delete_idle_time", NULL, chance_between(&s->resv, 10, 120));
	if (chance_is(&s->resv, 0.1))
		number_put(o, "interactive", NULL, chance_is(&s->resv, 0.5) ? 10 : -5);
	submit_end(s, some_user(s), o, "pbs_rsub");
}

static void standing_make(struct sim *s)
{
	static const char *const rules[] = { "FREQ=MINUTELY;INTERVAL=10;COUNT=3", "FREQ=MINUTELY;INTERVAL=20;COUNT=4", "FREQ=HOURLY;COUNT=2",
					     "FREQ=DAILY;COUNT=3", "FREQ=HOURLY;INTERVAL=1;COUNT=5" };
	int64_t from = sim_time(s) + chance_between(&s->resv, 5, 900);
	struct keel_out *o;

	if (is_enough(s))
		return;
	o = submit_begin(s, NULL);
	select_put(s, o);
	number_put(o, "reserve_start", NULL, from);
	number_put(o, "reserve_end", NULL, from + chance_between(&s->resv, 20, 590));
	ask_attr(o, "reserve_rrule", NULL, PICK(s, rules), SET);
	ask_attr(o, "reserve_timezone", NULL, "Europe/Vienna", SET);
	submit_end(s, some_user(s), o, "pbs_rsub standing");
}

static void maintenance_make(struct sim *s)
{
	int64_t n = chance_between(&s->resv, 1, s->conf.hosts);
	char select[64];
	struct keel_out *o;

	if (is_enough(s))
		return;
	o = submit_begin(s, "m");
	snprintf(select, sizeof(select), "host=n%lld:ncpus=1", (long long)n);
	ask_attr(o, "Resource_List", "select", select, SET);
	ask_attr(o, "Resource_List", "place", "exclhost", SET);
	times_put(s, o);
	submit_end(s, ROOT, o, "pbs_rsub --hosts");
}

/* pbs_rsub --job: of a running job; -Wqmove: for a queued one. */
static void specific_make(struct sim *s)
{
	bool moves = chance_is(&s->resv, 0.5);
	struct keel_obj *job = is_enough(s) ? NULL : some(s, "job", moves ? is_queued : is_running);
	struct keel_out *o;

	if (job == NULL)
		return;
	o = submit_begin(s, NULL);
	ask_attr(o, moves ? "qmove" : "reserve_job", NULL, s->object->id(job), SET);
	submit_end(s, chance_is(&s->resv, 0.9) ? maker_of(s, job, "job", "Job_Owner") : ROOT, o, moves ? "pbs_rsub qmove" : "pbs_rsub --job");
}

/* ---- altered, deleted ---------------------------------------------------------------------------------------- */

static uint32_t owner_or_root(struct sim *s, struct keel_obj *resv)
{
	return chance_is(&s->resv, 0.5) ? ROOT : maker_of(s, resv, "resv", "Reserve_Owner");
}

static void altered_times_put(struct sim *s, struct keel_out *o, struct keel_obj *resv)
{
	const struct keel_attr *start = s->object->attr(&s->owner.pub, "resv", "reserve_start"),
			       *end = s->object->attr(&s->owner.pub, "resv", "reserve_end");
	uint64_t which = 1 + chance_below(&s->resv, 3);

	if (which & 1)
		number_put(o, "reserve_start", NULL, s->object->get_int(resv, start) + chance_between(&s->resv, -300, 600));
	if (which & 2)
		number_put(o, "reserve_end", NULL, s->object->get_int(resv, end) + chance_between(&s->resv, -300, 900));
}

static void alter(struct sim *s, bool force)
{
	static const char *const selects[] = { "1:ncpus=1", "1:ncpus=2", "2:ncpus=1", "1:ncpus=4" };
	struct keel_obj *resv = some(s, "resv", NULL);
	struct keel_out *o;
	char what[96];

	if (resv == NULL)
		return;
	o = ask_begin("resv_alter");
	out_put_str(o, "id", s->object->id(resv));
	if (force)
		out_put_str(o, "extend", "force");
	ask_attrs(o);
	if (force || chance_is(&s->resv, 0.7))
		altered_times_put(s, o, resv);
	else if (chance_is(&s->resv, 0.5))
		ask_attr(o, "Resource_List", "select", PICK(s, selects), SET);
	else
		number_put(o, "reserve_duration", NULL, chance_between(&s->resv, 10, 1500));
	msg_api.close(o);
	if (force)
		check_forced(s, s->object->id(resv));
	snprintf(what, sizeof(what), "pbs_ralter %s%.60s", force ? "-Wforce " : "", s->object->id(resv));
	ask(s, force ? ROOT : owner_or_root(s, resv), o, what, NULL, NULL);
}

static void resv_alter(struct sim *s) { alter(s, false); }
static void resv_force(struct sim *s) { alter(s, true); }

static void delete_ask(struct sim *s, uint32_t user, const char *id)
{
	struct keel_out *o = ask_begin("resv_delete");
	char what[96];

	out_put_str(o, "id", id);
	snprintf(what, sizeof(what), "pbs_rdel %.60s", id);
	ask(s, user, o, what, NULL, NULL);
}

static void resv_delete(struct sim *s)
{
	struct keel_obj *resv = some(s, "resv", NULL);

	if (resv != NULL)
		delete_ask(s, owner_or_root(s, resv), s->object->id(resv));
}

/* ---- jobs in them ------------------------------------------------------------------------------------------------ */

static void submitted(struct sim *s, void *arg, int32_t code, const struct keel_msg *m)
{
	const char *id = code == 0 && m != NULL ? msg_api.str(m, "id") : NULL;

	(void)arg;
	if (id != NULL)
		check_acknowledged(s, id);
}

static void job_put(struct sim *s, struct keel_out *o)
{
	static const char *const selects[] = { "1:ncpus=1", "1:ncpus=1", "1:ncpus=2", "2:ncpus=1", "1:ncpus=4", "1:ncpus=1:mem=256mb" };
	static const char *const times[] = { "10", "60", "00:05:00", "01:00:00" };

	ask_attr(o, "Resource_List", "select", PICK(s, selects), SET);
	if (chance_is(&s->resv, 0.2))
		ask_attr(o, "Resource_List", "place", PICK(s, ((const char *const[]){ "excl", "scatter", "pack" })), SET);
	if (chance_is(&s->resv, 0.6))
		ask_attr(o, "Resource_List", "walltime", PICK(s, times), SET);
	if (chance_is(&s->resv, 0.1) && s->has_arrays)
		ask_attr(o, "array_indices_submitted", NULL, PICK(s, ((const char *const[]){ "1-3", "1-6%2" })), SET);
	if (chance_is(&s->resv, 0.1))
		ask_attr(o, "create_resv_from_job", NULL, "True", SET);
}

static void job_inside(struct sim *s)
{
	struct keel_obj *resv = some(s, "resv", NULL);
	struct keel_out *o;

	if (resv == NULL)
		return;
	o = ask_begin("submit");
	ask_attrs(o);
	job_put(s, o);
	msg_api.close(o);
	out_put_str(o, "dest", text_of(s, resv, "resv", "queue"));
	msg_api.put_bytes(o, "script", "sleep\n", 6);
	ask(s, maker_of(s, resv, "resv", "Reserve_Owner"), o, "submit inside", submitted, NULL);
}

static void job_move(struct sim *s)
{
	struct keel_obj *resv = some(s, "resv", NULL), *job = some(s, "job", is_queued);
	struct keel_out *o;

	if (resv == NULL || job == NULL)
		return;
	o = ask_begin("move");
	out_put_str(o, "id", s->object->id(job));
	out_put_str(o, "destination", chance_is(&s->resv, 0.8) ? text_of(s, resv, "resv", "queue") : "workq");
	ask(s, ROOT, o, "move inside", NULL, NULL);
}

/* ---- vnodes and hosts ------------------------------------------------------------------------------------------------ */

static void manage(struct sim *s, int cmd, int obj, const char *name, const char *attr, const char *value, int op)
{
	struct keel_out *o = ask_begin("manage");
	char what[96];

	out_put_int(o, "cmd", cmd);
	out_put_int(o, "obj", obj);
	out_put_str(o, "name", name);
	ask_attrs(o);
	if (attr != NULL)
		ask_attr(o, attr, NULL, value, op);
	msg_api.close(o);
	snprintf(what, sizeof(what), "qmgr %d %d %s %s", cmd, obj, name, attr != NULL ? attr : "");
	ask(s, ROOT, o, what, NULL, NULL);
}

/* Has a job something there, also one that is suspended? */
static bool has_job(struct sim *s, const char *vnode)
{
	const struct keel_attr *exec = s->object->attr(&s->owner.pub, "job", "exec_vnode");
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	struct keel_obj *job;
	bool has = false;

	while (!has && (job = s->object->next(walk)) != NULL) {
		const char *text = s->object->get_str(job, exec);

		has = text != NULL && strchr("RE", s->job->state(s->job->self, job)) != NULL && strstr(text, vnode) != NULL;
	}
	s->object->cursor_close(walk);
	return has;
}

/* A vnode, or a host's only one, is deleted, and made again. */
static void node_go(struct sim *s)
{
	char name[32];

	snprintf(name, sizeof(name), "n%lld", (long long)chance_between(&s->resv, 1, s->conf.hosts));
	if (has_job(s, name))
		return;
	if (s->object->find(&s->owner.pub, "node", name) != NULL)
		manage(s, MGR_CMD_DELETE, MGR_OBJ_NODE, name, NULL, NULL, SET);
	else
		manage(s, MGR_CMD_CREATE, MGR_OBJ_NODE, name, NULL, NULL, SET);
}

static void node_close(struct sim *s)
{
	char name[32];

	snprintf(name, sizeof(name), "n%lld", (long long)chance_between(&s->resv, 1, s->conf.hosts));
	if (chance_is(&s->resv, 0.3))
		manage(s, MGR_CMD_SET, MGR_OBJ_NODE, name, "resv_enable", chance_is(&s->resv, 0.7) ? "True" : "False", SET);
	else
		manage(s, MGR_CMD_SET, MGR_OBJ_NODE, name, "state", "offline", chance_is(&s->resv, 0.4) ? INCR : DECR);
}

static void host_go(struct sim *s)
{
	struct host *h = s->hosts;

	for (uint64_t n = chance_below(&s->resv, (uint64_t)s->conf.hosts); n > 0 && h != NULL; n--)
		h = h->hh.next;
	if (h != NULL && h->alive && s->conf.faults.mom > 0)
		host_restart(h, chance_is(&s->resv, 0.5));
}

static void settings(struct sim *s)
{
	static const char *const seconds[] = { "5", "60", "600" };

	manage(s, MGR_CMD_SET, MGR_OBJ_SERVER, "", "reserve_retry_time", PICK(s, seconds), SET);
}

/* ---- a restart --------------------------------------------------------------------------------------------------------- */

static bool is_down(struct sim *s)
{
	return s->server == NULL;
}

/* When all is stored: what was promised is promised again. */
static void restart(struct sim *s)
{
	if (s->conf.faults.crash <= 0 || !s->is_stored(s))
		return;
	plan_keep(s);
	sim_crash(s);
	if (sim_run_while(s, is_down, s->now_ms + 600000))
		plan_compare(s);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------ */

static const struct {
	uint32_t weight;
	void (*fn)(struct sim *s);
} deeds[] = {
	{ 20, advance_make }, { 8, standing_make }, { 3, maintenance_make }, { 4, specific_make }, { 12, resv_alter }, { 3, resv_force },
	{ 7, resv_delete },   { 30, job_inside },   { 6, job_move },	     { 3, node_go },	   { 4, node_close },  { 2, host_go },
	{ 1, settings },      { 1, restart },
};

void reserve_act(struct sim *s)
{
	uint64_t sum = 0, at;

	if (!reserve_loaded(s))
		return;
	for (size_t i = 0; i < KEEL_COUNT(deeds); i++)
		sum += deeds[i].weight;
	at = chance_below(&s->resv, sum);
	for (size_t i = 0; i < KEEL_COUNT(deeds); i++) {
		if (at < deeds[i].weight) {
			deeds[i].fn(s);
			return;
		}
		at -= deeds[i].weight;
	}
}

/* ---- the end of a run ---------------------------------------------------------------------------------------------------- */

void reserve_calm(struct sim *s)
{
	struct keel_cursor *walk;
	struct keel_obj *obj;

	if (!reserve_loaded(s))
		return;
	walk = s->object->cursor(&s->owner.pub, "resv");
	while ((obj = s->object->next(walk)) != NULL)
		delete_ask(s, ROOT, s->object->id(obj));
	s->object->cursor_close(walk);
	walk = s->object->cursor(&s->owner.pub, "node");
	while ((obj = s->object->next(walk)) != NULL)
		manage(s, MGR_CMD_SET, MGR_OBJ_NODE, s->object->id(obj), "state", "offline", DECR);
	s->object->cursor_close(walk);
}

struct whole {
	bool done;
	int32_t code;
	char why[256];
};

static void found(struct keel_mod *me, void *arg, const struct keel_sched_place *place)
{
	struct whole *w = arg;

	(void)me;
	w->done = true;
	w->code = place->code;
	snprintf(w->why, sizeof(w->why), "%s", place->why != NULL ? place->why : "");
}

/* All cpus that there are, of vnodes that can be used. */
static void all_put(struct sim *s, FILE *f)
{
	const struct keel_attr *have = s->object->attr(&s->owner.pub, "node", "resources_available");
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "node");
	const char *between = "";
	struct keel_obj *node;

	while ((node = s->object->next(walk)) != NULL) {
		double n = s->resource->list_number(s->object->get_ptr(node, have), "ncpus", 0);

		if (n < 1 || s->node->unavailable(s->node->self, node))
			continue;
		fprintf(f, "%s1:ncpus=%d:vnode=%s", between, (int)n, s->object->id(node));
		between = "+";
	}
	s->object->cursor_close(walk);
}

/* Jobs and reservations are gone: all of the site is free for a year. */
void reserve_left(struct sim *s)
{
	struct keel_sched_wish wish = { .size = sizeof(wish), .place = "excl", .from = sim_time(s) + 1, .till = sim_time(s) + 30000000 };
	const struct keel_sched_api *sched;
	struct whole w = { 0 };
	struct keel_err err = { 0 };
	char *select = NULL;
	size_t len;
	FILE *f;

	if (!reserve_loaded(s))
		return;
	sched = registry_service(s->parts->registry, "sched", 0, NULL, &err);
	f = open_memstream(&select, &len);
	all_put(s, f);
	fclose(f);
	wish.select = select;
	if (len > 0 && sched->find(sched->self, &wish, &s->owner.pub, found, &w, &err) != 0)
		sim_wrong(s, "what is left cannot be searched: %s", err.text);
	sim_run_until(s, s->now_ms + 60000);
	if (len > 0 && s->wrong[0] == '\0' && (!w.done || w.code != 0))
		sim_wrong(s, "all reservations are gone, and not all vnodes are free for a year: %s (%s)", w.done ? w.why : "no answer", select);
	free(select);
}
