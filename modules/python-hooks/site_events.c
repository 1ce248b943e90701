/* SPDX-License-Identifier: Apache-2.0
 *
 * site_events.c - management and modifyvnode: a request of an administrator with its reply, what became of a vnode.
 * Nothing is to be changed there.
 */
#include "server.h"

#include <stdlib.h>

/* ---- management --------------------------------------------------------------------------------------------- */
/* The next field of the point's `changes`, up to `end`; its signs are taken away in place. */
static char *field_take(char **at, char end)
{
	char *begin = *at, *to = begin, *from = begin;

	for (; *from && *from != end; from++) {
		if (*from == '\\' && from[1]) {
			from++;
			*to++ = *from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
		} else {
			*to++ = *from;
		}
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return begin;
}

static void attrib_pack(struct pack *p, char **at)
{
	const char *name = field_take(at, '\t'), *key = field_take(at, '\t'), *op = field_take(at, '\t'),
		*value = field_take(at, '\n');
	const uint32_t map = pack_open_map(p);

	pack_pair_text(p, "name", name);
	pack_pair_text(p, "resource", *key ? key : NULL);
	pack_pair_text(p, "value", value);
	pack_pair_int(p, "op", strtol(op, NULL, 10));
	pack_pair_int(p, "flags", 0);
	pack_close(p, map, 5);
}

static void attribs_pack(struct pack *p, const char *changes)
{
	char *copy = strdup(changes ? changes : ""), *at = copy;
	uint32_t list, n = 0;

	p->failed |= !copy;
	pack_key(p, "attribs");
	list = pack_open_list(p);
	for (; at && *at; n++)
		attrib_pack(p, &at);
	pack_close(p, list, n);
	free(copy);
}

#define REPLY_NOTHING 1
#define REPLY_TEXT 7

int32_t server_fill_management(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_management_done *ev = event;
	const bool says = ev->text && *ev->text;
	uint32_t map;

	server_about(r, ev->name ? ev->name : "", ev->who);
	pack_key(params, "management");
	map = pack_open_map(params);
	pack_pair_int(params, "cmd", ev->cmd);
	pack_pair_int(params, "objtype", ev->object);
	pack_pair_text(params, "objname", ev->name ? ev->name : "");
	pack_pair_int(params, "request_time", ev->time);
	pack_pair_int(params, "reply_code", ev->code);
	pack_pair_int(params, "reply_auxcode", 0);
	pack_pair_int(params, "reply_choice", says ? REPLY_TEXT : REPLY_NOTHING);
	pack_pair_text(params, "reply_text", says ? ev->text : NULL);
	attribs_pack(params, ev->changes);
	pack_close(params, map, 9);
	return 1;
}

/* ---- modifyvnode -------------------------------------------------------------------------------------------- */
static void vnode_pack(struct run *r, struct pack *params, const char *key, struct keel_obj *node, int64_t state)
{
	struct pack facts = { .data = NULL };
	const uint32_t map = pack_open_map(&facts);

	pack_pair_int(&facts, "state", state);
	pack_close(&facts, map, 1);
	params->failed |= facts.failed;
	server_shown(r, params, key, node, &facts);
	pack_fini(&facts);
}

int32_t server_fill_modifyvnode(struct run *r, const void *event, struct pack *params)
{
	const struct keel_ev_node_state *ev = event;

	server_about(r, ev->id, NULL);
	vnode_pack(r, params, "vnode", ev->node, ev->after);
	vnode_pack(r, params, "vnode_o", ev->node, ev->before);
	return 2;
}
