/* SPDX-License-Identifier: Apache-2.0
 *
 * dispatch.c - the service's functions: orders to hosts, and who listens. The start is in start.c.
 *
 * An entry stands for a run that some host has or should have; it lives from task_start() (or replay) to
 * ended_done(), discard() or the host's refusal. Requests to a host that goes down fail with 15070; orders are stored
 * in the entry and sent again when it is up.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"

struct entry *entry_find(struct state *st, const char *id)
{
	struct entry *e;

	HASH_FIND_STR(st->server.entries, id, e);
	return e;
}

void entry_drop(struct state *st, struct entry *e)
{
	HASH_DEL(st->server.entries, e);
	sending_drop(e);
	entry_hosts_free(e);
	leaving_free(e);
	free(e->id);
	free(e);
}

void server_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct entry *e, *next;
	struct host *h, *next_h;
	struct question *q, *next_q;
	struct listener *l;

	while ((l = st->server.listeners)) {
		st->server.listeners = l->next;
		free(l);
	}
	HASH_ITER(hh, st->server.questions, q, next_q)
		question_free(st, q);
	going_fini(st);
	HASH_ITER(hh, st->server.entries, e, next)
		entry_drop(st, e);
	HASH_ITER(hh, st->server.hosts, h, next_h) {
		HASH_DEL(st->server.hosts, h);
		host_free(mod, h);
	}
}

char *dispatch_text(struct keel_mod *mod, struct keel_obj *job, const char *name, const char *key)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", name);
	char small[256], *text;
	int32_t n = attr ? keel_get_text(job, attr, key, small, sizeof(small)) : -ENODATA;

	if (n < 0)
		return NULL;
	if ((size_t)n < sizeof(small))
		return strdup(small);
	text = malloc((size_t)n + 1);
	if (text && keel_get_text(job, attr, key, text, (uint32_t)n + 1) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

/* ---- hosts of a run ----------------------------------------------------------------------------- */

static int32_t hosts_find(struct keel_mod *mod, struct spread_of *of, struct spread *ret)
{
	const struct server *srv = &((const struct state *)mod->state)->server;

	of->host_of = srv->host_of;
	of->me = srv->host_of_me;
	return spread_make(of, ret);
}

int32_t dispatch_hosts(struct keel_mod *mod, const char *exec_vnode, struct spread *ret)
{
	return hosts_find(mod, &(struct spread_of){ .exec_vnode = exec_vnode, .no_nodes = true }, ret);
}

int32_t dispatch_spread(struct keel_mod *mod, struct keel_obj *job, struct spread *ret)
{
	char *hosts = dispatch_text(mod, job, "exec_host", NULL);
	char *vnodes = dispatch_text(mod, job, "exec_vnode", NULL);
	char *select = dispatch_text(mod, job, "schedselect", NULL);
	struct spread_of of = { .exec_host = hosts, .exec_vnode = vnodes, .select = select };
	int32_t r = hosts_find(mod, &of, ret);

	free(hosts);
	free(vnodes);
	free(select);
	return r;
}

void entry_hosts_free(struct entry *e)
{
	for (uint32_t i = 0; i < e->n_hosts; i++)
		free(e->hosts[i]);
	free(e->hosts);
	e->hosts = NULL;
	e->n_hosts = 0;
	e->peer = NULL;
}

int32_t entry_hosts_set(struct entry *e, const struct spread *s, uint32_t n)
{
	char **hosts = calloc(n ? n : 1, sizeof(*hosts));
	bool failed = !hosts;

	entry_hosts_free(e);
	for (uint32_t i = 0; i < n && !failed; i++)
		failed = !(hosts[i] = strdup(s->host[i]->name));
	e->hosts = hosts;
	e->n_hosts = hosts ? n : 0;
	if (failed)
		entry_hosts_free(e);
	else
		e->peer = n ? hosts[0] : NULL;
	return failed ? -ENOMEM : 0;
}

bool entry_has(const struct entry *e, const char *peer)
{
	for (uint32_t i = 0; i < e->n_hosts; i++)
		if (strcmp(e->hosts[i], peer) == 0)
			return true;
	return false;
}

int32_t order_send(struct keel_mod *mod, const struct entry *e, const char *message, int64_t delay)
{
	struct keel_out *out;

	if (!e->peer)
		return -ENOTCONN;
	out = run_message(mod, e->id, e->run);
	keel_put_int(out, "delay", delay);
	return keel_link_send(mod, e->peer, message, out);
}

void others_discard(struct keel_mod *mod, const struct entry *e)
{
	for (uint32_t i = 1; i < e->n_hosts; i++)
		keel_link_send(mod, e->hosts[i], "task.discard", run_message(mod, e->id, e->run));
	leaving_forget(mod, e);
}

/* ---- a start waits for its hosts ---------------------------------------------------------------- */

static void wait_forget(struct keel_mod *mod, struct start_wait *w)
{
	if (w->hold)
		DL_DELETE(((struct state *)mod->state)->server.waits, w);
	for (uint32_t i = 0; i < w->n; i++)
		free(w->peers[i]);
	free(w);
}

static keel_verdict wait_over(struct keel_call *call, void *arg)
{
	wait_forget(call->mod, arg);
	return KEEL_NEXT;
}

static void wait_cancelled(struct keel_call *call, void *arg, int32_t reason)
{
	(void)reason;
	wait_forget(call->mod, arg);
}

static bool is_awaited(struct keel_mod *mod, const char *peer)
{
	const struct host *h = host_find(mod->state, peer);

	if (h && h->strange)
		return false;
	return keel_link_is_up(mod, peer) ? !h || h->asked : keel_link_is_awaited(mod, peer);
}

/* Adds to what a start waits for. */
static void wait_for(struct start_wait **w, uint32_t room, const char *what)
{
	if (!*w)
		*w = calloc(1, sizeof(**w) + room * sizeof(*(*w)->peers));
	if (*w && ((*w)->peers[(*w)->n] = strdup(what)))
		(*w)->n++;
}

keel_verdict start_wait(struct keel_call *call, const char *id, const struct spread *hosts)
{
	struct state *st = keel_state(call);
	const char *going = going_peer(st, id);
	struct start_wait *w = NULL;
	char why[300];
	keel_verdict v;

	if (going)
		wait_for(&w, hosts->n_hosts + 1, id);
	for (uint32_t i = 0; i < hosts->n_hosts; i++) {
		const char *peer = hosts->host[i]->name;

		if (is_awaited(call->mod, peer))
			wait_for(&w, hosts->n_hosts + 1, peer);
	}
	if (!w)
		return KEEL_NEXT;
	if (going)
		snprintf(why, sizeof(why), "host %s is to end the last run of it", going);
	else
		snprintf(why, sizeof(why), "host %s is to link again", w->n ? w->peers[0] : "");
	v = w->n ? keel_hold(call, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = why, .arg = w,
							     .resume = wait_over, .cancel = wait_cancelled }, &w->hold)
		 : KEEL_NEXT;
	if (v == KEEL_WAIT)
		DL_APPEND(st->server.waits, w);
	else
		wait_forget(call->mod, w);
	return v;
}

/* It is awaited no more; the last one ends the hold. */
static void wait_less(struct state *st, struct start_wait *w, const char *awaited)
{
	struct keel_hold *hold = w->hold;

	for (uint32_t i = 0; i < w->n; i++)
		if (strcmp(w->peers[i], awaited) == 0) {
			free(w->peers[i]);
			w->peers[i] = w->peers[--w->n];
			break;
		}
	if (w->n)
		return;
	DL_DELETE(st->server.waits, w);
	w->hold = NULL;
	keel_release(hold);
}

void starts_go_on(struct state *st, const char *awaited)
{
	struct start_wait *w, *next;

	DL_FOREACH_SAFE(st->server.waits, w, next)
		wait_less(st, w, awaited);
}

/* ---- orders ----------------------------------------------------------------------------------- */

static void task_signal(struct keel_mod *mod, struct keel_obj *job, const char *name,
			const char *as, struct keel_mod *me, keel_task_done *done, void *arg)
{
	struct keel_out *out = NULL;
	struct question *q = question_about(mod, job, name, &out, me, done, arg);

	if (!q)
		return;
	keel_put_str(out, "name", name);
	keel_put_str(out, "as", as ? as : name);
	question_send(mod, q, "task.signal", out);
}

static int32_t task_kill(struct keel_mod *mod, struct keel_obj *job, int64_t delay_ms)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));

	if (!e)
		return -ENOENT;
	e->killing = true;
	e->kill_delay = delay_ms;
	return e->starting ? 0 : order_send(mod, e, "task.kill", delay_ms); /* 0: behind the start */
}

static void task_terminate(struct keel_mod *mod, struct keel_obj *job, int64_t delay_ms,
			   struct keel_mod *me, keel_task_done *done, void *arg)
{
	struct keel_out *out = NULL;
	struct question *q = question_about(mod, job, "terminate", &out, me, done, arg);

	if (!q)
		return;
	q->ends = true;
	q->kill_delay = delay_ms;
	keel_put_int(out, "delay", delay_ms);
	question_send(mod, q, "task.kill", out);
}

static void task_checkpoint(struct keel_mod *mod, struct keel_obj *job, struct keel_mod *me,
			    keel_task_done *done, void *arg)
{
	struct keel_out *out = NULL;
	struct question *q = question_about(mod, job, "checkpoint", &out, me, done, arg);

	if (!q)
		return;
	q->ends = true;
	question_send(mod, q, "task.checkpoint", out);
}

static void task_discard(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));

	if (!e)
		return;
	/* A host that is down lists the run when it is up again, and gets the order then. */
	entry_peer(mod, e);
	order_send(mod, e, "task.discard", 0);
	others_discard(mod, e);
	going_begin(mod, e);
	entry_drop(st, e);
}

static void task_ended_done(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));

	if (!e)
		return;
	entry_peer(mod, e);
	order_send(mod, e, "task.forget", 0);
	others_discard(mod, e);
	entry_drop(st, e);
}

static int32_t task_listen(struct keel_mod *mod, struct keel_mod *me,
			   const struct keel_task_events *events)
{
	struct state *st = mod->state;
	struct listener **at = &st->server.listeners, *gone;

	while (*at && (*at)->me != me)
		at = &(*at)->next;
	if (!events && (gone = *at)) {
		*at = gone->next;
		free(gone);
	}
	if (!events)
		return 0;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return -ENOMEM;
	(*at)->me = me;
	KEEL_SIZED(&(*at)->events, events);
	return 0;
}

static void task_set_host_of(struct keel_mod *mod, struct keel_mod *me,
			     const char *(*host_of)(struct keel_mod *, const char *))
{
	struct server *srv = &((struct state *)mod->state)->server;

	srv->host_of_me = me;
	srv->host_of = host_of;
}

static const char *task_address(struct keel_mod *mod, const char *host)
{
	const struct host *h = host_find(mod->state, host);

	return h ? h->address : NULL;
}

const struct keel_task_api task_api = {
	.size = sizeof(struct keel_task_api), .version = 1,
	.listen = task_listen, .start = task_start, .signal = task_signal, .kill = task_kill,
	.discard = task_discard, .ended_done = task_ended_done, .set_host_of = task_set_host_of,
	.terminate = task_terminate, .checkpoint = task_checkpoint, .message = task_message,
	.stop_hosts = task_stop_hosts, .modify = task_modify, .resize = task_resize, .address = task_address, .describe = task_describe,
};
