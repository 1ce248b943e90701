/* SPDX-License-Identifier: Apache-2.0
 *
 * vnodes.c - which reservations have a vnode: its attribute `resv`, its state resv-exclusive, and what follows when its
 * state changes.
 *
 *	text "(a:ncpus=1)+(b:ncpus=1)" --link--> place "a": R12, R9
 *	                               --link--> place "b": R12
 *
 * A place goes by the vnode's name: the vnode itself may come and go. A link lives as long as some text of its
 * reservation names the vnode. Several may have a vnode for themselves (maintenance): the state is there as long as one has.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "keel/jobid.h"

#define RESV_EXCLUSIVE 0x2000
/* States that do not make a vnode unfit for what is promised on it. */
#define HARMLESS (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE | KEEL_NODE_BUSY | KEEL_NODE_INITIALIZING | RESV_EXCLUSIVE)

/* A host that has not come back since the server started may be on its way: for so long (seconds). */
#define LOST (KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN | KEEL_NODE_STALE)
#define PATIENCE 600

KEEL_ATTR_OF(resv, reserve_rules);

const struct keel_node_state_def resv_exclusive_row = {
	.size = sizeof(struct keel_node_state_def),
	.bit = RESV_EXCLUSIVE, .place = 110,
	.unavailable = KEEL_NODE_STATE_OUTSIDE,
	.name = "resv-exclusive",
	.doc = "a reservation that runs has it for itself",
};

const struct keel_attr_def node_attr_resv =
	KEEL_ATTR_DEF("node", "resv", "string", .order = 105, .read_roles = KEEL_EVERYBODY, .derive = derive_resv,
		      .doc = "reservations that have it, the newest first");

struct nodes {
	uint32_t users, n;
	struct link **link; /* one for each vnode that it names, as often as it does */
	char *hosts;	    /* with the other vnodes of hosts that it has for itself; NULL: not made so far */
	char text[];
};

static struct nodes *nodes_of(char *text)
{
	return (struct nodes *)(void *)(text - offsetof(struct nodes, text));
}

static const struct nodes *nodes_in(const char *text)
{
	return (const struct nodes *)(const void *)(text - offsetof(struct nodes, text));
}

/* ---- places ----------------------------------------------------------------------------------------- */

static struct place *place_find(struct keel_mod *mod, const char *vnode)
{
	struct state *st = mod->state;
	struct place *p;

	HASH_FIND_STR(st->places, vnode, p);
	return p;
}

static struct place *place_get(struct keel_mod *mod, const char *vnode)
{
	struct state *st = mod->state;
	struct place *p = place_find(mod, vnode);

	if (p)
		return p;
	p = calloc(1, sizeof(*p) + strlen(vnode) + 1);
	if (!p)
		return NULL;
	strcpy(p->name, vnode);
	HASH_ADD_STR(st->places, name, p);
	if (p->hh.tbl)
		return p;
	free(p);
	return NULL;
}

static void place_leave(struct keel_mod *mod, struct place *p)
{
	struct state *st = mod->state;

	if (p->links)
		return;
	HASH_DEL(st->places, p);
	free(p);
}

static bool place_is_alone(const struct place *p)
{
	const struct link *l = p->links;

	while (l && !l->alone)
		l = l->next;
	return l != NULL;
}

/* The state of the vnode follows from its links. */
static void place_show(struct keel_mod *mod, const struct place *p)
{
	struct state *st = mod->state;
	struct keel_obj *node = st->stopping ? NULL : keel_find(mod, "node", p->name);

	if (node)
		keel_node_set_state(node, RESV_EXCLUSIVE, place_is_alone(p));
}

static struct link *link_get(struct keel_mod *mod, struct keel_obj *resv, const char *vnode)
{
	const int64_t number = strtoll(keel_id(resv) + 1, NULL, 10);
	struct place *p = place_get(mod, vnode);
	struct link **at, *l;

	if (!p)
		return NULL;
	for (at = &p->links; *at && (*at)->number > number; at = &(*at)->next)
		;
	for (l = *at; l && l->number == number; l = l->next)
		if (l->resv == resv)
			return l;
	l = calloc(1, sizeof(*l));
	if (!l) {
		place_leave(mod, p);
		return NULL;
	}
	*l = (struct link){ .next = *at, .place = p, .resv = resv, .number = number };
	*at = l;
	return l;
}

static void link_drop(struct keel_mod *mod, struct link *l)
{
	struct link **at = &l->place->links;

	if (--l->count)
		return;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	if (l->alone)
		place_show(mod, l->place);
	place_leave(mod, l->place);
	free(l);
}

/* ---- texts of vnodes -------------------------------------------------------------------------------- */

/* A text that cannot be read (a resource is gone) has no links. */
static int32_t nodes_link(struct keel_mod *mod, struct keel_obj *resv, struct nodes *t)
{
	struct keel_exec *exec;

	if (keel_resource_exec_parse(t->text, &exec, NULL))
		return 0;
	t->link = calloc(exec->n ? exec->n : 1, sizeof(struct link *));
	for (uint32_t i = 0; t->link && i < exec->n; i++) {
		struct link *l = link_get(mod, resv, exec->part[i].vnode);

		if (!l)
			break;
		l->count++;
		t->link[t->n++] = l;
	}
	const bool done = t->link && t->n == exec->n;
	keel_resource_exec_free(exec);
	return done ? 0 : -ENOMEM;
}

char *nodes_take(struct keel_mod *mod, struct keel_obj *resv, const char *text, size_t len)
{
	struct nodes *t = calloc(1, sizeof(*t) + len + 1);

	if (!t)
		return NULL;
	memcpy(t->text, text, len);
	t->users = 1;
	if (nodes_link(mod, resv, t) == 0)
		return t->text;
	nodes_drop(mod, t->text);
	return NULL;
}

char *nodes_share(char *nodes)
{
	if (nodes)
		nodes_of(nodes)->users++;
	return nodes;
}

void nodes_drop(struct keel_mod *mod, char *nodes)
{
	struct nodes *t = nodes ? nodes_of(nodes) : NULL;

	if (!t || --t->users)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		link_drop(mod, t->link[i]);
	free(t->link);
	free(t->hosts);
	free(t);
}

static bool link_is_alone(struct keel_mod *mod, const struct link *l, int32_t share)
{
	struct keel_obj *node = keel_find(mod, "node", l->place->name);

	return node && keel_node_sharing(node, share) != KEEL_SHARE_SHARED;
}

/* A vnode that is not there counts as the place says: it may be back before its time. */
static bool is_for_itself(struct keel_mod *mod, const struct link *l, int32_t share)
{
	const bool is_there = keel_find(mod, "node", l->place->name) != NULL;

	return is_there ? link_is_alone(mod, l, share) : share == KEEL_SHARE_EXCL || share == KEEL_SHARE_EXCLHOST;
}

void nodes_alone(struct keel_mod *mod, char *nodes, int32_t share, bool on)
{
	const struct nodes *t = nodes ? nodes_of(nodes) : NULL;

	for (uint32_t i = 0; t && i < t->n; i++) {
		const bool alone = on && link_is_alone(mod, t->link[i], share);

		if (t->link[i]->alone == alone)
			continue;
		t->link[i]->alone = alone;
		place_show(mod, t->link[i]->place);
	}
}

bool nodes_are_there(struct keel_mod *mod, const char *nodes)
{
	const struct nodes *t = nodes ? nodes_in(nodes) : NULL;

	for (uint32_t i = 0; t && i < t->n; i++)
		if (!keel_find(mod, "node", t->link[i]->place->name))
			return false;
	return true;
}

bool nodes_are_alone(struct keel_mod *mod, const char *nodes, int32_t share)
{
	const struct nodes *t = nodes ? nodes_in(nodes) : NULL;

	for (uint32_t i = 0; t && i < t->n; i++)
		if (is_for_itself(mod, t->link[i], share))
			return true;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_among(const char *text, const char *const *sorted, uint32_t n)
{
	return text && n && bsearch(&text, sorted, n, sizeof(*sorted), by_text);
}

/* The hosts that it is to have as a whole, sorted; *ret_n of them. */
static void hosts_of(struct keel_mod *mod, const struct nodes *t, int32_t share, const char **hosts, uint32_t *ret_n)
{
	*ret_n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		const char *vnode = t->link[i]->place->name, *host = keel_node_host_of(vnode);
		struct keel_obj *node = keel_find(mod, "node", vnode);

		if (node && host && keel_node_sharing(node, share) == KEEL_SHARE_EXCLHOST)
			hosts[(*ret_n)++] = host;
	}
	qsort(hosts, *ret_n, sizeof(*hosts), by_text);
}

/* Appends those vnodes of these hosts that it has nothing of, as nobody else is to have. */
static void others_add(struct keel_mod *mod, const char *const *names, uint32_t n, const char *const *hosts, uint32_t n_hosts,
		       struct keel_text *text)
{
	struct keel_cursor *walk = keel_cursor(mod, "node");
	struct keel_obj *node;

	while (walk && (node = keel_next(walk)))
		if (is_among(keel_node_host_of(keel_id(node)), hosts, n_hosts) && !is_among(keel_id(node), names, n))
			keel_text_printf(text, "+(%s:ncpus=0)", keel_id(node));
	text->failed |= !walk;
	if (walk)
		keel_cursor_close(walk);
}

/* NULL without memory. */
static char *hosts_make(struct keel_mod *mod, const struct nodes *t, int32_t share)
{
	const char **names = calloc(2 * (size_t)t->n + 1, sizeof(*names)), **hosts = names + t->n;
	struct keel_text text;
	uint32_t n_hosts;
	char *ret = NULL;

	if (!names)
		return NULL;
	for (uint32_t i = 0; i < t->n; i++)
		names[i] = t->link[i]->place->name;
	qsort(names, t->n, sizeof(*names), by_text);
	hosts_of(mod, t, share, hosts, &n_hosts);
	keel_text_init(&text);
	keel_text_str(&text, t->text);
	others_add(mod, names, t->n, hosts, n_hosts, &text);
	if (!text.failed)
		ret = strdup(text.data);
	keel_text_fini(&text);
	free(names);
	return ret;
}

const char *nodes_and_hosts(struct keel_mod *mod, char *nodes, int32_t share)
{
	struct nodes *t = nodes ? nodes_of(nodes) : NULL;

	if (!t || share != KEEL_SHARE_EXCLHOST)
		return nodes;
	if (!t->hosts)
		t->hosts = hosts_make(mod, t, share);
	return t->hosts ? t->hosts : nodes;
}

uint32_t nodes_count(const char *nodes)
{
	return nodes ? nodes_in(nodes)->n : 0;
}

/* ---- a vnode ------------------------------------------------------------------------------------------ */

void derive_resv(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	const struct place *p = place_find(mod, keel_id(node));
	struct keel_text text;

	keel_text_init(&text);
	for (const struct link *l = p ? p->links : NULL; l; l = l->next)
		keel_text_printf(&text, "%s%s", text.len ? ", " : "", keel_id(l->resv));
	if (text.len && !text.failed)
		emit->fn(emit->arg, NULL, text.data, (uint32_t)text.len);
	keel_text_fini(&text);
}

void vnode_each(struct keel_mod *mod, const char *vnode, void (*fn)(struct keel_mod *, struct keel_obj *resv, void *), void *arg)
{
	const struct place *p = place_find(mod, vnode);

	for (const struct link *l = p ? p->links : NULL, *next; l; l = next) {
		next = l->next;
		fn(mod, l->resv, arg);
	}
}

/* Was it lost when the server started, and is there hope? */
static bool is_awaited(struct keel_mod *mod, struct keel_obj *node)
{
	const struct state *st = mod->state;
	const int64_t lost = keel_node_lost_at(node);

	return lost && lost <= st->began && keel_time(mod) < st->began + PATIENCE;
}

bool vnode_is_broken(struct keel_mod *mod, const char *vnode)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);
	uint32_t bits = node ? keel_node_state(node) & ~(uint32_t)HARMLESS : 0;

	if ((bits & LOST) && is_awaited(mod, node))
		bits &= ~(uint32_t)LOST;
	return !node || (bits && keel_node_closed_inside(node));
}

bool span_is_broken(struct keel_mod *mod, struct keel_obj *resv, uint32_t i)
{
	const struct resv *r = resv_slot(mod, resv);
	const struct nodes *t = r && i < r->n_spans && r->span[i].nodes ? nodes_in(r->span[i].nodes) : NULL;

	if (keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)
		return false;
	for (uint32_t k = 0; t && k < t->n; k++)
		if (vnode_is_broken(mod, t->link[k]->place->name))
			return true;
	return false;
}

void vnodes_clear(struct keel_mod *mod)
{
	struct keel_cursor *walk = keel_cursor(mod, "node");
	struct keel_obj *node;

	while (walk && (node = keel_next(walk))) {
		const struct place *p = place_find(mod, keel_id(node));

		if ((keel_node_state(node) & RESV_EXCLUSIVE) && !(p && place_is_alone(p)))
			keel_node_set_state(node, RESV_EXCLUSIVE, false);
	}
	if (walk)
		keel_cursor_close(walk);
}

/* ---- news of vnodes --------------------------------------------------------------------------------- */

/* Once for each reservation, however many of its vnodes changed in this turn. */
static void judge_all(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct resv *r;

	(void)arg;
	while ((r = st->judged) && !st->stopping) {
		st->judged = r->next_judged;
		r->next_judged = NULL;
		r->judged = false;
		resv_judge(mod, r->obj);
	}
}

static void judge_later(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	struct state *st = mod->state;
	struct resv *r = resv_slot(mod, resv);

	(void)arg;
	if (!r || r->judged)
		return;
	if (!st->judged && keel_defer(mod, judge_all, NULL)) {
		resv_judge(mod, resv);
		return;
	}
	r->judged = true;
	r->next_judged = st->judged;
	st->judged = r;
}

void judge_forget(struct keel_mod *mod, struct resv *r)
{
	struct state *st = mod->state;
	struct resv **at = &st->judged;

	while (r->judged && *at && *at != r)
		at = &(*at)->next_judged;
	if (r->judged && *at)
		*at = r->next_judged;
	r->judged = false;
}

static void patience_over(struct keel_mod *mod, void *arg)
{
	(void)arg;
	each_resv(mod, judge_later, NULL);
}

void vnodes_await(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (keel_alarm_set(mod, &st->patience, PATIENCE * 1000, patience_over, NULL))
		keel_log(mod, KEEL_LOG_ERROR, "Server", keel_server_name(mod),
			 "no memory to look again at the hosts that do not come back: their reservations are not degraded");
}

/* Its jobs there could not be deleted while the host was away; and the vnode may have been deleted and made again. */
static void host_back(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	(void)arg;
	spans_hold_again(mod, resv);
	resv_sweep_soon(mod, resv);
}

keel_verdict on_node_state(struct keel_call *c, const struct keel_ev_node_state *ev)
{
	if ((ev->before & ~ev->after) & LOST) {
		vnode_each(c->mod, ev->id, host_back, NULL);
		if (place_find(c->mod, ev->id))
			place_show(c->mod, place_find(c->mod, ev->id));
	}
	if ((ev->before ^ ev->after) & ~(int64_t)HARMLESS)
		vnode_each(c->mod, ev->id, judge_later, NULL);
	return KEEL_NEXT;
}

static void lost_one(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	struct resv *r = resv_slot(mod, resv);

	if (r)
		r->lacks = true;
	judge_later(mod, resv, arg);
}

static void deleted(struct keel_mod *mod, void *arg)
{
	if (!keel_find(mod, "node", arg))
		vnode_each(mod, arg, lost_one, NULL);
	free(arg);
}

static void delete_settled(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	(void)outcome;
	if (keel_defer(mod, deleted, arg))
		free(arg);
}

keel_verdict on_node_delete(struct keel_call *c, const struct keel_ev_node_delete *ev)
{
	const struct place *p = place_find(c->mod, ev->id);
	char *name;

	for (const struct link *l = p ? p->links : NULL; l; l = l->next)
		if (keel_get_int(l->resv, resv_reserve_rules) & RULE_WHATEVER)
			return keel_reject(c, PBSE_OBJBUSY, NULL);
	name = p ? strdup(ev->id) : NULL;
	if (name && keel_settled(c, delete_settled, name))
		free(name);
	return KEEL_NEXT;
}
