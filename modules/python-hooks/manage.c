/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.c - requests of qmgr about hooks: create, delete, set, unset; import is body.c's. Root and the daemon's own user alone may.
 */
#include "manage.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keel/service/manage.h"

KEEL_USE_OPT(manage);

bool may_manage(struct keel_mod *mod, struct keel_req *req, char *text, size_t size)
{
	const struct keel_session *who = keel_req_session(req);

	if (who->uid == 0 || who->uid == (uint32_t)geteuid())
		return true;
	snprintf(text, size, "%s is unauthorized to access hooks data from server %s", who->who, keel_server_name(mod));
	return false;
}

void refuse(struct keel_req *req, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	keel_manage_reply(req, PBSE_HOOKERROR, text);
}

void log_done(struct state *st, struct keel_req *req, const char *hook, const char *what)
{
	keel_log(st->mod, KEEL_LOG_ADMIN, "Hook", hook, "%s at request of %s", what, keel_req_session(req)->who);
}

struct hook *hook_to_change(struct state *st, struct keel_req *req, const char *name)
{
	struct hook *h = hook_find(st, name);

	if (h && !h->pending)
		return h;
	refuse(req, h ? "%s is pending delete!" : "%s does not exist!", name);
	return NULL;
}

/* ---- set, unset ------------------------------------------------------------------------------------------------------------- */

static int32_t set_one(struct hook *h, int64_t cmd, const struct keel_attrop *op, struct keel_err *err)
{
	if (op->key && *op->key)
		return keel_error(err, PBSE_HOOKERROR, "Undefined attribute  - %s.%s", op->name, op->key);
	return hook_set(h, op->name, cmd == CMD_UNSET ? KEEL_UNSET : op->op, op->value, err);
}

/* All attributes of the request, in their order, into a copy that is not in force. */
static int32_t set_all(struct hook *copy, int64_t cmd, const struct keel_msg *body, struct keel_err *err)
{
	const struct keel_attrop *attrs;
	uint32_t n = 0;
	int32_t r = keel_msg_attrs(body, "attrs", &attrs, &n);

	if (r && r != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "%s", keel_pbse_text(PBSE_PROTOCOL));
	for (uint32_t i = 0; i < n; i++)
		if ((r = set_one(copy, cmd, &attrs[i], err)) != 0)
			return r;
	return 0;
}

static void derive(struct state *st, struct hook *copy, const struct hook *old)
{
	if (!old || copy->order != old->order)
		copy->place = ++st->manage->last_place;
	if (!old || copy->user != old->user)
		copy->version = version_next(st);
	copy->spread |= hook_of_moms(copy);
}

static void warn(struct state *st, const struct hook *h)
{
	const uint32_t timed = UINT32_C(1) << EVENT_periodic | UINT32_C(1) << EVENT_exechost_periodic;

	if (h->enabled && h->events & timed && !h->script && !h->loading)
		keel_log(st->mod, KEEL_LOG_DEBUG2, "Hook", h->name, "periodic hook is missing information, check hook frequency and script");
}

static void on_set(struct state *st, struct keel_req *req, const char *name)
{
	struct hook *h = hook_to_change(st, req, name), copy;
	int64_t cmd = keel_msg_int(keel_req_body(req), "cmd", -1);
	struct keel_obj *obj = keel_find(st->mod, "hook", name);
	struct keel_err err = { 0 };

	if (!h)
		return;
	copy = *h;
	if (set_all(&copy, cmd, keel_req_body(req), &err) != 0) {
		refuse(req, "%s", err.text);
		return;
	}
	derive(st, &copy, h);
	if (!obj || stored_write(st, obj, &copy, &err) != 0) {
		refuse(req, "Failed to store '%s' permanently.", name);
		return;
	}
	*h = copy;
	warn(st, h);
	log_done(st, req, name, cmd == CMD_SET ? "attributes set" : "attributes unset");
	keel_manage_reply(req, 0, NULL);
	hook_changed(st, h);
}

/* ---- create, delete --------------------------------------------------------------------------------------------------------- */

/* A name is part of file names on hosts. */
static bool name_is_good(const char *name)
{
	size_t n = strlen(name);

	if (n > NAME_LEN_MAX || !isalpha((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return true;
}

/* False: the reply was made. */
static bool may_be_created(struct state *st, struct keel_req *req, const char *name)
{
	const struct hook *h = hook_find(st, name);

	if (h && h->pending)
		refuse(req, "hook name '%s' is pending delete, try another name", name);
	else if (h)
		refuse(req, "hook name '%s' already registered, try another name", name);
	else if (strncmp(name, "PBS", 3) == 0)
		refuse(req, "hook_name '%s', cannot use PBS as a prefix it is reserved for pbs hooks", name);
	else if (!name_is_good(name))
		refuse(req, "hook_name '%.*s': a letter, then letters, digits, `-`, `_` and `.`, %u in all, make a name",
		       (int)NAME_LEN_MAX, name, NAME_LEN_MAX);
	else if (HASH_COUNT(st->hooks) >= HOOKS_MAX)
		refuse(req, "there are %u hooks already, and no more are possible: delete some", HOOKS_MAX);
	else
		return true;
	return false;
}

/* Its object, written. NULL with *err. */
static struct keel_obj *object_make(struct state *st, const struct hook *h, struct keel_err *err)
{
	struct keel_obj *obj = keel_draft(st->mod, "hook", h->name, err);

	if (!obj)
		return NULL;
	if (stored_write(st, obj, h, err) == 0 && keel_publish(obj) == 0)
		return obj;
	keel_destroy(obj);
	return NULL;
}

static void on_create(struct state *st, struct keel_req *req, const char *name)
{
	struct keel_err err = { 0 };
	struct hook *h;

	if (!may_be_created(st, req, name))
		return;
	h = hook_new(st, name);
	if (!h) {
		refuse(req, "System error: out of memory");
	} else if (set_all(h, CMD_SET, keel_req_body(req), &err) != 0) {
		refuse(req, "%s", err.text);
		hook_free(st, h);
	} else {
		derive(st, h, NULL);
		if (!object_make(st, h, &err)) {
			refuse(req, "Failed to store '%s' permanently.", name);
			hook_free(st, h);
			return;
		}
		warn(st, h);
		log_done(st, req, name, "created");
		keel_manage_reply(req, 0, NULL);
		hook_changed(st, h);
	}
}

void hook_gone(struct state *st, struct hook *h)
{
	struct keel_obj *obj = keel_find(st->mod, "hook", h->name);

	if (obj)
		keel_destroy(obj);
	hook_free(st, h);
}

static void on_delete(struct state *st, struct keel_req *req, const char *name)
{
	struct hook *h = hook_to_change(st, req, name), copy;
	struct keel_obj *obj = keel_find(st->mod, "hook", name);
	struct keel_err err = { 0 };

	if (!h)
		return;
	copy = *h;
	copy.pending = true;
	if (h->spread && obj && stored_write(st, obj, &copy, &err) != 0) {
		refuse(req, "Failed to store '%s' permanently.", name);
		return;
	}
	log_done(st, req, name, "deleted");
	keel_manage_reply(req, 0, NULL);
	h->pending = true;
	h->loading = false;
	imports_go_on(st, h);
	shows_go_on(st);
	if (h->spread)
		hook_changed(st, h);
	else
		hook_gone(st, h);
}

/* ---- requests --------------------------------------------------------------------------------------------------------------- */

/* The name of the request; NULL: the reply was made. */
static const char *name_permitted(struct keel_mod *mod, struct keel_req *req)
{
	const char *name = keel_msg_str(keel_req_body(req), "name");
	char text[512];

	if (!may_manage(mod, req, text, sizeof(text)))
		refuse(req, "%s", text);
	else if (!name || !*name)
		refuse(req, "no hook name specified");
	else
		return name;
	return NULL;
}

static void on_manage(struct keel_mod *mod, struct keel_req *req)
{
	static void (*const verbs[])(struct state *, struct keel_req *, const char *) = {
		[CMD_CREATE] = on_create, [CMD_DELETE] = on_delete, [CMD_SET] = on_set,
		[CMD_UNSET] = on_set,     [CMD_IMPORT] = body_import,
	};
	const char *name = name_permitted(mod, req);
	int64_t cmd = keel_msg_int(keel_req_body(req), "cmd", -1);

	if (!name)
		return;
	if (cmd < 0 || cmd >= (int64_t)KEEL_COUNT(verbs) || !verbs[cmd])
		keel_manage_reply(req, PBSE_IVALREQ, NULL);
	else
		verbs[cmd](mod->state, req, name);
}

/* There are none. */
static void on_manage_pbs(struct keel_mod *mod, struct keel_req *req)
{
	const char *name = name_permitted(mod, req);
	int64_t cmd = keel_msg_int(keel_req_body(req), "cmd", -1);

	if (!name)
		return;
	if (cmd == CMD_CREATE || cmd == CMD_DELETE)
		refuse(req, "cannot %s a PBS hook", cmd == CMD_CREATE ? "create" : "delete");
	else
		refuse(req, "%.*s does not exist!", (int)NAME_LEN_MAX, name);
}

const struct keel_managed_def hook_managed = {
	.size = sizeof(struct keel_managed_def),
	.object = OBJ_HOOK,
	.name = "hook",
	.doc = "hooks of the site",
	.fn = on_manage,
};
const struct keel_managed_def pbshook_managed = {
	.size = sizeof(struct keel_managed_def),
	.object = OBJ_PBS_HOOK,
	.name = "pbshook",
	.doc = "hooks that come with the product: there are none",
	.fn = on_manage_pbs,
};

int32_t manage_start(struct state *st, struct keel_err *err)
{
	st->manage = calloc(1, sizeof(*st->manage));
	return st->manage ? stored_load(st, err) : keel_error(err, -ENOMEM, "no memory for hooks");
}

void manage_stop(struct state *st)
{
	struct hook *h, *next;

	if (!st->manage)
		return;
	imports_drop(st);
	shows_drop(st);
	keel_timer_cancel(st->manage->reader);
	HASH_ITER(hh, st->hooks, h, next)
		hook_free(st, h);
	free(st->manage);
	st->manage = NULL;
}
