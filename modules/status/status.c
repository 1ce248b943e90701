/* SPDX-License-Identifier: Apache-2.0
 *
 * status.c - the requests that list: status and select, for every class.
 *
 * A listing is walked in slices: a few milliseconds per turn, and no faster than the client reads, so
 * that a huge `qstat -f` delays no other client. The filter is compiled once (filter.c), the wanted attributes are
 * a view of the object engine.
 */
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

KEEL_ATTR_OPT(server, job_history_enable);

#define SLICE_OBJECTS 256u
#define OBJECT_COST 4096u /* bytes that a filter compares in the time of one more object */
#define PART_BYTES (192u * 1024u)

/* What each class answers when an id is not there; `one`: an unknown id is the whole answer. */
static const struct {
	const char *klass;
	int32_t unknown;
} classes[] = {
	{ "job", PBSE_UNKJOBID },     { "queue", PBSE_UNKQUE },	  { "server", PBSE_UNKJOBID },
	{ "node", PBSE_UNKNODE },     { "resource", PBSE_UNKRESC }, { "sched", PBSE_UNKSCHED },
	{ "resv", PBSE_UNKRESVID },
};

static void finish(struct listing *l, int32_t code, const char *text)
{
	struct state *st = l->mod->state;

	keel_reply(l->req, code, text && *text ? "%s" : NULL, text);
	DL_DELETE(st->listings, l);
	keel_timer_cancel(l->timer);
	parts_close(l);
	if (l->walk)
		keel_cursor_close(l->walk);
	if (l->view)
		keel_view_close(l->view);
	if (l->out)
		keel_out_drop(l->out);
	filter_free(&l->filter);
	free(l->ids);
	free(l);
}

/* ---- one object --------------------------------------------------------------------------------------- */

/* 0, -ENOBUFS (wait for the client), -EPIPE (gone). */
static int32_t part_send(struct listing *l)
{
	struct keel_out *out = l->out;

	if (!out)
		return 0;
	l->out = NULL;
	keel_close(out);
	return keel_part(l->req, out);
}

static int32_t add(struct listing *l, struct keel_obj *obj, const char *id)
{
	int32_t r = 0;

	if (!l->out) {
		l->out = keel_out(l->mod);
		if (!l->out)
			return -ENOMEM;
		keel_open_array(l->out, l->ids_only ? "ids" : "objects");
	}
	if (l->ids_only)
		keel_add_str(l->out, id);
	else
		r = keel_pack(obj, id, l->view, l->out);
	return r ? r : keel_out_length(l->out) >= PART_BYTES ? part_send(l) : 0;
}

/* The object, if it passes, and its parts, if they are wanted. */
static int32_t list_one(struct listing *l, struct keel_obj *obj)
{
	bool parted = l->expand && (l->history || !is_history(l, obj)) && parts_open(l, obj);

	return !(parted && l->instead) && filter_pass(l, obj, false) ? add(l, obj, keel_id(obj)) : 0;
}

/* ---- ids -------------------------------------------------------------------------------------------------- */

/* The first part decides how the others are listed when the whole is history. */
static int32_t list_parts(struct listing *l)
{
	const char *id;
	struct keel_obj *obj = parts_next(l, &id);

	if (obj && is_history(l, obj) && !l->history) {
		parts_close(l);
		l->code = PBSE_HISTJOBID;
		return 0;
	}
	l->found++;
	return obj && filter_pass(l, obj, true) ? add(l, obj, id) : 0;
}

/* What one operand names: an object, or parts of one. */
static int32_t list_named(struct listing *l, const char *id)
{
	struct keel_obj *obj = find_operand(l, id);
	size_t i = 0;

	if (!obj && parts_open_named(l, id))
		return list_parts(l);
	if (!obj) {
		while (i < KEEL_COUNT(classes) && strcmp(classes[i].klass, l->klass) != 0)
			i++;
		l->code = i < KEEL_COUNT(classes) ? classes[i].unknown : PBSE_IVALREQ;
		return 0;
	}
	if (is_history(l, obj) && !l->history) {
		l->code = PBSE_HISTJOBID;
		return 0;
	}
	l->found++;
	return list_one(l, obj);
}

/* ---- the walk ------------------------------------------------------------------------------------------- */

static void slice(struct keel_mod *mod, void *arg);

/* Of `12,13[1-3,7],14`: a comma between brackets is part of an operand. NULL: that was all. */
static char *next_operand(struct listing *l)
{
	char *id = l->at ? l->at : l->ids;
	size_t n;

	id += strspn(id, ",");
	if (!*id)
		return NULL;
	n = strcspn(id, ",[");
	if (id[n] == '[') {
		n += strcspn(id + n, "]");
		n += strcspn(id + n, ",");
	}
	l->at = id + n + (id[n] == ',');
	id[n] = '\0';
	return id;
}

/* The next thing to list. 1: there was none; -EPIPE ...: an error. */
static int32_t step(struct listing *l)
{
	struct keel_obj *obj;
	const char *part;
	char *id;

	if (l->parts_walk) {
		obj = parts_next(l, &part);
		return obj && filter_pass(l, obj, true) ? add(l, obj, part) : 0;
	}
	if (l->ids) {
		id = next_operand(l);
		return id ? list_named(l, id) : 1;
	}
	obj = keel_next(l->walk);
	if (!obj)
		return 1;
	return parts_is_part(l, obj) ? 0 : list_one(l, obj);
}

static void slice(struct keel_mod *mod, void *arg)
{
	struct listing *l = arg;
	uint32_t n = 0;
	int32_t r = 0, sent;

	(void)mod;
	l->timer = NULL;
	for (; !r && n < SLICE_OBJECTS; n += 1 + (uint32_t)(l->filter_cost / OBJECT_COST))
		r = step(l);
	if (r == 1) {
		sent = part_send(l);
		if (sent != 0 && sent != -ENOBUFS)
			finish(l, PBSE_PROTOCOL, NULL);
		else
			finish(l, l->found ? 0 : l->code, NULL);
		return;
	}
	if (r == -EPIPE) {
		finish(l, PBSE_PROTOCOL, NULL);
		return;
	}
	if (r == -ENOBUFS)
		r = keel_drained(l->req, slice, l);
	else if (!r && !(l->timer = keel_timer(l->mod, 0, slice, l)))
		r = -ENOMEM;
	if (r)
		finish(l, PBSE_SYSTEM, NULL);
}

static int32_t limit_to_queue(struct listing *l, const char *id, struct keel_err *err)
{
	char name[64];
	size_t len = strcspn(id, "@");

	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, id, len);
	name[len] = '\0';
	if (!keel_find(l->mod, "queue", name))
		return keel_error(err, PBSE_UNKQUE, "Unknown queue destination %s", name);
	return filter_add(l, "queue", NULL, name, KEEL_EQ, err);
}

/* ---- requests ------------------------------------------------------------------------------------------------ */

static void route(struct listing *l, const char *id)
{
	struct keel_err err = { 0 };
	bool job = strcmp(l->klass, "job") == 0;
	int32_t code = 0;

	/* An operand of a job listing that names something else: a queue. */
	if (job && id && *id && ((*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z')))
		code = limit_to_queue(l, id, &err);
	else if (id && *id && *id != '@')
		code = (l->ids = strdup(id)) ? 0 : PBSE_SYSTEM;
	if (code) {
		finish(l, code, err.text);
	} else if (l->ids) {
		slice(l->mod, l);
	} else {
		l->walk = keel_cursor(l->mod, l->klass);
		if (l->walk)
			slice(l->mod, l);
		else
			finish(l, PBSE_SYSTEM, NULL);
	}
}

static struct listing *listing_new(struct keel_mod *mod, struct keel_req *req, const char *klass)
{
	struct state *st = mod->state;
	const char *extend = keel_msg_str(keel_req_body(req), "extend");
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	DL_APPEND(st->listings, l);
	l->mod = mod;
	l->req = req;
	l->klass = klass;
	l->roles = keel_req_session(req)->roles;
	l->history = extend && strchr(extend, 'x');
	l->instead = extend && strchr(extend, 'T');
	l->expand = l->instead || (extend && strchr(extend, 't'));
	return l;
}

static void on_gone(struct keel_mod *mod, void *arg)
{
	(void)mod;
	finish(arg, PBSE_PROTOCOL, NULL);
}

static void begin(struct keel_mod *mod, struct keel_req *req, const char *klass, bool ids_only)
{
	const struct keel_msg *body = keel_req_body(req);
	struct listing *l = klass ? listing_new(mod, req, klass) : NULL;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	struct keel_err err = { 0 };
	int32_t code = 0;

	if (!l) {
		keel_reply(req, klass ? PBSE_SYSTEM : PBSE_IVALREQ,
			   klass ? NULL : "Unknown object type: no module of this server has objects of that type");
		return;
	}
	keel_on_gone(req, on_gone, l);
	l->ids_only = ids_only;
	/* Jobs that are over can be listed where they are kept. */
	if (l->history && strcmp(klass, "job") == 0 &&
	    !(server && keel_get_int(server, server_job_history_enable)))
		code = PBSE_JOBHISTNOTSET;
	if (!code)
		code = filter_compile(l, body, &err);
	if (!code && !ids_only)
		code = view_compile(l, body, &err);
	if (code)
		finish(l, code, err.text);
	else
		route(l, keel_msg_str(body, "id"));
}

static void on_status(struct keel_mod *mod, struct keel_req *req)
{
	const char *name = keel_msg_str(keel_req_body(req), "class"), *klass = NULL;

	if (name && listed_by_owner(mod, name, req))
		return;
	for (size_t i = 0; name && i < KEEL_COUNT(classes); i++)
		if (strcmp(classes[i].klass, name) == 0)
			klass = classes[i].klass;
	begin(mod, req, klass, false);
}

static void on_select(struct keel_mod *mod, struct keel_req *req)
{
	begin(mod, req, "job", true);
}

static const struct keel_request_def status_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "status",
	.number = 19,
	.doc = "list objects of a class",
	.handler = on_status,
	.flags = KEEL_REQUEST_READ,
};
static const struct keel_request_def select_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "select",
	.number = 16,
	.doc = "ids of the jobs that match",
	.handler = on_select,
	.flags = KEEL_REQUEST_READ,
};
static const struct keel_contrib contribs[] = {
	KEEL_ROW(KIND, parts_kind),
	KEEL_ROW(KIND, listed_kind),
	KEEL_ROW(REQUEST, status_request),
	KEEL_ROW(REQUEST, select_request),
};

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->listings)
		finish(st->listings, PBSE_SYSTEM, "the listing ends here: the module status is unloaded");
}

static void fini(struct keel_mod *mod)
{
	free(((struct state *)mod->state)->parts);
}

static const char *const requires_modules[] = { "jobs", "queues", "nodes", "manager", NULL };

KEEL_MODULE(.name = "status", .version = "1.0", .vendor = "Keelson",
	    .summary = "listings of every class", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs),
	    .requires_modules = requires_modules, .stop = stop, .fini = fini);
