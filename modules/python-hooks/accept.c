/* SPDX-License-Identifier: Apache-2.0
 *
 * accept.c - what scripts of hosts want of the server: which changes of an update (updates.c) are made.
 *
 * A host is believed what it says of its own vnodes, and of jobs that run there, in that run. What of a job may be changed is as for a
 * running job, and what it has used; amounts that are charged are not. A hook that runs as the owner of a job has the owner's rights, and
 * speaks of that job alone. What only hooks of servers would want is not made: no host has one.
 */
#include "accept.h"
#include "server.h"

#include <ctype.h>

#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "keel/service/task.h"

#define JOB "job:"
#define ALTERABLE KEEL_ATTR_FLAG1 /* of class job: it may change while the job runs */
#define RESOURCES_MOST 100u	  /* that a host may make */
#define VNODES_MOST 1000u	  /* the same */
#define SAID_MOST 100u		  /* lines about what is refused of an update */

KEEL_USE_OPT(job);
KEEL_USE_OPT(node);
KEEL_USE_OPT(resource);
KEEL_USE_OPT(sched);
KEEL_USE_OPT(task);
KEEL_ATTR_OPT(job, run_version);
KEEL_ATTR_OPT(job, run_count);
KEEL_ATTR_OPT(job, resources_used);
KEEL_ATTR_OPT(job, Resource_List);
KEEL_ATTR_OPT(job, euser);
KEEL_ATTR_OPT(node, comment);
KEEL_ATTR_OPT(node, Mom);
KEEL_ATTR_OPT(resource, type);

/* ---- resources that nothing has named before ---------------------------------------------------------- */
static const char *type_of(const char *text)
{
	const char *unit = text + strspn(text, "-0123456789");

	if (strcasecmp(text, "true") == 0 || strcasecmp(text, "false") == 0)
		return "boolean";
	if (unit == text)
		return "string";
	if (!*unit)
		return "long";
	if (*unit == '.' && unit[1 + strspn(unit + 1, "0123456789")] == '\0')
		return "float";
	return strlen(unit) <= 2 && strchr("bBkKmMgGtTpPwW", *unit) && (!unit[1] || strchr("bBwW", unit[1])) ? "size" : "string";
}

static bool name_is_good(const char *name)
{
	if (!isalpha((unsigned char)*name) || strlen(name) > 64)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
			return false;
	return true;
}

/* Is there anything to be said yet? */
static bool says(struct update *u)
{
	return ++u->said <= SAID_MOST;
}

/* False: it is not to be made, and the log says so once. */
static bool may_make(const struct update *u, uint32_t *made, uint32_t most, const char *what)
{
	if (*made < most)
		return true;
	if ((*made)++ == most)
		keel_log(u->st->mod, KEEL_LOG_ERROR, "Hook", u->hook->name, "scripts of %s have made %u %s, and make no more: make them with qmgr",
			 u->peer, most, what);
	return false;
}

static void resource_make(const struct update *u, const char *name, const char *text)
{
	struct keel_err err = { 0 };
	struct keel_obj *draft;

	if (!name || !text || !keel_has(resource) || keel_resource_find(name) || !name_is_good(name) || !resource_type ||
	    !may_make(u, &u->reporter->resources, RESOURCES_MOST, "resources"))
		return;
	draft = keel_draft(u->st->mod, "resource", name, &err);
	if (!draft)
		return;
	if (keel_set_text(draft, resource_type, KEEL_SET, NULL, type_of(text), &err) || keel_publish(draft)) {
		keel_destroy(draft);
		return;
	}
	u->reporter->resources++;
	keel_log(u->st->mod, KEEL_LOG_ADMIN, "Hook", u->hook->name, "resource %s of type %s is made, as %s has set it on %s", name, type_of(text),
		 u->hook->name, u->peer);
}

/* ---- a job -------------------------------------------------------------------------------------------- */
static void refuse(struct update *u, const struct change *c, const char *why)
{
	if (says(u))
		keel_log(u->st->mod, KEEL_LOG_DEBUG2, "Job", u->id, "hook %s on %s may not change its %s%s%s: %s", u->hook->name, u->peer, c->attr,
			 c->key ? "." : "", c->key ? c->key : "", why);
}

/* What is beside the attributes that may be altered while it runs. The first ones follow from what the job gives back. */
static const struct {
	const char *name;
	bool ignored;
} named[] = {
	{ "exec_vnode", true }, { "exec_host", true }, { "exec_host2", true }, { "schedselect", true },
	{ "resources_used", false }, { "Variable_List", false }, { "project", false }, { "Account_Name", false },
};

enum judgement { ALLOWED, IGNORED, REFUSED };
static enum judgement attr_judge(const struct keel_attr *attr, const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(named); i++)
		if (strcmp(named[i].name, name) == 0)
			return named[i].ignored ? IGNORED : ALLOWED;
	return keel_attr_flags(attr) & ALTERABLE ? ALLOWED : REFUSED;
}

/* What was charged for the job must come back at its end. */
static const char *resource_objection(const struct change *c)
{
	const struct keel_resource *res = c->key && keel_has(resource) ? keel_resource_find(c->key) : NULL;

	if (!c->key)
		return "one resource at a time";
	if (!res)
		return "there is no such resource";
	if (res->flags & KEEL_RES_RUNNING || !(res->flags & (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST | KEEL_RES_SYSTEM)))
		return strcmp(res->name, "select") == 0 || strcmp(res->name, "place") == 0 ? "it has its vnodes" : NULL;
	return "it is charged for";
}

static const char *job_objection(const struct update *u, const struct keel_attr *attr, const struct change *c)
{
	if (!attr)
		return "there is no such attribute";
	if (attr_judge(attr, c->attr) == REFUSED)
		return "not while it runs";
	if (attr == job_Resource_List)
		return resource_objection(c);
	if (u->owner && attr == job_run_count && (!c->text || strtoll(c->text, NULL, 10) < keel_get_int(u->job, attr)))
		return "its owner cannot lower it";
	return NULL;
}

static int32_t job_write(struct keel_changes *set, const struct update *u, const struct keel_attr *attr, const struct change *c,
			 struct keel_err *err)
{
	int32_t op = c->text ? KEEL_SET : KEEL_UNSET;

	if (attr == job_resources_used) /* which no request may set */
		return keel_change_text(set, u->job, attr, op, c->key, c->text, err);
	return keel_change(set, &server_manager, u->job, &(struct keel_attrop){ .name = c->attr, .key = c->key, .value = c->text, .op = op }, err);
}

static void job_change(struct update *u, const struct change *c)
{
	const struct keel_attr *attr = keel_attr_find(u->st->mod, "job", c->attr);
	const char *objection = job_objection(u, attr, c);
	struct keel_err err = { 0 };
	struct keel_changes *set;

	if (objection) {
		refuse(u, c, objection);
		return;
	}
	if (attr_judge(attr, c->attr) == IGNORED)
		return;
	if (attr == job_resources_used)
		resource_make(u, c->key, c->text);
	set = keel_changes(u->st->mod);
	if (set && job_write(set, u, attr, c, &err) == 0) {
		keel_commit(set);
		u->limits |= attr != job_resources_used;
		return;
	}
	keel_discard(set);
	refuse(u, c, set ? err.text : "out of memory");
}

static void request_done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	char *id = arg;

	if (code)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", id, "what a hook requested of it failed: %s", text ? text : keel_pbse_text(code));
	free(id);
}

/* It is being sent: by force, as nothing of it runs. */
static void job_act(const struct update *u, const char *verb)
{
	char who[400], *id = strdup(u->id);
	bool sent = keel_job_substate(u->job) == KEEL_SUB_SENT;

	if (!id)
		return;
	keel_log(u->st->mod, KEEL_LOG_JOB, "Job", u->id, "hook request %s %s", verb, u->id);
	snprintf(who, sizeof(who), "%s@%s", u->hook->name, u->peer);
	if (strcmp(verb, "delete") == 0)
		keel_job_request_delete(u->job, who, u->st->mod, request_done, id);
	else if (sent)
		keel_job_ask(u->job, &(struct keel_job_ask){ .size = sizeof(struct keel_job_ask), .verb = "rerun", .detail = "force", .who = who },
			     u->st->mod, request_done, id);
	else
		keel_job_request_rerun(u->job, who, u->st->mod, request_done, id);
}

/* ---- vnodes ------------------------------------------------------------------------------------------- */
static bool vnode_name_is_good(const char *name)
{
	if (!isalnum((unsigned char)*name) || strlen(name) > 255)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-_.[]@#^/", *name))
			return false;
	return true;
}

/* One that a host's start or timer names first is its own. */
static bool vnode_make(const struct update *u, const char *name)
{
	struct keel_err err = { 0 };
	struct keel_obj *node;

	if (keel_find(u->st->mod, "node", name))
		return true;
	if (strncmp(u->event, "exechost_", 9) != 0 || !node_Mom || !vnode_name_is_good(name))
		return false;
	node = may_make(u, &u->reporter->vnodes, VNODES_MOST, "vnodes") ? keel_draft(u->st->mod, "node", name, &err) : NULL;
	if (!node)
		return false;
	if (keel_set_text(node, node_Mom, KEEL_SET, NULL, u->peer, &err) || keel_publish(node)) {
		keel_destroy(node);
		return false;
	}
	u->reporter->vnodes++;
	keel_log(u->st->mod, KEEL_LOG_ADMIN, "Node", name, "it is made, as hook %s of %s has it", u->hook->name, u->peer);
	return true;
}

static bool vnode_is_own(struct update *u, const char *name)
{
	const char *host;

	if (!vnode_make(u, name))
		return false;
	host = keel_has(node) ? keel_node_host_of(name) : NULL;
	if (host && strcmp(host, u->peer) == 0)
		return true;
	if (says(u))
		keel_log(u->st->mod, KEEL_LOG_ERROR, "Node", name, "Not allowed to update vnode '%s', as it is owned by a different mom", name);
	return false;
}

/* A script that adds a vnode says its name first, which is no attribute: it is there now. */
static bool is_name(const struct change *c)
{
	return strcmp(c->attr, "name") == 0 && !c->key;
}

/* Those of one vnode that follow each other: how many. */
static uint32_t vnode_change(struct update *u, const struct change *changes, uint32_t n)
{
	const char *target = changes[0].target;
	uint32_t i = 0, at = is_name(&changes[0]);

	while (i < n && strcmp(changes[i].target, target) == 0)
		i++;
	if (!u->trusted || !vnode_is_own(u, target_vnode(target)))
		return i;
	for (uint32_t j = at; j < i; j++)
		if (strcmp(changes[j].attr, "resources_available") == 0)
			resource_make(u, changes[j].key, changes[j].text);
	if (i > at)
		vnodes_change(u->st, u->hook->name, changes + at, i - at);
	return i;
}

static void vnode_offline(const struct update *u, struct keel_obj *node, bool on)
{
	const char *comment = node_comment ? keel_get_str(node, node_comment) : NULL;
	char why[300];

	snprintf(why, sizeof(why), "offlined by hook '%s' due to hook error", u->hook->name);
	if (!on && (!comment || strcmp(comment, why) != 0))
		return; /* another's */
	if (on)
		keel_log(u->st->mod, KEEL_LOG_SYSTEM, "Node", keel_id(node), "%s", why);
	keel_node_set_state(node, KEEL_NODE_OFFLINE, on);
	if (node_comment && on)
		keel_set_str(node, node_comment, why);
	else if (node_comment)
		keel_unset(node, node_comment, NULL);
}

static void host_set_offline(const struct update *u, bool on)
{
	struct keel_cursor *walk = keel_has(node) ? keel_cursor(u->st->mod, "node") : NULL;
	struct keel_obj *node;

	while (walk && (node = keel_next(walk))) {
		const char *host = keel_node_host_of(keel_id(node));

		if (host && strcmp(host, u->peer) == 0)
			vnode_offline(u, node, on);
	}
	if (walk)
		keel_cursor_close(walk);
}

/* ---- updates ------------------------------------------------------------------------------------------ */
static bool is_plain(const char *text, const char *but)
{
	for (; text && *text; text++)
		if (iscntrl((unsigned char)*text) && !strchr(but, *text))
			return false;
	return true;
}

/* Names are words of the log, too. */
static bool is_change(const struct change *c)
{
	return is_plain(c->target, "") && !strchr(c->target, ';') && is_plain(c->attr, "") && is_plain(c->key, "") &&
	       is_plain(c->text, "\n\t");
}

/* A timer of a host sees all jobs there; its changes name them. */
static void other_job_change(struct update *u, const struct change *c)
{
	const char *id = c->target + strlen(JOB);
	struct keel_obj *job = keel_find(u->st->mod, "job", id);
	struct update other = *u;

	if (u->owner || !job || !job_run_version || !run_has_host(u->st, id, keel_get_int(job, job_run_version), u->peer)) {
		if (says(u))
			keel_log(u->st->mod, KEEL_LOG_ERROR, "Job", id, "hook %s on %s may not change a job that %s", u->hook->name, u->peer,
				 u->owner ? "is not its own" : "does not run there");
		return;
	}
	other.id = (char *)id;
	other.job = job;
	other.limits = false;
	if (!c->key && (strcmp(c->attr, "rerun") == 0 || strcmp(c->attr, "delete") == 0)) {
		job_act(&other, c->attr); /* of one of a list the method says so */
		return;
	}
	job_change(&other, c);
	u->said = other.said;
	if (other.limits && keel_has(task))
		keel_task_modify(job);
}

/* The first n > 0 changes; returns how many of them are done. */
static uint32_t part_make(struct update *u, const struct change *c, uint32_t n)
{
	uint32_t run = 1;

	if (!is_change(c))
		return 1;
	if (target_vnode(c->target)) {
		while (run < n && is_change(&c[run]) && strcmp(c[run].target, c->target) == 0)
			run++;
		return vnode_change(u, c, run);
	}
	if (strcmp(c->target, "job") == 0 && u->job)
		job_change(u, c);
	else if (strncmp(c->target, JOB, strlen(JOB)) == 0)
		other_job_change(u, c);
	return 1;
}

static bool touches_vnodes(const struct change *changes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (target_vnode(changes[i].target))
			return true;
	return false;
}

/* The rights of who it runs as. */
static void rights_find(struct update *u)
{
	const char *user = u->job && job_euser ? keel_get_str(u->job, job_euser) : NULL;
	int64_t roles = KEEL_USER;

	u->owner = u->hook->user == HOOK_OWNER;
	snprintf(u->who, sizeof(u->who), "%s@%s", u->owner ? (user ? user : "") : "root", u->peer);
	if (u->owner && user)
		roles |= keel_fold(u->st->mod, KEEL_POINT_client_auth, KEEL_EVENT(client_auth, .user = user, .host = u->peer, .uid = -1), NULL, 0);
	u->trusted = !u->owner || roles & KEEL_OPERATORS;
}

static struct keel_obj *job_find(const struct update *u)
{
	struct keel_obj *job = *u->id ? keel_find(u->st->mod, "job", u->id) : NULL;

	if (!job || !job_run_version || keel_get_int(job, job_run_version) != u->run || !run_has_host(u->st, u->id, u->run, u->peer)) {
		if (*u->id && !u->began)
			keel_log(u->st->mod, KEEL_LOG_DEBUG, "Job", u->id, "hook %s on %s speaks of a run that is over, or not there", u->hook->name,
				 u->peer);
		return NULL;
	}
	return job;
}

static void flags_obey(struct update *u, int64_t flags)
{
	const uint32_t action = u->hook->fail_action;

	if (flags & UPDATE_OFFLINE && action & FAIL_OFFLINE && u->trusted) /* the owner can end the process whenever it is convenient */
		host_set_offline(u, true);
	if (flags & UPDATE_ONLINE && action & FAIL_CLEAR)
		host_set_offline(u, false);
	if (flags & UPDATE_CYCLE && u->trusted && keel_has(sched)) {
		keel_log(u->st->mod, KEEL_LOG_DEBUG, "Hook", u->hook->name, "requested for scheduler to restart cycle");
		keel_sched_reconsider();
	}
	if (u->job && keel_has(job) && flags & UPDATE_DELETE)
		job_act(u, "delete");
	else if (u->job && keel_has(job) && flags & UPDATE_RERUN)
		job_act(u, "rerun");
}

/* Before each piece: what the piece before has left of them. False: nothing of it is to be made. */
static bool find_all(struct update *u)
{
	const struct event_row *event = event_by_name(u->event, strlen(u->event));

	u->hook = hook_find(u->st, u->name);
	if (!u->hook || !hook_of_moms(u->hook) || !event || event->daemon != KEEL_MOM || !is_plain(u->id, "") || strchr(u->id, ';')) {
		keel_log(u->st->mod, KEEL_LOG_DEBUG, "Hook", "", "what %s says of hook %.128s is dropped: %s", u->peer, u->name,
			 !u->hook ? "there is no such hook" : "no script of a host has this event");
		return false;
	}
	u->job = job_find(u);
	rights_find(u);
	return true;
}

bool update_go_on(struct update *u, uint32_t most)
{
	const uint32_t until = u->n - u->at < most ? u->n : u->at + most;

	if (!find_all(u))
		return true;
	if (!u->began && !u->trusted && (touches_vnodes(u->changes, u->n) || u->flags & (UPDATE_CYCLE | UPDATE_OFFLINE)))
		keel_log(u->st->mod, KEEL_LOG_ERROR, "Hook", u->hook->name,
			 "Not allowed to update vnodes or to request scheduler restart cycle, if run as a non-manager/operator user %s", u->who);
	u->began = true;
	while (u->at < until)
		u->at += part_make(u, u->changes + u->at, u->n - u->at);
	if (u->at < u->n)
		return false;
	if (u->limits && u->job && keel_has(task) && keel_has(job) && strchr("RS", keel_job_state(u->job)))
		keel_task_modify(u->job);
	flags_obey(u, u->flags);
	return true;
}
