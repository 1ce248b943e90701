/* SPDX-License-Identifier: Apache-2.0
 *
 * host_vnodes.c - what a script of a host sees of the vnodes there. The server knows more of them than the host does, and they change
 * without the host, so it is read for each run:
 *
 *	python.vnodes.want { number }			mom to server
 *	python.vnodes { number, at, size, bytes }	and back, in pieces: a map {name: OBJECT | nothing}
 *
 * Where no answer comes within some seconds the last one is used, and before the first one a vnode with the name of the host. A host that
 * asks more often than EACH_MS gets an answer to the last question, later.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/node.h"

KEEL_USE_OPT(node);

#define PIECE (128u * 1024u)
#define MOST (64u * 1024u * 1024u)
#define WHOLE_MOST (384u * 1024u) /* bytes of vnodes that are sent as they are; of more there are names */
#define PATIENCE_MS 5000
#define EACH_MS 200

struct waiter {
	struct waiter *prev, *next;
	void (*ready)(struct state *st, void *arg);
	void *arg;
};

/* A server's: a host that has sent a question. */
struct asker {
	UT_hash_handle hh;
	struct state *st;
	char *name;
	int64_t number, not_before_ms;
	struct keel_timer *timer;
};

struct host_vnodes {
	struct asker *askers;
	struct pack known, coming;
	int64_t number; /* of the last question */
	struct waiter *waiters;
	struct keel_timer *timer;
};

/* ---- a server ---------------------------------------------------------------------------------------------------------------- */
static void vnodes_pack(struct state *st, const char *host, struct pack *p)
{
	struct keel_cursor *cursor = keel_cursor(st->mod, "node");
	uint32_t open = pack_open_map(p), n = 0;
	struct keel_obj *node;

	while (cursor && (node = keel_next(cursor))) {
		const char *name = keel_id(node), *its = keel_node_host_of(name);

		if (!its || strcmp(its, host) != 0)
			continue;
		pack_key(p, name);
		if (p->len < WHOLE_MOST)
			pack_object(st, p, node, NULL, NULL);
		else
			pack_nothing(p);
		n++;
	}
	if (cursor)
		keel_cursor_close(cursor);
	pack_close(p, open, n);
}

static struct host_vnodes *vnodes_of(struct state *st)
{
	if (!st->host_vnodes)
		st->host_vnodes = calloc(1, sizeof(*st->host_vnodes));
	return st->host_vnodes;
}

static struct asker *asker_of(struct state *st, const char *name)
{
	struct host_vnodes *v = vnodes_of(st);
	struct asker *a = NULL;

	if (v)
		HASH_FIND_STR(v->askers, name, a);
	if (a || !v)
		return a;
	ROW_ADD(v->askers, a, name, name);
	if (a)
		a->st = st;
	return a;
}

static void vnodes_send(struct keel_mod *mod, const struct asker *a, const struct pack *p)
{
	uint32_t at = 0, n;

	while (!p->failed && at < p->len) {
		struct keel_out *out = keel_out(mod);

		n = p->len - at < PIECE ? p->len - at : PIECE;
		keel_put_int(out, "number", a->number);
		keel_put_int(out, "at", at);
		keel_put_int(out, "size", p->len);
		keel_put_bytes(out, "bytes", p->data + at, n);
		if (keel_link_send(mod, a->name, "python.vnodes", out) < 0)
			break;
		at += n;
	}
}

static void want_answer(struct keel_mod *mod, void *arg)
{
	struct asker *a = arg;
	struct pack p = { .data = NULL };

	a->timer = NULL;
	a->not_before_ms = keel_now_ms(mod) + EACH_MS;
	if (keel_has(node))
		vnodes_pack(a->st, a->name, &p);
	vnodes_send(mod, a, &p);
	pack_fini(&p);
}

static void on_want(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct asker *a = asker_of(mod->state, peer);
	int64_t wait = a ? a->not_before_ms - keel_now_ms(mod) : 0;

	if (!a)
		return;
	a->number = keel_msg_int(msg, "number", 0);
	if (wait <= 0 && !a->timer)
		want_answer(mod, a);
	else if (!a->timer)
		a->timer = keel_timer(mod, wait, want_answer, a);
}

/* ---- a mom -------------------------------------------------------------------------------------------------------------------- */
static void waiters_call(struct state *st)
{
	struct waiter *all = st->host_vnodes->waiters, *w, *next;

	keel_timer_cancel(st->host_vnodes->timer);
	st->host_vnodes->timer = NULL;
	st->host_vnodes->waiters = NULL;
	DL_FOREACH_SAFE(all, w, next) {
		w->ready(st, w->arg);
		free(w);
	}
}

static void no_answer(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->host_vnodes->timer = NULL;
	waiters_call(st);
}

static bool question_send(struct state *st)
{
	struct keel_out *out = keel_out(st->mod);

	keel_put_int(out, "number", ++st->host_vnodes->number);
	return keel_link_send(st->mod, "server", "python.vnodes.want", out) == 0;
}

void host_vnodes_fetch(struct state *st, void (*ready)(struct state *st, void *arg), void *arg)
{
	struct host_vnodes *v = vnodes_of(st);
	struct waiter *w = v ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		ready(st, arg);
		return;
	}
	w->ready = ready;
	w->arg = arg;
	DL_APPEND(v->waiters, w);
	if (v->timer)
		return;
	v->timer = keel_timer(st->mod, question_send(st) ? PATIENCE_MS : 0, no_answer, NULL);
	if (!v->timer)
		waiters_call(st);
}

static bool is_list(const struct pack *p)
{
	struct value all, v;

	if (!value_read(p->data, p->len, &all) || all.kind != 'm')
		return false;
	for (const char *at = all.at; value_next(&all, &at, &v);)
		if (!value_next(&all, &at, &v) || (v.kind != 'm' && v.kind != 'n'))
			return false;
	return true;
}

static void on_vnodes(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	struct host_vnodes *v = st->host_vnodes;
	int64_t at = keel_msg_int(msg, "at", -1), size = keel_msg_int(msg, "size", -1);
	uint32_t n = 0;
	const char *bytes = keel_msg_bytes(msg, "bytes", &n);

	(void)peer;
	if (!v || keel_msg_int(msg, "number", -1) != v->number || !pieces_join(&v->coming, size, at, bytes, n, MOST) ||
	    v->coming.len < v->coming.size)
		return;
	if (is_list(&v->coming)) {
		pack_fini(&v->known);
		v->known = v->coming;
	} else {
		pack_fini(&v->coming);
	}
	v->coming = (struct pack){ .data = NULL };
	waiters_call(st);
}

void host_pack_vnode_list(struct state *st, struct pack *p)
{
	const char *host = keel_host_name(st->mod);
	uint32_t list, object, attrs;

	if (st->host_vnodes && st->host_vnodes->known.len) {
		pack_raw(p, &st->host_vnodes->known);
		return;
	}
	list = pack_open_map(p);
	pack_key(p, host);
	object = pack_open_map(p);
	pack_pair_text(p, "class", "node");
	pack_pair_text(p, "id", host);
	pack_key(p, "attrs");
	attrs = pack_open_map(p);
	pack_close(p, attrs, 0);
	pack_close(p, object, 3);
	pack_close(p, list, 1);
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------ */
int32_t host_vnodes_init(struct keel_mod *mod, struct keel_err *err)
{
	int32_t r = 0;

	if (keel_daemon(mod) & KEEL_SERVER)
		r = keel_link_on(mod, "python.vnodes.want", KEEL_MOM, on_want);
	if (r == 0 && keel_daemon(mod) & KEEL_MOM)
		r = keel_link_on(mod, "python.vnodes", KEEL_SERVER, on_vnodes);
	return r == 0 ? 0 : keel_error(err, r, "messages about vnodes of hosts cannot be received: no memory, or another module has their names");
}

void host_vnodes_stop(struct state *st)
{
	struct host_vnodes *v = st->host_vnodes;
	struct waiter *w, *next;
	struct asker *a, *later;

	if (!v)
		return;
	keel_timer_cancel(v->timer);
	HASH_ITER(hh, v->askers, a, later) {
		keel_timer_cancel(a->timer);
		HASH_DEL(v->askers, a);
		free(a->name);
		free(a);
	}
	DL_FOREACH_SAFE(v->waiters, w, next)
		free(w);
	pack_fini(&v->known);
	pack_fini(&v->coming);
	free(v);
	st->host_vnodes = NULL;
}
