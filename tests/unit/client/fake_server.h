/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_server.h - a server for tests: a thread behind a Unix socket with a reply of the test.
 */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include <pthread.h>

#include "frame.h"
#include "pack.h"

struct fake_server {
	pthread_t thread;
	int listener;
	char dir[64];
	void (*serve)(struct fake_server *f, int fd);
	void *arg;
	struct frame_reader reader;
	uint64_t corr; /* of the last request */
	struct buf body; /* being written */
};

/* Listen, and make pbs.conf and PBS_CONF_FILE name this server. One connection is served. */
void fake_start(struct fake_server *f, void (*serve)(struct fake_server *f, int fd), void *arg);
void fake_stop(struct fake_server *f);

/* The next request; 0, or -1 when the client went away. pack_fini(ret) is the caller's. */
int fake_request(struct fake_server *f, int fd, struct pack *ret);

/* Write a body to f->body between these two. */
void fake_begin(struct fake_server *f);
void fake_send(struct fake_server *f, int fd, uint16_t type);

/* A REPLY {"code": code, "text": text, key: value}; NULL leaves out. */
void fake_reply(struct fake_server *f, int fd, int code, const char *text, const char *key,
		const char *value);

void fake_write(int fd, const void *bytes, size_t len);

#endif
