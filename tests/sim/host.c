/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - simulated execution hosts: what their daemon says and hears, and how it ends and comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "msg/msg.h"
#include "sim.h"

#define DOWN_MS 40000 /* the longest that a host's daemon is away */

struct host *host_find(struct sim *s, const char *name)
{
	struct host *h;

	HASH_FIND_STR(s->hosts, name, h);
	return h;
}

void host_say(struct host *h, struct keel_out *o, const char *name)
{
	uint32_t len;
	const char *bytes;

	out_put_str(o, "msg", name);
	bytes = out_bytes(o, &len);
	if (bytes != NULL)
		net_send(h, TO_SERVER, bytes, len);
	out_drop(o);
}

static void vnodes_put(const struct host *h, struct keel_out *o)
{
	char name[64];

	msg_api.open_array(o, "vnodes");
	if (h->sim->conf.vnodes <= 1)
		msg_api.add_str(o, h->name);
	for (int64_t i = 0; h->sim->conf.vnodes > 1 && i < h->sim->conf.vnodes; i++) {
		snprintf(name, sizeof(name), "%s[%lld]", h->name, (long long)i);
		msg_api.add_str(o, name);
	}
	msg_api.close(o);
}

static void tasks_put(const struct host *h, struct keel_out *o)
{
	const struct task *t;
	char text[400];

	msg_api.open_array(o, "running");
	for (t = h->tasks; t != NULL; t = t->hh.next) {
		bool later = t->next_run != 0;

		if (t->discarded && !later)
			continue;
		snprintf(text, sizeof(text), "%s %lld %c %lld", t->id,
			 (long long)(later ? t->next_run : t->run), later ? 'B' : t->state,
			 later ? 0ll : (long long)t->session);
		msg_api.add_str(o, text);
	}
	msg_api.close(o);
}

void host_hello(struct host *h)
{
	struct keel_out *o = out_create();
	struct task *t, *next;
	char address[64];

	out_put_str(o, "host", h->name);
	snprintf(address, sizeof(address), "%s:15003", h->name);
	out_put_str(o, "address", address);
	out_put_str(o, "key", "c2ltdWxhdGVkIGhvc3RzIGhhdmUgbm8ga2V5cyBvZiAK");
	out_put_int(o, "ncpus", h->sim->conf.ncpus);
	out_put_int(o, "pcpus", h->sim->conf.ncpus);
	out_put_int(o, "mem_kb", h->sim->conf.ncpus * 4 * 1024 * 1024);
	out_put_str(o, "arch", "linux");
	vnodes_put(h, o);
	tasks_put(h, o);
	host_say(h, o, "task.hello");
	HASH_ITER(hh, h->tasks, t, next) {
		t->heard = 0;
		task_report(t);
	}
}

void host_message(struct host *h, const char *bytes, size_t len)
{
	struct keel_msg *m;
	const char *name;

	if (!h->alive || msg_open(bytes, len, &m) < 0)
		return;
	name = msg_api.str(m, "msg");
	if (name != NULL && strcmp(name, "task.who") == 0)
		host_hello(h);
	else if (name != NULL && strcmp(name, "task.start") == 0)
		task_start(h, m);
	else if (name != NULL)
		task_order(h, name, m);
	msg_destroy(m);
}

static void comes_back(void *arg)
{
	struct host *h = arg;

	trace(h->sim, "%s is back", h->name);
	h->alive = true;
	for (struct task *t = h->tasks; t != NULL; t = t->hh.next)
		part_start(t);
	net_dial(h, 0);
}

void host_restart(struct host *h, bool power)
{
	struct sim *s = h->sim;

	if (!h->alive)
		return;
	trace(s, "%s %s", h->name, power ? "loses its power" : "daemon ends");
	net_cut(h);
	h->alive = false;
	for (struct task *t = h->tasks; t != NULL; t = t->hh.next)
		part_stop(t);
	tasks_lose(h, power);
	loop_timer(s->loop, chance_between(&s->tasks, 100, DOWN_MS), comes_back, h);
}

int hosts_make(struct sim *s)
{
	for (int64_t i = 0; i < s->conf.hosts; i++) {
		struct host *h = calloc(1, sizeof(*h));

		if (h == NULL)
			return -1;
		h->sim = s;
		h->number = (uint32_t)i;
		h->alive = true;
		snprintf(h->name, sizeof(h->name), "n%lld", (long long)i + 1);
		HASH_ADD_STR(s->hosts, name, h);
		net_dial(h, chance_between(&s->net, 0, 50));
	}
	return 0;
}

void hosts_free(struct sim *s)
{
	struct host *h, *next;

	HASH_ITER(hh, s->hosts, h, next) {
		tasks_lose(h, true);
		HASH_DEL(s->hosts, h);
		free(h);
	}
}
