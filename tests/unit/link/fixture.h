/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - daemons of one process, each with the kernel's half of links.
 */
#ifndef TESTS_LINK_FIXTURE_H
#define TESTS_LINK_FIXTURE_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "logged.h"
#include "hook/hooks.h"
#include "link/links.h"
#include "log/log.h"
#include "loop/loop.h"
#include "msg/msg.h"
#include "registry/registry.h"
#include "store/store.h"

#define SERVER_HOST "head.example.org"
#define MOM_HOST "n1.example.org"

/* What all daemons of a test share. */
struct world {
	struct loop *loop;
	struct store *store;
	struct parts store_parts;
	char dir[64];
};
static struct world w;

struct daemon {
	struct parts parts;
	struct owner owner;
	const struct keel_link_api *link;
	char home[128], host[64];
	int ups, downs, messages;
	char last_peer[64], last_text[64], up_peer[64];
	int64_t up_daemon;
};

static const struct hooks_conf hooks_conf = { 60000, 20, 250, 3, 0, 0 };

static inline void world_start(void)
{
	memset(&w, 0, sizeof(w));
	strcpy(w.dir, "/tmp/keelson-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(w.dir));
	CU_ASSERT_FATAL(loop_create(&w.loop) == 0);
	w.store_parts.loop = w.loop;
	CU_ASSERT_FATAL(registry_create(&w.store_parts.registry) == 0);
	CU_ASSERT_FATAL(store_create(&w.store_parts, &w.store) == 0);
	w.store_parts.store = w.store;
}

static inline void world_stop(void)
{
	char command[96];

	store_destroy(w.store);
	registry_destroy(w.store_parts.registry);
	loop_destroy(w.loop);
	snprintf(command, sizeof(command), "rm -rf %s", w.dir);
	CU_ASSERT(system(command) == 0);
}

/* ---- daemons -------------------------------------------------------------------------------------- */
static inline struct daemon *daemon_of(struct keel_mod *m)
{
	return m->state;
}

static inline keel_verdict on_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct daemon *d = c->state;

	d->ups++;
	snprintf(d->up_peer, sizeof(d->up_peer), "%s", ev->peer);
	d->up_daemon = ev->daemon;
	return KEEL_NEXT;
}

static inline keel_verdict on_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	struct daemon *d = c->state;

	(void)ev;
	d->downs++;
	return KEEL_NEXT;
}

static inline void on_message(struct keel_mod *m, const char *peer, const struct keel_msg *body)
{
	struct daemon *d = daemon_of(m);
	const char *text = msg_api.str(body, "text");

	d->messages++;
	snprintf(d->last_peer, sizeof(d->last_peer), "%s", peer);
	snprintf(d->last_text, sizeof(d->last_text), "%s", text != NULL ? text : "");
}

static inline void daemon_init(struct daemon *d, uint32_t roles, const char *host)
{
	struct keel_err err = { 0 };

	memset(d, 0, sizeof(*d));
	snprintf(d->home, sizeof(d->home), "%s/%s", w.dir, host);
	snprintf(d->host, sizeof(d->host), "%s", host);
	CU_ASSERT_FATAL(mkdir(d->home, 0755) == 0);
	d->parts = (struct parts){ .loop = w.loop, .store = w.store, .daemon = roles, .home = d->home,
				   .server_name = (char *)"head", .host_name = d->host,
				   .daemon_name = (char *)"test" };
	d->owner = (struct owner){ .pub = { .state = d, .name = "testmod" }, .parts = &d->parts };
	CU_ASSERT_FATAL(log_open(w.loop, d->home, "test", 0xffff, false, &d->parts.log, &err) == 0);
	CU_ASSERT_FATAL(registry_create(&d->parts.registry) == 0);
	CU_ASSERT_FATAL(hooks_create(&d->parts, &hooks_conf, &d->parts.hooks) == 0);
}

static inline void daemon_links(struct daemon *d)
{
	static const struct keel_tap taps[] = {
		KEEL_TAP(peer_up, on_up),
		KEEL_TAP(peer_down, on_down),
	};
	struct keel_err err = { 0 };

	CU_ASSERT_FATAL(hooks_attach(d->parts.hooks, &d->owner, taps, 2, &err) == 0);
	CU_ASSERT_FATAL(links_create(&d->parts, &d->parts.links) == 0);
	d->link = registry_service(d->parts.registry, "link", 0, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d->link);
	CU_ASSERT(d->link->on(&d->owner.pub, "text", KEEL_ANY, on_message) == 0);
}

static inline void daemon_stop(struct daemon *d)
{
	links_destroy(d->parts.links);
	if (d->parts.hooks != NULL)
		hooks_detach(d->parts.hooks, &d->owner);
	hooks_destroy(d->parts.hooks);
	registry_destroy(d->parts.registry);
	log_close(d->parts.log);
}

static inline int send_text(struct daemon *d, const char *peer, const char *text)
{
	struct keel_out *o = out_create();

	out_put_str(o, "text", text);
	return d->link->send(&d->owner.pub, peer, "text", o);
}

static inline bool daemon_log_has(const struct daemon *d, const char *text)
{
	return logged(d->home, text);
}

/* Wait until a counter has (at least) a value. */
struct until {
	const int *counter;
	int value;
};
static inline bool counter_reached(void *arg)
{
	const struct until *u = arg;

	return *u->counter >= u->value;
}
static inline void wait_counter(const int *counter, int value)
{
	struct until u = { counter, value };

	CU_ASSERT_FATAL(loop_run_until(w.loop, counter_reached, &u, DEADLINE_MS) == 0);
}

/* Let the loop turn for a while in which nothing is expected. */
static inline void turn_for(int64_t ms)
{
	CU_ASSERT(loop_run_until(w.loop, never, NULL, ms) == -ETIMEDOUT);
}

#endif
