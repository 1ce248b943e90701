/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - contributions and services: what modules bring, and whom it is handed to.
 *
 * A row of a kind that nobody declares waits, and can be looked at. Rows that a further instance of a
 * module brings are the same rows: the first one that is left answers for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"
#include "keel/sized.h"

static int kind_add(struct mod *m, const void *row, struct keel_err *err);
static void kind_remove(struct mod *m, const void *row);

static const struct built_in {
	const char *kind;
	int (*add)(struct mod *m, const void *row, struct keel_err *err);
	void (*remove)(struct mod *m, const void *row);
} built_ins[] = {
	{ "CLASS", klass_add, klass_remove },	  { "TYPE", type_add, type_remove },
	{ "ATTR", attr_add, attr_remove },	  { "REQUEST", request_add, request_remove },
	{ "SERVICE", service_add, service_remove }, { "KIND", kind_add, kind_remove },
	{ "POINT", point_row_add, point_row_remove }, { "SCOPE", scope_row_add, scope_row_remove },
};

static const struct built_in *built_in_of(const char *kind)
{
	for (uint32_t i = 0; i < KEEL_COUNT(built_ins); i++)
		if (strcmp(built_ins[i].kind, kind) == 0)
			return &built_ins[i];
	return NULL;
}

static struct kind *kind_find(struct keel_mock *mock, const char *name)
{
	struct kind *k = mock->kinds;

	while (k != NULL && strcmp(k->def.name, name) != 0)
		k = k->next;
	return k;
}

/* ---- handing over and taking back ------------------------------------------------------------------------ */
/* The row as its kind knows it: as large as that was when the kind was built. */
static const void *row_whole(struct row *r, const struct kind *k)
{
	if (k->def.row_size == 0)
		return r->def;
	if (r->whole == NULL)
		r->whole = make(k->def.row_size);
	keel_sized(r->whole, k->def.row_size, r->def);
	return r->whole;
}

static int row_give(struct keel_mock *mock, struct row *r, struct keel_err *err)
{
	const struct built_in *b = built_in_of(r->kind);
	struct kind *k = b == NULL ? kind_find(mock, r->kind) : NULL;
	int ret = 0;

	if (r->is_double)
		return 0;
	if (b != NULL) {
		ret = b->add(r->owner, r->def, err);
		r->is_built_in = ret == 0;
	} else if (k != NULL && r->given == NULL) {
		IN(k->owner, ret = k->def.add(&k->owner->pub, &r->owner->pub, row_whole(r, k), err));
		r->given = ret == 0 ? k : NULL;
	}
	return ret;
}

static void row_take(struct row *r)
{
	struct kind *k = r->given;

	r->given = NULL;
	if (k != NULL)
		IN(k->owner, k->def.remove(&k->owner->pub, &r->owner->pub, r->whole != NULL ? r->whole : r->def));
	free(r->whole);
	r->whole = NULL;
	if (r->is_built_in)
		built_in_of(r->kind)->remove(r->owner, r->def);
	r->is_built_in = false;
}

static void kind_close(struct keel_mock *mock, const struct kind *k)
{
	struct row *r;

	DL_FOREACH(mock->rows, r)
		if (r->given == k)
			row_take(r);
}

static int kind_add(struct mod *m, const void *row, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	const struct keel_kind_def *def = row;
	struct kind *k;
	struct row *r;
	int ret = 0;

	if (def->size < sizeof(*def) || def->name == NULL || def->name[0] == '\0' || def->add == NULL ||
	    def->remove == NULL)
		return err_set(err, -EINVAL, "kind '%s' of module %s has no name, no add or no remove function",
			       def->name != NULL ? def->name : "", m->desc.name);
	k = kind_find(mock, def->name);
	if (k != NULL || built_in_of(def->name) != NULL)
		return err_set(err, -EEXIST, "kind '%s' of module %s is already declared by %s; enable only one "
			       "of the two", def->name, m->desc.name,
			       k != NULL ? k->owner->desc.name : "the kernel");
	k = make(sizeof(*k));
	k->def = *def;
	k->owner = m;
	k->row = row;
	LL_PREPEND(mock->kinds, k);
	DL_FOREACH(mock->rows, r)
		if (ret == 0 && r->given == NULL && strcmp(r->kind, def->name) == 0)
			ret = row_give(mock, r, err);
	if (ret < 0)
		kind_remove(m, row);
	return ret;
}

static void kind_remove(struct mod *m, const void *row)
{
	struct keel_mock *mock = mock_of(m);
	struct kind *k = mock->kinds;

	while (k != NULL && k->row != row)
		k = k->next;
	if (k == NULL)
		return;
	kind_close(mock, k);
	LL_DELETE(mock->kinds, k);
	free(k);
}

/* ---- rows of a module --------------------------------------------------------------------------------------- */
static bool is_there(const struct keel_mock *mock, const void *def)
{
	const struct row *r;

	DL_FOREACH(mock->rows, r)
		if (r->def == def && !r->is_double)
			return true;
	return false;
}

static int row_add(struct mod *m, const struct keel_contrib *c, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	struct row *r;
	int ret;

	if (c->kind == NULL || c->kind[0] == '\0' || c->def == NULL)
		return err_set(err, -EINVAL, "a contribution of module %s has no kind or no definition",
			       m->desc.name);
	r = make(sizeof(*r));
	*r = (struct row){ .owner = m, .kind = c->kind, .def = c->def, .is_double = is_there(mock, c->def) };
	ret = row_give(mock, r, err);
	if (ret != 0) {
		if (err != NULL && err->text[0] == '\0')
			err_set(err, ret, "kind %s refused a row of module %s", c->kind, m->desc.name);
		free(r->whole);
		free(r);
		return ret < 0 ? ret : -EINVAL;
	}
	DL_APPEND(mock->rows, r);
	return 0;
}

int rows_add(struct mod *m, struct keel_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->desc.n_contribs && ret == 0; i++)
		ret = row_add(m, &m->desc.contribs[i], err);
	if (ret < 0)
		rows_remove(m);
	return ret;
}

/* Another instance takes a row over that is going. */
static void hand_on(struct keel_mock *mock, const void *def)
{
	struct row *r;

	DL_FOREACH(mock->rows, r)
		if (r->def == def)
			break;
	if (r == NULL)
		return;
	r->is_double = false;
	row_give(mock, r, NULL);
}

static struct row *row_last_of(const struct keel_mock *mock, const struct mod *m)
{
	struct row *r, *found = NULL;

	DL_FOREACH(mock->rows, r)
		if (r->owner == m)
			found = r;
	return found;
}

void rows_remove(struct mod *m)
{
	struct keel_mock *mock = mock_of(m);
	struct row *r;

	while ((r = row_last_of(mock, m)) != NULL) {
		row_take(r);
		DL_DELETE(mock->rows, r);
		if (!r->is_double)
			hand_on(mock, r->def);
		free(r);
	}
}

const void *keel_mock_row(struct keel_mock *mock, const char *kind, uint32_t i, struct keel_mod **ret_owner)
{
	const struct row *r;

	DL_FOREACH(mock->rows, r)
		if (!r->is_double && strcmp(r->kind, kind) == 0 && i-- == 0)
			break;
	if (r != NULL && ret_owner != NULL)
		*ret_owner = &r->owner->pub;
	return r != NULL ? r->def : NULL;
}

/* ---- services ------------------------------------------------------------------------------------------------- */
struct table { /* what each begins with; self only in those of modules */
	uint32_t size, version;
	struct keel_mod *self;
};

static struct service *service_named(struct keel_mock *mock, const char *name)
{
	struct service *s = mock->services;

	while (s != NULL && strcmp(s->name, name) != 0)
		s = s->next;
	return s;
}

static void offer(struct keel_mock *mock, const char *name, const void *table)
{
	struct service *s = make(sizeof(*s));

	*s = (struct service){ .name = dup_text(name), .table = table };
	LL_PREPEND(mock->services, s);
}

void services_init(struct keel_mock *mock)
{
	offer(mock, "core", &core_api);
	offer(mock, "object", &object_api);
	offer(mock, "call", &call_api);
	offer(mock, "hook", &hook_api);
	offer(mock, "msg", &msg_api);
	offer(mock, "request", &request_api);
	offer(mock, "link", &link_api);
	offer(mock, "blob", &blob_api);
}

static void service_free(struct service *s)
{
	free(s->copy);
	free(s->name);
	free(s);
}

void services_fini(struct keel_mock *mock)
{
	while (mock->services != NULL) {
		struct service *s = mock->services;

		mock->services = s->next;
		service_free(s);
	}
}

static void service_push(struct mod *m, const char *name, uint32_t version, const void *table, const void *row)
{
	const struct table *head = table;
	struct service *s = make(sizeof(*s));
	struct table *copy = memcpy(make(head->size), table, head->size);

	copy->self = &m->pub;
	*s = (struct service){ .name = dup_text(name), .version = version, .table = copy, .copy = copy,
			       .owner = m, .row = row };
	LL_PREPEND(mock_of(m)->services, s);
}

int service_add(struct mod *m, const void *row, struct keel_err *err)
{
	const struct keel_service_def *def = row;
	const struct table *head = def->table;
	const struct service *other;

	if (def->size < sizeof(*def) || def->name == NULL || def->name[0] == '\0')
		return err_set(err, -EINVAL, "a SERVICE row of module %s has no name", m->desc.name);
	if (head == NULL || head->size < sizeof(*head) || head->size > 65536)
		return err_set(err, -EINVAL, "service '%s' of module %s has no table, or one whose size is "
			       "wrong; set .size to sizeof the table", def->name, m->desc.name);
	other = service_named(mock_of(m), def->name);
	if (other != NULL)
		return err_set(err, -EEXIST, "service '%s' of module %s is already offered by %s; enable only "
			       "one of the two", def->name, m->desc.name,
			       other->owner != NULL ? other->owner->desc.name : "the kernel");
	service_push(m, def->name, def->version, def->table, row);
	return 0;
}

void service_remove(struct mod *m, const void *row)
{
	struct service *s, *next;

	LL_FOREACH_SAFE(mock_of(m)->services, s, next) {
		if (s->row != row)
			continue;
		LL_DELETE(mock_of(m)->services, s);
		service_free(s);
	}
}

const void *service_find(struct keel_mock *mock, const char *name, uint32_t minor, struct mod **ret_owner,
			 struct keel_err *err)
{
	const struct service *s = service_named(mock, name);

	if (s == NULL) {
		err_set(err, -ENOENT, "nobody offers the service '%s'; enable the module that does", name);
		return NULL;
	}
	if (s->version < minor) {
		const char *by = s->owner != NULL ? s->owner->desc.name : "the kernel";

		err_set(err, -EPROTO, "service '%s' of %s has version %u, at least %u is needed; upgrade %s",
			name, by, s->version, minor, by);
		return NULL;
	}
	if (ret_owner != NULL)
		*ret_owner = s->owner;
	return s->table;
}

void keel_mock_service(struct keel_mock *mock, const char *name, const void *table)
{
	if (service_named(mock, name) != NULL)
		die("there is a service '%s' already", name);
	service_push(&mock->self, name, ((const struct table *)table)->version, table, NULL);
}

const void *keel_mock_group(struct keel_mock *mock, const char *name)
{
	return service_find(mock, name, 0, NULL, NULL);
}
