/* SPDX-License-Identifier: Apache-2.0
 *
 * object.c - objects as a test makes and reads them.
 */
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "host.h"
#include "object/objects.h"
#include "store/inside.h"
#include "registry/registry.h"

struct keel_mock *host_of_obj(const struct keel_obj *o)
{
	return host_of(((const struct store *)objects_store(o))->parts);
}

static const struct keel_object_api *api_of(struct keel_mock *mock)
{
	return registry_service(mock->parts.registry, "object", 0, NULL, NULL);
}

struct keel_obj *keel_mock_draft(struct keel_mock *mock, const char *klass, const char *id)
{
	struct keel_err err;
	struct keel_obj *o;

	class_stand_in(mock, klass);
	o = api_of(mock)->draft(&mock->self.pub, klass, id, &err);
	if (o == NULL)
		die("%s", err.text);
	return o;
}

struct keel_obj *keel_mock_object(struct keel_mock *mock, const char *klass, const char *id)
{
	struct keel_obj *o = keel_mock_draft(mock, klass, id);

	if (api_of(mock)->publish(o) != 0)
		die("no memory");
	return o;
}

static const struct keel_attr *attr_named(struct keel_mock *mock, struct keel_obj *o, const char *name)
{
	const struct keel_object_api *api = api_of(mock);
	const struct keel_attr *a;

	if (o->flags & OBJ_DEAD)
		die("%s %s is destroyed", objects_class(o), objects_id(o));
	a = api->attr(&mock->self.pub, objects_class(o), name);
	if (a == NULL)
		die("class %s has no attribute '%s'; keel_mock_attr() makes one", objects_class(o), name);
	return a;
}

int32_t keel_mock_set(struct keel_obj *o, const char *attr, const char *key, const char *text)
{
	struct keel_mock *mock = host_of_obj(o);
	const struct keel_object_api *api = api_of(mock);
	const struct keel_attr *a = attr_named(mock, o, attr);
	struct keel_changes *set;
	struct keel_err err;
	int32_t code;

	if (text == NULL) {
		api->unset(o, a, key);
		return 0;
	}
	set = api->changes(&mock->self.pub);
	code = api->change_text(set, o, a, KEEL_SET, key, text, &err);
	if (code == 0)
		api->commit(set);
	else
		api->discard(set);
	return code;
}

int32_t keel_mock_change(struct keel_obj *o, const struct keel_session *s, const char *attr, const char *key,
			 const char *text, int32_t op, struct keel_err *err)
{
	struct keel_mock *mock = host_of_obj(o);
	const struct keel_object_api *api = api_of(mock);
	struct keel_changes *set = api->changes(&mock->self.pub);
	int32_t code;

	(void)attr_named(mock, o, attr);
	if (s == NULL)
		s = keel_mock_session(mock, "test", KEEL_EVERYBODY);
	code = api->change(set, s, o,
			   &(struct keel_attrop){ .name = attr, .key = key, .value = text, .op = op }, err);
	if (code == 0)
		api->commit(set);
	else
		api->discard(set);
	return code;
}

const char *keel_mock_text(struct keel_obj *o, const char *attr, const char *key)
{
	struct keel_mock *mock = host_of_obj(o);
	const struct keel_object_api *api = api_of(mock);
	const struct keel_attr *a = attr_named(mock, o, attr);
	int32_t len = api->text(o, a, key, NULL, 0);
	char *text;

	if (len < 0)
		return NULL;
	text = host_alloc((size_t)len + 1);
	api->text(o, a, key, text, (uint32_t)len + 1);
	return ring(mock, text);
}

void keel_mock_destroy(struct keel_obj *o)
{
	struct keel_mock *mock = host_of_obj(o);
	struct hooks *h = mock->parts.hooks;
	struct op *op;

	api_of(mock)->destroy(o);
	DL_FOREACH(h->parked, op)
		if (!copy_valid(h, op->copy))
			op_ready(op);
}
