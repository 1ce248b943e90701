/* SPDX-License-Identifier: Apache-2.0
 *
 * net.c - links between the server and its hosts, as streams are: in order, until they break. A message
 * is lost together with its link; both ends notice some time later, and the host dials again.
 */
#include <stdlib.h>
#include <string.h>

#include "keel/wire.h"
#include "msg/msg.h"
#include "registry/registry.h"
#include "sim.h"

#define NOTICE_MS 12000  /* a broken link is noticed within this time */
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 5000
#define LATE_MS 8000

struct packet {
	struct host *host;
	uint32_t epoch;
	int direction;
	size_t len;
	char bytes[];
};

/* A change of the link that is due: it means the link of then. */
struct turn {
	struct host *host;
	uint32_t epoch;
};

static void packet_arrives(void *arg)
{
	struct packet *p = arg;
	struct host *h = p->host;

	if (p->epoch == h->link.epoch) {
		if (p->direction == TO_HOST)
			host_message(h, p->bytes, p->len);
		else
			sim_enter(h->sim, IN_MESSAGE, 0, h, p->bytes, p->len);
	}
	free(p);
}

static void packet_send(struct host *h, int direction, const void *bytes, size_t len, int64_t at_ms)
{
	struct packet *p = malloc(sizeof(*p) + len);

	*p = (struct packet){ h, h->link.epoch, direction, len };
	memcpy(p->bytes, bytes, len);
	loop_timer(h->sim->loop, at_ms - h->sim->now_ms, packet_arrives, p);
}

/* Without the secret of a run, which no seed decides. */
static uint64_t packet_hash(struct keel_msg *m, const char *bytes, size_t len)
{
	const char *cookie = msg_api.str(m, "cookie");
	size_t n = cookie != NULL ? strlen(cookie) : 0;
	const char *at = n > 0 ? memmem(bytes, len, cookie, n) : NULL;

	if (at == NULL)
		return hash_bytes(0, bytes, len);
	return hash_bytes(hash_bytes(0, bytes, (size_t)(at - bytes)), at + n, len - n - (size_t)(at - bytes));
}

static void packet_trace(struct sim *s, const struct host *h, int direction, const void *bytes,
			 size_t len, const char *fate)
{
	struct keel_msg *m;
	const struct keel_msg_api *api = &msg_api;

	if (msg_open(bytes, len, &m) < 0)
		return;
	trace(s, "%s %s %s %s run %lld %016llx%s", h->name, direction == TO_HOST ? "<-" : "->",
	      api->str(m, "msg") ? api->str(m, "msg") : "?", api->str(m, "id") ? api->str(m, "id") : "",
	      (long long)api->integer(m, "run", 0), (unsigned long long)packet_hash(m, bytes, len), fate);
	msg_destroy(m);
}

void net_send(struct host *h, int direction, const void *bytes, size_t len)
{
	struct sim *s = h->sim;
	const struct faults *f = &s->conf.faults;
	int64_t at_ms = s->now_ms + chance_between(&s->net, 0, 2);

	if (!h->link.up)
		return;
	if (!s->calm && chance_is(&s->net, f->drop)) {
		packet_trace(s, h, direction, bytes, len, " lost");
		net_break(h);
		return;
	}
	if (!s->calm && chance_is(&s->net, f->delay))
		at_ms += chance_between(&s->net, 1, LATE_MS);
	if (at_ms < h->link.last_ms[direction])
		at_ms = h->link.last_ms[direction];
	h->link.last_ms[direction] = at_ms;
	packet_trace(s, h, direction, bytes, len, "");
	packet_send(h, direction, bytes, len, at_ms);
	if (!s->calm && chance_is(&s->net, f->dup))
		packet_send(h, direction, bytes, len, at_ms);
}

static void carrier_send(struct keel_mod *m, const char *peer, const void *bytes, uint32_t len)
{
	struct host *h = host_find(m->state, peer);

	if (h != NULL)
		net_send(h, TO_HOST, bytes, len);
}

int net_offer(struct sim *s, struct keel_err *err)
{
	static const struct keel_carrier_api table = { .size = sizeof(table), .send = carrier_send };
	static const struct keel_service_def service = {
		.size = sizeof(service), .name = "carrier", .doc = "links to hosts that are played", .table = &table,
	};
	static const struct keel_contrib rows[] = { { "SERVICE", &service } };

	return registry_add(s->parts->registry, &s->owner, rows, 1, err);
}

/* ---- links ------------------------------------------------------------------------------------ */

static struct turn *turn_make(struct host *h)
{
	struct turn *t = malloc(sizeof(*t));

	*t = (struct turn){ h, h->link.epoch };
	return t;
}

static void server_lost_it(struct host *h)
{
	if (h->link.server_up)
		sim_enter(h->sim, IN_LOST, 0, h, NULL, 0);
	h->link.server_up = false;
}

static void server_notices(void *arg)
{
	struct turn *t = arg;

	if (t->epoch == t->host->link.epoch)
		server_lost_it(t->host);
	free(t);
}

static void dial(void *arg)
{
	struct turn *t = arg;
	struct host *h = t->host;
	struct sim *s = h->sim;
	bool mine = t->epoch == h->link.epoch && h->alive && !h->link.up;

	free(t);
	if (!mine)
		return;
	if (s->server == NULL) {
		h->link.backoff_ms = h->link.backoff_ms * 2 + BACKOFF_FIRST_MS;
		if (h->link.backoff_ms > BACKOFF_LAST_MS)
			h->link.backoff_ms = BACKOFF_LAST_MS;
		net_dial(h, h->link.backoff_ms);
		return;
	}
	server_lost_it(h); /* an old link of the same host gives way */
	h->link.epoch++;
	h->link.up = h->link.server_up = true;
	h->link.last_ms[0] = h->link.last_ms[1] = s->now_ms;
	h->link.backoff_ms = 0;
	trace(s, "%s linked", h->name);
	sim_enter(s, IN_LINKED, 0, h, NULL, 0);
	host_hello(h);
}

void net_dial(struct host *h, int64_t after_ms)
{
	loop_timer(h->sim->loop, after_ms, dial, turn_make(h));
}

static void host_notices(void *arg)
{
	struct turn *t = arg;
	struct host *h = t->host;

	if (t->epoch == h->link.epoch && h->alive)
		net_dial(h, chance_between(&h->sim->net, 0, BACKOFF_FIRST_MS));
	free(t);
}

/* From now on nothing arrives. */
void net_cut(struct host *h)
{
	struct sim *s = h->sim;

	if (!h->link.up)
		return;
	h->link.up = false;
	h->link.epoch++;
	h->link.backoff_ms = 0;
	loop_timer(s->loop, chance_between(&s->net, 0, NOTICE_MS), server_notices, turn_make(h));
}

void net_break(struct host *h)
{
	struct sim *s = h->sim;

	if (!h->link.up)
		return;
	trace(s, "%s link breaks", h->name);
	net_cut(h);
	loop_timer(s->loop, chance_between(&s->net, 0, NOTICE_MS), host_notices, turn_make(h));
}

void net_server_gone(struct sim *s)
{
	struct host *h, *next;

	HASH_ITER(hh, s->hosts, h, next) {
		h->link.server_up = false;
		if (!h->link.up)
			continue;
		h->link.up = false;
		h->link.epoch++;
		h->link.backoff_ms = 0;
		loop_timer(s->loop, chance_between(&s->net, 0, BACKOFF_LAST_MS), host_notices,
			   turn_make(h));
	}
}
