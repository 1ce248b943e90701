/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the defined resources: the built-in ones and the site's own.
 */
#include "resources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Uses of built-in resources. */
enum {
	AMOUNT = KEEL_RES_HOST | KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_MOM,
	REPORTED = KEEL_RES_HOST | KEEL_RES_MOM,
	CHUNK = KEEL_RES_HOST,
	SUMMED = KEEL_RES_HOST | KEEL_RES_SUM,
	JOB = 0,
	JOB_MOM = KEEL_RES_MOM,
	RUNNING = KEEL_RES_RUNNING,
	RUNNING_MOM = KEEL_RES_MOM | KEEL_RES_RUNNING,
	READONLY = KEEL_RES_READONLY | KEEL_RES_RUNNING,
	COMPUTED = KEEL_RES_SYSTEM,
	COMPUTED_SUM = KEEL_RES_SUM | KEEL_RES_SYSTEM,
};
static const struct keel_resource builtin[] = {
#define RES(res_name, res_type, use, doc)                                                          \
	{ .name = #res_name, .type = KEEL_RES_##res_type, .flags = (use) | KEEL_RES_BUILTIN },
#include "builtin.def"
#undef RES
};

static const struct {
	const char *name;
	int32_t type;
} types[] = {
	{ "long", KEEL_RES_LONG },     { "float", KEEL_RES_FLOAT },
	{ "size", KEEL_RES_SIZE },     { "boolean", KEEL_RES_BOOL },
	{ "string", KEEL_RES_STRING }, { "string_array", KEEL_RES_STRINGS },
	{ "time", KEEL_RES_TIME },
};

static const struct {
	char letter;
	uint32_t flag;
} letters[] = {
	{ 'h', KEEL_RES_HOST },	 { 'q', KEEL_RES_SUM },	      { 'n', KEEL_RES_EACH },
	{ 'f', KEEL_RES_FIRST }, { 'i', KEEL_RES_INVISIBLE }, { 'r', KEEL_RES_READONLY },
	{ 'm', KEEL_RES_MOM },
};

bool name_is_valid(const char *name)
{
	size_t i;

	if (!isalpha((unsigned char)name[0]))
		return false;
	for (i = 1; name[i]; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return i <= 255;
}

/* Returns whether `name` is in the sorted table; *ret_at: its index, or where to insert it. */
static bool locate(const struct state *st, const char *name, uint32_t *ret_at)
{
	uint32_t low = 0, high = st->n_table;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		int order = strcmp(st->table[middle]->pub.name, name);

		if (order == 0)
			return *ret_at = middle, true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_at = low;
	return false;
}

static struct definition *find(const struct state *st, const char *name)
{
	uint32_t at;

	return locate(st, name, &at) ? st->table[at] : NULL;
}

static struct definition *insert(struct state *st, const char *name)
{
	struct definition *d = calloc(1, sizeof(*d));
	struct definition **table = reallocarray(st->table, st->n_table + 1, sizeof(*table));
	uint32_t at;

	if (table)
		st->table = table;
	if (!d || !table || !(d->pub.name = strdup(name))) {
		free(d);
		return NULL;
	}
	locate(st, name, &at);
	memmove(table + at + 1, table + at, (st->n_table - at) * sizeof(*table));
	table[at] = d;
	st->n_table++;
	return d;
}

void table_free(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n_table; i++) {
		free((char *)st->table[i]->pub.name);
		free(st->table[i]);
	}
	free(st->table);
	st->table = NULL;
	st->n_table = 0;
}

int32_t table_fill(struct state *st, struct keel_err *err)
{
	size_t i;

	for (i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++) {
		struct definition *d = insert(st, builtin[i].name);

		if (!d) {
			table_free(st);
			return fail(err, -1, "out of memory");
		}
		d->pub.type = builtin[i].type;
		d->pub.flags = builtin[i].flags;
	}
	return 0;
}

const struct keel_resource *table_find(const struct state *st, const char *name)
{
	struct definition *d = find(st, name);

	return d && !d->deleted ? &d->pub : NULL;
}

const struct keel_resource *table_at(struct keel_mod *mod, uint32_t i)
{
	const struct state *st = mod->state;
	uint32_t at;

	for (at = 0; at < st->n_table; at++)
		if (!st->table[at]->deleted && i-- == 0)
			return &st->table[at]->pub;
	return NULL;
}

static int32_t parse_flags(const char *text, uint32_t *ret, struct keel_err *err)
{
	uint32_t flags = 0;
	size_t i;

	for (; *text; text++) {
		for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
			if (letters[i].letter == *text)
				break;
		if (i == sizeof(letters) / sizeof(letters[0]))
			return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
		flags |= letters[i].flag;
	}
	*ret = flags;
	return 0;
}

_Static_assert(sizeof(letters) / sizeof(letters[0]) == FLAG_LETTERS, "room for each letter");

const char *flags_in_order(const char *text, char buf[FLAG_LETTERS + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < FLAG_LETTERS; i++)
		if (strchr(text, letters[i].letter))
			buf[n++] = letters[i].letter;
	buf[n] = '\0';
	return buf;
}

static int32_t check_flags(const char *name, int32_t type, uint32_t flags,
			   struct keel_err *err)
{
	uint32_t counted = flags & (KEEL_RES_EACH | KEEL_RES_FIRST);

	if (counted == (KEEL_RES_EACH | KEEL_RES_FIRST))
		return fail(err, PBSE_BADATVAL,
			    "Erroneous to have flag 'n' and 'f' on resource \"%s\".", name);
	if (counted && !(flags & KEEL_RES_HOST))
		return fail(err, PBSE_BADATVAL,
			    "Erroneous to have flag '%c' without 'h' on resource \"%s\".",
			    counted & KEEL_RES_EACH ? 'n' : 'f', name);
	if ((flags & KEEL_RES_INVISIBLE) && (flags & KEEL_RES_READONLY))
		return fail(err, PBSE_BADATVAL,
			    "Erroneous to have flag 'i' and 'r' on resource \"%s\".", name);
	if ((counted || (flags & KEEL_RES_SUM)) && type >= KEEL_RES_BOOL)
		return fail(err, PBSE_BADATVAL,
			    "Erroneous to have flag 'n', 'f', or 'q' on resource \"%s\" which is type "
			    "string, string_array, or boolean.",
			    name);
	return 0;
}

int32_t table_define(struct state *st, const char *name, const char *type_text,
		     const char *flag_text, struct keel_err *err)
{
	struct definition *d = find(st, name);
	uint32_t flags = 0;
	int32_t type, code;
	size_t i = 0;

	while (i < sizeof(types) / sizeof(types[0]) && strcmp(types[i].name, type_text ? type_text : "string") != 0)
		i++;
	if (i == sizeof(types) / sizeof(types[0]))
		return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	type = types[i].type;
	if (flag_text && (code = parse_flags(flag_text, &flags, err)))
		return code;
	if ((code = check_flags(name, type, flags, err)))
		return code;
	if (!d && !(d = insert(st, name)))
		return fail(err, PBSE_SYSTEM, "System error: out of memory");
	d->pub.type = type;
	d->pub.flags = flags;
	d->deleted = false;
	return 0;
}

