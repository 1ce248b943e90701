/* SPDX-License-Identifier: Apache-2.0
 *
 * klass.c - classes of vnodes: the same queue, partition and values of what is not counted, whatever
 * their names and amounts. A site of thousands of vnodes has a few; what a job wants of strings and
 * booleans is compared with one vnode of each.
 *
 * And hosts by name.
 */
#include "trial.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct klasses {
	uint32_t n;
	uint32_t *like;  /* per class: one of its vnodes */
	uint32_t *host, n_host; /* hash of host names: vnode index + 1 */
};

/* Values of host and vnode differ from vnode to vnode; all others make the class. */
static bool is_name(const struct keel_resource *res)
{
	return (res->flags & KEEL_RES_BUILTIN) &&
	       (strcmp(res->name, "host") == 0 || strcmp(res->name, "vnode") == 0);
}

static uint32_t mix(uint32_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return (h ^ 0xff) * 16777619u;
}

static uint32_t klass_hash(const struct vnode *v)
{
	uint32_t h = mix(mix(2166136261u, v->queue), v->partition), i;

	for (i = 0; i < v->n_other; i++) {
		const struct keel_res_value *o = &v->other[i];

		if (is_name(o->res))
			continue;
		h = mix(mix(h, o->res->name), o->text);
		h = (h ^ (uint32_t)(int64_t)o->n) * 16777619u;
	}
	return h;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static uint32_t skip_names(const struct vnode *v, uint32_t i)
{
	while (i < v->n_other && is_name(v->other[i].res))
		i++;
	return i;
}

static bool is_like(const struct vnode *a, const struct vnode *b)
{
	uint32_t i = skip_names(a, 0), k = skip_names(b, 0);

	if (!same_text(a->queue, b->queue) || !same_text(a->partition, b->partition))
		return false;
	while (i < a->n_other && k < b->n_other) {
		const struct keel_res_value *x = &a->other[i], *y = &b->other[k];

		if (x->res != y->res || x->n != y->n || !same_text(x->text, y->text))
			return false;
		i = skip_names(a, i + 1);
		k = skip_names(b, k + 1);
	}
	return i >= a->n_other && k >= b->n_other;
}

static uint32_t room_for(uint32_t n)
{
	uint32_t room = 16;

	while (room < n * 2)
		room *= 2;
	return room;
}

static bool number(struct snapshot *s, struct klasses *k)
{
	uint32_t room = room_for(s->n), i, at;
	uint32_t *table = calloc(room, sizeof(*table)); /* class + 1 */

	if (!table)
		return false;
	for (i = 0; i < s->n; i++) {
		struct vnode *v = &s->node[i];

		for (at = klass_hash(v) & (room - 1);
		     table[at] && !is_like(&s->node[k->like[table[at] - 1]], v);
		     at = (at + 1) & (room - 1))
			;
		if (!table[at]) {
			k->like[k->n] = i;
			table[at] = ++k->n;
		}
		v->klass = table[at] - 1;
	}
	free(table);
	return true;
}

/* ---- hosts by name ------------------------------------------------------------------------------- */

static const char *host_text(const struct vnode *v)
{
	uint32_t i;

	for (i = 0; i < v->n_other; i++)
		if (is_name(v->other[i].res) && strcmp(v->other[i].res->name, "host") == 0)
			return v->other[i].text ? v->other[i].text : "";
	return v->name;
}

/* Where the name stands, or would stand. */
static uint32_t *host_at(const struct snapshot *s, const char *name)
{
	const struct klasses *k = s->klasses;
	uint32_t at = 2166136261u;
	const char *p;

	for (p = name; *p; p++)
		at = (at ^ (unsigned char)tolower((unsigned char)*p)) * 16777619u;
	at &= k->n_host - 1;
	while (k->host[at] && strcasecmp(host_text(&s->node[k->host[at] - 1]), name) != 0)
		at = (at + 1) & (k->n_host - 1);
	return &k->host[at];
}

uint32_t host_named(const struct snapshot *s, const char *host)
{
	uint32_t i = *host_at(s, host);

	return i ? s->node[i - 1].host : NO_HOST;
}

/* ---- all ------------------------------------------------------------------------------------------ */

void klasses_free(struct klasses *k)
{
	if (!k)
		return;
	free(k->like);
	free(k->host);
	free(k);
}

void klasses_make(struct snapshot *s)
{
	struct klasses *k = calloc(1, sizeof(*k));
	uint32_t i, *at;

	klasses_free(s->klasses);
	s->klasses = NULL;
	if (!k)
		return;
	k->like = calloc(s->n + 1, sizeof(*k->like));
	k->n_host = room_for(s->n);
	k->host = calloc(k->n_host, sizeof(*k->host));
	if (!k->like || !k->host || !number(s, k)) {
		klasses_free(k);
		return;
	}
	s->klasses = k;
	for (i = 0; i < s->n; i++)
		if (!*(at = host_at(s, host_text(&s->node[i]))))
			*at = i + 1;
}

uint32_t klasses_count(const struct snapshot *s)
{
	return s->klasses->n;
}

const struct vnode *klass_like(const struct snapshot *s, uint32_t klass)
{
	return &s->node[s->klasses->like[klass]];
}
