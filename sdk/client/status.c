/* SPDX-License-Identifier: Apache-2.0
 *
 * status.c - status replies as batch_status objects.
 *
 * An object is one allocation: the batch_status, its attrl entries, then all strings. So a list of
 * 100,000 jobs is 100,000 allocations and as many frees, not millions.
 */
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "resv_state.h"

struct batch_status *status_block(size_t n, size_t text_size, struct attrl **ret_attribs,
				  char **ret_text)
{
	struct batch_status *one;

	one = malloc(sizeof(*one) + n * sizeof(struct attrl) + text_size);
	if (one == NULL)
		return NULL;
	*ret_attribs = (struct attrl *)(one + 1);
	*ret_text = (char *)(*ret_attribs + n);
	*one = (struct batch_status){ .attribs = n == 0 ? NULL : *ret_attribs };
	return one;
}

void pbs_statfree(struct batch_status *list)
{
	while (list != NULL) {
		struct batch_status *next = list->next;

		free(list);
		list = next;
	}
}

static int text_size(const struct pack_value *value, size_t *size)
{
	if (value->kind == PACK_NIL)
		return 0;
	if (value->kind != PACK_STR)
		return -EPROTO;
	*size += (size_t)value->n + 1;
	return 0;
}

/* Returns NULL for nil; a NUL inside ends the text early for C callers, which is harmless. */
static char *text_put(const struct pack_value *value, char **at)
{
	char *text = *at;

	if (value->kind == PACK_NIL)
		return NULL;
	memcpy(text, value->text, value->n);
	text[value->n] = '\0';
	*at += (size_t)value->n + 1;
	return text;
}

/* Adds up the texts of an object; -EPROTO: an attribute is not [name, resource or nil, value]. */
static int object_size(const struct pack_value *name, const struct pack_value *attributes,
		       size_t *ret_size)
{
	size_t size = 0;

	if (name->kind != PACK_STR || text_size(name, &size) < 0)
		return -EPROTO;
	for (uint32_t i = 0; i < attributes->n; i++) {
		const struct pack_value *a = &attributes->at[i];

		if (a->kind != PACK_ARRAY || a->n < 3 || a->at[0].kind != PACK_STR ||
		    text_size(&a->at[0], &size) < 0 || text_size(&a->at[1], &size) < 0 ||
		    text_size(&a->at[2], &size) < 0)
			return -EPROTO;
	}
	*ret_size = size;
	return 0;
}

/* An object is [name, [attribute, ...]]. */
static int object_decode(const struct pack_value *object, struct batch_status **ret)
{
	const struct pack_value *attributes;
	struct batch_status *one;
	struct attrl *entry;
	size_t size;
	char *at;

	if (object->kind != PACK_ARRAY || object->n < 2 ||
	    object->at[1].kind != PACK_ARRAY)
		return -EPROTO;
	attributes = &object->at[1];
	if (object_size(&object->at[0], attributes, &size) < 0)
		return -EPROTO;
	one = status_block(attributes->n, size, &entry, &at);
	if (one == NULL)
		return -ENOMEM;
	one->name = text_put(&object->at[0], &at);
	for (uint32_t i = 0; i < attributes->n; i++, entry++) {
		const struct pack_value *part = attributes->at[i].at;

		entry->name = text_put(&part[0], &at);
		entry->resource = text_put(&part[1], &at);
		entry->value = text_put(&part[2], &at);
		entry->op = SET;
		entry->next = i + 1 < attributes->n ? entry + 1 : NULL;
	}
	*ret = one;
	return 0;
}

struct taking {
	status_taker *take;
	void *arg;
	bool resv;
};

static int objects_part(const struct pack_value *body, void *arg)
{
	const struct pack_value *objects = pack_get(body, "objects");
	struct taking *t = arg;
	struct batch_status *one;
	int ret = 0;

	if (objects == NULL)
		return 0;
	if (objects->kind != PACK_ARRAY)
		return -EPROTO;
	for (uint32_t i = 0; i < objects->n && ret == 0; i++) {
		ret = object_decode(&objects->at[i], &one);
		if (ret == 0 && t->resv)
			resv_numbers(one);
		if (ret == 0)
			ret = t->take(one, t->arg);
	}
	return ret;
}

int status_run(int c, const struct status_query *q, status_taker *take, void *arg)
{
	struct taking t = { take, arg, q->klass != NULL && strcmp(q->klass, "resv") == 0 };
	struct listener l = { .part = objects_part, .arg = &t };

	return CALL(c, "status", &l, arg_str("class", q->klass),
		    arg_str("id", q->id == NULL ? "" : q->id), arg_want("want", q->want),
		    arg_attrs("select", q->select), arg_str("extend", q->extend));
}

static int append(struct batch_status *one, void *arg)
{
	struct batch_status ***tail = arg;

	**tail = one;
	*tail = &one->next;
	return 0;
}

struct batch_status *status_list(int c, const struct status_query *q)
{
	struct batch_status *first = NULL, **tail = &first;

	if (status_run(c, q, append, &tail) == 0)
		return first;
	pbs_statfree(first);
	return NULL;
}
