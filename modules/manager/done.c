/* SPDX-License-Identifier: Apache-2.0
 *
 * done.c - how a manager request ends, of this module and of others (kind MANAGED): the point management_done is raised, then
 * the reply leaves.
 */
#include "manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "keel/text.h"

#define VALUE_MAX 65536u /* bytes of a value in the list of changes: scripts of hooks are longer */

/* A request that has no answer yet. */
struct pending {
	struct pending *prev, *next;
	struct keel_req *req;
	int64_t time;
};

/* ---- rows ------------------------------------------------------------------------------------------------- */

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_managed_def *row = def;
	struct state *st = self->state;

	if (!row->name || !row->fn || kind_of(row->object) || managed_of(st, row->object))
		return keel_error(err, -EINVAL, "a MANAGED row of %s lacks its name or fn(), or its number of objects is not its own",
				  owner->name);
	return keel_row_put(keel_rows_end(&st->managed), owner, def, err);
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	(void)owner;
	keel_row_remove(&((struct state *)self->state)->managed, def);
}

const struct keel_kind_def managed_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_managed_def),
	.name = "MANAGED",
	.doc = "objects that qmgr creates, deletes and changes in another module",
	.add = row_add,
	.remove = row_remove,
};

const struct keel_row *managed_of(const struct state *st, int32_t object)
{
	const struct keel_row *row = st->managed;

	while (row && ((const struct keel_managed_def *)row->def)->object != object)
		row = row->next;
	return row;
}

/* ---- the point -------------------------------------------------------------------------------------------- */

static void add_escaped(struct keel_text *t, const char *text, char end)
{
	size_t left = VALUE_MAX;

	for (; text && *text && left > 0; text++, left--)
		if (*text == '\\' || *text == '\t' || *text == '\n')
			keel_text_str(t, *text == '\t' ? "\\t" : *text == '\n' ? "\\n" : "\\\\");
		else
			keel_text_add(t, text, 1);
	keel_text_add(t, &end, 1);
}

/* A line for each attribute of the request. */
static void add_changes(struct keel_text *t, const struct keel_msg *body)
{
	const struct keel_attrop *attrs;
	uint32_t n = 0;

	if (keel_msg_attrs(body, "attrs", &attrs, &n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		add_escaped(t, attrs[i].name, '\t');
		add_escaped(t, attrs[i].key, '\t');
		keel_text_printf(t, "%d\t", attrs[i].op);
		add_escaped(t, attrs[i].value, '\n');
	}
}

static const char *class_of(const struct state *st, int32_t object)
{
	const struct kind *kind = kind_of(object);
	const struct keel_row *row = managed_of(st, object);

	return kind ? kind->klass : row ? ((const struct keel_managed_def *)row->def)->name : "";
}

static void note(struct keel_mod *mod, struct keel_req *req, int32_t code, const char *text, int64_t time)
{
	const struct keel_msg *body = keel_req_body(req);
	int32_t object = (int32_t)keel_msg_int(body, "obj", -1);
	const char *name = keel_msg_str(body, "name");
	struct keel_text changes;

	keel_text_init(&changes);
	add_changes(&changes, body);
	if (!changes.failed)
		keel_note(mod, KEEL_POINT_management_done,
			  KEEL_EVENT(management_done, .klass = class_of(mod->state, object), .name = name ? name : "",
				     .cmd = keel_msg_int(body, "cmd", -1), .object = object, .who = keel_req_session(req)->who,
				     .code = code, .text = text, .changes = changes.data, .time = time));
	keel_text_fini(&changes);
}

/* ---- requests --------------------------------------------------------------------------------------------- */

void pending_add(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	struct pending *a = calloc(1, sizeof(*a));

	if (!a)
		return; /* the point has the time of the answer then */
	a->req = req;
	a->time = keel_time(mod);
	DL_APPEND(st->pending, a);
}

static int64_t pending_end(struct keel_mod *mod, const struct keel_req *req)
{
	struct state *st = mod->state;
	struct pending *a = st->pending;
	int64_t time = keel_time(mod);

	while (a && a->req != req)
		a = a->next;
	if (!a)
		return time;
	time = a->time;
	DL_DELETE(st->pending, a);
	free(a);
	return time;
}

void answer(struct keel_mod *mod, struct keel_req *req, int32_t code, const char *text)
{
	int64_t time = pending_end(mod, req);

	if (!text || !*text)
		text = code ? keel_pbse_text(code) : "";
	if (keel_tapped(mod, KEEL_POINT_management_done))
		note(mod, req, code, text, time);
	keel_reply(req, code, *text ? "%s" : NULL, text);
}

void pending_forget(struct state *st)
{
	struct pending *a, *next;

	DL_FOREACH_SAFE(st->pending, a, next)
		free(a);
	st->pending = NULL;
}

static const struct keel_manage_api service = {
	.size = sizeof(struct keel_manage_api),
	.version = 1,
	.reply = answer,
};
const struct keel_service_def manage_service = {
	.size = sizeof(struct keel_service_def),
	.version = 1,
	.name = "manage",
	.doc = "replies to requests about objects of other modules",
	.table = &service,
};
