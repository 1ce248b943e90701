/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - the name that objects of a store are called by, and the names it had before.
 *
 * A store is that of the daemon whose name its object of a KEEL_CLASS_DAEMON has. A daemon of another name has no use of
 * it, unless it is to be renamed: then that object has the new name, in the transaction that also stores the old one, and ids
 * that end in a name (KEEL_CLASS_SUFFIX) stay as they are. They are found by each name that the daemon has had.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "object/object.h"
#include "util/err.h"

#define FORMER "keel_former" /* class of rows without values: their ids are the names of before */
#define ID_ROOM 1200u

void objects_named(struct objects *o, const char *name, const char *from)
{
	o->own_name = name;
	o->from_name = from;
}

/* ---- finding ------------------------------------------------------------------------------- */

static bool is_name(const struct objects *o, const char *text)
{
	return strcmp(text, o->own_name) == 0 || index_find(&o->former->ids, text, strlen(text));
}

static struct keel_obj *find_ending(const struct class *c, const char *id, size_t head, const char *name)
{
	char whole[ID_ROOM];
	int len = snprintf(whole, sizeof(whole), "%.*s%s", (int)head, id, name);

	return len > 0 && len < (int)sizeof(whole) ? (struct keel_obj *)index_find(&c->ids, whole, (size_t)len) : NULL;
}

static struct keel_obj *first_live(const struct class *c)
{
	for (uint32_t i = 0; i < c->live.n; i++)
		if (c->live.at[i])
			return c->live.at[i];
	return NULL;
}

struct keel_obj *obj_find(const struct class *c, const char *id)
{
	const struct objects *o = c->objects;
	struct keel_obj *found = (struct keel_obj *)index_find(&c->ids, id, strlen(id));
	const char *dot;

	if (found || !o->former || o->former->ids.n == 0)
		return found;
	if (c->def.flags & KEEL_CLASS_DAEMON)
		return is_name(o, id) ? first_live(c) : NULL;
	dot = c->def.flags & KEEL_CLASS_SUFFIX ? strchr(id, '.') : NULL;
	if (!dot || !is_name(o, dot + 1))
		return NULL;
	found = find_ending(c, id, (size_t)(dot + 1 - id), o->own_name);
	for (uint32_t i = 0; !found && i < o->former->live.n; i++)
		if (o->former->live.at[i])
			found = find_ending(c, id, (size_t)(dot + 1 - id), o->former->live.at[i]->id.text);
	return found;
}

/* ---- whose store is it? -------------------------------------------------------------------- */

static bool is_of_daemon(const struct class *c)
{
	return c->declared && c->def.flags & KEEL_CLASS_DAEMON;
}

const char *name_of_row(const struct class *c, const char *id)
{
	const struct objects *o = c->objects;
	bool renamed = o->from_name && is_of_daemon(c) && strcmp(id, o->from_name) == 0 && strcmp(id, o->own_name) != 0;

	return renamed ? o->own_name : id;
}

/* An object that there is no row of, or, to be dropped, that there is one of. */
static struct keel_obj *row_make(struct class *c, const char *id, uint16_t flags)
{
	struct keel_obj *o = obj_create(c, id, strlen(id));

	if (o && obj_link(o) == 0) {
		o->flags |= flags;
		return o;
	}
	object_destroy(o);
	return NULL;
}

/* The object was loaded by its new name: the old row goes, and its name is remembered. */
static int rename_store(struct objects *o, struct keel_obj *owner, struct keel_err *err)
{
	struct keel_obj *old = row_make(owner->klass, o->from_name, OBJ_SAVED);
	struct keel_obj *former = row_make(o->former, o->from_name, 0);

	if (!old || !former)
		return err_set(err, -ENOMEM, "no memory for the names of the server");
	object_destroy((struct keel_obj *)index_find(&o->former->ids, o->own_name, strlen(o->own_name)));
	object_destroy(old);
	write_touch(owner);
	former->flags |= OBJ_DIRTY;
	o->dirty(o->dirty_arg, former);
	return 0;
}

/* There is no object of the daemon in the store, or it has the name that it should have. */
static int refuse_renaming(const struct objects *o, const struct keel_obj *owner, struct keel_err *err)
{
	if (!owner)
		return err_set(err, -ENOENT, "--rename-server %s: the store is a new one and has no name; start without it", o->from_name);
	if (index_find(&o->former->ids, o->from_name, strlen(o->from_name)))
		return 0; /* done, but the first start was not seen to the end */
	return err_set(err, -EEXIST, "--rename-server %s: the store is that of server \"%s\", and that is the name of this one; "
		       "start without the option, or say the new name first: server_name in keelson.conf, or PBS_SERVER in pbs.conf",
		       o->from_name, owner->id.text);
}

int objects_own(struct objects *o, struct keel_err *err)
{
	struct keel_obj *owner = NULL;

	for (const struct class *c = o->classes; c && !owner; c = c->next)
		owner = is_of_daemon(c) ? first_live(c) : NULL;
	o->former = class_get(o, FORMER);
	if (!o->former)
		return err_set(err, -ENOMEM, "no memory for the names of the server");
	if (owner && strcmp(owner->id.text, o->own_name) == 0 && !(owner->flags & OBJ_SAVED))
		return rename_store(o, owner, err);
	if (!owner || strcmp(owner->id.text, o->own_name) == 0)
		return o->from_name ? refuse_renaming(o, owner, err) : 0;
	if (o->from_name)
		return err_set(err, -EINVAL, "--rename-server %s: the store is that of server \"%s\", not of \"%s\"; the way on is "
			       "`keelsond --rename-server %s`", o->from_name, owner->id.text, o->from_name, owner->id.text);
	return err_set(err, -EINVAL, "the store is that of server \"%s\", this one is called \"%s\": say server_name = \"%s\" in "
		       "keelson.conf, or PBS_SERVER in pbs.conf; or, if it is to have the new name from now on, start it once with "
		       "`keelsond --rename-server %s`", owner->id.text, o->own_name, owner->id.text, owner->id.text);
}
