/* SPDX-License-Identifier: Apache-2.0
 *
 * distribute.c - a server's: every host has the files of the hooks with an event of moms.
 *
 * What there is to have (wants) follows from the hooks. What a host has, it says itself when it is linked (python.have), and then by
 * what it takes. The difference becomes orders of that host, which leave in their order, some at a time; while there are any, no job
 * starts there. Nothing of this is stored: a server that was restarted hears from each host anew.
 */
#include "distribute.h"
#include "hookfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/node.h"
#include "keel/service/sched.h"

KEEL_USE_OPT(node);
KEEL_USE_OPT(sched);

#define TIMEOUT_S 120
#define RETRY_MS 10000 /* after an error of the host's */
#define OVERHEAD 256   /* of a message, in the window */
#define MOM_PORT 15002 /* in log lines: hosts dial the server, and it does not keep their ports */

const struct keel_attr_def distribute_timeout_row = KEEL_ATTR_DEF(
	"server", "sync_mom_hookfiles_timeout", "time", .order = 830, .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY,
	.write_roles = KEEL_MANAGERS, .doc = "after so many seconds without an answer files of hooks are sent to a host again; unset: 120");
KEEL_ATTR_OPT(server, sync_mom_hookfiles_timeout);

struct want {
	UT_hash_handle hh;
	char *file;
	char version[HOOKFILE_VERSION];
};

struct copy { /* what a host has */
	UT_hash_handle hh;
	char *file;
	char version[HOOKFILE_VERSION];
	bool refused; /* it does not want this version */
};

struct order { /* what is on its way to a host */
	UT_hash_handle hh;
	char *file;
	char version[HOOKFILE_VERSION]; /* "": it is to be deleted */
	uint32_t at, taken, flying;	/* bytes sent, bytes that have arrived, bytes of the window it has */
	bool sent;			/* all of it */
};

struct mom {
	UT_hash_handle hh;
	struct state *st;
	char *name;
	bool linked, current; /* current: it has said on this link what it has */
	bool known;	      /* it has said so since this server runs */
	bool kept_waiting;    /* a job was not started because of it */
	uint32_t flying;      /* bytes */
	struct copy *copies;
	struct order *orders; /* in their order */
	struct keel_timer *deadline;
};

struct distribute {
	struct want *wants;
	struct mom *moms;
	struct keel_timer *later; /* looks for hooks that are gone everywhere */
	uint32_t loading;	  /* hooks whose script is not read yet, at the last count */
};

static struct mom *mom_find(struct state *st, const char *name)
{
	struct mom *m = NULL;

	HASH_FIND_STR(st->distribute->moms, name, m);
	return m;
}

/* ---- rows by their file ------------------------------------------------------------------------------------------------------- */
#define ROWS(type)                                                                                                              \
	static struct type *type##_find(struct type *rows, const char *file)                                                    \
	{                                                                                                                       \
		struct type *row;                                                                                               \
                                                                                                                                \
		HASH_FIND_STR(rows, file, row);                                                                                 \
		return row;                                                                                                     \
	}                                                                                                                       \
	static void type##_drop(struct type **rows, struct type *row)                                                           \
	{                                                                                                                       \
		HASH_DEL(*rows, row);                                                                                           \
		free(row->file);                                                                                                \
		free(row);                                                                                                      \
	}                                                                                                                       \
	static void type##_drop_all(struct type **rows)                                                                         \
	{                                                                                                                       \
		while (*rows)                                                                                                   \
			type##_drop(rows, *rows);                                                                               \
	}                                                                                                                       \
	/* NULL without memory. */                                                                                              \
	static struct type *type##_put(struct type **rows, const char *file, const char *version)                               \
	{                                                                                                                       \
		struct type *row = type##_find(*rows, file);                                                                    \
                                                                                                                                \
		if (!row && (row = calloc(1, sizeof(*row)))) {                                                                  \
			row->file = strdup(file);                                                                               \
			if (row->file)                                                                                          \
				HASH_ADD_KEYPTR(hh, *rows, row->file, strlen(row->file), row);                                  \
			if (!row->hh.tbl) {                                                                                     \
				free(row->file);                                                                                \
				free(row);                                                                                      \
				row = NULL;                                                                                     \
			}                                                                                                       \
		}                                                                                                               \
		if (row)                                                                                                        \
			snprintf(row->version, HOOKFILE_VERSION, "%s", version);                                                \
		return row;                                                                                                     \
	}
ROWS(want)
ROWS(copy)
ROWS(order)

/* ---- what there is to have --------------------------------------------------------------------------------------------------- */
/* The bytes of a file; *ret_own is to be freed. NULL: there is none, or no memory. */
static const char *content(struct state *st, const char *file, uint32_t *ret_len, char **ret_own)
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

static void order_for(struct mom *m, const char *file);

/* What hosts should have of this file is as it is now; `wanted` false: nothing. */
static void want_renew(struct state *st, const char *file, bool wanted)
{
	struct distribute *d = st->distribute;
	struct want *old = want_find(d->wants, file);
	char version[HOOKFILE_VERSION], *own = NULL;
	uint32_t len;
	const char *bytes = wanted ? content(st, file, &len, &own) : NULL;
	struct mom *m, *next;

	if (bytes && len <= HOOKFILE_MOST) {
		hookfile_version(bytes, len, version);
		if (!want_put(&d->wants, file, version))
			keel_log(st->mod, KEEL_LOG_ERROR, "Hook", file, "hosts do not get it: no memory");
	} else if (old) {
		want_drop(&d->wants, old);
	}
	free(own);
	HASH_ITER(hh, d->moms, m, next)
		order_for(m, file);
}

/* Tables are for those who have hooks. */
static void tables_renew(struct state *st)
{
	char file[HOOKFILE_NAME];
	uint32_t hooks = HASH_COUNT(st->distribute->wants) - (want_find(st->distribute->wants, "tables") ? 1 : 0);

	hookfile_name("", HOOKFILE_TABLES, file);
	want_renew(st, file, hooks > 0);
}

static bool is_wanted(const struct hook *h)
{
	return !h->pending && hook_of_moms(h);
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

/* Hooks that hosts should have and that are being read yet. */
static bool any_loading(const struct state *st)
{
	const struct hook *h;

	for (h = st->hooks; h; h = h->hh.next)
		if (h->loading && is_wanted(h))
			return true;
	return false;
}

/* ---- orders of a host ---------------------------------------------------------------------------------------------------------- */
static void pump(struct mom *m);
static void gone_later(struct state *st);

static void deadline(struct keel_mod *mod, void *arg);

static int64_t timeout_ms(struct state *st)
{
	struct keel_obj *server = keel_find(st->mod, "server", keel_server_name(st->mod));
	int64_t seconds = server && server_sync_mom_hookfiles_timeout ? keel_get_int(server, server_sync_mom_hookfiles_timeout) : 0;

	return (seconds > 0 && seconds < 86400 ? seconds : TIMEOUT_S) * 1000;
}

static void deadline_set(struct mom *m, int64_t ms)
{
	keel_timer_cancel(m->deadline);
	m->deadline = m->orders && m->current ? keel_timer(m->st->mod, ms, deadline, m) : NULL;
}

static void again(struct mom *m)
{
	for (struct order *o = m->orders; o; o = o->hh.next) {
		o->at = o->taken = o->flying = 0;
		o->sent = false;
	}
	m->flying = 0;
}

static void deadline(struct keel_mod *mod, void *arg)
{
	struct mom *m = arg;

	m->deadline = NULL;
	if (m->flying > 0)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", m->name, "Timing out previous send of mom hook updates to %s: %u files wait, the "
			 "first of them %s; they are sent again", m->name, HASH_COUNT(m->orders), m->orders ? m->orders->file : "");
	again(m);
	pump(m);
}

static void order_end(struct mom *m, struct order *o)
{
	m->flying -= o->flying < m->flying ? o->flying : m->flying;
	order_drop(&m->orders, o);
	if (m->orders)
		return;
	deadline_set(m, 0);
	if (m->kept_waiting && keel_has(sched))
		keel_sched_reconsider();
	m->kept_waiting = false;
	gone_later(m->st);
}

/* The host has of this file what it should have, or an order says what it is to get. */
static void order_for(struct mom *m, const char *file)
{
	const struct want *want = want_find(m->st->distribute->wants, file);
	const struct copy *copy = copy_find(m->copies, file);
	const char *version = want ? want->version : "", *has = copy ? copy->version : "";
	struct order *o = order_find(m->orders, file);

	if (!m->current)
		return;
	if (o && strcmp(o->version, version) == 0)
		return;
	if (!o && strcmp(has, version) == 0)
		return;
	if (o) {
		m->flying -= o->flying < m->flying ? o->flying : m->flying;
		order_drop(&m->orders, o);
	}
	/* One that was under way may have arrived: what the host has then is known by its answer alone. */
	if (!order_put(&m->orders, file, version))
		keel_log(m->st->mod, KEEL_LOG_ERROR, "Hook", file, "%s does not get it: no memory", m->name);
	if (!m->deadline)
		deadline_set(m, timeout_ms(m->st));
	pump(m);
}

static int32_t piece_send(struct mom *m, struct order *o, const char *bytes, uint32_t len, uint32_t n)
{
	struct keel_out *out = keel_out(m->st->mod);

	keel_put_str(out, "file", o->file);
	keel_put_str(out, "version", o->version);
	keel_put_int(out, "size", len);
	keel_put_int(out, "at", o->at);
	if (n > 0)
		keel_put_bytes(out, "bytes", bytes + o->at, n);
	return keel_link_send(m->st->mod, m->name, "python.file", out);
}

/* Sends the next piece. False: it cannot be sent now. */
static bool order_send(struct mom *m, struct order *o)
{
	uint32_t len = 0, n;
	char *own = NULL;
	const char *bytes = o->version[0] ? content(m->st, o->file, &len, &own) : NULL;
	int32_t r;

	n = len - o->at < HOOKFILE_CHUNK ? len - o->at : HOOKFILE_CHUNK;
	r = piece_send(m, o, bytes, len, n);
	free(own);
	if (r < 0)
		return false;
	o->at += n;
	o->flying += n + OVERHEAD;
	m->flying += n + OVERHEAD;
	o->sent = o->at >= len;
	return true;
}

static void pump(struct mom *m)
{
	for (struct order *o = m->orders; m->current && o; o = o->hh.next)
		while (!o->sent) {
			if (m->flying >= HOOKFILE_WINDOW || !order_send(m, o))
				return;
		}
}

/* ---- what hosts say --------------------------------------------------------------------------------------------------------------- */
static void took_all(struct mom *m, struct order *o, int32_t code, const char *text)
{
	struct state *st = m->st;
	const char *host = m->name;
	struct copy *copy;

	if (o->version[0] == '\0' && code == 0) {
		keel_log(st->mod, KEEL_LOG_SYSTEM, "Hook", o->file, "successfully deleted hook file %s from %s", o->file, host);
		copy = copy_find(m->copies, o->file);
		if (copy)
			copy_drop(&m->copies, copy);
	} else {
		copy = copy_put(&m->copies, o->file, o->version);
		if (copy)
			copy->refused = code != 0;
		if (code)
			keel_log(st->mod, KEEL_LOG_ERROR, "Hook", o->file, "%s refuses hook file %s: %s", host, o->file, text);
		else
			keel_log(st->mod, KEEL_LOG_SYSTEM, "Hook", o->file, "successfully sent hook file %s/server_priv/hooks/%s to %s",
				 keel_home(st->mod), o->file, host);
	}
	order_end(m, o);
}

static void piece_taken(struct mom *m, struct order *o, int64_t at)
{
	uint32_t n;

	if (at <= o->taken || at > o->at)
		return;
	n = (uint32_t)at - o->taken;
	o->taken = (uint32_t)at;
	n = (n + HOOKFILE_CHUNK - 1) / HOOKFILE_CHUNK * OVERHEAD + n;
	n = n < o->flying ? n : o->flying;
	o->flying -= n;
	m->flying -= n < m->flying ? n : m->flying;
}

static void on_took(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	const char *file = keel_msg_str(msg, "file"), *version = keel_msg_str(msg, "version"), *text = keel_msg_str(msg, "text");
	int64_t code = keel_msg_int(msg, "code", -1);
	struct mom *m = st->distribute ? mom_find(st, peer) : NULL;
	struct order *o = m && m->current && file ? order_find(m->orders, file) : NULL;

	if (!o || !version || strcmp(version, o->version) != 0)
		return;
	deadline_set(m, timeout_ms(st));
	if (code < 0) {
		piece_taken(m, o, keel_msg_int(msg, "at", 0));
	} else if (code == 0 || code == PBSE_MOM_REJECT_ROOT_SCRIPTS) {
		took_all(m, o, (int32_t)code, text && *text ? text : keel_pbse_text((int32_t)code));
	} else {
		keel_log(mod, KEEL_LOG_ERROR, "Hook", o->file, "%s could not take hook file %s: %.200s; it is sent again", peer, o->file,
			 text ? text : "it does not say why");
		deadline_set(m, RETRY_MS);
		m->flying = 0;
		return;
	}
	pump(m);
}

/* "name version" */
static void line_read(struct mom *m, const char *line)
{
	const char *blank = strchr(line, ' ');
	char file[HOOKFILE_NAME], hook[HOOKFILE_NAME];
	enum hookfile_kind kind;

	if (!blank || blank == line || blank - line >= HOOKFILE_NAME || strlen(blank + 1) >= HOOKFILE_VERSION)
		return;
	snprintf(file, sizeof(file), "%.*s", (int)(blank - line), line);
	if (!hookfile_parse(file, &kind, hook))
		return;
	if (!copy_put(&m->copies, file, blank + 1))
		keel_log(m->st->mod, KEEL_LOG_ERROR, "Hook", file, "no memory for what %s has", m->name);
}

static void differences_log(struct mom *m)
{
	for (const struct copy *copy = m->copies; copy; copy = copy->hh.next) {
		const struct want *want = want_find(m->st->distribute->wants, copy->file);

		if (want && strcmp(want->version, copy->version) != 0)
			keel_log(m->st->mod, KEEL_LOG_DEBUG, "Hook", copy->file, "hook script mismatched checksums: %s of %s: "
				 "...resending", copy->file, m->name);
	}
}

static void orders_renew(struct mom *m)
{
	struct copy *copy, *next;

	for (const struct want *want = m->st->distribute->wants; want; want = want->hh.next)
		order_for(m, want->file);
	HASH_ITER(hh, m->copies, copy, next)
		if (!want_find(m->st->distribute->wants, copy->file))
			order_for(m, copy->file);
}

static void on_have(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	struct mom *m = st->distribute ? mom_find(st, peer) : NULL;
	uint32_t n = 0;
	const char *const *lines = keel_msg_strings(msg, "files", &n);

	if (!m || !m->linked)
		return;
	if (n == UINT32_MAX || n > HOOKFILES_MOST) {
		keel_log(mod, KEEL_LOG_ERROR, "Hook", peer, "what it says about its hook files is no list of at most %d: it is not believed",
			 HOOKFILES_MOST);
		n = 0;
	}
	order_drop_all(&m->orders);
	m->flying = 0;
	copy_drop_all(&m->copies);
	for (uint32_t i = 0; lines && i < n; i++)
		line_read(m, lines[i]);
	m->current = m->known = true;
	differences_log(m);
	if (!any_loading(st))
		orders_renew(m);
	gone_later(st);
}

/* ---- links ------------------------------------------------------------------------------------------------------------------------ */
static struct mom *mom_add(struct state *st, const char *name)
{
	struct mom *m = calloc(1, sizeof(*m));

	if (!m || !(m->name = strdup(name))) {
		free(m);
		return NULL;
	}
	m->st = st;
	HASH_ADD_KEYPTR(hh, st->distribute->moms, m->name, strlen(m->name), m);
	if (m->hh.tbl)
		return m;
	free(m->name);
	free(m);
	return NULL;
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
	order_drop_all(&m->orders);
	m->flying = 0;
	m->linked = up;
	m->current = false;
	deadline_set(m, 0);
	if (up)
		keel_link_send(st->mod, peer, "python.who", keel_out(st->mod));
}

/* ---- hooks ------------------------------------------------------------------------------------------------------------------------ */
void distribute_hook(struct state *st, struct hook *h)
{
	struct distribute *d = st->distribute;
	struct mom *m, *next;

	if (!d)
		return;
	hook_renew(st, h);
	tables_renew(st);
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

/* Does this host have nothing of it? */
static bool mom_is_without(struct state *st, const char *host, const struct hook *h)
{
	struct mom *m = mom_find(st, host);
	char file[HOOKFILE_NAME];

	if (!m || !m->known)
		return false;
	for (uint32_t kind = HOOKFILE_ATTRS; kind < HOOKFILE_TABLES; kind++) {
		hookfile_name(h->name, (enum hookfile_kind)kind, file);
		if (copy_find(m->copies, file) || order_find(m->orders, file))
			return false;
	}
	return true;
}

static bool is_gone(struct state *st, const struct hook *h)
{
	struct keel_cursor *cursor = keel_cursor(st->mod, "node");
	struct keel_obj *node;
	bool gone = cursor != NULL;

	while (gone && (node = keel_next(cursor))) {
		const char *host = keel_has(node) ? keel_node_host_of(keel_id(node)) : NULL;

		gone = !host || mom_is_without(st, host, h);
	}
	if (cursor)
		keel_cursor_close(cursor);
	return gone;
}

static void gone_look(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct hook *h, *next;

	(void)arg;
	st->distribute->later = NULL;
	HASH_ITER(hh, st->hooks, h, next)
		if (h->pending && is_gone(st, h))
			hook_gone(st, h);
}

static void gone_later(struct state *st)
{
	struct distribute *d = st->distribute;
	const struct hook *h;

	for (h = st->hooks; h && !d->later; h = h->hh.next)
		if (h->pending)
			d->later = keel_timer(st->mod, 0, gone_look, NULL);
}

void distribute_forget(struct state *st)
{
	if (st->distribute)
		gone_later(st);
}

/* ---- starts of jobs ------------------------------------------------------------------------------------------------------------------ */
static bool is_behind(struct state *st, struct mom *m)
{
	return m->linked && (m->orders || (!m->current && st->distribute->wants) || any_loading(st));
}

/* The next name of an exec_vnode at *at, on *ret_len characters. NULL: there is no more. */
static const char *vnode_next(const char **at, size_t *ret_len)
{
	const char *from = *at + strspn(*at, "(+");

	if (!*from)
		return NULL;
	*ret_len = strcspn(from, ":)+");
	*at = from + *ret_len;
	*at += strcspn(*at, "+");
	return from;
}

keel_verdict distribute_start_now(struct keel_call *c, const struct keel_ev_start_now *ev)
{
	struct state *st = keel_state(c);
	const char *at = ev->exec_vnode ? ev->exec_vnode : "", *name, *host;
	char vnode[HOOKFILE_NAME];
	size_t len;
	struct mom *m;

	if (!st->distribute || !keel_has(node))
		return KEEL_NEXT;
	while ((name = vnode_next(&at, &len))) {
		snprintf(vnode, sizeof(vnode), "%.*s", (int)(len < sizeof(vnode) ? len : sizeof(vnode) - 1), name);
		host = keel_node_host_of(vnode);
		m = host ? mom_find(st, host) : NULL;
		if (!m || !is_behind(st, m))
			continue;
		m->kept_waiting = true;
		keel_log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "vnode %s's parent mom %s:%d has a pending copy hook or delete hook request",
			 vnode, host, MOM_PORT);
		return keel_reject(c, PBSE_MOM_INCOMPLETE_HOOK, NULL);
	}
	return KEEL_NEXT;
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------ */
int32_t distribute_init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_link_on(mod, "python.have", KEEL_MOM, on_have) < 0 || keel_link_on(mod, "python.took", KEEL_MOM, on_took) < 0)
		return keel_error(err, -EBUSY, "messages of hosts about hooks cannot be received: no memory, or another module has their "
					       "names");
	return 0;
}

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
		order_drop_all(&m->orders);
		free(m->name);
		free(m);
	}
	keel_timer_cancel(d->later);
	want_drop_all(&d->wants);
	free(d);
	st->distribute = NULL;
}
