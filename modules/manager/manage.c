/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.c - create, delete, set, unset of server, queue, node, resource, sched.
 *
 * Permission, name, values into a change set, the point `management`, then the class' own point, then the commit of
 * all changes. Any error before it leaves everything as it was.
 */
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTR_OPT(node, Mom);

/* One request; lives until its reply, while a point may be on hold. */
struct management {
	struct keel_req *req;
	const struct kind *kind;
	int32_t cmd;
	char *name;
	struct keel_obj *draft; /* CREATE */
	struct keel_changes *changes; /* owned until the last point is raised */
};

static void management_free(struct management *m)
{
	keel_discard(m->changes);
	free(m->name);
	free(m);
}

/* Replies with the error and frees m. */
static void refuse(struct keel_mod *mod, struct management *m, int32_t code, const char *text)
{
	if (m->draft)
		keel_destroy(m->draft);
	answer(mod, m->req, code, text);
	management_free(m);
}

/* ---- log ------------------------------------------------------------------------------------------------ */

static void log_done(struct keel_mod *mod, struct management *m)
{
	static const char *const verb[] = { "created", "deleted", "attributes set: ",
					    "attributes unset: " };
	static const char *const sign[] = { "=", "=", "+", "-" };
	const struct keel_attrop *attrs;
	uint32_t n = 0, i;

	keel_log(mod, KEEL_LOG_ADMIN, m->kind->log_class, m->name, "%s at request of %s",
		 verb[m->cmd], keel_req_session(m->req)->who);
	if (keel_msg_attrs(keel_req_body(m->req), "attrs", &attrs, &n) || m->cmd == CMD_DELETE)
		return;
	for (i = 0; i < n; i++)
		keel_log(mod, KEEL_LOG_ADMIN, m->kind->log_class, m->name, "%s %s%s%s %s %s",
			 m->cmd == CMD_UNSET ? "attributes unset:" : "attributes set:",
			 attrs[i].name, attrs[i].key ? "." : "", attrs[i].key ? attrs[i].key : "",
			 sign[attrs[i].op & 3], attrs[i].value ? attrs[i].value : "");
}

/* ---- after no tap rejected it ------------------------------------------------------------------------------ */

static void carry_out(struct keel_mod *mod, struct management *m)
{
	struct keel_obj *obj = keel_find(mod, m->kind->klass, m->name);

	if (m->cmd == CMD_CREATE && keel_publish(m->draft)) {
		if (obj) /* another request created it meanwhile */
			refuse(mod, m, m->kind->exists, keel_pbse_text(m->kind->exists));
		else
			refuse(mod, m, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	if (m->cmd == CMD_DELETE && obj)
		keel_destroy(obj);
	log_done(mod, m);
	answer(mod, m->req, 0, NULL);
	management_free(m);
}

static void own_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct management *m = arg;

	if (outcome->verdict == KEEL_NEXT || outcome->verdict == KEEL_DONE)
		carry_out(mod, m);
	else
		refuse(mod, m, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
}

static struct keel_obj *subject(struct keel_mod *mod, const struct management *m)
{
	return m->draft ? m->draft : keel_find(mod, m->kind->klass, m->name);
}

static uint32_t own_point(const struct management *m)
{
	return m->cmd == CMD_DELETE ? m->kind->delete_point : m->kind->modify_point;
}

/* The events live until the end of the switch: they are raised inside of it. */
static void raise_own_point(struct keel_mod *mod, struct management *m)
{
	uint32_t point = own_point(m);
	struct keel_raise raise = { .size = sizeof(raise), .point = point, .req = m->req,
				    .done = own_decided, .arg = m, .changes = m->changes };
	const char *who = keel_req_session(m->req)->who;
	struct keel_obj *obj = subject(mod, m);

	m->changes = NULL;
	switch (point) {
	case KEEL_POINT_node_modify:
		raise.event = KEEL_EVENT(node_modify, .id = m->name, .node = obj, .who = who);
		keel_raise(mod, &raise);
		break;
	case KEEL_POINT_node_delete:
		raise.event = KEEL_EVENT(node_delete, .id = m->name, .node = obj, .who = who);
		keel_raise(mod, &raise);
		break;
	case KEEL_POINT_resource_delete:
		raise.event = KEEL_EVENT(resource_delete, .id = m->name, .who = who);
		keel_raise(mod, &raise);
		break;
	default: /* `management` was the only point and has committed the changes */
		carry_out(mod, m);
	}
}

static void management_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct management *m = arg;

	if (outcome->verdict == KEEL_NEXT || outcome->verdict == KEEL_DONE)
		raise_own_point(mod, m);
	else
		refuse(mod, m, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
}

/* ---- the request -------------------------------------------------------------------------------------------- */

static bool serves(const char *host, struct keel_obj *vnode)
{
	char mom[256];

	return keel_get_text(vnode, node_Mom, NULL, mom, sizeof(mom)) > 0 &&
	       strcasecmp(mom, host) == 0;
}

/* A built-in resource, which is no object of class resource. */
static bool is_builtin(const struct management *m)
{
	return m->kind->obj == OBJ_RESOURCE && keel_resource_find(m->name);
}

/* Finds the object, or makes the draft of a new one. Returns 0 or a PBSE code with err. */
static int32_t find_subject(struct keel_mod *mod, struct management *m, struct keel_err *err)
{
	struct keel_obj *obj = keel_find(mod, m->kind->klass, m->name);
	int32_t code;

	/* A host is known by its natural vnode, which has the host's name. */
	if (obj && m->kind->obj == OBJ_HOST && (!node_Mom || !serves(m->name, obj)))
		obj = NULL;
	if (m->cmd != CMD_CREATE && obj)
		return 0;
	if (m->cmd != CMD_CREATE) {
		code = is_builtin(m) ? PBSE_IVALREQ : m->kind->unknown;
		return keel_error(err, code, "%s", keel_pbse_text(code));
	}
	code = obj || is_builtin(m) ? m->kind->exists : kind_check_name(m->kind, m->name);
	if (code)
		return keel_error(err, code, "%s", keel_pbse_text(code));
	m->draft = keel_draft(mod, m->kind->klass, m->name, err);
	return m->draft ? 0 : err->code ? err->code : PBSE_SYSTEM;
}

/* `set x = ""` unsets, unless the attribute may be empty. */
static bool is_unset(struct keel_mod *mod, const struct management *m, struct keel_obj *obj,
		     const struct keel_attrop *op)
{
	const struct keel_attr *attr;

	if (m->cmd == CMD_UNSET)
		return true;
	if (op->op != KEEL_SET || (op->value && *op->value))
		return false;
	attr = keel_attr_find(mod, keel_klass(obj), op->name);
	return !attr || !(keel_attr_flags(attr) & KEEL_ATTR_EMPTY);
}

static int32_t change_one(struct keel_mod *mod, struct management *m, struct keel_obj *obj,
			  const struct keel_attrop *attrs, uint32_t n, struct keel_err *err)
{
	const struct keel_session *who = keel_req_session(m->req);
	int32_t code = 0;

	for (uint32_t i = 0; i < n && !code; i++) {
		struct keel_attrop op = attrs[i];

		if (is_unset(mod, m, obj, &op))
			op.op = KEEL_UNSET;
		if (op.op == KEEL_UNSET && m->kind->keeps && op.name && strcmp(op.name, m->kind->keeps) == 0)
			return keel_error(err, m->kind->keeps_error, "%s  %s",
					  keel_pbse_text(m->kind->keeps_error), op.name);
		else if (!op.value)
			op.value = "";
		code = keel_change(m->changes, who, obj, &op, err);
	}
	return code;
}

/* Changes all vnodes that the host's daemon serves. */
static int32_t change_host(struct keel_mod *mod, struct management *m,
			   const struct keel_attrop *attrs, uint32_t n, struct keel_err *err)
{
	struct keel_cursor *walk = keel_cursor(mod, m->kind->klass);
	struct keel_obj *vnode;
	int32_t code = 0;

	if (!walk)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	while (!code && (vnode = keel_next(walk)))
		if (serves(m->name, vnode))
			code = change_one(mod, m, vnode, attrs, n, err);
	keel_cursor_close(walk);
	return code;
}

static int32_t fill_changes(struct keel_mod *mod, struct management *m, struct keel_err *err)
{
	const struct keel_attrop *attrs;
	uint32_t n = 0;
	int32_t code = keel_msg_attrs(keel_req_body(m->req), "attrs", &attrs, &n);

	if (code && code != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "%s", keel_pbse_text(PBSE_PROTOCOL));
	m->changes = keel_changes(mod);
	if (!m->changes)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (m->kind->obj == OBJ_HOST)
		return change_host(mod, m, attrs, n, err);
	return change_one(mod, m, subject(mod, m), attrs, n, err);
}

static void manage_one(struct keel_mod *mod, struct keel_req *req, const struct kind *kind,
		       int32_t cmd, const char *name)
{
	struct management *m = calloc(1, sizeof(*m));
	struct keel_changes *changes = NULL;
	struct keel_err err = { 0 };
	int32_t code;

	if (!m || !(m->name = strdup(name))) {
		free(m);
		answer(mod, req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	m->req = req;
	m->kind = kind;
	m->cmd = cmd;
	if (keel_req_session(req)->roles &
	    (cmd == CMD_CREATE || cmd == CMD_DELETE ? kind->create_roles : KEEL_OPERATORS))
		code = find_subject(mod, m, &err);
	else
		code = PBSE_PERM;
	if (!code && cmd != CMD_DELETE)
		code = fill_changes(mod, m, &err);
	if (code) { /* the text for an unknown attribute does not name it */
		refuse(mod, m, code, code == PBSE_NOATTR ? NULL : err.text);
		return;
	}
	/* Without a point of the class, `management` carries the changes. */
	if (!own_point(m)) {
		changes = m->changes;
		m->changes = NULL;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_management,
		.event = KEEL_EVENT(management, .klass = kind->klass, .name = m->name, .cmd = cmd,
			       .obj = subject(mod, m),
			       .who = keel_req_session(req)->who),
		.changes = changes,
		.req = req,
		.done = management_decided,
		.arg = m,
	});
}

void on_manage(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	int64_t cmd = keel_msg_int(body, "cmd", -1);
	int32_t object = (int32_t)keel_msg_int(body, "obj", -1);
	const struct kind *kind = kind_of(object);
	const struct keel_row *row = managed_of(mod->state, object);
	const char *name = keel_msg_str(body, "name");

	pending_add(mod, req);
	if (row) {
		((const struct keel_managed_def *)row->def)->fn(row->owner, req);
		return;
	}
	if (!kind || cmd < CMD_CREATE || cmd > CMD_UNSET) {
		answer(mod, req, kind ? PBSE_IVALREQ : PBSE_NOSUP,
		       kind ? NULL : "Unknown object type: no module of this server has objects of that type");
		return;
	}
	if (!name || !*name)
		name = kind->obj == OBJ_SERVER ? keel_server_name(mod) : "";
	manage_one(mod, req, kind, (int32_t)cmd, name);
}
