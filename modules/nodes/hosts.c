/* SPDX-License-Identifier: Apache-2.0
 *
 * hosts.c - what execution hosts report: up, with their resources; down.
 *
 * Reported amounts are kept beside the visible ones: a value that an administrator set stays, a value that
 * equals the last report follows the next one.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTRS_OF(node, Mom, resources_available, resources_reported, resources_assigned, pcpus,
	      in_multivnode_host, pbs_version, host_lost, comment);
KEEL_ATTR_AS(attr_node_state, node, state, 0);
KEEL_ATTR_AS(attr_node_sharing, node, sharing, 0);

static const char down_comment[] = "node down: ";

const char *node_mom(struct keel_obj *node)
{
	const char *mom = keel_get_str(node, node_Mom);

	return mom ? mom : keel_id(node);
}

const char *node_host_of(struct keel_mod *mod, const char *vnode)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);

	return node ? node_mom(node) : NULL;
}

static void set_amount(struct keel_mod *mod, struct keel_obj *node, const struct keel_attr *attr,
		       const char *name, const char *text)
{
	struct keel_err err;

	if (keel_set_text(node, attr, KEEL_SET, name, text, &err))
		keel_log(mod, KEEL_LOG_ERROR, "Node", keel_id(node),
			 "host reported %s=%s: %s", name, text, err.text);
	if (attr == node_resources_available)
		node_reshape(mod);
}

static void report_amount(struct keel_mod *mod, struct keel_obj *node, const char *name,
			  const char *text)
{
	char have[256], before[256];
	bool set = keel_get_text(node, node_resources_available, name, have, sizeof(have)) >= 0;
	bool known = keel_get_text(node, node_resources_reported, name, before, sizeof(before)) >= 0;

	if (!set || (known && strcmp(have, before) == 0)) {
		if (!set || strcmp(have, text) != 0)
			set_amount(mod, node, node_resources_available, name, text);
	}
	if (!known || strcmp(before, text) != 0)
		set_amount(mod, node, node_resources_reported, name, text);
}

void node_complete(struct keel_mod *mod, struct keel_obj *node)
{
	static const char *const zero[] = { "accelerator_memory", "hbmem", "mem", "naccelerators",
					    "ncpus", "vmem" };
	const char *id = keel_id(node);
	const struct keel_reslist *assigned;
	size_t i;

	if (!keel_is_set(node, node_Mom))
		keel_set_text(node, node_Mom, KEEL_SET, NULL, id, NULL);
	report_amount(mod, node, "host", node_host_of(mod, id) ? node_host_of(mod, id)
			: keel_get_str(node, node_Mom));
	report_amount(mod, node, "vnode", id);
	for (i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
		const struct keel_resource *res = keel_resource_find(zero[i]);

		assigned = keel_get_ptr(node, node_resources_assigned);
		if (res && !keel_resource_list_get(assigned, zero[i]))
			set_amount(mod, node, node_resources_assigned, zero[i],
				   res->type == KEEL_RES_SIZE ? "0kb" : "0");
	}
}

static struct keel_obj *vnode_create(struct keel_mod *mod, const char *name, const char *host)
{
	struct keel_err err;
	struct keel_obj *node = keel_draft(mod, "node", name, &err);
	struct vnode *v;

	if (!node) {
		keel_log(mod, KEEL_LOG_ERROR, "Node", name, "cannot be created: %s", err.text);
		return NULL;
	}
	keel_set_text(node, node_Mom, KEEL_SET, NULL, host, NULL);
	keel_set_int(node, attr_node_state, KEEL_NODE_UNKNOWN | KEEL_NODE_DOWN);
	if (keel_publish(node))
		return NULL;
	v = keel_slot(mod, node);
	if (v)
		v->met = true;
	keel_log(mod, KEEL_LOG_ADMIN, "Node", name, "created at the report of host %s", host);
	return node;
}

/* ---- vnodes that administrators make ---------------------------------------------------------------- */

void newcomers_free(struct state *st)
{
	struct newcomer *n;

	keel_timer_cancel(st->newcomer_timer);
	st->newcomer_timer = NULL;
	while ((n = st->newcomers)) {
		st->newcomers = n->next;
		free(n->id);
		free(n);
	}
}

static void newcomers_meet(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	const struct newcomer *n;

	(void)arg;
	st->newcomer_timer = NULL;
	for (n = st->newcomers; n; n = n->next) {
		struct keel_obj *node = keel_find(mod, "node", n->id);
		struct vnode *v = node ? keel_slot(mod, node) : NULL;

		if (!v || v->met)
			continue;
		v->met = true;
		node_complete(mod, node);
		if (keel_can(task, describe))
			keel_task_describe(node_host_of(mod, n->id));
	}
	newcomers_free(st);
}

void newcomer_expect(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct newcomer *n = calloc(1, sizeof(*n));

	if (!n || !(n->id = strdup(id))) {
		free(n);
		return;
	}
	if (!st->newcomer_timer)
		st->newcomer_timer = keel_timer(mod, 0, newcomers_meet, NULL);
	n->next = st->newcomers;
	st->newcomers = n;
}

static const char *fact(const char *const *facts, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	uint32_t i;

	for (i = 0; i < n; i++)
		if (strncmp(facts[i], name, len) == 0 && facts[i][len] == '=')
			return facts[i] + len + 1;
	return NULL;
}

/* An unknown word counts as the default. */
static void report_sharing(struct keel_mod *mod, struct keel_obj *node, const char *word)
{
	static const char *const words[] = { "default_shared", "default_excl", "default_exclhost",
					     "ignore_excl", "force_excl", "force_exclhost" };
	const char *have = keel_get_str(node, attr_node_sharing), *now = words[0];
	size_t i;

	for (i = 0; i < KEEL_COUNT(words); i++)
		if (word && strcmp(word, words[i]) == 0)
			now = words[i];
	if (have && strcmp(have, now) == 0)
		return;
	keel_set_str(node, attr_node_sharing, now);
	node_reshape(mod);
}

/* One that says none keeps `unavailable`. */
static void report_version(struct keel_obj *node, const char *text)
{
	if (text)
		keel_set_str(node, node_pbs_version, text);
	else
		keel_unset(node, node_pbs_version, NULL);
}

static void vnode_report(struct keel_mod *mod, struct keel_obj *node, bool empty, bool several,
			 const char *const *facts, uint32_t n)
{
	const char *arch = fact(facts, n, "arch"), *mem = fact(facts, n, "mem"),
		   *ncpus = fact(facts, n, "ncpus"), *pcpus = fact(facts, n, "pcpus"),
		   *host = keel_get_str(node, node_Mom);

	node_complete(mod, node);
	report_sharing(mod, node, fact(facts, n, "sharing"));
	if (arch)
		report_amount(mod, node, "arch", arch);
	if (mem)
		report_amount(mod, node, "mem", empty ? "0b" : mem);
	if (ncpus)
		report_amount(mod, node, "ncpus", empty ? "0" : ncpus);
	if (pcpus && host && strcmp(host, keel_id(node)) == 0)
		keel_set_int(node, node_pcpus, strtoll(pcpus, NULL, 10));
	if (several)
		keel_set_int(node, node_in_multivnode_host, 1);
	report_version(node, fact(facts, n, "version"));
}

static bool is_reported(const char *const *facts, uint32_t n, const char *vnode, uint32_t *ret_count)
{
	bool found = false;
	uint32_t i;

	*ret_count = 0;
	for (i = 0; i < n; i++)
		if (strncmp(facts[i], "vnode=", 6) == 0) {
			++*ret_count;
			found |= strcmp(facts[i] + 6, vnode) == 0;
		}
	return found;
}

struct report {
	const char *host;
	const char *const *facts;
	uint32_t n;
};

static void one_up(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	const struct report *r = arg;
	const char *id = keel_id(node);
	char text[64];
	uint32_t count;
	bool listed = is_reported(r->facts, r->n, id, &count);
	bool natural = strcmp(id, r->host) == 0;
	const char *comment;

	keel_unset(node, node_host_lost, NULL);
	if (!listed && !natural && keel_get_text(node, node_resources_reported, "ncpus", text, sizeof(text)) >= 0) {
		node_set_state(mod, node, KEEL_NODE_STALE, true); /* it was reported before */
		return;
	}
	if (listed || natural) /* else an administrator created it and set its amounts */
		vnode_report(mod, node, natural && !listed, count > 1 || !listed, r->facts, r->n);
	comment = keel_get_str(node, node_comment);
	if (comment && strncmp(comment, down_comment, strlen(down_comment)) == 0)
		keel_unset(node, node_comment, NULL);
	node_set_state(mod, node, KEEL_NODE_UNKNOWN | KEEL_NODE_DOWN | KEEL_NODE_STALE, false);
	node_arrived(mod, node);
	occupancy_update(mod, node);
}

/* The host's natural vnode first, so that it is listed first. */
static void create_missing(struct keel_mod *mod, const struct report *r)
{
	uint32_t i;

	if (!keel_find(mod, "node", r->host))
		vnode_create(mod, r->host, r->host);
	for (i = 0; i < r->n; i++) {
		const char *name = r->facts[i] + 6;

		if (strncmp(r->facts[i], "vnode=", 6) == 0 && !keel_find(mod, "node", name))
			vnode_create(mod, name, r->host);
	}
}

void host_up(struct keel_mod *mod, const char *host, const char *const *facts, uint32_t n)
{
	const struct conf *conf = mod->conf;
	struct report r = { .host = host, .facts = facts, .n = n };
	char when[32] = "";
	time_t now = (time_t)keel_time(mod);
	uint32_t count;

	if (!report_is_good(mod, host, facts, n))
		return;
	is_reported(facts, n, host, &count);
	ctime_r(&now, when);
	when[strcspn(when, "\n")] = '\0';
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", host, "Hello from MoM");
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", host, "Mom reporting %u vnodes as of %s", count,
		 when);
	if (conf->auto_create || keel_find(mod, "node", host))
		create_missing(mod, &r);
	each_vnode_of(mod, host, one_up, &r);
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", host, "node up");
}

static void one_down(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	const char *why = arg;
	char text[256];

	snprintf(text, sizeof(text), "%s%s", down_comment, why);
	if (!keel_is_set(node, node_comment))
		keel_set_str(node, node_comment, text);
	node_lost(mod, node);
	node_set_state(mod, node, KEEL_NODE_DOWN, true);
	keel_note(mod, KEEL_POINT_node_down,
		  KEEL_EVENT(node_down, .id = keel_id(node), .node = node, .why = why));
}

void host_down(struct keel_mod *mod, const char *host, const char *why)
{
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", host, "%s%s", down_comment, why);
	each_vnode_of(mod, host, one_down, (void *)why);
}
