/* SPDX-License-Identifier: Apache-2.0
 *
 * links.c - the life of all links, and the group "link".
 */
#include "link/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/inside.h"
#include "registry/registry.h"
#include "util/err.h"

#define HEARTBEAT_DEFAULT_MS 10000

static const struct links_limits limits_default = {
	.half_open = 64,              /* strangers that have not proved who they are */
	.accepts_per_turn = 16,
	.reads_per_turn = 8,          /* of one peer, up to 64 KiB each */
	.queue_max = 2 * WIRE_SCRIPT_MAX,
	.greet_ms = 5000,
	.backoff_min_ms = 100,
	.backoff_max_ms = 5000,
	.silent_beats = 3,
};

static struct links *links_of(struct keel_mod *m)
{
	return owner_of(m)->parts->links;
}

/* ---- the group "link" ------------------------------------------------------------------------- */
static int32_t link_on(struct keel_mod *m, const char *name, uint32_t from,
		       void (*fn)(struct keel_mod *, const char *, const struct keel_msg *))
{
	return dispatch_on(links_of(m), owner_of(m), name, from, fn);
}

static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	struct peer *p = peer_find(links_of(m), peer);

	if (p == NULL || !p->up) {
		out_drop(o);
		return -ENOTCONN;
	}
	out_put_str(o, "msg", name);
	return peer_send(p, o);
}

static bool link_is_up(struct keel_mod *m, const char *peer)
{
	struct peer *p = peer_find(links_of(m), peer);

	return p != NULL && p->up;
}

static const struct keel_link_api api = {
	.size = sizeof(api),
	.version = 0,
	.on = link_on,
	.send = link_send,
	.is_up = link_is_up,
};

/* ---- creation ----------------------------------------------------------------------------------- */
/* Is the key the one this daemon should have? */
static int check_identity(const struct links *l, const struct links_conf *conf, struct keel_err *err)
{
	uint32_t wanted = conf->listen != NULL ? KEEL_SERVER : KEEL_MOM;

	if (l->me.daemon != wanted)
		return err_set(err, -EINVAL, "key file %s is a key of a %s, but this daemon is a %s; make "
			       "one with keelson-key make --role %s", conf->key_file,
			       l->me.daemon == KEEL_SERVER ? "server" : "mom",
			       wanted == KEEL_SERVER ? "server" : "mom",
			       wanted == KEEL_SERVER ? "server" : "mom");
	if (strcmp(l->me.host, l->parts->host_name) != 0)
		return err_set(err, -EINVAL, "key file %s is the key of host %s, but this host is %s; "
			       "make one for it with keelson-key make --host %s", conf->key_file,
			       l->me.host, l->parts->host_name, l->parts->host_name);
	return 0;
}

static int check_conf(const struct links *l, const struct links_conf *conf, struct keel_err *err)
{
	if (conf->listen != NULL && !(l->parts->daemon & KEEL_SERVER))
		return err_set(err, -EINVAL, "only a server listens for links; remove the address %s",
			       conf->listen);
	if (conf->server != NULL && l->parts->daemon != KEEL_MOM)
		return err_set(err, -EINVAL, "only a mom that is no server connects to one; remove the "
			       "address %s", conf->server);
	if (conf->key_file == NULL || conf->peers_dir == NULL)
		return err_set(err, -EINVAL, "links to other hosts need a key file and a directory of "
			       "the peers' public keys");
	return 0;
}

static int copy_text(const char *from, char **to)
{
	if (from == NULL)
		return 0;
	*to = strdup(from);
	return *to == NULL ? -ENOMEM : 0;
}

static int fill(struct links *l, const struct links_conf *conf, struct keel_err *err)
{
	int ret;

	if (sodium_init() < 0)
		return err_set(err, -EIO, "libsodium cannot start");
	if (conf->listen != NULL || conf->server != NULL) {
		ret = check_conf(l, conf, err);
		if (ret == 0)
			ret = key_read(conf->key_file, KEY_OWN, &l->me, err);
		if (ret == 0)
			ret = check_identity(l, conf, err);
		if (ret < 0)
			return ret;
	}
	if (copy_text(conf->listen, &l->listen) < 0 || copy_text(conf->server, &l->server) < 0 ||
	    copy_text(conf->peers_dir, &l->peers_dir) < 0)
		return err_set(err, -ENOMEM, "no memory for links");
	ret = registry_offer(l->parts->registry, "link", &api);
	return ret < 0 ? err_set(err, ret, "cannot offer the group link") : 0;
}

int links_create(struct parts *parts, const struct links_conf *conf, struct links **ret_links,
		 struct keel_err *err)
{
	struct links *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return err_set(err, -ENOMEM, "no memory for links");
	l->parts = parts;
	l->limits = limits_default;
	l->heartbeat_ms = conf->heartbeat_ms > 0 ? conf->heartbeat_ms : HEARTBEAT_DEFAULT_MS;
	l->grace_ms = conf->grace_ms > 0 ? conf->grace_ms : 0;
	l->refused_log_ms = INT64_MIN / 2;
	ret = fill(l, conf, err);
	if (ret < 0) {
		links_destroy(l);
		return ret;
	}
	*ret_links = l;
	return 0;
}

void links_destroy(struct links *l)
{
	if (l == NULL)
		return;
	links_stop(l);
	memory_destroy(l);
	peers_destroy(l);
	dispatch_detach(l, NULL);
	sodium_memzero(&l->me, sizeof(l->me));
	free(l->listen);
	free(l->server);
	free(l->peers_dir);
	free(l);
}

/* ---- start and stop ---------------------------------------------------------------------------- */
static void beat(void *arg)
{
	struct links *l = arg;

	l->heartbeat = loop_timer(l->parts->loop, l->heartbeat_ms, beat, l);
	conn_heartbeat(l);
}

/* Both ends are this process. */
static int start_memory(struct links *l, struct keel_err *err)
{
	struct peer *server = peer_get(l, SERVER_PEER, KEEL_SERVER);
	struct peer *mom = peer_get(l, l->parts->host_name, KEEL_MOM);

	if (server == NULL || mom == NULL)
		return err_set(err, -ENOMEM, "no memory for links");
	server->up = mom->up = server->memory = mom->memory = true;
	server->daemon = KEEL_SERVER;
	peer_linked(server, NULL);
	mom->daemon = KEEL_MOM;
	peer_linked(mom, NULL);
	if (mom == server)
		mom->daemon = KEEL_ANY; /* a host of that name */
	return 0;
}

int links_start(struct links *l, struct keel_err *err)
{
	int ret = 0;

	l->running = true;
	if (l->parts->daemon == (KEEL_SERVER | KEEL_MOM))
		ret = start_memory(l, err);
	if (ret == 0 && l->listen != NULL)
		ret = listen_start(l, err);
	if (ret < 0)
		return ret;
	if (l->server != NULL)
		dial_start(l);
	if (l->listen != NULL || l->server != NULL) {
		l->beat_ms = loop_now_ms(l->parts->loop);
		l->heartbeat = loop_timer(l->parts->loop, l->heartbeat_ms, beat, l);
		if (l->heartbeat == NULL)
			return err_set(err, -ENOMEM, "no memory for links");
	}
	return 0;
}

void links_stop(struct links *l)
{
	struct peer *p, *next;

	l->running = false;
	listen_stop(l);
	dial_stop(l);
	loop_timer_cancel(l->heartbeat);
	l->heartbeat = NULL;
	while (l->conns != NULL)
		conn_drop(l->conns, NULL);
	HASH_ITER(hh, l->peers, p, next) {
		loop_timer_cancel(p->grace);
		p->grace = NULL;
		p->up = false;
	}
}

void links_detach(struct links *l, struct owner *owner)
{
	dispatch_detach(l, owner);
}
