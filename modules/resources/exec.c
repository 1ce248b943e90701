/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c - exec_vnode: (n1:ncpus=2:mem=1024kb+n2:ncpus=1)+(n1:ncpus=1)
 */
#include "resources.h"

#include <stdlib.h>
#include <string.h>

#define VNODE_NAME_MAX 255

/* One allocation for all: a job may have ten thousand parts. */
struct filling {
	struct keel_exec *e;
	struct keel_exec_part *part; /* the next free part, value and name */
	struct keel_res_value *v;
	char *name;
};

static int32_t bad(struct keel_err *err)
{
	return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
}

/* Sized by the text: a '+' follows each part but the last, a ':' precedes each value, and each name is followed by
 * one of these or by ')', whose byte is that of the name's NUL. */
static bool block_make(const char *text, struct filling *f)
{
	size_t parts = 1, values = 0, len;

	for (len = 0; text[len]; len++) {
		parts += text[len] == '+';
		values += text[len] == ':';
	}
	f->e = calloc(1, sizeof(*f->e) + parts * sizeof(*f->part) + values * sizeof(*f->v) + len + 1);
	if (!f->e)
		return false;
	f->part = (struct keel_exec_part *)(void *)(f->e + 1);
	f->v = (struct keel_res_value *)(void *)(f->part + parts);
	f->name = (char *)(f->v + values);
	f->e->part = f->part;
	return true;
}

static int32_t parse_values(const struct state *st, const char **at, struct keel_exec_part *part,
			    struct filling *f, struct keel_err *err)
{
	part->v = f->v;
	while (**at == ':') {
		int32_t code;

		(*at)++;
		code = pair_parse(st, at, ":+)", f->v, err);
		if (code)
			return code;
		f->v++;
		part->n++;
	}
	return 0;
}

static int32_t parse_part(const struct state *st, const char **at, uint32_t chunk, struct filling *f,
			  struct keel_err *err)
{
	size_t len = strcspn(*at, ":+()");
	struct keel_exec_part *part = f->part;

	if (len == 0 || len > VNODE_NAME_MAX)
		return bad(err);
	f->part++;
	f->e->n++;
	part->vnode = memcpy(f->name, *at, len);
	part->chunk = chunk;
	f->name += len + 1;
	*at += len;
	return parse_values(st, at, part, f, err);
}

static int32_t parse_chunk(const struct state *st, const char **at, uint32_t chunk,
			   struct filling *f, struct keel_err *err)
{
	int32_t code;

	if (**at != '(')
		return bad(err);
	do {
		(*at)++; /* the '(' or '+' */
		code = parse_part(st, at, chunk, f, err);
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
	for (i = 0; i < e->n; i++)
		for (k = 0; k < e->part[i].n; k++)
			value_fini((struct keel_res_value *)&e->part[i].v[k]);
	free(e);
}

int32_t exec_parse(struct keel_mod *mod, const char *text, struct keel_exec **ret,
		   struct keel_err *err)
{
	struct filling f = { 0 };
	int32_t code;

	if (!block_make(text, &f))
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	do {
		code = parse_chunk(mod->state, &text, f.e->chunks++, &f, err);
	} while (!code && *text == '+' && *++text);
	if (!code && *text)
		code = bad(err);
	if (code) {
		exec_free(f.e);
		return code;
	}
	*ret = f.e;
	return 0;
}
