/* SPDX-License-Identifier: Apache-2.0
 *
 * client.c - programs that called tm_init(), and the events that are sent to them.
 *
 * A client's stream is its request tm_init, which stays open: events are its parts. When the client goes, so do all its events but
 * those that a service works on.
 */
#include "task-manager.h"

#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

/* ---- events ----------------------------------------------------------------------------------------------------- */
struct event *event_create(struct client *c, struct keel_req *req)
{
	struct job *j = c->job;
	struct event *e = j->n_events < EVENTS_MAX ? calloc(1, sizeof(*e)) : NULL;

	if (e == NULL) {
		keel_reply(req, TM_ESYSTEM, "too many events of this job are waited for on this host");
		return NULL;
	}
	e->job = j;
	e->client = c;
	e->number = keel_msg_int(keel_req_body(req), "event", 0);
	DL_APPEND(j->events, e);
	j->n_events++;
	return e;
}

static void event_free(struct event *e)
{
	if (e->job != NULL) {
		DL_DELETE(e->job->events, e);
		e->job->n_events--;
		e->job->n_unread -= e->len;
	}
	free(e);
}

/* Sends what is ready, as long as the client reads. */
static void stream_flush(struct keel_mod *mod, void *client)
{
	struct client *c = client;
	struct event *e;
	int32_t ret = 0;

	(void)mod;
	c->full = false;
	while (ret == 0 && (e = c->ready) != NULL) {
		LL_DELETE2(c->ready, e, also);
		ret = keel_part(c->stream, e->out);
		event_free(e);
	}
	if (ret < 0)
		c->full = keel_drained(c->stream, stream_flush, c) == 0;
}

void event_end(struct state *s, struct event *e, int32_t code, struct keel_out *out)
{
	struct client *c = e->client;

	if (c == NULL) {
		keel_out_drop(out);
		event_free(e);
		return;
	}
	if (c->full && out != NULL && keel_out_length(out) > UNREAD_MAX - e->job->n_unread) {
		keel_out_drop(out);
		out = NULL;
		code = TM_ESYSTEM;
	}
	/* One that is NULL, without memory, disconnects the client: it would wait for ever. */
	e->out = out != NULL ? out : keel_out(s->mod);
	if (e->out != NULL) {
		keel_put_int(e->out, "event", e->number);
		keel_put_int(e->out, "code", code);
	}
	e->len = e->out != NULL ? keel_out_length(e->out) : 0;
	e->job->n_unread += e->len;
	LL_APPEND2(c->ready, e, also);
	if (!c->full)
		stream_flush(s->mod, c);
}

/* ---- clients ---------------------------------------------------------------------------------------------------- */
static void client_free(struct client *c)
{
	for (uint32_t i = 0; i < c->n_hosts; i++)
		free(c->hosts[i]);
	free(c->hosts);
	free(c->nodes);
	free(c);
}

/* Events that wait for the end of a task, or for nothing yet, go; a service calls back for the others. */
void client_destroy(struct client *c)
{
	struct job *j = c->job;
	struct task *t;
	struct event *e, *next, **at;

	for (t = j->tasks; t != NULL; t = t->hh.next) {
		for (at = &t->waiting; *at != NULL;) {
			e = *at;
			if (e->client != c) {
				at = &e->also;
				continue;
			}
			*at = e->also;
			event_free(e);
		}
	}
	while ((e = c->ready) != NULL) {
		LL_DELETE2(c->ready, e, also);
		keel_out_drop(e->out);
		event_free(e);
	}
	DL_FOREACH_SAFE(j->events, e, next)
		if (e->client == c)
			e->client = NULL;
	DL_DELETE(j->clients, c);
	j->n_clients--;
	client_free(c);
}

void client_end(struct client *c, int32_t code, const char *text)
{
	struct keel_req *stream = c->stream;

	client_destroy(c);
	keel_reply(stream, code, "%s", text);
}

static void client_gone(struct keel_mod *mod, void *client)
{
	(void)mod;
	client_end(client, TM_ENOTCONNECTED, "the client is gone");
}

static bool nodes_copy(struct client *c, const struct keel_part *p)
{
	c->hosts = calloc(p->n_hosts > 0 ? p->n_hosts : 1, sizeof(*c->hosts));
	c->nodes = calloc(p->n_nodes > 0 ? p->n_nodes : 1, sizeof(*c->nodes));
	if (c->hosts == NULL || c->nodes == NULL)
		return false;
	for (; c->n_hosts < p->n_hosts; c->n_hosts++)
		if ((c->hosts[c->n_hosts] = strdup(p->hosts[c->n_hosts].name)) == NULL)
			return false;
	for (; c->n_nodes < p->n_nodes; c->n_nodes++)
		c->nodes[c->n_nodes] = p->nodes[c->n_nodes];
	return true;
}

/* What it gets first. `node`: the first one of this host. */
static struct keel_out *greeting(struct state *s, const struct client *c, uint32_t index)
{
	struct keel_out *out = keel_out(s->mod);
	uint32_t node = 0;

	while (node < c->n_nodes && c->nodes[node] != index)
		node++;
	keel_put_int(out, "client", c->token);
	keel_put_int(out, "nodes", c->n_nodes);
	keel_put_int(out, "node", node < c->n_nodes ? node : 0);
	return out;
}

struct client *client_create(struct state *s, struct job *j, const struct keel_part *p, struct keel_req *req, uint32_t task)
{
	struct client *c = j->n_clients < CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;

	if (c == NULL || !nodes_copy(c, p)) {
		if (c != NULL)
			client_free(c);
		keel_reply(req, TM_ESYSTEM, "too many programs of this job use its tasks on this host");
		return NULL;
	}
	c->job = j;
	c->stream = req;
	c->task = task;
	c->token = ++s->next_token;
	DL_APPEND(j->clients, c);
	j->n_clients++;
	keel_on_gone(req, client_gone, c);
	if (keel_part(req, greeting(s, c, p->index)) < 0)
		c->full = keel_drained(req, stream_flush, c) == 0;
	return c;
}

struct client *client_of(struct state *s, struct keel_req *req)
{
	const struct keel_msg *m = keel_req_body(req);
	const char *id = keel_msg_str(m, "job");
	int64_t token = keel_msg_int(m, "client", 0);
	struct client *c = NULL;
	struct job *j;

	HASH_FIND_STR(s->jobs, id != NULL ? id : "", j);
	if (j != NULL)
		DL_SEARCH_SCALAR(j->clients, c, token, token);
	if (c != NULL && keel_req_session(c->stream)->uid == keel_req_session(req)->uid)
		return c;
	keel_reply(req, TM_ENOTCONNECTED, "not connected");
	return NULL;
}
