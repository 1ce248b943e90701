/* SPDX-License-Identifier: Apache-2.0
 *
 * select.c - chunk ('+' chunk)*, chunk := [N ':'] res=value (':' res=value)* | N
 *
 * The text of an error goes to the requester as it is and names the resource.
 */
#include "resources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A job is placed, started and charged chunk by chunk in one turn of the loop. */
#define CHUNK_COUNT_MAX 65536u
/* A select is parsed and compared part by part in one turn, too. */
#define PART_COUNT_MAX 16384u
#define NAME_MAX_LEN 255
#define VALUE_MAX_LEN 4096

static int32_t bad(struct keel_err *err)
{
	return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
}

int32_t chunks_check(unsigned long n, unsigned long parts, struct keel_err *err)
{
	if (n > CHUNK_COUNT_MAX)
		return fail(err, PBSE_BADATVAL,
			    "a job has at most %u chunks; ask for fewer that are larger, as in 1000:ncpus=64",
			    CHUNK_COUNT_MAX);
	if (parts > PART_COUNT_MAX)
		return fail(err, PBSE_BADATVAL,
			    "a select has at most %u parts; ask for equal chunks in one, as in 1000:ncpus=64",
			    PART_COUNT_MAX);
	return 0;
}

/* Copies the value up to a stop character, without its quotes; a stop character inside of quotes is part of it. */
static int32_t value_cut(const char **at, const char *stops, char *buf, size_t size)
{
	const char *p = *at;
	size_t n = 0;

	while (*p && !strchr(stops, *p)) {
		if (*p == '"' || *p == '\'') {
			const char *end = strchr(p + 1, *p);

			if (!end || n + (size_t)(end - p) > size)
				return PBSE_BADATVAL;
			memcpy(buf + n, p + 1, (size_t)(end - p) - 1);
			n += (size_t)(end - p) - 1;
			p = end + 1;
			continue;
		}
		if (n + 1 >= size || iscntrl((unsigned char)*p))
			return PBSE_BADATVAL;
		buf[n++] = *p++;
	}
	buf[n] = '\0';
	*at = p;
	return n ? 0 : PBSE_BADATVAL;
}

int32_t pair_parse(const struct state *st, const char **at, const char *stops,
		   struct keel_res_value *ret, struct keel_err *err)
{
	char name[NAME_MAX_LEN + 1], value[VALUE_MAX_LEN];
	const struct keel_resource *res;
	const char *p = *at;
	size_t len = strcspn(p, "=");
	int32_t code;

	if (len == 0 || p[len] != '=' || len > NAME_MAX_LEN)
		return bad(err);
	memcpy(name, p, len);
	name[len] = '\0';
	if (strpbrk(name, stops) || !name_is_valid(name))
		return bad(err);
	p += len + 1;
	if (value_cut(&p, stops, value, sizeof(value)))
		return bad(err);
	res = table_find(st, name);
	if (!res)
		return fail(err, PBSE_UNKRESC, "Unknown resource: %s", name);
	if (!(res->flags & KEEL_RES_HOST))
		return fail(err, PBSE_INVALSELECTRESC,
			    "Resource invalid in \"select\" specification: %s", name);
	code = value_parse(res, value, ret, NULL);
	if (code)
		return fail(err, code, "Illegal attribute or resource value: %s", name);
	*at = p;
	return 0;
}

struct growing {
	struct keel_chunk *chunk;
	struct keel_res_value *v; /* of the chunk being read */
	uint32_t n, n_v;
};

static int32_t add_pair(struct growing *g, struct keel_res_value *v, struct keel_err *err)
{
	struct keel_res_value *bigger;
	uint32_t i;

	for (i = 0; i < g->n_v; i++)
		if (g->v[i].res == v->res)
			return fail(err, PBSE_DUPRESC,
				    "duplicated resource within a section of a select specification, "
				    "resource is: %s",
				    v->res->name);
	bigger = reallocarray(g->v, g->n_v + 1, sizeof(*bigger));
	if (!bigger)
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	g->v = bigger;
	g->v[g->n_v++] = *v;
	return 0;
}

static int32_t parse_count(const char **at, uint32_t *ret, struct keel_err *err)
{
	char *end;
	unsigned long n;

	*ret = 1;
	if (!isdigit((unsigned char)**at))
		return 0;
	n = strtoul(*at, &end, 10);
	if (n == 0 || (*end && *end != ':' && *end != '+'))
		return bad(err);
	if (chunks_check(n, 1, err))
		return PBSE_BADATVAL;
	*ret = (uint32_t)n;
	*at = end;
	if (*end == ':') {
		(*at)++;
		if (!**at)
			return bad(err);
	}
	return 0;
}

static int32_t parse_pairs(const struct state *st, const char **at, struct growing *g,
			   struct keel_err *err)
{
	struct keel_res_value v;
	int32_t code;

	while (**at && **at != '+') {
		code = pair_parse(st, at, ":+", &v, err);
		if (code)
			return code;
		code = add_pair(g, &v, err);
		if (code) {
			value_fini(&v);
			return code;
		}
		if (**at == ':' && !*++*at)
			return bad(err);
	}
	return 0;
}

static int32_t end_chunk(struct growing *g, uint32_t count, struct keel_err *err)
{
	struct keel_chunk *bigger = g->chunk;

	if ((g->n & (g->n - 1)) == 0) /* a power of two: full */
		bigger = reallocarray(g->chunk, g->n ? g->n * 2 : 1, sizeof(*bigger));
	if (!bigger)
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	g->chunk = bigger;
	g->chunk[g->n++] = (struct keel_chunk){ .count = count, .n = g->n_v, .v = g->v };
	g->v = NULL;
	g->n_v = 0;
	return 0;
}

static int32_t parse_chunks(const struct state *st, const char *text, struct growing *g,
			    struct keel_err *err)
{
	uint64_t total = 0;
	uint32_t count, parts = 0;
	int32_t code;

	for (;;) {
		bool counted = isdigit((unsigned char)*text);

		code = parse_count(&text, &count, err);
		if (!code)
			code = parse_pairs(st, &text, g, err);
		if (!code && g->n_v == 0 && !counted)
			code = bad(err);
		if (!code)
			code = chunks_check(total += count, ++parts, err);
		if (!code)
			code = end_chunk(g, count, err);
		if (code || !*text)
			return code;
		text++; /* the '+' */
	}
}

static void values_free(const struct keel_res_value *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		value_fini((struct keel_res_value *)&v[i]);
	free((void *)v);
}

void select_free(struct keel_select *s)
{
	uint32_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++)
		values_free(s->chunk[i].v, s->chunk[i].n);
	free((void *)s->chunk);
	free(s);
}

int32_t select_parse(struct keel_mod *mod, const char *text, struct keel_select **ret,
		     struct keel_err *err)
{
	struct keel_select *s = calloc(1, sizeof(*s));
	struct growing g = { 0 };
	uint32_t i;
	int32_t code;

	if (!s)
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	code = parse_chunks(mod->state, text, &g, err);
	values_free(g.v, g.n_v);
	s->n = g.n;
	s->chunk = g.chunk;
	if (code) {
		select_free(s);
		return code;
	}
	for (i = 0; i < s->n; i++)
		s->chunks += s->chunk[i].count;
	*ret = s;
	return 0;
}
