/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - an object engine with a class, an attribute of each type, a type with keys that
 * belongs to a "module", and a list of what became dirty.
 */
#ifndef TESTS_OBJECT_FIXTURE_H
#define TESTS_OBJECT_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "util/err.h"

/* ---- a type with keys: a short list of "key=number" ---------------------------------------- */

#define PAIRS_MAX 8
struct pairs {
	uint32_t n;
	struct {
		char key[16];
		long value;
	} at[PAIRS_MAX];
};

static bool aliens_are_known; /* the resources of a module that came */

static inline int32_t pairs_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op,
				  const char *key, const char *text, union keel_slot *slot,
				  bool *is_set, struct keel_err *err)
{
	struct pairs *p = *is_set ? slot->p : NULL;
	char *end;
	long value = strtol(text ? text : "", &end, 10);
	uint32_t i = 0;

	(void)m, (void)a;
	if (!key) {
		if (p)
			free(p);
		*is_set = false;
		return 0;
	}
	if (!*text || *end)
		return err_set(err, 15014, "not a number");
	if (strncmp(key, "alien", 5) == 0 && !aliens_are_known)
		return err_set(err, 15035, "Unknown resource pairs.%s", key);
	if (!p)
		p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(err, 15010, "no memory");
	while (i < p->n && strcmp(p->at[i].key, key) != 0)
		i++;
	if (i == p->n)
		snprintf(p->at[p->n++].key, sizeof(p->at[0].key), "%s", key);
	p->at[i].value = op == KEEL_INCR ? p->at[i].value + value :
			 op == KEEL_DECR ? p->at[i].value - value :
					   value;
	slot->p = p;
	*is_set = true;
	return 0;
}

static inline void pairs_format(struct keel_mod *m, const union keel_slot *slot, const char *key,
				const struct keel_emit *emit)
{
	const struct pairs *p = slot->p;
	char text[24];

	(void)m;
	for (uint32_t i = 0; i < p->n; i++)
		if (!key || strcmp(key, p->at[i].key) == 0)
			emit->fn(emit->arg, p->at[i].key, text,
				 (uint32_t)snprintf(text, sizeof(text), "%ld", p->at[i].value));
}

static inline bool pairs_unset(struct keel_mod *m, union keel_slot *slot, const char *key)
{
	struct pairs *p = slot->p;
	uint32_t i = 0;

	(void)m;
	while (i < p->n && strcmp(p->at[i].key, key) != 0)
		i++;
	if (i < p->n)
		p->at[i] = p->at[--p->n];
	return p->n == 0;
}

static inline int32_t pairs_copy(struct keel_mod *m, const union keel_slot *from,
				 union keel_slot *to)
{
	struct pairs *p = malloc(sizeof(*p));

	(void)m;
	if (!p)
		return 15010;
	*p = *(const struct pairs *)from->p;
	to->p = p;
	return 0;
}

static inline void pairs_fini(struct keel_mod *m, union keel_slot *slot)
{
	(void)m;
	free(slot->p);
}

static const struct keel_type_def pairs_type = {
	.size = sizeof(pairs_type), .flags = KEEL_TYPE_KEYED, .name = "pairs",
	.parse = pairs_parse, .format = pairs_format, .unset = pairs_unset, .copy = pairs_copy,
	.fini = pairs_fini,
};

/* ---- rows ---------------------------------------------------------------------------------- */

static struct {
	uint32_t changed, checked;
	char checked_text[64];
} seen;

static inline int32_t check_even(struct keel_mod *m, const struct keel_session *s,
				 struct keel_obj *o, int32_t op, const char *key, const char *text,
				 struct keel_err *err)
{
	(void)m, (void)s, (void)o, (void)op, (void)key, (void)err;
	seen.checked++;
	snprintf(seen.checked_text, sizeof(seen.checked_text), "%s", text ? text : "(unset)");
	return text && atol(text) % 2 ? 15014 : 0;
}

static inline void on_changed(struct keel_mod *m, struct keel_obj *o, const struct keel_attr *a)
{
	(void)m, (void)o, (void)a;
	seen.changed++;
}

static inline void derive_double(struct keel_mod *m, struct keel_obj *o, const struct keel_emit *e)
{
	(void)m, (void)o;
	e->fn(e->arg, NULL, "42", 2);
}

#define ALL .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY
#define SAVED .flags = KEEL_ATTR_SAVE
static const struct keel_class_def thing_class = { sizeof(thing_class), KEEL_CLASS_SAVE, "thing",
						   "a test", KEEL_POINT_job_known, 0 };
static const struct keel_class_def brief_class = { sizeof(brief_class), 0, "brief", "unsaved", 0, 0 };
static const struct keel_attr_def thing_attrs[] = {
	KEEL_ATTR_DEF("thing", "Name", "string", ALL, SAVED, .order = 1),
	KEEL_ATTR_DEF("thing", "count", "long", ALL, SAVED, .order = 2, .changed = on_changed),
	KEEL_ATTR_DEF("thing", "even", "long", ALL, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN, .order = 3, .check = check_even),
	KEEL_ATTR_DEF("thing", "flag", "bool", ALL, SAVED, .order = 4),
	KEEL_ATTR_DEF("thing", "mem", "size", ALL, SAVED, .order = 5),
	KEEL_ATTR_DEF("thing", "span", "time", ALL, SAVED, .order = 6),
	KEEL_ATTR_DEF("thing", "ratio", "float", ALL, SAVED, .order = 7),
	KEEL_ATTR_DEF("thing", "list", "string_array", ALL, SAVED, .order = 8),
	KEEL_ATTR_DEF("thing", "pairs", "pairs", ALL, SAVED, .order = 9),
	KEEL_ATTR_DEF("thing", "once", "string", ALL, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_CREATE,
		      .order = 10),
	KEEL_ATTR_DEF("thing", "state", "string", .read_roles = KEEL_EVERYBODY, SAVED, .order = 11),
	KEEL_ATTR_DEF("thing", "secret", "string", .read_roles = KEEL_MANAGERS,
		      .write_roles = KEEL_MANAGERS, SAVED, .order = 12),
	KEEL_ATTR_DEF("thing", "plain", "long", ALL, SAVED, .order = 13),
	KEEL_ATTR_DEF("thing", "back", "long", ALL, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_RESET,
		      .fallback = "600", .order = 14),
	KEEL_ATTR_DEF("thing", "hidden", "string", ALL, .order = 15,
		      .flags = KEEL_ATTR_SAVE | KEEL_ATTR_NO_PRINT),
	KEEL_ATTR_DEF("thing", "twice", "long", .read_roles = KEEL_EVERYBODY, .order = 16,
		      .derive = derive_double),
	KEEL_ATTR_DEF("thing", "fleeting", "string", ALL, .order = 17),
};
#define N_THING (sizeof(thing_attrs) / sizeof(thing_attrs[0]))
static const struct keel_attr_def extra_attr =
	KEEL_ATTR_DEF("thing", "extra", "pairs", ALL, SAVED, .order = 20);

/* ---- the engine ---------------------------------------------------------------------------- */

struct engine {
	struct parts parts;
	struct owner owner, guest;
	const struct keel_object_api *api;
	struct keel_mod *mod;
	struct keel_obj *dirty[1024];
	uint32_t n_dirty;
};

static inline void engine_dirty(void *arg, struct keel_obj *o)
{
	struct engine *e = arg;

	if (e->n_dirty < 1024)
		e->dirty[e->n_dirty] = o;
	e->n_dirty++;
}

static inline void engine_rows(struct engine *e)
{
	struct keel_contrib rows[N_THING + 3] = { KEEL_ROW(CLASS, thing_class),
						  KEEL_ROW(CLASS, brief_class),
						  KEEL_ROW(TYPE, pairs_type) };
	struct keel_err err = { 0 };

	for (uint32_t i = 0; i < N_THING; i++)
		rows[i + 3] = (struct keel_contrib)KEEL_ROW(ATTR, thing_attrs[i]);
	CU_ASSERT_FATAL(registry_add(e->parts.registry, &e->owner, rows, N_THING + 3, &err) == 0);
}

/* Without any row. */
static inline void engine_bare(struct engine *e)
{
	memset(e, 0, sizeof(*e));
	memset(&seen, 0, sizeof(seen));
	e->owner = (struct owner){ .pub.name = "testmod", .parts = &e->parts };
	e->guest = (struct owner){ .pub.name = "guest", .parts = &e->parts };
	e->mod = &e->owner.pub;
	CU_ASSERT_FATAL(registry_create(&e->parts.registry) == 0);
	CU_ASSERT_FATAL(objects_create(e->parts.registry, engine_dirty, e, &e->parts.objects) == 0);
	e->api = registry_service(e->parts.registry, "object", 0, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e->api);
}

static inline void engine_start(struct engine *e)
{
	engine_bare(e);
	engine_rows(e);
}

/* What the store front does at the end of a turn. */
static inline void engine_saved(struct engine *e)
{
	for (uint32_t i = 0; i < e->n_dirty && i < 1024; i++) {
		struct keel_store_row row;
		int rc = objects_encode(e->dirty[i], &row);

		if (!row.bytes || rc == -ENODATA)
			objects_saved(e->dirty[i]);
	}
	e->n_dirty = 0;
}

static inline void engine_stop(struct engine *e)
{
	engine_saved(e);
	registry_remove(e->parts.registry, &e->guest);
	registry_remove(e->parts.registry, &e->owner);
	objects_detach(&e->owner);
	objects_destroy(e->parts.objects);
	registry_destroy(e->parts.registry);
}

static inline struct keel_obj *engine_thing(struct engine *e, const char *id)
{
	struct keel_obj *o = e->api->draft(e->mod, "thing", id, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_FATAL(e->api->publish(o) == 0);
	return o;
}

/* The text of an attribute, "-" when it has none. */
static inline const char *engine_text(struct engine *e, struct keel_obj *o, const char *name)
{
	static char text[512];
	const struct keel_attr *a = e->api->attr(e->mod, "thing", name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	if (e->api->text(o, a, NULL, text, sizeof(text)) < 0)
		strcpy(text, "-");
	return text;
}

static inline int32_t engine_set(struct engine *e, struct keel_obj *o, const char *name, int32_t op,
				 const char *key, const char *text)
{
	return e->api->set_text(o, e->api->attr(e->mod, "thing", name), op, key, text, NULL);
}

#endif
