/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c - the names that scripts may use: attributes, resources, states of vnodes, events.
 *
 * A server makes the tables from its rows, a mom has those that the server has sent. Processes have them from
 * their setup: when they change, other processes serve.
 */
#include "server.h"

#include <stdlib.h>

#include "keel/service/node.h"
#include "keel/service/resource.h"

struct tables {
	struct pack pack;
	bool known;
};

static struct tables *tables_of(struct state *st)
{
	if (!st->tables)
		st->tables = calloc(1, sizeof(*st->tables));
	return st->tables;
}

void tables_free(struct state *st)
{
	if (st->tables)
		pack_fini(&st->tables->pack);
	free(st->tables);
	st->tables = NULL;
}

/* ---- a server ----------------------------------------------------------------------------------------------- */
struct rows {
	struct pack *p;
	uint32_t n;
};

/* A job's queue no request sets, but a script may choose it. */
static bool is_readonly(const struct keel_attr_def *def)
{
	return def->write_roles == KEEL_NOBODY && !(strcmp(def->klass, "job") == 0 && strcmp(def->name, "queue") == 0);
}

static void attr_pack(void *arg, const struct keel_attr_def *def)
{
	struct rows *rows = arg;
	uint32_t list;

	if (def->read_roles == KEEL_NOBODY)
		return;
	pack_key(rows->p, def->name);
	list = pack_open_list(rows->p);
	pack_text(rows->p, def->type);
	pack_int(rows->p, def->flags | (is_readonly(def) ? TALK_ATTR_READONLY : 0));
	pack_text(rows->p, def->doc ? def->doc : "");
	pack_close(rows->p, list, 3);
	rows->n++;
}

static void attrs_pack(struct keel_mod *mod, struct pack *p)
{
	static const char *const classes[] = { "job", "node", "queue", "server", "resv" };
	uint32_t map;

	pack_key(p, "attrs");
	map = pack_open_map(p);
	for (size_t i = 0; i < KEEL_COUNT(classes); i++) {
		struct rows rows = { p, 0 };
		uint32_t open;

		pack_key(p, classes[i]);
		open = pack_open_map(p);
		keel_rows(mod, classes[i], attr_pack, &rows);
		pack_close(p, open, rows.n);
	}
	pack_close(p, map, KEEL_COUNT(classes));
}

static void resources_pack(struct pack *p)
{
	static const char *const types[] = {
		[KEEL_RES_LONG] = "long", [KEEL_RES_FLOAT] = "float", [KEEL_RES_SIZE] = "size",
			[KEEL_RES_TIME] = "time",
		[KEEL_RES_BOOL] = "boolean", [KEEL_RES_STRING] = "string", [KEEL_RES_STRINGS] = "string_array",
	};
	const struct keel_resource *res;
	uint32_t map, n = 0;

	pack_key(p, "resources");
	map = pack_open_map(p);
	for (; keel_has(resource) && (res = keel_resource_at(n)); n++) {
		uint32_t list;

		pack_key(p, res->name);
		list = pack_open_list(p);
		pack_text(p, types[res->type]);
		pack_int(p, res->flags);
		pack_close(p, list, 2);
	}
	pack_close(p, map, n);
}

static void states_pack(struct pack *p)
{
	const char *word;
	uint32_t map, n = 0, bit;

	pack_key(p, "node_states");
	map = pack_open_map(p);
	for (; keel_can(node, word) && (word = keel_node_word(n, &bit)); n++)
		pack_pair_int(p, word, bit);
	pack_close(p, map, n);
}

static void events_pack(struct pack *p)
{
	uint32_t map;

	pack_key(p, "events");
	map = pack_open_map(p);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t list;

		pack_key(p, events[i].name);
		list = pack_open_list(p);
		pack_text(p, events[i].constant);
		pack_int(p, events[i].bit);
		pack_int(p, events[i].daemon == KEEL_MOM);
		pack_close(p, list, 3);
	}
	pack_close(p, map, EVENTS);
}

static void tables_make(struct keel_mod *mod, struct pack *p)
{
	const uint32_t map = pack_open_map(p);

	attrs_pack(mod, p);
	resources_pack(p);
	states_pack(p);
	events_pack(p);
	pack_close(p, map, 4);
}

const struct pack *tables_get(struct state *st)
{
	struct tables *t = tables_of(st);

	if (t && !t->known && (keel_daemon(st->mod) & KEEL_SERVER)) {
		pack_fini(&t->pack);
		tables_make(st->mod, &t->pack);
		t->known = !t->pack.failed;
	}
	return t && t->known ? &t->pack : NULL;
}

void tables_changed(struct state *st)
{
	if (st->tables)
		st->tables->known = false;
	pools_stale(st);
	distribute_tables(st);
}

/* ---- a mom -------------------------------------------------------------------------------------------------- */
int32_t tables_put(struct state *st, const void *bytes, uint32_t len)
{
	struct tables *t = tables_of(st);
	struct value value;
	char *copy;

	if (keel_daemon(st->mod) & KEEL_SERVER) /* the same daemon: it has them */
		return 0;
	if (!value_read(bytes, len, &value) || value.kind != 'm')
		return -EINVAL;
	if (!t || !(copy = malloc(len)))
		return -ENOMEM;
	memcpy(copy, bytes, len);
	pack_fini(&t->pack);
	t->pack = (struct pack){ .data = copy, .len = len, .size = len };
	t->known = true;
	pools_stale(st);
	return 0;
}
