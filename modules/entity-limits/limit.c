/* SPDX-License-Identifier: Apache-2.0
 *
 * limit.c - the language of limits.
 *
 *   list   := limit { ',' limit }
 *   limit  := '[' entity '=' number ']'
 *   entity := u:name | g:name | p:name | o:PBS_ALL       PBS_GENERIC: each one that is not named
 *
 * Blanks may stand between any two of these words; a name with blanks is quoted.
 */
#include "limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

#define NAME_MAX_LEN 255
#define LIMITS_MAX 16384 /* of one list */

static const char forbidden[] = "/[]\";:|<>+,?*=";
static const char everybody[] = "PBS_ALL";

struct reader {
	const char *at;
	char entity[NAME_MAX_LEN + 3];
	char number[64]; /* "" none */
};

static void blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t");
}

static bool skip(struct reader *r, char c)
{
	blanks(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

/* A name up to what ends it, with or without quotes. */
static bool read_name(struct reader *r, char *ret)
{
	char quote = *r->at == '"' || *r->at == '\'' ? *r->at : '\0';
	size_t len, i;

	if (quote)
		r->at++;
	for (len = 0; r->at[len] && r->at[len] != quote; len++)
		if (!quote && strchr(" \t=]", r->at[len]))
			break;
	if (len == 0 || len > NAME_MAX_LEN || (quote && r->at[len] != quote))
		return false;
	for (i = 0; i < len; i++)
		if (strchr(forbidden, r->at[i]) || (unsigned char)r->at[i] < ' ')
			return false;
	memcpy(ret, r->at, len);
	ret[len] = '\0';
	r->at += len + (quote != '\0');
	return true;
}

/* `[u:alice=2]`; without `=2` when a list is cut. */
static bool read_limit(struct reader *r, bool number_is_needed)
{
	size_t len;

	if (!skip(r, '['))
		return false;
	blanks(r);
	if (!*r->at || !strchr("ugpo", *r->at))
		return false;
	r->entity[0] = *r->at++;
	r->entity[1] = ':';
	if (!skip(r, ':'))
		return false;
	blanks(r);
	if (!read_name(r, r->entity + 2))
		return false;
	if ((r->entity[0] == 'o') != (strcmp(r->entity + 2, everybody) == 0))
		return false;
	r->number[0] = '\0';
	if (skip(r, '=')) {
		blanks(r);
		len = strcspn(r->at, " \t]");
		if (len == 0 || len >= sizeof(r->number))
			return false;
		memcpy(r->number, r->at, len);
		r->number[len] = '\0';
		r->at += len;
	} else if (number_is_needed) {
		return false;
	}
	return skip(r, ']');
}

int32_t limit_count(void *arg, const char *text, double *ret)
{
	size_t len = strspn(text, "0123456789");

	(void)arg;
	if (len == 0 || text[len] || len > 15)
		return PBSE_BADATVAL;
	*ret = (double)strtoll(text, NULL, 10);
	return 0;
}

/* ---- the list ---------------------------------------------------------------------------------------- */

static uint32_t place_of(const struct limit_list *l, const char *entity, bool *ret_found)
{
	uint32_t low = 0, high = l->n;

	*ret_found = false;
	while (low < high && !*ret_found) {
		uint32_t middle = (low + high) / 2;
		int order = strcmp(l->v[middle].entity, entity);

		*ret_found = order == 0;
		if (order >= 0)
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

const struct limit *limit_find(const struct limit_list *l, const char *entity)
{
	bool found;
	uint32_t i = l ? place_of(l, entity, &found) : 0;

	return l && found ? &l->v[i] : NULL;
}

static int32_t put(struct limit_list *l, const char *entity, const char *number, double n)
{
	size_t len = strlen(entity) + 1, number_len = strlen(number) + 1;
	char *text = malloc(len + number_len);
	bool found;
	uint32_t i = place_of(l, entity, &found);

	if (!found && l->n == LIMITS_MAX) {
		free(text);
		return LIMIT_TOO_MANY;
	}
	if (text && !found && l->n == l->room) {
		uint32_t room = l->room ? l->room * 2 : 4;
		struct limit *bigger = realloc(l->v, room * sizeof(*bigger));

		if (!bigger) {
			free(text);
			return PBSE_SYSTEM;
		}
		l->v = bigger;
		l->room = room;
	}
	if (!text)
		return PBSE_SYSTEM;
	memcpy(text, entity, len);
	memcpy(text + len, number, number_len);
	if (found)
		free(l->v[i].entity);
	else
		memmove(&l->v[i + 1], &l->v[i], (l->n++ - i) * sizeof(l->v[0]));
	l->v[i] = (struct limit){ .entity = text, .text = text + len, .n = n };
	return 0;
}

static int32_t read_list(struct limit_list *l, int32_t op, const char *text,
			 limit_number_fn *number, void *arg)
{
	struct reader r = { .at = text };
	uint32_t seen = 0, i;
	bool found;
	int32_t code;
	double n;

	do {
		if (seen++ == LIMITS_MAX)
			return LIMIT_TOO_MANY;
		if (!read_limit(&r, op != KEEL_DECR))
			return PBSE_BADATVAL;
		n = 0;
		code = r.number[0] ? number(arg, r.number, &n) : 0;
		if (code || n < 0)
			return code ? code : PBSE_BADATVAL;
		if (op != KEEL_DECR) {
			code = put(l, r.entity, r.number, n);
			if (code)
				return code;
			continue;
		}
		i = place_of(l, r.entity, &found);
		if (found) {
			free(l->v[i].entity);
			memmove(&l->v[i], &l->v[i + 1], (--l->n - i) * sizeof(l->v[0]));
		}
	} while (skip(&r, ','));
	blanks(&r);
	return *r.at ? PBSE_BADATVAL : 0;
}

int32_t limit_parse(struct limit_list *l, int32_t op, const char *text, limit_number_fn *number,
		    void *arg)
{
	struct limit_list made = { 0 };
	int32_t code = op != KEEL_SET && limit_copy(l, &made) ? PBSE_SYSTEM : 0;

	if (!code)
		code = read_list(&made, op, text, number, arg);
	if (code) {
		limit_fini(&made);
		return code;
	}
	limit_fini(l);
	*l = made;
	return 0;
}

void limit_text(const struct limit_list *l, struct keel_text *out)
{
	uint32_t i;

	for (i = 0; i < l->n; i++) {
		const char *name = l->v[i].entity + 2, *quote = strpbrk(name, " \t'") ? "\"" : "";

		keel_text_printf(out, "%s[%.2s%s%s%s=%s]", i ? "," : "", l->v[i].entity, quote, name,
				 quote, l->v[i].text);
	}
}

int32_t limit_copy(const struct limit_list *from, struct limit_list *to)
{
	uint32_t i;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < from->n; i++)
		if (put(to, from->v[i].entity, from->v[i].text, from->v[i].n)) {
			limit_fini(to);
			return -ENOMEM;
		}
	return 0;
}

void limit_fini(struct limit_list *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].entity);
	free(l->v);
	memset(l, 0, sizeof(*l));
}
