/* SPDX-License-Identifier: Apache-2.0
 *
 * test_world.h - daemons of one process with links over 127.0.0.1, key files in a directory of their own, and a
 * stranger that speaks raw bytes.
 */
#ifndef LINK_TCP_TEST_WORLD_H
#define LINK_TCP_TEST_WORLD_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "link-tcp.h"

#include "link/fixture.h"
#include "wire/buf.h"

extern const struct keel_module keel_module;
extern const struct keel_core_api core_api; /* of main/daemon.h, whose names are those of the fixture, too */

/* A daemon, and the module in it. */
struct carrier {
	struct daemon daemon;
	struct owner owner;
	struct link link;
	struct conf conf;
	char key_file[160], peers_dir[160], address[64];
	bool loaded;
};

/* ---- keys --------------------------------------------------------------------------------------- */
static inline void write_key(const char *path, const char *role, const char *host,
			     const uint8_t key[KEY_SIZE], mode_t mode)
{
	char text[64];
	FILE *f = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	sodium_bin2base64(text, sizeof(text), key, KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
	fprintf(f, "%s %s %s\n", role, host, text);
	fclose(f);
	chmod(path, mode);
}

static inline void make_identity(struct identity *id, uint32_t daemon, const char *host)
{
	memset(id, 0, sizeof(*id));
	id->daemon = daemon;
	strcpy(id->host, host);
	crypto_kx_keypair(id->public_key, id->secret_key);
}

static inline void enrol(const struct carrier *at, const char *name, const char *role,
			 const struct identity *id)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.pub", at->peers_dir, name);
	write_key(path, role, id->host, id->public_key, 0644);
}

/* ---- the module ----------------------------------------------------------------------------------- */
static inline void carrier_init(struct carrier *c, uint32_t roles, const char *host)
{
	memset(c, 0, sizeof(*c));
	CU_ASSERT_FATAL(sodium_init() >= 0);
	daemon_init(&c->daemon, roles, host);
	snprintf(c->key_file, sizeof(c->key_file), "%s/own.key", c->daemon.home);
	snprintf(c->peers_dir, sizeof(c->peers_dir), "%s/peers", c->daemon.home);
	snprintf(c->address, sizeof(c->address), "%s/run", c->daemon.home);
	CU_ASSERT_FATAL(mkdir(c->peers_dir, 0755) == 0 && mkdir(c->address, 0755) == 0);
	c->conf = (struct conf){ .key_file = c->key_file, .peers_dir = c->peers_dir, .heartbeat = 1000, .grace = 100,
				  .server = roles & KEEL_MOM ? "127.0.0.1:1" : NULL }; /* where there is none */
	c->owner = (struct owner){ .pub = { .state = &c->link, .conf = &c->conf, .name = "link-tcp" },
				   .parts = &c->daemon.parts };
	daemon_links(&c->daemon);
}

/* Its init() and start(); what they say. */
static inline int32_t carrier_try(struct carrier *c, struct keel_err *err)
{
	int32_t ret;

	memset(&c->link, 0, sizeof(c->link));
	KEEL_MODULE_kernel.core = &core_api;
	KEEL_USE_carry = registry_service(c->daemon.parts.registry, "carry", 0, NULL, NULL);
	ret = keel_module.init(&c->owner.pub, err);
	if (ret < 0)
		return ret;
	ret = keel_module.start(&c->owner.pub, err);
	if (ret < 0)
		keel_module.fini(&c->owner.pub);
	return ret;
}

static inline void carrier_start(struct carrier *c)
{
	struct keel_err err = { 0 };

	CU_ASSERT_FATAL(registry_add(c->daemon.parts.registry, &c->owner, keel_module.contribs, keel_module.n_contribs,
				     &err) == 0);
	CU_ASSERT_FATAL(links_start(c->daemon.parts.links, &err) == 0);
	CU_ASSERT_EQUAL(carrier_try(c, &err), 0);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	c->loaded = true;
}

static inline void carrier_stop(struct carrier *c)
{
	if (c->loaded) {
		keel_module.stop(&c->owner.pub);
		keel_module.fini(&c->owner.pub);
		links_detach(c->daemon.parts.links, &c->owner);
		registry_remove(c->daemon.parts.registry, &c->owner);
	}
	daemon_stop(&c->daemon);
}

/* ---- a stranger ----------------------------------------------------------------------------------- */
struct stranger {
	int fd;
	uint8_t in[8192];
	size_t in_len, wanted;
	bool eof;
};

static inline int port_of(const struct carrier *server)
{
	char path[200];
	int port = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/run/%s.port", server->daemon.home,
		 server->daemon.parts.daemon == KEEL_SERVER ? "link" : "mom");
	f = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_FATAL(fscanf(f, "%d", &port) == 1);
	fclose(f);
	return port;
}

static inline void stranger_connect(struct stranger *s, const struct carrier *server)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port_of(server)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	memset(s, 0, sizeof(*s));
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(connect(s->fd, (struct sockaddr *)&at, sizeof(at)) == 0);
}

static inline bool stranger_poll(void *arg)
{
	struct stranger *s = arg;
	ssize_t n = recv(s->fd, s->in + s->in_len, sizeof(s->in) - s->in_len, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN))
		s->eof = true;
	if (n > 0)
		s->in_len += (size_t)n;
	return s->eof || s->in_len >= s->wanted;
}

static inline void stranger_wait(struct stranger *s, size_t wanted)
{
	s->wanted = wanted;
	CU_ASSERT_FATAL(loop_run_until(w.loop, stranger_poll, s, DEADLINE_MS) == 0);
}

/* Until the other side closes, whatever it says before. */
static inline void stranger_wait_closed(struct stranger *s)
{
	while (!s->eof) {
		s->in_len = 0;
		stranger_wait(s, 1);
	}
}

static inline void stranger_write(struct stranger *s, const void *bytes, size_t len)
{
	CU_ASSERT(send(s->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

/* ---- a server and a mom ---------------------------------------------------------------------------- */
static struct carrier server, mom;
static struct identity server_id, mom_id;

/* Two daemons with keys of their own; `server` has that role, or is another mom; `mom` is one, or a login daemon. */
static inline void keyed_init_as(uint32_t role, const char *host, uint32_t mom_role)
{
	world_start();
	carrier_init(&server, role, host);
	carrier_init(&mom, mom_role, MOM_HOST);
	make_identity(&server_id, role, host);
	make_identity(&mom_id, mom_role, MOM_HOST);
	write_key(server.key_file, key_role_word(role), host, server_id.secret_key, 0600);
	write_key(mom.key_file, key_role_word(mom_role), MOM_HOST, mom_id.secret_key, 0600);
}

static inline void keyed_init(uint32_t role, const char *host)
{
	keyed_init_as(role, host, KEEL_MOM);
}

/* A server that listens, and a mom that does not yet dial; keys made and enrolled. */
static inline void pair_init(void)
{
	keyed_init(KEEL_SERVER, SERVER_HOST);
	enrol(&server, MOM_HOST, "mom", &mom_id);
	enrol(&mom, "server", "server", &server_id);
	server.conf.listen = "127.0.0.1:0";
	carrier_start(&server);
	snprintf(mom.address, sizeof(mom.address), "127.0.0.1:%d", port_of(&server));
	mom.conf.server = mom.address;
}

static inline void quick(struct carrier *c)
{
	c->link.limits.backoff_min_ms = 5;
	c->link.limits.backoff_max_ms = 20;
}

static inline void mom_start(void)
{
	carrier_start(&mom);
	quick(&mom);
}

static inline void pair_start(void)
{
	pair_init();
	mom_start();
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
}

static inline void pair_stop(void)
{
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

struct refusal {
	const char *server_log, *mom_log; /* NULL: whatever it says */
};

static inline bool told_why(void *arg)
{
	const struct refusal *r = arg;

	return (r->server_log == NULL || daemon_log_has(&server.daemon, r->server_log)) &&
	       (r->mom_log == NULL || daemon_log_has(&mom.daemon, r->mom_log));
}

#endif
