/* SPDX-License-Identifier: Apache-2.0
 *
 * apply.c - objects as scripts see them, and changes of scripts made in them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* The attributes of a class, in listing order. The modules of a daemon do not change, so they stay as they are. */
struct shape {
	struct shape *next;
	char klass[32];
	const struct keel_attr **attrs;
	uint32_t n, size;
	bool failed;
	struct keel_mod *mod;
};

static void row_add(void *arg, const struct keel_attr_def *def)
{
	struct shape *s = arg;
	const struct keel_attr *attr = def->read_roles != KEEL_NOBODY ? keel_attr_find(s->mod, s->klass, def->name) : NULL;
	const struct keel_attr **more;

	if (!attr)
		return;
	if (s->n == s->size) {
		more = realloc(s->attrs, sizeof(*more) * (s->size + 64));
		if (!more) {
			s->failed = true;
			return;
		}
		s->attrs = more;
		s->size += 64;
	}
	s->attrs[s->n++] = attr;
}

static const struct shape *shape_of(struct state *st, const char *klass)
{
	struct shape *s;

	LL_FOREACH(st->runs->shapes, s)
		if (strcmp(s->klass, klass) == 0)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->mod = st->mod;
	snprintf(s->klass, sizeof(s->klass), "%s", klass);
	keel_rows(st->mod, klass, row_add, s);
	if (s->failed) {
		free(s->attrs);
		free(s);
		return NULL;
	}
	LL_PREPEND(st->runs->shapes, s);
	return s;
}

const struct keel_attr *const *class_attrs(struct state *st, const char *klass, uint32_t *ret_n)
{
	const struct shape *s = shape_of(st, klass);

	*ret_n = s ? s->n : 0;
	return s ? s->attrs : NULL;
}

void shapes_free(struct state *st)
{
	struct shape *s, *next;

	LL_FOREACH_SAFE(st->runs->shapes, s, next) {
		free(s->attrs);
		free(s);
	}
	st->runs->shapes = NULL;
}

/* ---- objects --------------------------------------------------------------------------------------------- */
struct emitting {
	struct pack *p;
	const char *name;
	uint32_t open, keys, n;
};

/* A value, or one of those with keys, which make a map. */
static void emitted(void *arg, const char *key, const char *text, uint32_t len)
{
	struct emitting *e = arg;

	if (!key || e->keys == 0) {
		pack_key(e->p, e->name);
		e->n++;
	}
	if (key) {
		if (e->keys++ == 0)
			e->open = pack_open_map(e->p);
		pack_key(e->p, key);
	}
	pack_bytes(e->p, text, len);
}

static uint32_t attrs_pack(const struct shape *s, struct pack *p, struct keel_obj *obj, struct keel_call *c)
{
	struct emitting e = { .p = p };
	const struct keel_emit emit = { emitted, &e };

	for (uint32_t i = 0; i < s->n; i++) {
		e.name = keel_attr_name(s->attrs[i]);
		if (c)
			keel_call_emit(c, obj, s->attrs[i], NULL, &emit);
		else
			keel_emit(obj, s->attrs[i], NULL, &emit);
		if (e.keys > 0)
			pack_close(p, e.open, e.keys);
		e.keys = 0;
	}
	return e.n;
}

void pack_object(struct state *st, struct pack *p, struct keel_obj *obj, struct keel_call *c, const struct pack *facts)
{
	const struct shape *s = shape_of(st, keel_klass(obj));
	uint32_t open = pack_open_map(p), attrs;

	if (!s) {
		p->failed = true;
		return;
	}
	pack_pair_text(p, "class", keel_klass(obj));
	pack_pair_text(p, "id", keel_id(obj));
	pack_key(p, "attrs");
	attrs = pack_open_map(p);
	pack_close(p, attrs, attrs_pack(s, p, obj, c));
	if (facts) {
		pack_key(p, "facts");
		pack_raw(p, facts);
	}
	pack_close(p, open, facts ? 4 : 3);
}

void run_remember(struct run *r, const char *target, struct keel_obj *obj)
{
	struct run_obj *o = r->n_objs < RUN_OBJS ? &r->objs[r->n_objs++] : NULL;

	if (!o)
		return;
	snprintf(o->target, sizeof(o->target), "%s", target);
	snprintf(o->id, sizeof(o->id), "%s", keel_id(obj));
	o->klass = keel_klass(obj);
	o->draft = keel_find(r->st->mod, o->klass, o->id) == obj ? NULL : obj;
}

const char *target_vnode(const char *target)
{
	static const char prefix[] = "vnode:";

	return strncmp(target, prefix, strlen(prefix)) == 0 ? target + strlen(prefix) : NULL;
}

/* By its place in the event; else one that a list of the event may have had: "vnode:NAME", "job:ID", "resv:ID". */
struct keel_obj *run_find(const struct run *r, const char *target)
{
	static const struct {
		const char *prefix, *klass;
	} named[] = { { "vnode:", "node" }, { "job:", "job" }, { "resv:", "resv" } };

	for (uint32_t i = 0; i < r->n_objs; i++)
		if (strcmp(r->objs[i].target, target) == 0)
			return r->objs[i].draft ? r->objs[i].draft : keel_find(r->st->mod, r->objs[i].klass, r->objs[i].id);
	for (size_t i = 0; i < KEEL_COUNT(named); i++)
		if (strncmp(target, named[i].prefix, strlen(named[i].prefix)) == 0)
			return keel_find(r->st->mod, named[i].klass, target + strlen(named[i].prefix));
	return NULL;
}

/* ---- changes --------------------------------------------------------------------------------------------- */
/* At once, by the system. */
static int32_t change_now(struct state *st, struct keel_obj *obj, const struct change *change, const char *key, struct keel_err *err)
{
	const struct keel_attr *attr = keel_attr_find(st->mod, keel_klass(obj), change->attr);

	if (!attr)
		return keel_error(err, PBSE_NOATTR, "%s attribute '%s' not found", keel_klass(obj), change->attr);
	if (change->text)
		return keel_set_text(obj, attr, KEEL_SET, key, change->text, err);
	keel_unset(obj, attr, key);
	return 0;
}

int32_t change_make(struct run *r, struct keel_call *c, const struct change *change, struct keel_err *err)
{
	struct keel_obj *obj = run_find(r, change->target);
	const char *key = change->key && change->key[0] ? change->key : NULL;

	if (!obj)
		return keel_error(err, PBSE_HOOKERROR, "there is no '%s' of this event", change->target);
	if (!c)
		return change_now(r->st, obj, change, key, err);
	return keel_call_set(c, obj, change->attr, key, change->text, err);
}
