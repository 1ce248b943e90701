/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - exec_vnode: (n1:ncpus=2:mem=1024kb+n2:ncpus=1)+(n1:ncpus=1)
 */
#include "resources.h"

#include <stdlib.h>
#include <string.h>

#define VNODE_NAME_MAX 255

struct growing {
	struct keel_exec_part *part;
	uint32_t n, room;
};

static int32_t bad(struct keel_err *err)
{
	return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
}

static struct keel_exec_part *next_part(struct growing *g)
{
	if (g->n == g->room) {
		uint32_t room = g->room ? g->room * 2 : 4;
		struct keel_exec_part *bigger = reallocarray(g->part, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		g->part = bigger;
		g->room = room;
	}
	memset(&g->part[g->n], 0, sizeof(g->part[0]));
	return &g->part[g->n++];
}

static int32_t parse_values(const struct state *st, const char **at, struct keel_exec_part *part,
			    struct keel_err *err)
{
	while (**at == ':') {
		struct keel_res_value *bigger;
		int32_t code;

		(*at)++;
		bigger = reallocarray((void *)part->v, part->n + 1, sizeof(*bigger));
		if (!bigger)
			return fail(err, PBSE_SYSTEM, "System error: out of memory");
		part->v = bigger;
		code = pair_parse(st, at, ":+)", &bigger[part->n], err);
		if (code)
			return code;
		part->n++;
	}
	return 0;
}

static int32_t parse_part(const struct state *st, const char **at, uint32_t chunk, struct growing *g,
			  struct keel_err *err)
{
	size_t len = strcspn(*at, ":+()");
	struct keel_exec_part *part;

	if (len == 0 || len > VNODE_NAME_MAX)
		return bad(err);
	part = next_part(g);
	if (!part || !(part->vnode = strndup(*at, len)))
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	part->chunk = chunk;
	*at += len;
	return parse_values(st, at, part, err);
}

static int32_t parse_chunk(const struct state *st, const char **at, uint32_t chunk,
			   struct growing *g, struct keel_err *err)
{
	int32_t code;

	if (**at != '(')
		return bad(err);
	do {
		(*at)++; /* the '(' or '+' */
		code = parse_part(st, at, chunk, g, err);
		if (code)
			return code;
	} while (**at == '+');
	if (**at != ')')
		return bad(err);
	(*at)++;
	return 0;
}

void exec_free(struct keel_exec *e)
{
	uint32_t i, k;

	if (!e)
		return;
	for (i = 0; i < e->n; i++) {
		for (k = 0; k < e->part[i].n; k++)
			value_fini((struct keel_res_value *)&e->part[i].v[k]);
		free((void *)e->part[i].v);
		free((char *)e->part[i].vnode);
	}
	free((void *)e->part);
	free(e);
}

int32_t exec_parse(struct keel_mod *mod, const char *text, struct keel_exec **ret,
		   struct keel_err *err)
{
	struct keel_exec *e = calloc(1, sizeof(*e));
	struct growing g = { 0 };
	int32_t code;

	if (!e)
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	do {
		code = parse_chunk(mod->state, &text, e->chunks++, &g, err);
	} while (!code && *text == '+' && *++text);
	if (!code && *text)
		code = bad(err);
	e->n = g.n;
	e->part = g.part;
	if (code) {
		exec_free(e);
		return code;
	}
	*ret = e;
	return 0;
}
