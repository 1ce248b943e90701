/* SPDX-License-Identifier: Apache-2.0
 *
 * clock-drift.c - clocks that differ are said: the server asks each host for its time, and compares.
 *
 *	server  clock.ask  number             -> host
 *	server  clock.is   number, time       <- host
 *	server  clock.said seconds it is off  -> host, when that changes: its log has it, too
 *
 * An answer that took longer than RTT_MOST_MS says nothing: a slow link is no skew. The warning is the comment of the host's
 * natural vnode, unless there is one already, and a record in both logs; once it is right again the comment goes.
 */
#include "keel/keel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define FIRST_MS 1000 /* a new host has its vnode by then */
#define AGAIN_MS 60000
#define RTT_MOST_MS 1000
#define TIME_MOST (INT64_C(1) << 40)

enum { OFF = 5, MOVED = 2 }; /* seconds: off when more; another value is said when it differs by more */

static const char prefix[] = "the clock of this host is ";

struct host {
	struct keel_timer *timer;
	int64_t number, asked_ms; /* of the last question; 0: it is answered */
	int64_t said;		  /* seconds it was off, as said; 0: it is right */
	UT_hash_handle hh;
	char name[];
};

struct state {
	struct host *hosts; /* that are linked; of a server */
	int64_t number;
	int64_t said; /* of this host, by the server */
};

KEEL_USE(link);

static void words(char text[160], int64_t off)
{
	snprintf(text, 160, "%s%lld s %s the server's: set it, and run a time service (NTP) on both", prefix,
		 (long long)llabs(off), off > 0 ? "ahead of" : "behind");
}

/* ---- server -------------------------------------------------------------------------------------------- */
static void comment_follow(struct keel_mod *mod, const struct host *h)
{
	const struct keel_attr *attr = keel_attr_find(mod, "node", "comment");
	struct keel_obj *node = attr ? keel_find(mod, "node", h->name) : NULL;
	const char *have = node ? keel_get_str(node, attr) : NULL;
	bool ours = have && strncmp(have, prefix, sizeof(prefix) - 1) == 0;
	char text[160];

	if (!node || (have && !ours))
		return;
	if (h->said == 0 && ours)
		keel_unset(node, attr, NULL);
	if (h->said == 0)
		return;
	words(text, h->said);
	if (!have || strcmp(have, text) != 0)
		keel_set_str(node, attr, text);
}

static void off_say(struct keel_mod *mod, struct host *h, int64_t off)
{
	struct keel_out *out;
	char text[160];

	h->said = off;
	words(text, off);
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", h->name, "%s", off ? text : "the clock of this host is right again");
	out = keel_out(mod);
	if (!out)
		return;
	keel_put_int(out, "off", off);
	keel_link_send(mod, h->name, "clock.said", out);
}

static void on_is(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	int64_t time = keel_msg_int(m, "time", -1), took_ms, off;
	struct host *h;

	HASH_FIND_STR(st->hosts, peer, h);
	if (!h || h->number == 0 || keel_msg_int(m, "number", 0) != h->number)
		return;
	h->number = 0;
	took_ms = keel_now_ms(mod) - h->asked_ms;
	if (took_ms > RTT_MOST_MS || time < 0 || time > TIME_MOST)
		return;
	off = time - keel_time(mod);
	if (llabs(off) > OFF ? llabs(off - h->said) > MOVED || h->said == 0 : h->said != 0 && llabs(off) < OFF)
		off_say(mod, h, llabs(off) > OFF ? off : 0);
	comment_follow(mod, h);
}

static void ask(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct host *h = arg;
	struct keel_out *out = keel_out(mod);

	h->timer = keel_timer(mod, AGAIN_MS, ask, h);
	if (!out)
		return;
	h->number = ++st->number;
	h->asked_ms = keel_now_ms(mod);
	keel_put_int(out, "number", h->number);
	keel_link_send(mod, h->name, "clock.ask", out);
}

static void host_forget(struct state *st, struct host *h)
{
	HASH_DEL(st->hosts, h);
	keel_timer_cancel(h->timer);
	free(h);
}

static keel_verdict on_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct state *st = keel_state(c);
	struct host *h;

	if (!(keel_daemon(c->mod) & KEEL_SERVER) || ev->daemon != KEEL_MOM)
		return KEEL_NEXT;
	HASH_FIND_STR(st->hosts, ev->peer, h);
	if (!h) {
		h = calloc(1, sizeof(*h) + strlen(ev->peer) + 1);
		if (!h)
			return KEEL_NEXT; /* it gets the question at its next link */
		strcpy(h->name, ev->peer);
		HASH_ADD_STR(st->hosts, name, h);
		if (!h->hh.tbl) {
			free(h);
			return KEEL_NEXT;
		}
	}
	h->number = 0;
	h->said = 0; /* its daemon may be another one: it is said anew */
	keel_timer_cancel(h->timer);
	h->timer = keel_timer(c->mod, FIRST_MS, ask, h);
	return KEEL_NEXT;
}

static keel_verdict on_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	struct state *st = keel_state(c);
	struct host *h;

	HASH_FIND_STR(st->hosts, ev->peer, h);
	if (h)
		host_forget(st, h);
	return KEEL_NEXT;
}

/* ---- host ---------------------------------------------------------------------------------------------- */
static void on_ask(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_out *out = keel_out(mod);

	if (!out)
		return;
	keel_put_int(out, "number", keel_msg_int(m, "number", 0));
	keel_put_int(out, "time", keel_time(mod));
	keel_link_send(mod, peer, "clock.is", out);
}

static void on_said(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	int64_t off = keel_msg_int(m, "off", 0);
	char text[160];

	(void)peer;
	if (off == st->said || off > TIME_MOST || off < -TIME_MOST)
		return;
	st->said = off;
	words(text, off);
	keel_log(mod, KEEL_LOG_SYSTEM, "Node", keel_host_name(mod), "%s", off ? text : "the clock of this host is right again");
}

/* ---- module -------------------------------------------------------------------------------------------- */
static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_link_on(mod, "clock.is", KEEL_MOM, on_is) < 0 || keel_link_on(mod, "clock.ask", KEEL_SERVER, on_ask) < 0 ||
	    keel_link_on(mod, "clock.said", KEEL_SERVER, on_said) < 0)
		return keel_error(err, -ENOMEM, "no memory for messages");
	return 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->hosts)
		host_forget(st, st->hosts);
}

static const struct keel_tap taps[] = {
	KEEL_TAP(peer_up, on_up),
	KEEL_TAP(peer_down, on_down),
};

KEEL_MODULE(.name = "clock-drift", .version = "1.0", .vendor = "Keelson", .summary = "warns of hosts whose clock differs from the server's",
	    .roles = KEEL_SERVER | KEEL_MOM, .state_size = sizeof(struct state), KEEL_TAPS(taps), .init = init, .stop = stop,
	    .fini = stop);
