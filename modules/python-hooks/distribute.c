/* SPDX-License-Identifier: Apache-2.0
 *
 * distribute.c - a server's: every host has the files of the hooks with an event of moms.
 *
 * What there is to have (wants) follows from the hooks. What a host has, it says itself when it is linked (python.have), and then by
 * what it takes. The difference becomes orders of that host, which leave in their order, some at a time; while there are any, no job
 * starts there. Nothing of this is stored: a server that was restarted hears from each host anew.
 */
#include "deliver.h"
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/node.h"

KEEL_USE_OPT(node);

#define LOOK_MS 50     /* between two looks for hooks that are gone everywhere */
#define MOM_PORT 15002 /* in log lines: hosts dial the server, and it does not keep their ports */

const struct keel_attr_def distribute_timeout_row = KEEL_ATTR_DEF(
	"server", "sync_mom_hookfiles_timeout", "long", .order = 830, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
	.write_roles = KEEL_MANAGERS, 
	.doc = "seconds after which files of hooks are sent again to a host that has not answered; unset: 120");

struct mom *mom_find(struct state *st, const char *name)
{
	struct mom *m = NULL;

	HASH_FIND_STR(st->distribute->moms, name, m);
	return m;
}

/* ---- what there is to have --------------------------------------------------------------------------------------------------- */
const char *content(struct state *st, const char *file, uint32_t *ret_len, char **ret_own)
{
	char name[HOOKFILE_NAME];
	enum hookfile_kind kind;
	const struct pack *tables;
	const struct hook *h;

	*ret_own = NULL;
	*ret_len = 0;
	if (!hookfile_parse(file, &kind, name))
		return NULL;
	if (kind == HOOKFILE_TABLES) {
		tables = tables_get(st);
		*ret_len = tables ? tables->len : 0;
		return tables ? tables->data : NULL;
	}
	h = hook_find(st, name);
	if (!h)
		return NULL;
	if (kind == HOOKFILE_ATTRS) {
		*ret_own = hookfile_attrs(h);
		*ret_len = *ret_own ? (uint32_t)strlen(*ret_own) : 0;
		return *ret_own;
	}
	*ret_len = kind == HOOKFILE_SCRIPT ? h->script_len : h->config_len;
	return kind == HOOKFILE_SCRIPT ? h->script : h->config;
}

/* What hosts should have of this file is as it is now; `wanted` false: nothing. */
static void want_renew(struct state *st, const char *file, bool wanted)
{
	struct distribute *d = st->distribute;
	struct copy *old = copy_find(d->wants, file);
	char version[HOOKFILE_VERSION], *own = NULL;
	uint32_t len;
	const char *bytes = wanted ? content(st, file, &len, &own) : NULL;
	struct mom *m, *next;

	if (bytes && len <= HOOKFILE_MOST) {
		hookfile_version(bytes, len, version);
		if (!copy_put(&d->wants, file, version))
			keel_log(st->mod, KEEL_LOG_ERROR, "Hook", file, "hosts do not get it: no memory");
	} else if (old) {
		copy_drop(&d->wants, old);
	}
	free(own);
	HASH_ITER(hh, d->moms, m, next)
		order_for(m, file);
}

static bool is_wanted(const struct hook *h)
{
	return !h->pending && hook_of_moms(h);
}

/* Tables are for those who have hooks. */
static void tables_renew(struct state *st)
{
	char file[HOOKFILE_NAME];
	const struct hook *h = st->hooks;

	while (h && !is_wanted(h))
		h = h->hh.next;
	hookfile_name("", HOOKFILE_TABLES, file);
	want_renew(st, file, h != NULL);
}

static void hook_renew(struct state *st, const struct hook *h)
{
	char file[HOOKFILE_NAME];

	if (h->loading && is_wanted(h))
		return;
	for (uint32_t kind = HOOKFILE_ATTRS; kind < HOOKFILE_TABLES; kind++) {
		hookfile_name(h->name, (enum hookfile_kind)kind, file);
		want_renew(st, file, is_wanted(h));
	}
}

bool any_loading(const struct state *st)
{
	const struct hook *h;

	for (h = st->hooks; h; h = h->hh.next)
		if (h->loading && is_wanted(h))
			return true;
	return false;
}

/* ---- links ------------------------------------------------------------------------------------------------------------------------ */
static struct mom *mom_add(struct state *st, const char *name)
{
	struct mom *m;

	ROW_ADD(st->distribute->moms, m, name, name);
	if (m)
		m->st = st;
	return m;
}

void distribute_peer(struct state *st, const char *peer, bool up)
{
	struct mom *m = st->distribute ? mom_find(st, peer) : NULL;

	if (!st->distribute)
		return;
	if (!m && up)
		m = mom_add(st, peer);
	if (!m) {
		if (up)
			keel_log(st->mod, KEEL_LOG_ERROR, "Hook", peer, "it does not get hooks: no memory");
		return;
	}
	orders_forget(m);
	m->linked = up;
	m->current = m->hasty = false;
	if (up)
		mom_ask(m);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------------------------ */
void distribute_hook(struct state *st, struct hook *h)
{
	struct distribute *d = st->distribute;
	struct mom *m, *next;

	if (!d)
		return;
	tables_renew(st); /* first: a script needs them */
	hook_renew(st, h);
	if (d->loading && !any_loading(st))
		HASH_ITER(hh, d->moms, m, next)
			if (m->current)
				orders_renew(m);
	d->loading = any_loading(st);
	if (h->pending)
		gone_later(st);
}

void distribute_tables(struct state *st)
{
	if (st->distribute)
		tables_renew(st);
}

/* Hosts that have vnodes get this round's mark. False: one of them has not said yet what it has. */
static bool hosts_mark(struct state *st)
{
	struct keel_cursor *cursor = keel_cursor(st->mod, "node");
	struct distribute *d = st->distribute;
	struct keel_obj *node;
	bool all = cursor != NULL;

	d->round++;
	while (all && (node = keel_next(cursor))) {
		const char *host = keel_has(node) ? keel_node_host_of(keel_id(node)) : NULL;
		struct mom *m = host ? mom_find(st, host) : NULL;

		if (m)
			m->round = d->round;
		all = !host || (m && m->known);
	}
	if (cursor)
		keel_cursor_close(cursor);
	return all;
}

/* A host that has no vnode any more has nothing. */
static bool is_gone(const struct distribute *d, const struct hook *h)
{
	char file[HOOKFILE_NAME];

	for (uint32_t kind = HOOKFILE_ATTRS; kind < HOOKFILE_TABLES; kind++) {
		hookfile_name(h->name, (enum hookfile_kind)kind, file);
		for (const struct mom *m = d->moms; m; m = m->hh.next)
			if (m->round == d->round && (copy_find(m->copies, file) || copy_find(m->orders, file)))
				return false;
	}
	return true;
}

static void gone_look(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct hook *h, *next;

	(void)arg;
	st->distribute->later = NULL;
	st->distribute->looked_ms = keel_now_ms(mod);
	if (!hosts_mark(st))
		return;
	HASH_ITER(hh, st->hooks, h, next)
		if (h->pending && is_gone(st->distribute, h))
			hook_gone(st, h);
}

/* Soon, and not at each answer of each host. */
void gone_later(struct state *st)
{
	struct distribute *d = st->distribute;
	int64_t ms = d->looked_ms ? d->looked_ms + LOOK_MS - keel_now_ms(st->mod) : 0;
	const struct hook *h;

	for (h = st->hooks; h && !d->later; h = h->hh.next)
		if (h->pending)
			d->later = keel_timer(st->mod, ms > 0 ? ms : 0, gone_look, NULL);
}

void distribute_forget(struct state *st)
{
	if (st->distribute)
		gone_later(st);
}

/* ---- starts of jobs ------------------------------------------------------------------------------------------------------------------ */
static bool is_behind(const struct state *st, const struct mom *m)
{
	return m->linked && (m->orders || (!m->current && st->distribute->wants));
}

keel_verdict distribute_start_now(struct keel_call *c, const struct keel_ev_start_now *ev)
{
	struct state *st = keel_state(c);
	const char *at = ev->exec_vnode ? ev->exec_vnode : "", *host;
	struct exec_item item;
	uint32_t chunk = 0;
	struct mom *m;
	bool loading;

	if (!st->distribute || !keel_has(node))
		return KEEL_NEXT;
	loading = any_loading(st);
	while (exec_next(&at, &chunk, &item)) {
		host = keel_node_host_of(item.vnode);
		m = host ? mom_find(st, host) : NULL;
		if (!m || !(is_behind(st, m) || (loading && m->linked)))
			continue;
		m->kept_waiting = true;
		keel_log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "vnode %s's parent mom %s:%d has a pending copy hook or delete hook request",
			 item.vnode, host, MOM_PORT);
		return keel_reject(c, PBSE_MOM_INCOMPLETE_HOOK, NULL);
	}
	return KEEL_NEXT;
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------ */
int32_t distribute_start(struct state *st, struct keel_err *err)
{
	struct hook *h;

	st->distribute = calloc(1, sizeof(*st->distribute));
	if (!st->distribute)
		return keel_error(err, -ENOMEM, "no memory for hooks of hosts");
	for (h = st->hooks; h; h = h->hh.next)
		distribute_hook(st, h);
	return 0;
}

void distribute_stop(struct state *st)
{
	struct distribute *d = st->distribute;
	struct mom *m, *next;

	if (!d)
		return;
	HASH_ITER(hh, d->moms, m, next) {
		HASH_DEL(d->moms, m);
		keel_timer_cancel(m->deadline);
		copy_drop_all(&m->copies);
		copy_drop_all(&m->orders);
		free(m->name);
		free(m);
	}
	keel_timer_cancel(d->later);
	copy_drop_all(&d->wants);
	free(d);
	st->distribute = NULL;
}
