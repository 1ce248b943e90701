/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - execution hosts and their vnodes: what they have, what is assigned, their state.
 *
 * A vnode is an object of class "node". Hosts report over their link (service task); the caller of the service
 * node assigns and releases slots; features add state words (kind NODE_STATE).
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(node, resources_available, resources_assigned, offline_by);

KEEL_USE(resource);
KEEL_USE(task);
KEEL_USE(link);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, auto_create, .fallback = "true",
		       .doc = "a host that proves its key gets its vnodes without `create node`"),
	KEEL_CONF_RULE(INT, struct conf, vnodes_per_host, .fallback = "4096", .min = 1, .max = 100000,
		       .doc = "a host that reports more is refused"),
	KEEL_CONF_RULE(INT, struct conf, offline_after, .fallback = "3", .min = 0, .max = 100000,
		       .doc = "a host that refused so many starts in a row for want of means (disk, processes, "
			      "users) is set offline; 0: never"),
};

static const struct keel_class_def node_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "node",
	.doc = "a vnode: a host, or a part of one",
	.known_point = KEEL_POINT_node_known,
};

static void amounts_changed(struct keel_mod *mod, struct keel_obj *node, const struct keel_attr *attr)
{
	(void)attr;
	node_reshape(mod);
	occupancy_update(mod, node);
}

static void schedulable_changed(struct keel_mod *mod, struct keel_obj *node,
				const struct keel_attr *attr)
{
	(void)node, (void)attr;
	node_reshape(mod);
}

static int32_t check_queue(struct keel_mod *mod, const struct keel_session *who,
			   struct keel_obj *node, int32_t op, const char *key, const char *text,
			   struct keel_err *err)
{
	(void)who, (void)node, (void)op, (void)key;
	if (keel_find(mod, "queue", text))
		return 0;
	return keel_error(err, PBSE_UNKQUE, "%s", keel_pbse_text(PBSE_UNKQUE));
}

/* Jobs have no tasks on a second host yet. */
static int32_t check_tasks(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *node,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)node, (void)op, (void)key, (void)mod;
	return who && strcasecmp(text, "True") == 0 ? keel_error(err, PBSE_NOSUP, "no_tasks is not obeyed yet: no job has tasks on a second host") : 0;
}

/* Placement sets come from the server and from queues only. */
static int32_t check_pnames(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *node,
			    int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)node, (void)op, (void)key, (void)text, (void)mod;
	return who ? keel_error(err, PBSE_NOSUP, "pnames of a vnode is not obeyed: set node_group_key of the server or of a queue") : 0;
}

static int32_t check_priority(struct keel_mod *mod, const struct keel_session *who,
			      struct keel_obj *node, int32_t op, const char *key, const char *text,
			      struct keel_err *err)
{
	long n = strtol(text, NULL, 10);

	(void)who, (void)node, (void)op, (void)key, (void)mod;
	if (n >= -1024 && n <= 1023)
		return 0;
	return keel_error(err, PBSE_BADATVAL, "%s", keel_pbse_text(PBSE_BADATVAL));
}

#define SAVE KEEL_ATTR_SAVE
#define ALL .read_roles = KEEL_EVERYBODY
#define BY_OPERATORS ALL, .write_roles = KEEL_OPERATORS
#define BY_MANAGERS ALL, .write_roles = KEEL_MANAGERS

static void derive_type(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	(void)mod, (void)node;
	emit->fn(emit->arg, NULL, "PBS", 3);
}

static void derive_license(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	(void)mod, (void)node;
	emit->fn(emit->arg, NULL, "l", 1);
}

#define NODE(attr, type, place, flag_bits, ...)                                                    \
	static const struct keel_attr_def attr_##attr = KEEL_ATTR_DEF(                             \
		"node", #attr, type, .order = (place), .flags = (flag_bits), __VA_ARGS__);
#include "node.def"
#undef NODE

static uint64_t generation(struct keel_mod *mod)
{
	return ((struct state *)mod->state)->generation;
}

static const struct keel_reslist *available(struct keel_mod *mod, struct keel_obj *node)
{
	(void)mod;
	return keel_get_ptr(node, node_resources_available);
}

static const struct keel_reslist *assigned(struct keel_mod *mod, struct keel_obj *node)
{
	(void)mod;
	return keel_get_ptr(node, node_resources_assigned);
}

static bool node_linked(struct keel_mod *mod, struct keel_obj *node)
{
	const char *host = node_host_of(mod, keel_id(node));

	return host && keel_link_is_up(mod, host);
}

static const struct keel_node_api service = {
	.size = sizeof(struct keel_node_api),
	.state = node_state,
	.set_state = node_set_state,
	.unavailable = node_unavailable,
	.host_of = node_host_of,
	.available = available,
	.assigned = assigned,
	.assign = node_assign,
	.release = node_release,
	.in_use = node_in_use,
	.generation = generation,
	.sharing = node_sharing,
	.jobs_on = node_jobs_on,
	.shape = node_shape,
	.changed_since = node_changed_since,
	.tenants = node_tenants,
	.lost_at = node_lost_at,
	.linked = node_linked,
	.assign_again = node_assign_again,
	.shrink = node_shrink,
	.hold = node_hold,
	.on_holder = node_on_holder,
	.used = node_used,
	.used_inside = node_used_inside,
	.closed_inside = node_closed_inside,
	.lodge = node_lodge,
	.word = node_word,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "node",
	.table = &service,
	.doc = "vnodes, their states, what is assigned",
};

/* The value for `match = { host = "..."; }` in a site's configuration. */
static int32_t host_words(struct keel_mod *mod, struct keel_obj *node, char *buf, uint32_t len)
{
	const char *host = node_host_of(mod, keel_id(node));

	return snprintf(buf, len, "%s", host ? host : keel_id(node));
}
static const struct keel_scope_def host_scope = {
	.size = sizeof(struct keel_scope_def),
	.name = "host",
	.klass = "node",
	.text = host_words,
	.doc = "the host of a vnode",
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(TYPE, state_type),
	KEEL_ROW(CLASS, node_class),
	KEEL_ROW(KIND, node_state_kind),
	KEEL_ROW(SERVICE, service_def),
	KEEL_ROW(SCOPE, host_scope),
#define NODE(attr, ...) KEEL_ROW(ATTR, attr_##attr),
#include "node.def"
#undef NODE
};

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_node_known *ev)
{
	struct vnode *v = keel_slot(c->mod, ev->node);

	if (v)
		v->met = true;
	node_known(c->mod, ev->node);
	node_complete(c->mod, ev->node);
	return KEEL_NEXT;
}

/* Writes the attribute's value after this operation and returns whether it has one; *ret_new: it differs from now. */
static bool becomes(struct keel_call *c, struct keel_obj *node, const char *attr, char *buf, uint32_t len,
		    bool *ret_new)
{
	const struct keel_attr *a = keel_attr_find(c->mod, "node", attr);
	const char *have = a ? keel_get_str(node, a) : NULL;
	bool any = a && keel_call_get(c, node, attr, NULL, buf, len) > 0;

	*ret_new = any && (!have || strcmp(have, buf) != 0);
	return any;
}

/* A vnode of a queue is in the queue's partition. */
static keel_verdict check_partition(struct keel_call *c, struct keel_obj *node)
{
	char queue[64], partition[256];
	bool new_queue, new_partition, both;
	const char *of_queue;
	struct keel_obj *q;

	both = becomes(c, node, "queue", queue, sizeof(queue), &new_queue) &&
	       becomes(c, node, "partition", partition, sizeof(partition), &new_partition);
	q = both && (new_queue || new_partition) ? keel_find(c->mod, "queue", queue) : NULL;
	of_queue = q ? keel_get_str(q, keel_attr_find(c->mod, "queue", "partition")) : NULL;
	if (!of_queue || !*of_queue || strcmp(of_queue, partition) == 0)
		return KEEL_NEXT;
	if (!new_partition)
		return keel_reject(c, PBSE_QUE_NOT_IN_PARTITION, "Queue %s is not part of partition for node",
				   queue);
	return keel_reject(c, PBSE_PARTITION_NOT_IN_QUE, "Partition %s is not part of queue for node", partition);
}

static keel_verdict on_modify(struct keel_call *c, const struct keel_ev_node_modify *ev)
{
	return check_partition(c, ev->node);
}

static keel_verdict on_delete(struct keel_call *c, const struct keel_ev_node_delete *ev)
{
	if (node_in_use(c->mod, ev->node))
		return keel_reject(c, PBSE_OBJBUSY, NULL);
	return KEEL_NEXT;
}

/* The user who set a vnode offline is kept for `keelson explain`. */
static keel_verdict on_managed(struct keel_call *c, const struct keel_ev_management_done *ev)
{
	const char *at = ev->changes;
	struct keel_obj *node;
	char text[400];

	if (ev->code || !ev->klass || strcmp(ev->klass, "node") != 0 || !at || !ev->name)
		return KEEL_NEXT;
	while (at && strncmp(at, "state\t", 6) != 0)
		at = (at = strchr(at, '\n')) ? at + 1 : NULL;
	node = at ? keel_find(c->mod, "node", ev->name) : NULL;
	if (node && (node_state(c->mod, node) & KEEL_NODE_OFFLINE)) {
		snprintf(text, sizeof(text), "%lld %.300s", (long long)keel_time(c->mod), ev->who ? ev->who : "");
		keel_set_str(node, node_offline_by, text);
	} else if (node) {
		keel_unset(node, node_offline_by, NULL);
	}
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(management_done, on_managed),
	KEEL_TAP(node_known, on_known, .order = -1000),
	KEEL_TAP(node_modify, on_modify, .order = 1000),
	KEEL_TAP(node_delete, on_delete, .order = -1000),
};

static const struct keel_task_events events = {
	.size = sizeof(struct keel_task_events),
	.host_up = host_up,
	.host_down = host_down,
	.host_start = host_start,
	.host_health = host_health,
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	if (keel_slot_bind(mod, "node", sizeof(struct vnode), vnode_fini))
		return keel_error(err, -1, "cannot attach to class node");
	if (words_fill(st))
		return keel_error(err, -1, "out of memory");
	keel_task_set_host_of(mod, node_host_of);
	return keel_task_listen(mod, &events);
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_task_set_host_of(NULL, NULL);
	keel_task_listen(mod, NULL);
	words_free(st);
	neighbours_free(st);
	newcomers_free(st);
}

KEEL_MODULE(.name = "nodes", .version = "1.0", .vendor = "Keelson",
	    .summary = "execution hosts and their vnodes", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .fini = fini);
