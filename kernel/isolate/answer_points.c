/* SPDX-License-Identifier: Apache-2.0
 *
 * answer_points.c - points that a module publishes from a process of its own: they belong to the module, and stay while one
 * process takes over from another.
 */
#include <stdlib.h>
#include <string.h>

#include "isolate/asked.h"

#define DEFINED_MAX 16
#define DEFINED_BYTES 65536

struct defined {
	struct defined *next;
	struct keel_point_def def;
	struct keel_field fields[TALK_FIELDS_MAX];
	char bytes[]; /* its strings */
};

void defined_free(struct defined *list)
{
	struct defined *next;

	for (; list != NULL; list = next) {
		next = list->next;
		free(list);
	}
}

void ask_point(struct asked *a)
{
	const char *name = talk_text(a->in);

	asked_code(a, talk_bad(a->in) ? 0 : a->w->hook->point(a->w->mod, name));
}

/* A copy of the rest of the message, and the definition that is in it. */
static struct defined *defined_take(struct talk_in *in)
{
	size_t len = (size_t)(in->r.end - in->r.at);
	struct defined *d = len <= DEFINED_BYTES ? calloc(1, sizeof(*d) + len) : NULL;
	struct talk_in own;

	if (d == NULL)
		return NULL;
	memcpy(d->bytes, in->r.at, len);
	talk_open(&own, d->bytes, (uint32_t)len);
	talk_point(&own, &d->def, d->fields);
	in->r.bad |= !talk_done(&own);
	return d;
}

static struct defined *defined_find(const struct whom *w, const char *name)
{
	struct defined *d = *w->defined;

	while (d != NULL && name != NULL && strcmp(d->def.name, name) != 0)
		d = d->next;
	return name != NULL ? d : NULL;
}

static void defined_drop(const struct whom *w, struct defined *d)
{
	struct defined **at = w->defined;

	while (*at != d)
		at = &(*at)->next;
	*at = d->next;
	free(d);
}

static bool texts_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same(const struct keel_point_def *a, const struct keel_point_def *b)
{
	bool equal = a->kind == b->kind && texts_equal(a->doc, b->doc) && a->event_size == b->event_size &&
		     a->n_fields == b->n_fields && (a->fields == NULL) == (b->fields == NULL);

	for (uint32_t i = 0; equal && a->fields != NULL && i < a->n_fields; i++)
		equal = a->fields[i].type == b->fields[i].type && a->fields[i].offset == b->fields[i].offset &&
			texts_equal(a->fields[i].name, b->fields[i].name);
	return equal;
}

/* The id of the point that was published with this definition; 0: it is withdrawn. */
static uint32_t defined_id(const struct whom *w, const struct defined *d)
{
	struct keel_point_def p = { .size = sizeof(p) };
	uint32_t id = w->hook->point(w->mod, d->def.name);

	return id != 0 && w->hook->about(w->mod, id, &p) == 0 && p.name == d->def.name ? id : 0;
}

static uint32_t defined_count(const struct whom *w)
{
	const struct defined *d;
	uint32_t n = 0;

	for (d = *w->defined; d != NULL; d = d->next)
		n++;
	return n;
}

/* Another process of the module publishes what the one before it did: it is there. `d` is moved. */
static uint32_t publish(const struct whom *w, struct defined *d, struct keel_err *err)
{
	struct defined *before = defined_find(w, d->def.name);
	uint32_t id = before != NULL ? defined_id(w, before) : 0;

	if (id != 0 && same(&before->def, &d->def)) {
		free(d);
		return id;
	}
	if (before != NULL && id == 0)
		defined_drop(w, before);
	id = 0;
	if (defined_count(w) < DEFINED_MAX)
		id = w->hook->define(w->mod, &d->def, err);
	else
		*err = (struct keel_err){ .text = "a module in a process of its own publishes too many points" };
	if (id == 0) {
		free(d);
		return 0;
	}
	d->next = *w->defined;
	*w->defined = d;
	return id;
}

void ask_define(struct asked *a)
{
	struct defined *d = defined_take(a->in);
	struct keel_err err = { .text = "no memory" };
	uint32_t id = 0;

	if (d != NULL && talk_bad(a->in)) {
		free(d);
		return;
	}
	if (d != NULL)
		id = publish(a->w, d, &err);
	asked_err(a, (int32_t)id, &err);
}
