/* SPDX-License-Identifier: Apache-2.0
 *
 * deliver.c - a server's: the orders of a host, which are sent some at a time, and what the host answers.
 */
#include "deliver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/service/sched.h"

KEEL_USE_OPT(sched);

#define TIMEOUT_S 120
#define RETRY_MS 10000 /* after an error of the host's */
#define OVERHEAD 256   /* of a message, in the window */
#define HAVE_EACH_MS 1000 /* what a host has is believed, and sent anew, no more often */

KEEL_ATTR_OPT(server, sync_mom_hookfiles_timeout);

/* ---- rows ----------------------------------------------------------------------------------------------------------------------- */
struct copy *copy_find(struct copy *rows, const char *file)
{
	struct copy *row;

	HASH_FIND_STR(rows, file, row);
	return row;
}

void copy_drop(struct copy **rows, struct copy *row)
{
	HASH_DEL(*rows, row);
	free(row->file);
	free(row);
}

void copy_drop_all(struct copy **rows)
{
	while (*rows)
		copy_drop(rows, *rows);
}

struct copy *copy_put(struct copy **rows, const char *file, const char *version)
{
	struct copy *row = copy_find(*rows, file);

	if (!row)
		ROW_ADD(*rows, row, file, file);
	if (row)
		snprintf(row->version, HOOKFILE_VERSION, "%s", version);
	return row;
}

/* ---- orders of a host ---------------------------------------------------------------------------------------------------------- */
static void pump(struct mom *m);
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
	m->deadline = (m->current ? m->orders != NULL : m->linked) ? keel_timer(m->st->mod, ms, deadline, m) : NULL;
}

void mom_ask(struct mom *m)
{
	keel_link_send(m->st->mod, m->name, "python.who", keel_out(m->st->mod));
	deadline_set(m, timeout_ms(m->st));
}

static void again(struct mom *m)
{
	for (struct copy *o = m->orders; o; o = o->hh.next) {
		o->at = o->taken = o->flying = 0;
		o->sent = false;
	}
	m->flying = 0;
	m->retries = false;
}

static void deadline(struct keel_mod *mod, void *arg)
{
	struct mom *m = arg;

	m->deadline = NULL;
	if (!m->current) {
		if (m->st->distribute->wants && !m->hasty)
			keel_log(mod, KEEL_LOG_ERROR, "Hook", m->name, "%s has not said which hook files it has: no job starts there. Does "
				 "its daemon have the module python-hooks?", m->name);
		m->hasty = false;
		mom_ask(m);
		return;
	}
	if (m->flying > 0)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", m->name, "Timing out previous send of mom hook updates to %s: %u files wait, the "
			 "first of them %s; they are sent again", m->name, HASH_COUNT(m->orders), m->orders ? m->orders->file : "");
	again(m);
	pump(m);
	deadline_set(m, timeout_ms(m->st));
}

static void order_end(struct mom *m, struct copy *o)
{
	m->flying -= o->flying < m->flying ? o->flying : m->flying;
	copy_drop(&m->orders, o);
	if (m->orders)
		return;
	m->retries = false;
	deadline_set(m, 0);
	if (m->kept_waiting && keel_has(sched))
		keel_sched_reconsider();
	m->kept_waiting = false;
	gone_later(m->st);
}

/* The host has of this file what it should have, or an order says what it is to get. */
void order_for(struct mom *m, const char *file)
{
	const struct copy *want = copy_find(m->st->distribute->wants, file);
	const struct copy *copy = copy_find(m->copies, file);
	const char *version = want ? want->version : "", *has = copy ? copy->version : "";
	struct copy *o = copy_find(m->orders, file);

	if (!m->current)
		return;
	if (o && strcmp(o->version, version) == 0)
		return;
	if (!o && strcmp(has, version) == 0)
		return;
	if (o) {
		m->flying -= o->flying < m->flying ? o->flying : m->flying;
		copy_drop(&m->orders, o);
	}
	/* One that was under way may have arrived: what the host has then is known by its answer alone. */
	if (!copy_put(&m->orders, file, version))
		keel_log(m->st->mod, KEEL_LOG_ERROR, "Hook", file, "%s does not get it: no memory", m->name);
	if (!m->deadline)
		deadline_set(m, timeout_ms(m->st));
	pump(m);
}

static int32_t piece_send(struct mom *m, struct copy *o, const char *bytes, uint32_t len, uint32_t n)
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
static bool order_send(struct mom *m, struct copy *o)
{
	uint32_t len = 0, n;
	char *own = NULL;
	const char *bytes = o->version[0] ? content(m->st, o->file, &len, &own) : NULL;
	int32_t r;

	if (o->at > len) /* it became shorter, and its new version is not ordered yet */
		o->at = 0;
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
	for (struct copy *o = m->orders; m->current && o; o = o->hh.next)
		while (!o->sent) {
			if (m->flying >= HOOKFILE_WINDOW || !order_send(m, o))
				return;
		}
}

void orders_forget(struct mom *m)
{
	copy_drop_all(&m->orders);
	m->flying = 0;
	m->retries = false;
	keel_timer_cancel(m->deadline);
	m->deadline = NULL;
}

/* ---- what hosts say --------------------------------------------------------------------------------------------------------------- */
static void took_all(struct mom *m, struct copy *o, int32_t code, const char *text)
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

static void piece_taken(struct mom *m, struct copy *o, int64_t at)
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
	struct copy *o = m && m->current && file ? copy_find(m->orders, file) : NULL;

	if (!o || !version || strcmp(version, o->version) != 0)
		return;
	if (!m->retries)
		deadline_set(m, timeout_ms(st));
	if (code < 0) {
		piece_taken(m, o, keel_msg_int(msg, "at", 0));
	} else if (code == 0 || code == PBSE_MOM_REJECT_ROOT_SCRIPTS) {
		took_all(m, o, (int32_t)code, text && *text ? text : keel_pbse_text((int32_t)code));
	} else {
		keel_log(mod, KEEL_LOG_ERROR, "Hook", o->file, "%s could not take hook file %s: %.200s; it is sent again", peer, o->file,
			 text ? text : "it does not say why");
		if (!m->retries)
			deadline_set(m, RETRY_MS);
		m->retries = true;
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
		const struct copy *want = copy_find(m->st->distribute->wants, copy->file);

		if (want && strcmp(want->version, copy->version) != 0)
			keel_log(m->st->mod, KEEL_LOG_DEBUG, "Hook", copy->file, "hook script mismatched checksums: %s of %s: "
				 "...resending", copy->file, m->name);
	}
}

void orders_renew(struct mom *m)
{
	struct copy *copy, *next;

	for (const struct copy *want = m->st->distribute->wants; want; want = want->hh.next)
		order_for(m, want->file);
	HASH_ITER(hh, m->copies, copy, next)
		if (!copy_find(m->st->distribute->wants, copy->file))
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
	if (m->hasty)
		return; /* another question follows */
	orders_forget(m);
	if (m->current && keel_now_ms(mod) < m->had_ms + HAVE_EACH_MS) { /* the files of each list would wait on the link */
		m->current = false;
		m->hasty = true;
		deadline_set(m, HAVE_EACH_MS);
		return;
	}
	m->had_ms = keel_now_ms(mod);
	copy_drop_all(&m->copies);
	for (uint32_t i = 0; lines && i < n; i++)
		line_read(m, lines[i]);
	m->current = m->known = true;
	differences_log(m);
	if (!any_loading(st))
		orders_renew(m);
	gone_later(st);
}

int32_t deliver_init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_link_on(mod, "python.have", KEEL_MOM, on_have) < 0 || keel_link_on(mod, "python.took", KEEL_MOM, on_took) < 0)
		return keel_error(err, -EBUSY, "messages of hosts about hooks cannot be received: no memory, or another module has their "
					       "names");
	return 0;
}
