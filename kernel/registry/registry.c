/* SPDX-License-Identifier: Apache-2.0
 *
 * registry.c - rows of modules and the kinds that receive them; function tables by name, the kernel's groups and SERVICE rows.
 *
 * A row is added to its kind as soon as both exist: when the row is registered, or when the kind is declared later.
 * KIND and SERVICE are kinds like the others.
 */
#include "registry/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "keel/sized.h"
#include "registry/inside.h"
#include "util/crumb.h"
#include "util/err.h"

#define TABLE_MAX 65536u
#define TABLE_ROOM 2048u /* 256 functions: more than a table will have for long */

static struct kind *kind_find(const struct registry *r, const char *name)
{
	struct kind *k;

	for (k = r->kinds; k != NULL && strcmp(k->face.name, name) != 0; k = k->next)
		;
	return k;
}

/* ---- adding to a kind and removing ---------------------------------------------------------- */
static void row_clear(struct row *row)
{
	row->kind = NULL;
	free(row->whole);
	row->whole = NULL;
}

/* A row of a module with other headers may be shorter or longer than the kind's: add() and remove() get it in the kind's
 * size. Returns 0, or an error with *err. */
static int row_attach(struct row *row, struct kind *k, struct keel_err *err)
{
	uint32_t size = k->face.row_size;
	int ret;

	if (size > 0 && *(const uint32_t *)row->def < 2 * sizeof(uint32_t))
		return err_set(err, -EINVAL, "a %s row of module %s has no size; set .size to sizeof its struct",
			       row->kind_name, row->owner->pub.name);
	row->whole = size > 0 ? malloc(size) : NULL;
	if (size > 0 && row->whole == NULL)
		return err_set(err, -ENOMEM, "no memory for a %s row of module %s", row->kind_name,
			       row->owner->pub.name);
	if (size > 0)
		keel_sized(row->whole, size, row->def);
	row->kind = k;
	ret = k->face.add(k->face.arg, row->owner, size > 0 ? row->whole : row->def, err);
	if (ret < 0)
		row_clear(row);
	return ret;
}

static void row_detach(struct row *row)
{
	struct kind *k = row->kind;

	if (k == NULL)
		return;
	k->face.remove(k->face.arg, row->owner, row->whole != NULL ? row->whole : row->def);
	row_clear(row);
}

/* The row before `row`, the last one for NULL; NULL at the front (the head's `prev` is the last one). */
static struct row *row_before(const struct registry *r, const struct row *row)
{
	if (row == NULL)
		return r->rows != NULL ? r->rows->prev : NULL;
	return row == r->rows ? NULL : row->prev;
}

static void kind_drop(struct registry *r, struct kind *k)
{
	for (struct row *row = row_before(r, NULL); row != NULL; row = row_before(r, row)) {
		if (row->kind == k)
			row_detach(row);
	}
	LL_DELETE(r->kinds, k);
	free(k);
}

/* It gets the rows that waited for it. `def`: of a module's kind, whose functions get the kind itself. Returns 0, or an
 * error with *err: then it is gone. */
static int kind_declare(struct registry *r, const struct registry_kind *face, struct owner *owner,
			const struct keel_kind_def *def, struct keel_err *err)
{
	struct kind *k = kind_find(r, face->name);
	struct row *row;
	int ret = 0;

	if (k != NULL)
		return err_set(err, -EEXIST, "kind '%s' of module %s is already declared by %s; enable only one of the two",
			       face->name, owner_name(owner), owner_name(k->owner));
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return err_set(err, -ENOMEM, "no memory for kind '%s'", face->name);
	k->face = *face;
	k->owner = owner;
	if (def != NULL) {
		k->def = *def;
		k->face.arg = k;
	}
	LL_PREPEND(r->kinds, k);
	DL_FOREACH(r->rows, row) {
		if (row->kind == NULL && strcmp(row->kind_name, face->name) == 0)
			ret = row_attach(row, k, err);
		if (ret < 0)
			break;
	}
	if (ret < 0)
		kind_drop(r, k);
	return ret;
}

int registry_kind(struct registry *r, const struct registry_kind *face)
{
	return kind_declare(r, face, NULL, NULL, NULL);
}

/* ---- the kind KIND ------------------------------------------------------------------------------ */
static int module_kind_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	const struct kind *k = arg;
	int32_t ret;

	CRUMB_CALL(k->owner, "add() of a kind", k->def.name, ret = k->def.add(&k->owner->pub, &owner->pub, def, err));
	return ret > 0 ? -EINVAL : ret; /* a PBSE code is an error, too */
}

static void module_kind_remove(void *arg, struct owner *owner, const void *def)
{
	const struct kind *k = arg;
	CRUMB_CALL(k->owner, "remove() of a kind", k->def.name, k->def.remove(&k->owner->pub, &owner->pub, def));
}

static int kind_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_kind_def *def = row;
	const struct registry_kind face = { def->name, module_kind_add, module_kind_remove, NULL, def->row_size };

	if (def->name == NULL || def->name[0] == '\0' || def->add == NULL || def->remove == NULL)
		return err_set(err, -EINVAL, "kind '%s' of module %s has no name, no add or no remove function",
			       def->name != NULL ? def->name : "", owner->pub.name);
	return kind_declare(arg, &face, owner, def, err);
}

static void kind_remove(void *arg, struct owner *owner, const void *row)
{
	struct kind *k = kind_find(arg, ((const struct keel_kind_def *)row)->name);

	(void)owner;
	if (k != NULL)
		kind_drop(arg, k);
}

/* ---- services: the kernel's groups, and the kind SERVICE ------------------------------------------------- */
/* Every table begins so; `self` only in those of modules. */
struct table_head {
	uint32_t size, version;
	struct keel_mod *self;
};

static struct service *service_find(const struct registry *r, const char *name)
{
	struct service *s;

	for (s = r->services; s != NULL && strcmp(s->name, name) != 0; s = s->next)
		;
	return s;
}

/* Keeps a copy of *s. */
static int service_push(struct registry *r, const struct service *s)
{
	struct service *own = malloc(sizeof(*own));

	if (own == NULL)
		return -ENOMEM;
	*own = *s;
	LL_PREPEND(r->services, own);
	return 0;
}

int registry_offer(struct registry *r, const char *name, const void *table)
{
	if (service_find(r, name) != NULL)
		return -EEXIST;
	return service_push(r, &(struct service){ .name = name, .table = table,
						  .minor = ((const struct table_head *)table)->version });
}

/* Callers get a copy of the module's table, whose `self` is the module. It has room for any table: a function that the
 * module's headers do not have is NULL there. */
static int service_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_service_def *def = row;
	const struct table_head *head = def->table;
	const struct service *taken;
	struct table_head *copy;

	if (def->name == NULL || def->name[0] == '\0')
		return err_set(err, -EINVAL, "a SERVICE row of module %s has no name", owner->pub.name);
	if (head == NULL || head->size < sizeof(*head) || head->size > TABLE_MAX)
		return err_set(err, -EINVAL, "service '%s' of module %s has no table, or one whose size is wrong; "
			       "set .size to sizeof the table", def->name, owner->pub.name);
	taken = service_find(arg, def->name);
	if (taken != NULL)
		return err_set(err, -EEXIST, "service '%s' of module %s is already offered by %s; enable only one "
			       "of the two", def->name, owner->pub.name, owner_name(taken->owner));
	copy = calloc(1, head->size > TABLE_ROOM ? head->size : TABLE_ROOM);
	if (copy == NULL || service_push(arg, &(struct service){ .name = def->name, .table = copy, .copy = copy, .owner = owner,
								 .minor = def->version }) < 0) {
		free(copy);
		return err_set(err, -ENOMEM, "no memory for service '%s'", def->name);
	}
	memcpy(copy, head, head->size);
	copy->self = &owner->pub;
	return 0;
}

static void service_remove(void *arg, struct owner *owner, const void *row)
{
	struct registry *r = arg;
	struct service *s = service_find(r, ((const struct keel_service_def *)row)->name);

	(void)owner;
	if (s == NULL)
		return;
	LL_DELETE(r->services, s);
	free(s->copy);
	free(s);
}

const void *registry_service(struct registry *r, const char *name, uint32_t minor,
			     struct owner **ret_owner, struct keel_err *err)
{
	const struct service *s = service_find(r, name);

	if (s == NULL) {
		err_set(err, -ENOENT, "no module offers the service '%s'; enable the module that does", name);
		return NULL;
	}
	if (s->minor < minor) {
		err_set(err, -EPROTO, "service '%s' of %s has version %u, at least %u is needed; upgrade %s", name,
			owner_name(s->owner), s->minor, minor, owner_name(s->owner));
		return NULL;
	}
	if (ret_owner != NULL)
		*ret_owner = s->owner;
	return s->table;
}

/* ---- rows ------------------------------------------------------------------------------------------ */
static int row_add(struct registry *r, struct owner *owner, const struct keel_contrib *c, struct keel_err *err)
{
	struct row *row;
	struct kind *k;
	int ret = 0;

	if (c->kind == NULL || c->kind[0] == '\0' || c->def == NULL)
		return err_set(err, -EINVAL, "a contribution of module %s has no kind or no definition",
			       owner->pub.name);
	row = calloc(1, sizeof(*row));
	if (row == NULL)
		return err_set(err, -ENOMEM, "no memory for a %s row of module %s", c->kind, owner->pub.name);
	*row = (struct row){ .owner = owner, .kind_name = c->kind, .def = c->def };
	k = kind_find(r, c->kind);
	if (k != NULL)
		ret = row_attach(row, k, err);
	if (ret < 0) {
		if (err != NULL && err->text[0] == '\0')
			err_set(err, ret, "kind %s refused a row of module %s", c->kind, owner->pub.name);
		free(row);
		return ret;
	}
	DL_APPEND(r->rows, row);
	owner->live++;
	return 0;
}

/* The newest `n` rows of `owner`, in reverse order. */
static void rows_remove(struct registry *r, struct owner *owner, uint32_t n)
{
	for (struct row *row = row_before(r, NULL), *before; row != NULL && n > 0; row = before) {
		before = row_before(r, row);
		if (row->owner != owner)
			continue;
		row_detach(row);
		DL_DELETE(r->rows, row);
		owner->live--;
		free(row);
		n--;
	}
}

int registry_add(struct registry *r, struct owner *owner, const struct keel_contrib *rows, uint32_t n,
		 struct keel_err *err)
{
	if (err != NULL)
		err->text[0] = '\0';
	if (n > 0 && rows == NULL)
		return err_set(err, -EINVAL, "module %s counts %u contributions and has no table",
			       owner->pub.name, n);
	for (uint32_t i = 0; i < n; i++) {
		int ret = row_add(r, owner, &rows[i], err);

		if (ret < 0) {
			rows_remove(r, owner, i);
			return ret;
		}
	}
	return 0;
}

void registry_remove(struct registry *r, struct owner *owner)
{
	rows_remove(r, owner, UINT32_MAX);
}

int registry_create(struct registry **ret_registry)
{
	struct registry *r = calloc(1, sizeof(*r));
	const struct registry_kind kinds[] = {
		{ "KIND", kind_add, kind_remove, r, sizeof(struct keel_kind_def) },
		{ "SERVICE", service_add, service_remove, r, sizeof(struct keel_service_def) },
	};
	int ret = r != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && ret == 0; i++)
		ret = registry_kind(r, &kinds[i]);
	if (ret < 0)
		registry_destroy(r);
	else
		*ret_registry = r;
	return ret;
}

/* Calls no remove(): the parts that own the kinds may be gone already. */
void registry_destroy(struct registry *r)
{
	struct kind *k, *next_kind;
	struct row *row, *next;
	struct service *s, *next_service;

	if (r == NULL)
		return;
	DL_FOREACH_SAFE(r->rows, row, next) {
		free(row->whole);
		free(row);
	}
	LL_FOREACH_SAFE(r->kinds, k, next_kind)
		free(k);
	LL_FOREACH_SAFE(r->services, s, next_service) {
		free(s->copy);
		free(s);
	}
	free(r);
}
