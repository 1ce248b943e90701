/* SPDX-License-Identifier: Apache-2.0
 *
 * clause.c - the text of the attribute depend: type:argument[:argument...][,type:...], and what its types
 * mean.
 */
#include "dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"
#define ITEMS_MAX 10000
#define COUNT_MAX 1000000

/* name; is it the named job that waits; done at the start; ends that do */
enum ends { ANY_END, GOOD_END, BAD_END };
static const struct {
	const char *name;
	bool before, at_start;
	enum ends ends;
} types[TYPES] = {
	[ON] = { "on", false, false, ANY_END },
	[AFTER] = { "after", false, true, ANY_END },
	[AFTER_OK] = { "afterok", false, false, GOOD_END },
	[AFTER_NOT_OK] = { "afternotok", false, false, BAD_END },
	[AFTER_ANY] = { "afterany", false, false, ANY_END },
	[BEFORE] = { "before", true, true, ANY_END },
	[BEFORE_OK] = { "beforeok", true, false, GOOD_END },
	[BEFORE_NOT_OK] = { "beforenotok", true, false, BAD_END },
	[BEFORE_ANY] = { "beforeany", true, false, ANY_END },
	[RUN_ONE] = { "runone", false, false, ANY_END },
};

const char *type_name(enum type type)
{
	return types[type].name;
}

bool type_is_before(enum type type)
{
	return types[type].before;
}

bool type_waits(enum type type)
{
	return !types[type].before && type != RUN_ONE;
}

bool type_at_start(enum type type)
{
	return types[type].at_start;
}

enum type type_mirror(enum type type)
{
	static const enum type of[TYPES] = {
		[ON] = TYPES, [AFTER] = BEFORE, [AFTER_OK] = BEFORE_OK, [AFTER_NOT_OK] = BEFORE_NOT_OK,
		[AFTER_ANY] = BEFORE_ANY, [BEFORE] = TYPES, [BEFORE_OK] = TYPES, [BEFORE_NOT_OK] = TYPES,
		[BEFORE_ANY] = TYPES, [RUN_ONE] = RUN_ONE,
	};

	return of[type];
}

enum verdict type_judge(enum type type, const struct fate *fate)
{
	bool good = fate->started && fate->exit == 0;

	if (types[type].at_start && fate->started)
		return DONE;
	if (!fate->over || type == RUN_ONE)
		return WAITS;
	if (types[type].ends == ANY_END && !types[type].at_start)
		return DONE;
	if (fate->dropped)
		return NEVER;
	if (!fate->started) /* a request deleted it: only a bad end has come */
		return types[type].ends == BAD_END ? DONE : WAITS;
	return good == (types[type].ends == GOOD_END) ? DONE : NEVER;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

/* Who is this server: one name, and with `mod` each that it had before. */
struct self {
	const char *server; /* NULL: whatever is written, for what was stored is this server's */
	struct keel_mod *mod;
};

static bool names(const char *text, size_t len, const struct self *self)
{
	char name[256];

	if (!self->server || (strlen(self->server) == len && strncasecmp(text, self->server, len) == 0))
		return true;
	if (!self->mod || len == 0 || len >= sizeof(name))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return keel_find(self->mod, "server", name) != NULL;
}

/* digits, "[]" or nothing, [.server][@server] */
static int32_t read_id(const char *text, size_t len, const struct self *self, struct item *item)
{
	size_t digits = strspn(text, DIGITS), n = keel_id_number(text), part;

	if (digits == 0 || digits > 18 || digits > len)
		return PBSE_BADATVAL;
	item->n = strtoll(text, NULL, 10);
	item->array = n == digits + 2;
	if (n != digits && !item->array)
		return PBSE_BADDEPEND; /* a subjob, or some of them */
	if (n < len && text[n] == '.') {
		part = (size_t)(strcspn(text + n + 1, "@:,"));
		if (n + 1 + part > len)
			return PBSE_BADATVAL;
		if (!names(text + n + 1, part, self))
			return PBSE_BADDEPEND;
		n += 1 + part;
	}
	if (n == len)
		return 0;
	if (text[n] != '@')
		return PBSE_BADATVAL;
	part = strcspn(text + n + 1, "\\:,");
	return names(text + n + 1, part, self) ? 0 : PBSE_BADDEPEND;
}

/* Up to the next ':' or ',' that is not escaped. */
static size_t word_len(const char *at)
{
	size_t n = 0;

	while (at[n] && at[n] != ':' && at[n] != ',')
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return n;
}

static struct item *add_item(struct clause *c)
{
	struct item *bigger;

	if (c->n == ITEMS_MAX)
		return NULL;
	if ((c->n & (c->n - 1)) == 0) { /* grows at powers of two */
		bigger = realloc(c->item, (c->n ? c->n * 2 : 1) * sizeof(*bigger));
		if (!bigger)
			return NULL;
		c->item = bigger;
	}
	c->item[c->n] = (struct item){ 0 };
	return &c->item[c->n++];
}

static bool is_there(const struct clause *c, uint32_t n_items, const struct item *item)
{
	for (uint32_t i = 0; i < n_items; i++)
		if (c->item[i].type == item->type && c->item[i].n == item->n)
			return true;
	return false;
}

int32_t clause_append(struct clause *c, const struct item *item)
{
	struct item *added = add_item(c);

	if (added)
		*added = *item;
	return added ? 0 : PBSE_SYSTEM;
}

int32_t clause_add(struct clause *c, enum type type, const char *id, bool once)
{
	const struct item wanted = { .n = strtoll(id, NULL, 10), .type = (uint8_t)type,
				     .array = keel_id_is_whole(id) };

	return once && is_there(c, c->n, &wanted) ? 0 : clause_append(c, &wanted);
}

static int32_t read_type(const char **at, const struct self *self, struct clause *c)
{
	size_t len = word_len(*at);
	int type = 0, arguments = 0;
	int32_t code = 0;

	while (type < TYPES && (strlen(types[type].name) != len || strncmp(types[type].name, *at, len) != 0))
		type++;
	if (type == TYPES || (*at)[len] != ':')
		return PBSE_BADATVAL;
	*at += len;
	for (; **at == ':'; arguments++) {
		struct item *item = add_item(c);

		len = word_len(++*at);
		if (!item)
			return c->n == ITEMS_MAX ? PBSE_BADATVAL : PBSE_SYSTEM;
		item->type = (uint8_t)type;
		if (type != ON) {
			code = read_id(*at, len, self, item);
		} else {
			item->n = len && strspn(*at, DIGITS) >= len ? strtoll(*at, NULL, 10) : 0;
			code = item->n > 0 && item->n <= COUNT_MAX ? 0 : PBSE_BADATVAL;
		}
		if (code)
			return code;
		c->n -= type != ON && is_there(c, c->n - 1, item); /* once is enough */
		*at += len;
	}
	return type == ON && arguments != 1 ? PBSE_BADATVAL : 0;
}

int32_t clause_parse(const char *text, const char *server, struct keel_mod *mod, struct clause *ret)
{
	const struct self self = { server, mod };
	struct clause c = { 0 };
	int32_t code;

	for (;;) {
		code = read_type(&text, &self, &c);
		if (code || !*text)
			break;
		text++;
	}
	if (code)
		clause_fini(&c);
	else
		*ret = c;
	return code;
}

void clause_fini(struct clause *c)
{
	free(c->item);
	*c = (struct clause){ 0 };
}

void item_id(const struct item *item, const char *server, char buf[ID_MAX])
{
	buf[0] = '\0';
	if (item->type != ON)
		snprintf(buf, ID_MAX, "%lld%s.%s", (long long)item->n, item->array ? "[]" : "", server);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* By the id it has: one of before the server was renamed ends in another name. `mod` NULL: by the server's. */
static void id_write(const struct item *item, const char *server, struct keel_mod *mod, struct keel_text *out)
{
	struct keel_obj *job;
	char id[ID_MAX];

	item_id(item, server, id);
	job = mod ? keel_find(mod, "job", id) : NULL;
	keel_text_printf(out, ":%s@%s", job ? keel_id(job) : id, server);
}

bool clause_text(const struct clause *c, const char *server, struct keel_mod *mod, struct keel_text *out)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct item *item = &c->item[i];

		if (i == 0 || item->type != c->item[i - 1].type || item->type == ON)
			keel_text_printf(out, "%s%s", i ? "," : "", types[item->type].name);
		if (item->type == ON)
			keel_text_printf(out, ":%lld", (long long)item->n);
		else
			id_write(item, server, mod, out);
	}
	return !out->failed;
}
