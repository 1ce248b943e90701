/* SPDX-License-Identifier: Apache-2.0
 *
 * resync.c - a host introduces itself: server and host compare what runs.
 *
 *   server has the run, host has it     primary: orders that may have been missed are repeated; sister: nothing
 *   server has it, host does not        primary: lost; sister: the primary's business
 *   host has it, server does not, or    discard
 *     the host is not of the run
 *
 * A host counts as there only after its hello on the current link. It may introduce itself more than once there:
 * its hello names the last start message that came before, and later ones are still on their way to it.
 */
#include "executor.h"
#include "keel/service/carrier.h"
#include "keel/service/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_MAX 400 /* characters of an address, of a key */

struct host *host_find(struct state *st, const char *peer)
{
	struct host *h;

	HASH_FIND_STR(st->server.hosts, peer, h);
	return h;
}

bool host_is_known(struct state *st, const char *peer)
{
	const struct host *h = host_find(st, peer);

	return h && !h->asked && !h->strange;
}

bool host_is_reachable(struct state *st, const char *peer)
{
	const struct host *h = host_find(st, peer);

	return h && h->address && h->key;
}

void host_free(struct keel_mod *mod, struct host *h)
{
	scripts_drop(mod, h);
	free(h->address);
	free(h->key);
	free(h->name);
	free(h);
}

static void host_forget(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	struct host *h = host_find(st, peer);

	if (!h)
		return;
	HASH_DEL(st->server.hosts, h);
	host_free(mod, h);
}

static struct host *host_add(struct state *st, const char *peer)
{
	struct host *h = host_find(st, peer);

	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (h && (h->name = strdup(peer)))
		HASH_ADD_KEYPTR(hh, st->server.hosts, h->name, strlen(h->name), h);
	if (h && !h->hh.tbl) {
		free(h->name);
		free(h);
		h = NULL;
	}
	return h;
}

/* Before it has answered it gets no new work: what is on its way now is on its list. */
static void host_ask(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	struct host *h = keel_link_is_up(mod, peer) ? host_add(st, peer) : NULL;

	if (!h || h->asked)
		return;
	h->asked = true;
	keel_link_send(mod, peer, "task.who", keel_out(mod));
}

/* Replay: a running job belongs to some host; which one is looked up when the host is there. */
void resync_known(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *id = keel_id(job);
	char *text = dispatch_text(mod, job, "job_state", NULL);
	bool here = text && *text && strchr("RSUE", *text) && !entry_find(st, id);
	struct entry *e;

	free(text);
	text = here ? dispatch_text(mod, job, "exec_vnode", NULL) : NULL;
	if (!text)
		return;
	free(text);
	e = calloc(1, sizeof(*e));
	if (!e || !(e->id = strdup(id))) {
		free(e);
		return;
	}
	text = dispatch_text(mod, job, "run_version", NULL);
	e->run = text ? strtoll(text, NULL, 10) : 0;
	free(text);
	text = dispatch_text(mod, job, "session_id", NULL);
	e->started = text && strtoll(text, NULL, 10) > 0;
	free(text);
	text = dispatch_text(mod, job, "substate", NULL);
	e->suspended = text && (strcmp(text, "43") == 0 || strcmp(text, "45") == 0);
	e->killing = text && atoi(text) == KEEL_SUB_RERUN;
	free(text);
	text = dispatch_text(mod, job, "ending", NULL);
	e->killing |= text != NULL; /* it is not stored whether its host received the order */
	e->kill_delay = ((const struct conf *)mod->conf)->kill_delay;
	free(text);
	HASH_ADD_KEYPTR(hh, st->server.entries, e->id, strlen(e->id), e);
	if (!e->hh.tbl) {
		free(e->id);
		free(e);
	}
}

/* The hosts of one that was replayed are found when they are needed first: then the vnodes are known. */
const char *entry_peer(struct keel_mod *mod, struct entry *e)
{
	const struct conf *cf = mod->conf;
	struct keel_obj *job = e->peer ? NULL : keel_find(mod, "job", e->id);
	struct spread s;

	if (job && dispatch_spread(mod, job, &s) == 0) {
		entry_hosts_set(e, &s, cf->first_host_only && s.n_hosts ? 1 : s.n_hosts);
		leaving_known(mod, e, job, &s);
		spread_fini(&s);
	}
	return e->peer ? e->peer : "";
}

static void resync_ask(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct server *srv = &st->server;
	struct keel_cursor *walk = srv->host_of ? keel_cursor(mod, "node") : NULL;
	struct keel_obj *node;
	struct entry *e, *next;

	HASH_ITER(hh, srv->entries, e, next) {
		entry_peer(mod, e);
		for (uint32_t i = 0; i < e->n_hosts; i++)
			if (!host_find(st, e->hosts[i]))
				host_ask(mod, e->hosts[i]);
		for (uint32_t i = 0; i < e->n_leaving; i++)
			if (!host_find(st, e->leaving[i]))
				host_ask(mod, e->leaving[i]);
	}
	while (walk && (node = keel_next(walk))) {
		const char *peer = srv->host_of(srv->host_of_me, keel_id(node));

		if (peer && !host_find(st, peer))
			host_ask(mod, peer);
	}
	if (walk)
		keel_cursor_close(walk);
}

void resync_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct host *h, *next;

	HASH_ITER(hh, st->server.hosts, h, next)
		host_ask(mod, h->name);
	resync_ask(mod);
}

int32_t task_describe(struct keel_mod *mod, const char *host)
{
	if (!keel_link_is_up(mod, host))
		return -ENOTCONN;
	host_ask(mod, host);
	return 0;
}

bool jobs_are_heard(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	for (const struct listener *l = st->server.listeners; l; l = l->next)
		if (l->events.ended)
			return true;
	return false;
}

void resync_peer_up(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	struct entry *e, *next;

	/* What was sent or requested on the previous link has arrived, or never will. */
	HASH_ITER(hh, st->server.entries, e, next)
		if (e->peer && strcmp(e->peer, peer) == 0)
			e->sent = 0;
	host_forget(mod, peer);
	questions_fail(mod, peer);
}

keel_verdict on_peer_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	struct keel_mod *mod = c->mod;

	if (!(ev->daemon & KEEL_MOM) || !(keel_daemon(mod) & KEEL_SERVER))
		return KEEL_NEXT;
	host_forget(mod, ev->peer);
	questions_fail(mod, ev->peer);
	TELL(mod, host_down, ev->peer, "communication closed");
	going_down(mod, ev->peer);
	starts_go_on(mod->state, ev->peer);
	return KEEL_NEXT;
}

/* ---- hello ------------------------------------------------------------------------------------ */

struct seen { /* one line of the host's list */
	char id[256];
	long long run;
	char state;
	int session;
	UT_hash_handle hh;
};

void order_name_send(struct keel_mod *mod, const struct entry *e, const char *name)
{
	struct keel_out *out = run_message(mod, e->id, e->run);

	keel_put_int(out, "number", 0);
	keel_put_str(out, "name", name);
	keel_link_send(mod, e->peer, "task.signal", out);
}

/* Runs this host should have and has not. The listener may drop or start others: start over. */
static void lost_tell(struct keel_mod *mod, const char *peer, struct seen *all, int64_t last_start)
{
	struct state *st = mod->state;
	struct entry *e, *next;
	char **lost = calloc(HASH_COUNT(st->server.entries) + 1, sizeof(*lost));
	int64_t *runs = calloc(HASH_COUNT(st->server.entries) + 1, sizeof(*runs));
	size_t n = 0;

	HASH_ITER(hh, st->server.entries, e, next) {
		struct seen *s;

		if (e->starting || e->sent > last_start || strcmp(entry_peer(mod, e), peer) != 0)
			continue;
		HASH_FIND_STR(all, e->id, s);
		if ((!s || s->run != e->run) && lost && runs && (lost[n] = strdup(e->id)))
			runs[n++] = e->run;
	}
	for (size_t i = 0; i < n; i++) {
		e = entry_find(st, lost[i]);
		if (e && e->run == runs[i])
			report_lost(mod, e);
		free(lost[i]);
	}
	free(lost);
	free(runs);
}

static struct seen *seen_read(const struct keel_msg *m)
{
	uint32_t n = 0;
	const char *const *lines = keel_msg_strings(m, "running", &n);
	struct seen *all = NULL;

	for (uint32_t i = 0; lines && n != UINT32_MAX && i < n; i++) {
		struct seen *s = calloc(1, sizeof(*s)), *old;

		if (!s || sscanf(lines[i], "%255s %lld %c %d", s->id, &s->run, &s->state,
				 &s->session) != 4) {
			free(s);
			continue;
		}
		HASH_FIND_STR(all, s->id, old);
		if (!old)
			HASH_ADD_STR(all, id, s);
		if (!s->hh.tbl)
			free(s);
	}
	return all;
}

static void facts_tell(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	uint32_t n_vnodes = 0, n = 0;
	const char *const *vnodes = keel_msg_strings(m, "vnodes", &n_vnodes);
	const char *arch = keel_msg_str(m, "arch"), *sharing = keel_msg_str(m, "sharing"), *version = keel_msg_str(m, "version");
	const char **facts;
	char **made;

	if (!vnodes || n_vnodes == UINT32_MAX)
		n_vnodes = 0;
	made = calloc(n_vnodes + 8u, sizeof(*made));
	facts = calloc(n_vnodes + 8u, sizeof(*facts));
	if (made && facts) {
		n += asprintf(&made[n], "ncpus=%lld", (long long)keel_msg_int(m, "ncpus", 1)) > 0;
		n += asprintf(&made[n], "mem=%lldkb", (long long)keel_msg_int(m, "mem_kb", 0)) > 0;
		n += asprintf(&made[n], "arch=%s", arch ? arch : "linux") > 0;
		n += asprintf(&made[n], "pcpus=%lld", (long long)keel_msg_int(m, "pcpus", 1)) > 0;
		n += asprintf(&made[n], "sharing=%s", sharing ? sharing : "default_shared") > 0;
		if (version)
			n += asprintf(&made[n], "version=%s", version) > 0;
		for (uint32_t i = 0; i < n_vnodes; i++)
			n += asprintf(&made[n], "vnode=%s", vnodes[i]) > 0;
		for (uint32_t i = 0; i < n; i++)
			facts[i] = made[i];
		TELL(mod, host_up, peer, facts, n);
	}
	for (uint32_t i = 0; i < n; i++)
		free(made[i]);
	free(made);
	free(facts);
}

/* Runs that this host was to leave and has no more. */
static void leaving_look(struct keel_mod *mod, const char *peer, struct seen *all)
{
	struct state *st = mod->state;
	struct entry *e, *next;

	HASH_ITER(hh, st->server.entries, e, next) {
		struct seen *s;

		entry_peer(mod, e);
		HASH_FIND_STR(all, e->id, s);
		if (e->n_leaving && (!s || s->run != e->run))
			leaving_hello(mod, e, peer, false);
	}
}

static void runs_compare(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	struct seen *all = seen_read(m), *s, *next;
	struct entry *e;

	lost_tell(mod, peer, all, keel_msg_int(m, "last_start", INT64_MAX));
	leaving_look(mod, peer, all);
	HASH_ITER(hh, all, s, next) {
		e = entry_find(st, s->id);
		if (e && e->run == s->run && leaving_hello(mod, e, peer, true)) {
			/* it gets the order to leave once more */
		} else if (e && e->run == s->run && strcmp(entry_peer(mod, e), peer) != 0 && entry_has(e, peer)) {
			resize_again(mod, e, peer); /* a sister: what else it should do it learns from the primary */
		} else if (e && e->run == s->run && strcmp(entry_peer(mod, e), peer) == 0) {
			resize_again(mod, e, peer);
			modify_send(mod, e);
			if (e->killing)
				order_send(mod, e, "task.kill", e->kill_delay);
			if (e->suspended && s->state == 'R')
				order_name_send(mod, e, "suspend");
			if (!e->suspended && s->state == 'S')
				order_name_send(mod, e, "resume");
		} else {
			keel_link_send(mod, peer, "task.discard", run_message(mod, s->id, s->run));
		}
		HASH_DEL(all, s);
		free(s);
	}
}

/* Where other hosts reach it: one word of printing characters, else it counts as not said. */
static void place_take(char **at, const char *text)
{
	size_t len = text ? strlen(text) : 0, good = 0;

	while (good < len && text[good] > ' ' && text[good] < 127)
		good++;
	free(*at);
	*at = len && len <= PLACE_MAX && good == len ? strdup(text) : NULL;
}

/* The key that it has proved on its link, whatever it says. In this process there is no link to prove one. */
static void key_take(struct host *h, const char *said)
{
	char key[KEEL_CARRIER_KEY];
	bool proved = keel_can(carrier, proved) && keel_carrier_proved(h->name, key) == 0;

	place_take(&h->key, proved ? key : said);
}

void on_hello(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	struct host *h = host_add(st, peer);

	bool strange = store_is_strange(mod, peer, m);

	if (h) {
		h->asked = false;
		h->strange = strange;
		place_take(&h->address, keel_msg_str(m, "address"));
		key_take(h, keel_msg_str(m, "key"));
	}
	starts_go_on(st, peer);
	if (strange) {
		TELL(mod, host_down, peer, "it runs jobs of another store");
		return;
	}
	going_again(mod, peer);
	if (jobs_are_heard(mod)) /* else we know of no runs: they go on */
		runs_compare(mod, peer, m);
	questions_go_on(mod, peer);
	/* Last: it may start new work here, which the list cannot show. */
	facts_tell(mod, peer, m);
}

