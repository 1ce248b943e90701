/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - what a script sees of an event of a job on this host: the job as the server sent it before its start (kept.c), and as its
 * part is now.
 */
#include "host.h"

#include "keel/service/part.h"
#include "keel/service/tolerance.h"

KEEL_USE_OPT(part);
KEEL_USE_OPT(tolerance);

/* An event that is being written. */
struct view {
	struct state *st;
	const struct keel_part *part; /* NULL: it is gone */
	struct known *k;
	struct pack *p;
	uint32_t n; /* pairs */
};

/* ---- the job as it is now ----------------------------------------------------------------------------- */
static const char *host_of(void *arg, const char *vnode)
{
	const struct keel_part *part = arg;
	struct exec_item item;

	for (uint32_t i = 0; part && i < part->n_hosts; i++) {
		const char *at = part->hosts[i].vnodes;
		uint32_t chunk = 0;

		while (at && exec_next(&at, &chunk, &item))
			if (strcmp(item.vnode, vnode) == 0)
				return part->hosts[i].name;
	}
	return NULL;
}

static void hosts_join(const struct keel_part *part, struct keel_text *t)
{
	for (uint32_t i = 0; i < part->n_hosts; i++)
		if (part->hosts[i].vnodes && *part->hosts[i].vnodes)
			keel_text_printf(t, "%s%s", t->len ? "+" : "", part->hosts[i].vnodes);
}

/* A text of the same length is the same chunks in another order. */
static void place_follow(struct known *k, const struct keel_part *part)
{
	const char *before = known_get(&k->job, "exec_vnode", NULL);
	struct keel_text now;
	char *hosts;

	keel_text_init(&now);
	hosts_join(part, &now);
	if (now.len && !now.failed && (!before || strlen(before) != now.len || !known_get(&k->job, "exec_host", NULL))) {
		const char *after = before && strlen(before) == now.len ? before : now.data;

		hosts = exec_hosts(before ? before : now.data, known_get(&k->job, "exec_host", NULL), after, host_of, (void *)part);
		known_set(&k->job, "exec_host", NULL, hosts);
		known_set(&k->job, "exec_host2", NULL, hosts);
		known_set(&k->job, "exec_vnode", NULL, after == before ? before : now.data);
		free(hosts);
	}
	keel_text_fini(&now);
	if (part->select && *part->select)
		known_set(&k->job, "schedselect", NULL, part->select);
}

static void usage_follow(struct known *k)
{
	char text[1024], *rest = text;

	if (keel_part_usage(k->id, text, sizeof(text)) < 0)
		return;
	for (char *item = strtok_r(text, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
		char *is = strchr(item, '=');

		if (is) {
			*is = '\0';
			known_set(&k->job, "resources_used", item, is + 1);
		}
	}
}

static void state_follow(struct known *k, const struct keel_part *part)
{
	bool over = part->state == KEEL_PART_ENDED, runs = part->started || part->index > 0;
	const char *substate = over ? "50" : part->state == KEEL_PART_STOPPED ? "43" : runs && part->state != KEEL_PART_BEGIN ? "42" : "41";
	char text[32];

	known_set(&k->job, "job_state", NULL, over ? "E" : "R");
	known_set(&k->job, "substate", NULL, substate);
	if (part->session > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)part->session);
		known_set(&k->job, "session_id", NULL, text);
	}
	if (part->started || over)
		usage_follow(k);
}

/* Nothing came of it: a hook was made while it runs, or the message was lost with its link. */
static struct known *known_of_part(const char *id, const struct keel_part *part)
{
	struct known *k = known_new(id, part ? part->run : 0);

	if (!k || !part)
		return k;
	known_set(&k->job, "euser", NULL, part->user);
	known_set(&k->job, "Rerunable", NULL, part->rerunable ? "True" : "False");
	if (part->tolerate && *part->tolerate)
		known_set(&k->job, "tolerate_node_failures", NULL, part->tolerate);
	return k;
}

struct known *host_followed(const struct state *st, const char *id)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct known *k = host_known(st, id);

	if (!k)
		k = known_of_part(id, part);
	if (k && part) {
		place_follow(k, part);
		state_follow(k, part);
	}
	return k;
}

void host_about(struct run *r, const char *id)
{
	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->requestor, sizeof(r->requestor), "pbs_mom");
	snprintf(r->requestor_host, sizeof(r->requestor_host), "%s", keel_host_name(r->st->mod));
}

/* False: no memory. */
static bool view_open(struct view *v, struct run *r, struct pack *p, const char *id)
{
	*v = (struct view){ .st = r->st, .part = keel_has(part) ? keel_part_find(id) : NULL, .k = host_followed(r->st, id), .p = p };
	if (!v->k)
		return false;
	host_about(r, id);
	snprintf(r->user, sizeof(r->user), "%s", v->part && v->part->user ? v->part->user : "");
	r->numbers[NUMBER_RUN] = v->part ? v->part->run : v->k->run;
	r->numbers[NUMBER_INDEX] = v->part ? v->part->index : 0;
	r->numbers[NUMBER_STARTED] = v->part && v->part->started;
	return true;
}

static int32_t view_close(struct view *v)
{
	if (!v->k->kept)
		known_free(v->k);
	return v->p->failed ? -1 : (int32_t)v->n;
}

/* ---- facts -------------------------------------------------------------------------------------------- */
struct names {
	struct pack *p;
	uint32_t n;
};

static void name_pack(void *arg, const struct keel_tolerance_host *h)
{
	struct names *names = arg;

	pack_text(names->p, h->name);
	names->n++;
}

static void moms_pack(const struct view *v)
{
	bool leads = v->part && v->part->index == 0;
	struct names failed = { v->p, 0 };
	uint32_t list, n = 0;

	pack_key(v->p, "failed_moms");
	list = pack_open_list(v->p);
	if (leads && keel_has(tolerance))
		keel_tolerance_each_failed(v->k->id, name_pack, &failed);
	pack_close(v->p, list, failed.n);
	pack_key(v->p, "succeeded_moms");
	list = pack_open_list(v->p);
	for (uint32_t i = 0; leads && i < v->part->n_hosts; i++) {
		if (i > 0 && keel_has(tolerance) && !keel_tolerance_is_good(v->k->id, v->part->hosts[i].name))
			continue;
		pack_text(v->p, v->part->hosts[i].name);
		n++;
	}
	pack_close(v->p, list, n);
}

static void spool_pack(const struct view *v, const char *fact, const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/spool/%s%s", keel_home(v->st->mod), v->k->id, suffix);
	pack_pair_text(v->p, fact, path);
}

static void facts_pack(const struct view *v)
{
	const char *join = known_get(&v->k->job, "Join_Path", NULL), *tolerate = v->part ? v->part->tolerate : NULL;
	uint32_t map = pack_open_map(v->p);

	pack_pair_int(v->p, "primary", v->part && v->part->index == 0);
	moms_pack(v);
	spool_pack(v, "stdout", join && strcmp(join, "eo") == 0 ? ".ER" : ".OU");
	spool_pack(v, "stderr", join && strcmp(join, "oe") == 0 ? ".OU" : ".ER");
	pack_pair_int(v->p, "tolerant", tolerate && (strcmp(tolerate, "all") == 0 || strcmp(tolerate, "job_start") == 0));
	pack_pair_int(v->p, "checkpointed", known_get(&v->k->job, "checkpointed", NULL) != NULL);
	pack_close(v->p, map, 7);
}

static void job_pack(struct view *v)
{
	uint32_t map = pack_open_map(v->p);

	pack_pair_text(v->p, "class", "job");
	pack_pair_text(v->p, "id", v->k->id);
	pack_key(v->p, "attrs");
	known_pack_attrs(&v->k->job, v->p);
	pack_key(v->p, "facts");
	facts_pack(v);
	pack_close(v->p, map, 4);
}

void host_pack_job(struct state *st, struct pack *p, const char *id)
{
	struct view v = { .st = st, .part = keel_has(part) ? keel_part_find(id) : NULL, .k = host_followed(st, id), .p = p };

	if (!v.k) {
		p->failed = true;
		return;
	}
	job_pack(&v);
	if (!v.k->kept)
		known_free(v.k);
}

static void job_put(struct view *v)
{
	pack_key(v->p, "job");
	job_pack(v);
	v->n++;
}

/* ---- vnodes ------------------------------------------------------------------------------------------- */
static void vnode_pack(struct pack *p, const struct known_thing *t)
{
	pack_key(p, t->id);
	known_pack(t, "node", p);
}

/* What the job has of each vnode, in all its chunks. */
static void amounts_add(struct known_thing *t, const struct exec_item *item)
{
	const char *at = item->res;
	char name[128], value[256], buf[256];

	while (exec_amount(&at, item->res + item->len, name, value))
		known_set(t, "resources_assigned", name, exec_add(known_get(t, "resources_assigned", name), value, buf));
}

static void amounts_count(struct known *k, const char *exec_vnode)
{
	struct exec_item item;
	struct known_thing *t;
	uint32_t chunk = 0;

	k->round++;
	while (exec_next(&exec_vnode, &chunk, &item)) {
		t = known_vnode(k, item.vnode, true);
		if (!t)
			continue;
		if (t->round != k->round)
			known_set(t, "resources_assigned", NULL, NULL);
		t->round = k->round;
		amounts_add(t, &item);
	}
}

static uint32_t vnodes_pack(struct known *k, const char *exec_vnode, struct pack *p)
{
	uint32_t map, n = 0;

	amounts_count(k, exec_vnode ? exec_vnode : "");
	map = pack_open_map(p);
	for (uint32_t i = 0; i < k->n_vnodes; i++)
		if (k->vnodes[i].round == k->round) {
			vnode_pack(p, &k->vnodes[i]);
			n++;
		}
	pack_close(p, map, n);
	return n;
}

static void vnodes_put(struct view *v)
{
	pack_key(v->p, "vnode_list");
	vnodes_pack(v->k, known_get(&v->k->job, "exec_vnode", NULL), v->p);
	v->n++;
}

struct failed {
	struct view *v;
	uint32_t n;
};

static void failed_pack(void *arg, const struct keel_tolerance_host *h)
{
	struct failed *f = arg;
	struct known *k = f->v->k;
	const char *at = h->vnodes;
	struct exec_item item;
	uint32_t chunk = 0;

	while (exec_next(&at, &chunk, &item)) {
		struct known_thing *t = known_vnode(k, item.vnode, false);

		if (!t || t->round != k->round)
			continue; /* the job has given it back, or it stands here already */
		vnode_pack(f->v->p, t);
		t->round = 0;
		f->n++;
	}
}

/* Behind vnodes_put(): of the vnodes there those of hosts that failed. */
static void failed_put(struct view *v, bool leads)
{
	struct failed f = { v, 0 };
	uint32_t map;

	pack_key(v->p, "vnode_list_fail");
	map = pack_open_map(v->p);
	if (leads && keel_has(tolerance))
		keel_tolerance_each_failed(v->k->id, failed_pack, &f);
	pack_close(v->p, map, f.n);
	v->n++;
}

/* ---- events ------------------------------------------------------------------------------------------- */
static int32_t fill_plain(struct run *r, const char *id, struct pack *p)
{
	struct view v;

	if (!view_open(&v, r, p, id))
		return -1;
	job_put(&v);
	vnodes_put(&v);
	return view_close(&v);
}

static int32_t fill_start(struct run *r, const char *id, struct pack *p)
{
	struct view v;

	if (!view_open(&v, r, p, id))
		return -1;
	job_put(&v);
	vnodes_put(&v);
	failed_put(&v, v.part && v.part->index == 0 && !v.part->started);
	r->numbers[NUMBER_PROGRAM] = PROGRAM;
	return view_close(&v);
}

/* Behind the last process: how it ended is known. */
static int32_t fill_end(struct run *r, const char *id, int64_t exit_status, struct pack *p)
{
	struct view v;
	char text[32];

	if (!view_open(&v, r, p, id))
		return -1;
	snprintf(text, sizeof(text), "%lld", (long long)exit_status);
	known_set(&v.k->job, "Exit_status", NULL, text);
	known_set(&v.k->job, "job_state", NULL, "E");
	known_set(&v.k->job, "substate", NULL, "50");
	if (v.part && v.part->index == 0)
		usage_follow(v.k);
	job_put(&v);
	vnodes_put(&v);
	return view_close(&v);
}

#define FILL(event, point)                                                                   \
	int32_t host_fill_##event(struct run *r, const void *ev, struct pack *params)        \
	{                                                                                    \
		return fill_plain(r, ((const struct keel_ev_##point *)ev)->id, params);      \
	}
FILL(execjob_begin, task_begin)
FILL(execjob_resize, task_resize)
FILL(execjob_preterm, task_preterm)
FILL(execjob_abort, task_abort)
FILL(execjob_postsuspend, task_suspended)
FILL(execjob_preresume, task_resume)

int32_t host_fill_execjob_prologue(struct run *r, const void *ev, struct pack *params)
{
	return fill_start(r, ((const struct keel_ev_task_prologue *)ev)->id, params);
}

int32_t host_fill_execjob_launch(struct run *r, const void *ev, struct pack *params)
{
	const struct keel_ev_task_launch *launch = ev; /* task_spawn begins with the same fields */
	int32_t n = fill_start(r, launch->id, params);

	return n < 0 ? n : n + (int32_t)program_pack(r, ev, params);
}

int32_t host_fill_execjob_attach(struct run *r, const void *ev, struct pack *params)
{
	const struct keel_ev_task_attach *attach = ev;
	int32_t n = fill_plain(r, attach->id, params);

	if (n >= 0)
		pack_pair_int(params, "pid", attach->pid);
	return n < 0 || params->failed ? -1 : n + 1;
}

int32_t host_fill_execjob_epilogue(struct run *r, const void *ev, struct pack *params)
{
	const struct keel_ev_task_epilogue *epilogue = ev;

	return fill_end(r, epilogue->id, epilogue->exit_status, params);
}

int32_t host_fill_execjob_end(struct run *r, const void *ev, struct pack *params)
{
	const struct keel_ev_task_end *end = ev;

	return fill_end(r, end->id, end->exit_status, params);
}

/* ---- life ---------------------------------------------------------------------------------------------- */
int32_t host_start(struct state *st, struct keel_err *err)
{
	int32_t r;

	st->host = calloc(1, sizeof(*st->host));
	if (!st->host)
		return keel_error(err, -ENOMEM, "out of memory");
	r = kept_start(st, err);
	r = r ? r : program_start(st, err);
	return r ? r : reports_start(st, err);
}

void host_stop(struct state *st)
{
	if (!st->host)
		return;
	kept_stop(st);
	reports_stop(st);
	free(st->host);
	st->host = NULL;
}
