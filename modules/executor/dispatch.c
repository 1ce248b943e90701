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
	free(e->id);
	free(e->peer);
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
	HASH_ITER(hh, st->server.entries, e, next)
		entry_drop(st, e);
	HASH_ITER(hh, st->server.hosts, h, next_h) {
		HASH_DEL(st->server.hosts, h);
		scripts_drop(mod, h);
		free(h->name);
		free(h);
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

/* Returns the host of the first vnode of "(n1:ncpus=2+n2...)", borrowed; NULL: not known. */
static const char *vnodes_peer(struct keel_mod *mod, const char *exec_vnode)
{
	const struct server *srv = &((const struct state *)mod->state)->server;
	const char *begin = exec_vnode + strspn(exec_vnode, "(");
	char *name = strndup(begin, strcspn(begin, ":)+"));
	const char *peer = name && *name && srv->host_of ? srv->host_of(srv->host_of_me, name) : NULL;

	free(name);
	return peer;
}

/* The host of the first vnode, else that of "n1/0*2+n2/0". */
char *dispatch_peer(struct keel_mod *mod, struct keel_obj *job)
{
	char *vnodes = dispatch_text(mod, job, "exec_vnode", NULL);
	char *hosts = dispatch_text(mod, job, "exec_host", NULL);
	const char *peer = vnodes ? vnodes_peer(mod, vnodes) : NULL;
	char *found;

	if (!peer && hosts) {
		hosts[strcspn(hosts, "/+:")] = '\0';
		peer = *hosts ? hosts : NULL;
	}
	found = peer ? strdup(peer) : NULL;
	free(vnodes);
	free(hosts);
	return found;
}

bool dispatch_spans_hosts(struct keel_mod *mod, const char *exec_vnode)
{
	const struct server *srv = &((const struct state *)mod->state)->server;
	char *copy = strdup(exec_vnode), *save = NULL, *first = NULL;
	bool spans = false;

	for (char *part = copy ? strtok_r(copy, "+", &save) : NULL; part && !spans; part = strtok_r(NULL, "+", &save)) {
		char *name = part + strspn(part, "(");
		const char *peer;

		name[strcspn(name, ":)")] = '\0';
		peer = srv->host_of ? srv->host_of(srv->host_of_me, name) : NULL;
		if (!peer)
			peer = name;
		spans = first && strcmp(first, peer) != 0;
		if (!first)
			first = strdup(peer);
	}
	free(first);
	free(copy);
	return spans;
}

/* Message to the entry's host about it. */
int32_t order_send(struct keel_mod *mod, const struct entry *e, const char *message, int64_t delay)
{
	struct keel_out *out = e->peer ? keel_out(mod) : NULL;

	if (!out)
		return e->peer ? -ENOMEM : -ENOTCONN;
	keel_put_str(out, "id", e->id);
	keel_put_int(out, "run", e->run);
	keel_put_int(out, "delay", delay);
	return keel_link_send(mod, e->peer, message, out);
}

/* ---- a start waits for its host ---------------------------------------------------------------- */

static void wait_forget(struct keel_mod *mod, struct start_wait *w)
{
	if (w->hold)
		DL_DELETE(((struct state *)mod->state)->server.waits, w);
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

keel_verdict start_wait(struct keel_call *call, const char *exec_vnode)
{
	struct state *st = keel_state(call);
	const char *peer = vnodes_peer(call->mod, exec_vnode);
	const struct host *h = peer ? host_find(st, peer) : NULL;
	bool linked = peer && keel_link_is_up(call->mod, peer);
	struct start_wait *w;
	char why[300];
	keel_verdict v;

	if (!peer || (h && h->strange) || (linked ? h && !h->asked : !keel_link_is_awaited(call->mod, peer)))
		return KEEL_NEXT;
	w = calloc(1, sizeof(*w) + strlen(peer) + 1);
	if (!w)
		return KEEL_NEXT;
	strcpy(w->peer, peer);
	snprintf(why, sizeof(why), "host %s is to link again", peer);
	v = keel_hold(call, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = why, .arg = w,
						      .resume = wait_over, .cancel = wait_cancelled }, &w->hold);
	if (v == KEEL_WAIT)
		DL_APPEND(st->server.waits, w);
	else
		free(w);
	return v;
}

void starts_go_on(struct state *st, const char *peer)
{
	struct start_wait *w, *next;

	DL_FOREACH_SAFE(st->server.waits, w, next) {
		struct keel_hold *hold = w->hold;

		if (strcmp(w->peer, peer) != 0)
			continue;
		DL_DELETE(st->server.waits, w);
		w->hold = NULL;
		keel_release(hold);
	}
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
	order_send(mod, e, "task.discard", 0);
	entry_drop(st, e);
}

static void task_ended_done(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));

	if (!e)
		return;
	order_send(mod, e, "task.forget", 0);
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

const struct keel_task_api task_api = {
	.size = sizeof(struct keel_task_api), .version = 1,
	.listen = task_listen, .start = task_start, .signal = task_signal, .kill = task_kill,
	.discard = task_discard, .ended_done = task_ended_done, .set_host_of = task_set_host_of,
	.terminate = task_terminate, .checkpoint = task_checkpoint, .message = task_message,
	.stop_hosts = task_stop_hosts, .modify = task_modify, .describe = task_describe,
};
