/* SPDX-License-Identifier: Apache-2.0
 *
 * service.c - function tables by name: the kernel's groups and SERVICE rows of modules.
 *
 * Callers get a copy of a module's table, whose `self` is the module; it is freed with the row. It has room for any
 * table: a function that the offering module's headers do not have is NULL there. kernel/module counts the
 * users of a table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "registry/inside.h"
#include "util/err.h"

/* Every table begins so; `self` only in those of modules. */
struct table_head {
	uint32_t size, version;
	struct keel_mod *self;
};

#define TABLE_MAX 65536u
#define TABLE_ROOM 2048u /* 256 functions: more than a table will have for long */

static struct service *service_find(const struct registry *r, const char *name)
{
	struct service *s;

	for (s = r->services; s != NULL && strcmp(s->name, name) != 0; s = s->next)
		;
	return s;
}

static struct service *service_push(struct registry *r, const char *name, const void *table)
{
	struct service *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->name = name;
	s->table = table;
	LL_PREPEND(r->services, s);
	return s;
}

int registry_offer(struct registry *r, const char *name, const void *table)
{
	struct service *s;

	if (service_find(r, name) != NULL)
		return -EEXIST;
	s = service_push(r, name, table);
	if (s == NULL)
		return -ENOMEM;
	s->minor = ((const struct table_head *)table)->version;
	return 0;
}

static int service_check(const struct registry *r, const struct owner *owner,
			 const struct keel_service_def *def, struct keel_err *err)
{
	const struct table_head *head;
	const struct service *taken;

	if (def->name == NULL || def->name[0] == '\0')
		return err_set(err, -EINVAL, "a SERVICE row of module %s has no name",
			       owner->pub.name);
	head = def->table;
	if (head == NULL || head->size < sizeof(*head) || head->size > TABLE_MAX)
		return err_set(err, -EINVAL,
			       "service '%s' of module %s has no table, or one whose size is wrong; "
			       "set .size to sizeof the table",
			       def->name, owner->pub.name);
	taken = service_find(r, def->name);
	if (taken != NULL)
		return err_set(err, -EEXIST,
			       "service '%s' of module %s is already offered by %s; enable only one "
			       "of the two",
			       def->name, owner->pub.name, owner_name(taken->owner));
	return 0;
}

int service_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	struct registry *r = arg;
	const struct keel_service_def *def = row;
	int ret = service_check(r, owner, def, err);
	struct table_head *copy;
	struct service *s;
	uint32_t size;

	if (ret < 0)
		return ret;
	size = ((const struct table_head *)def->table)->size;
	copy = calloc(1, size > TABLE_ROOM ? size : TABLE_ROOM);
	s = copy != NULL ? service_push(r, def->name, copy) : NULL;
	if (s == NULL) {
		free(copy);
		return err_set(err, -ENOMEM, "no memory for service '%s'", def->name);
	}
	memcpy(copy, def->table, size);
	copy->self = &owner->pub;
	s->copy = copy;
	s->owner = owner;
	s->minor = def->version;
	return 0;
}

void service_remove(void *arg, struct owner *owner, const void *row)
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
		err_set(err, -ENOENT,
			"no module offers the service '%s'; enable the module that does", name);
		return NULL;
	}
	if (s->minor < minor) {
		err_set(err, -EPROTO,
			"service '%s' of %s has version %u, at least %u is needed; upgrade %s", name,
			owner_name(s->owner), s->minor, minor, owner_name(s->owner));
		return NULL;
	}
	if (ret_owner != NULL)
		*ret_owner = s->owner;
	return s->table;
}
