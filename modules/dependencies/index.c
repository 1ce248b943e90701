/* SPDX-License-Identifier: Apache-2.0
 *
 * index.c - who waits for whom. Built from the attribute's text; the text is the truth.
 *
 *   child --clause--> after... items --link--> parent (known by id alone: it need not exist yet)
 */
#include "dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#define SHOWN_MAX 1000 /* children of a type that their parent shows */

struct child *child_find(struct state *st, const char *id)
{
	const int64_t key = job_key(id);
	struct child *c;

	HASH_FIND(hh, st->children, &key, sizeof(key), c);
	return c;
}

struct parent *parent_find(struct state *st, const char *id)
{
	const int64_t key = job_key(id);
	struct parent *p;

	HASH_FIND(hh, st->parents, &key, sizeof(key), p);
	return p;
}

static struct parent *parent_get(struct state *st, const char *id)
{
	struct parent *p = parent_find(st, id);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || !(p->id = strdup(id))) {
		free(p);
		return NULL;
	}
	p->key = job_key(id);
	HASH_ADD(hh, st->parents, key, sizeof(p->key), p);
	if (p->hh.tbl)
		return p;
	free(p->id);
	free(p);
	return NULL;
}

static void parent_leave(struct state *st, struct parent *p)
{
	if (p->links)
		return;
	HASH_DEL(st->parents, p);
	free(p->id);
	free(p);
}

static int link_add(struct state *st, struct child *c, const struct item *item)
{
	char id[ID_MAX];
	struct parent *p;
	struct link *l;

	item_id(item, st->server, id);
	p = parent_get(st, id);
	l = p ? calloc(1, sizeof(*l)) : NULL;
	if (!l) {
		if (p)
			parent_leave(st, p);
		return -ENOMEM;
	}
	l->child = c;
	l->type = (enum type)item->type;
	l->parent = p;
	l->more = c->links;
	c->links = l;
	DL_APPEND(p->links, l);
	return 0;
}

void child_drop(struct state *st, struct child *c)
{
	while (c->links) {
		struct link *l = c->links;

		c->links = l->more;
		DL_DELETE(l->parent->links, l);
		parent_leave(st, l->parent);
		free(l);
	}
	HASH_DEL(st->children, c);
	clause_fini(&c->clause);
	free(c->id);
	free(c);
}

int child_set(struct state *st, const char *id, struct clause *clause)
{
	struct child *c = child_find(st, id);
	struct fate fate = c ? c->fate : (struct fate){ 0 };

	if (c)
		child_drop(st, c);
	if (!clause->n) {
		clause_fini(clause);
		return 0;
	}
	c = calloc(1, sizeof(*c));
	if (!c || !(c->id = strdup(id))) {
		free(c);
		clause_fini(clause);
		return -ENOMEM;
	}
	c->fate = fate;
	c->clause = *clause;
	*clause = (struct clause){ 0 };
	c->key = job_key(id);
	HASH_ADD(hh, st->children, key, sizeof(c->key), c);
	if (!c->hh.tbl) {
		clause_fini(&c->clause);
		free(c->id);
		free(c);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->clause.n; i++) {
		const struct item *item = &c->clause.item[i];

		if (item->type == ON || type_is_before((enum type)item->type))
			continue;
		if (link_add(st, c, item)) {
			child_drop(st, c);
			return -ENOMEM;
		}
	}
	return 0;
}

void keep_fate(struct state *st, const char *id, struct fate fate)
{
	struct parent *p = parent_find(st, id);
	struct child *child = child_find(st, id);

	if (p)
		p->fate = fate;
	if (child)
		child->fate = fate;
}

static int shown_of(const struct parent *p, enum type type, struct clause *c)
{
	uint32_t left = SHOWN_MAX;

	for (const struct link *l = p->links; l && left; l = l->next) {
		if (l->type != type)
			continue;
		left--;
		if (clause_add(c, type_mirror(type), l->child->id, type == RUN_ONE))
			return -ENOMEM;
	}
	return 0;
}

int child_shown(struct state *st, const char *id, struct clause *ret)
{
	const struct child *own = child_find(st, id);
	const struct parent *p = parent_find(st, id);
	struct clause c = { 0 };
	int rc = 0;

	for (uint32_t i = 0; own && i < own->clause.n && !rc; i++)
		rc = clause_append(&c, &own->clause.item[i]);
	for (int type = 0; p && type < TYPES && !rc; type++)
		if (type_mirror((enum type)type) != TYPES)
			rc = shown_of(p, (enum type)type, &c);
	if (rc)
		clause_fini(&c);
	else
		*ret = c;
	return rc;
}

bool child_waits(const struct child *c)
{
	for (uint32_t i = 0; i < c->clause.n; i++)
		if (type_waits((enum type)c->clause.item[i].type))
			return true;
	return false;
}

