/* SPDX-License-Identifier: Apache-2.0
 *
 * sick.c - hosts with an error: reported by their own health check, or refusing several starts in a row. They are
 * set offline, else each queued job would be tried there once.
 */
#include "nodes.h"

#include <stdio.h>
#include <string.h>

KEEL_ATTR_OF(node, comment);

static const char sick[] = "no tasks are taken: ", failing[] = "offline, ";

static void one_refused(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	const struct conf *conf = mod->conf;
	struct vnode *v = keel_slot(mod, node);
	char text[400];

	if (!v || conf->offline_after <= 0 || ++v->failures < conf->offline_after)
		return;
	snprintf(text, sizeof(text), "%s%u starts in a row failed: %s", failing, v->failures, (const char *)arg);
	v->failures = 0; /* counted anew once an administrator clears offline */
	if (node_state(mod, node) & KEEL_NODE_OFFLINE)
		return;
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", keel_id(node), "%s", text);
	keel_set_str(node, node_comment, text);
	node_set_state(mod, node, KEEL_NODE_OFFLINE, true);
}

/* An administrator cleared offline: removes the comment that states the reason. */
void sick_forgiven(struct keel_obj *node)
{
	const char *comment = keel_get_str(node, node_comment);

	if (comment && strncmp(comment, failing, strlen(failing)) == 0)
		keel_unset(node, node_comment, NULL);
}

static void one_started(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	struct vnode *v = keel_slot(mod, node);

	(void)arg;
	if (v)
		v->failures = 0;
}

void host_start(struct keel_mod *mod, const char *host, const char *why)
{
	each_vnode_of(mod, host, why ? one_refused : one_started, (void *)why);
}

static void one_sick(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	const char *comment = keel_get_str(node, node_comment);
	struct vnode *v = keel_slot(mod, node);
	char text[400];

	if (v)
		v->sick = true;
	snprintf(text, sizeof(text), "%s%s", sick, (const char *)arg);
	if (!comment || strncmp(comment, sick, strlen(sick)) == 0)
		keel_set_str(node, node_comment, text);
	node_set_state(mod, node, KEEL_NODE_OFFLINE_BY_MOM, true);
}

/* Clears only what one_sick() set: an administrator may have set offline_by_mom for another reason. */
static void one_well(struct keel_mod *mod, struct keel_obj *node, void *arg)
{
	struct vnode *v = keel_slot(mod, node);
	const char *comment = keel_get_str(node, node_comment);
	bool said = comment && strncmp(comment, sick, strlen(sick)) == 0;

	(void)arg;
	if (!said && !(v && v->sick))
		return;
	if (v)
		v->sick = false;
	if (said)
		keel_unset(node, node_comment, NULL);
	node_set_state(mod, node, KEEL_NODE_OFFLINE_BY_MOM, false);
}

void host_health(struct keel_mod *mod, const char *host, const char *why)
{
	if (why)
		keel_log(mod, KEEL_LOG_SYSTEM, "Node", host, "%s%s", sick, why);
	each_vnode_of(mod, host, why ? one_sick : one_well, (void *)why);
}
