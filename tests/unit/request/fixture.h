/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - a kernel with the parts a router needs, and clients of the same process that speak raw
 * bytes to it.
 */
#ifndef TESTS_REQUEST_FIXTURE_H
#define TESTS_REQUEST_FIXTURE_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"
#include "logged.h"
#include "hook/hooks.h"
#include "log/log.h"
#include "loop/loop.h"
#include "registry/registry.h"
#include "request/inside.h"
#include "msg/msg.h"
#include "request/router.h"
#include "store/store.h"
#include "wire/frame.h"
#include "wire/pack.h"

struct kernel {
	struct parts parts;
	struct owner owner;
	const struct keel_request_api *request;
	const struct keel_msg_api *msg;
	char dir[64], socket[96];
};

static inline void kernel_start(struct kernel *k)
{
	static const struct hooks_conf hooks_conf = { 60000, 20, 250, 3, 0, 0 };
	struct keel_err err = { 0 };

	memset(k, 0, sizeof(*k));
	strcpy(k->dir, "/tmp/keelson-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(k->dir));
	snprintf(k->socket, sizeof(k->socket), "%s/server.sock", k->dir);
	k->parts.daemon = KEEL_SERVER;
	k->parts.home = k->dir;
	k->parts.server_name = k->parts.host_name = (char *)"host1.example.org";
	k->parts.daemon_name = (char *)"Server@test";
	k->owner.pub.name = "testmod";
	k->owner.parts = &k->parts;
	CU_ASSERT_FATAL(loop_create(&k->parts.loop) == 0);
	CU_ASSERT_FATAL(log_open(k->parts.loop, k->dir, "Server@test", 0xffff, false, &k->parts.log,
				 &err) == 0);
	CU_ASSERT_FATAL(registry_create(&k->parts.registry) == 0);
	CU_ASSERT_FATAL(hooks_create(&k->parts, &hooks_conf, &k->parts.hooks) == 0);
	CU_ASSERT_FATAL(store_create(&k->parts, &k->parts.store) == 0);
	CU_ASSERT_FATAL(router_create(&k->parts, &k->parts.router) == 0);
	k->request = registry_service(k->parts.registry, "request", 0, NULL, &err);
	k->msg = registry_service(k->parts.registry, "msg", 0, NULL, &err);
	CU_ASSERT_FATAL(k->request != NULL && k->msg != NULL);
	CU_ASSERT_FATAL(router_listen(k->parts.router, k->socket, -1, &err) == 0);
}

static inline void kernel_stop(struct kernel *k)
{
	char command[96];

	router_destroy(k->parts.router);
	store_destroy(k->parts.store);
	hooks_destroy(k->parts.hooks);
	registry_destroy(k->parts.registry);
	log_close(k->parts.log);
	loop_destroy(k->parts.loop);
	snprintf(command, sizeof(command), "rm -rf %s", k->dir);
	CU_ASSERT(system(command) == 0);
}

/* Does the log of today hold `text`? */
static inline bool log_has(const struct kernel *k, const char *text)
{
	return logged(k->dir, text);
}

/* ---- a client -------------------------------------------------------------------------------- */
struct wire_client {
	struct kernel *k;
	int fd;
	bool eof;
	struct frame_reader reader;
	struct frame frame; /* the last one that came */
	bool stop_reading;
};

static inline void wire_connect(struct kernel *k, struct wire_client *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	memset(c, 0, sizeof(*c));
	c->k = k;
	strcpy(at.sun_path, k->socket);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CU_ASSERT_FATAL(connect(c->fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	frame_reader_init(&c->reader, WIRE_BODY_MAX);
}

static inline void wire_close(struct wire_client *c)
{
	close(c->fd);
	frame_reader_fini(&c->reader);
}

static inline void wire_write(struct wire_client *c, const void *bytes, size_t len)
{
	CU_ASSERT(send(c->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static inline struct keel_out *wire_request(const char *name)
{
	struct keel_out *o = out_create();

	msg_api.put_str(o, "req", name);
	return o;
}

/* Moved. */
static inline void wire_send(struct wire_client *c, uint64_t corr, struct keel_out *o)
{
	size_t len;
	const char *bytes = out_frame(o, WIRE_REQUEST, corr, &len);

	wire_write(c, bytes, len);
	out_drop(o);
}

static inline bool wire_poll(void *arg)
{
	struct wire_client *c = arg;
	size_t room;
	char *at;
	ssize_t n;

	if (frame_next(&c->reader, &c->frame) == 1)
		return true;
	if (frame_reader_room(&c->reader, 65536, &at, &room) < 0)
		return true;
	n = recv(c->fd, at, room, 0);
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		c->eof = true;
		return true;
	}
	if (n > 0)
		frame_reader_added(&c->reader, (size_t)n);
	return frame_next(&c->reader, &c->frame) == 1;
}

/* The next frame, or the end of the connection. */
static inline void wire_wait(struct wire_client *c)
{
	CU_ASSERT_FATAL(loop_run_until(c->k->parts.loop, wire_poll, c, DEADLINE_MS) == 0);
}

/* The code of the reply that comes next; -1: the connection ended. */
static inline int64_t wire_code(struct wire_client *c)
{
	struct pack p;
	int64_t code;

	wire_wait(c);
	if (c->eof)
		return -1;
	CU_ASSERT_FATAL(pack_open(&p, c->frame.body, c->frame.len) == 0);
	code = pack_int(&p.root, "code", -2);
	pack_fini(&p);
	return code;
}

static inline bool wire_text_is(struct wire_client *c, const char *key, const char *text)
{
	struct pack p;
	size_t len;
	const char *bytes;
	bool same;

	CU_ASSERT_FATAL(pack_open(&p, c->frame.body, c->frame.len) == 0);
	bytes = pack_bytes(&p.root, key, &len);
	same = bytes != NULL && len == strlen(text) && memcmp(bytes, text, len) == 0;
	pack_fini(&p);
	return same;
}

#endif
