/* SPDX-License-Identifier: Apache-2.0
 *
 * hello.h - the handshake of two daemons, without any input or output. README.md has the drawing.
 *
 * Bytes of a hello: "KEEL" version role host_length host ephemeral(32) static(32)
 * ticket_length ticket. A ticket is what a host shows that is not enrolled; today it is empty, and not looked at.
 */
#ifndef LINK_TCP_HELLO_H
#define LINK_TCP_HELLO_H

#include "keys.h"

enum { HELLO_VERSION = 2, TICKET_MAX = 200, HELLO_MAX = 4 + 3 + KEY_HOST_MAX + 2 * KEY_SIZE + 1 + TICKET_MAX };

/* What a hello says; nothing of it is true before the proof. */
struct hello {
	uint32_t daemon;
	char host[KEY_HOST_MAX + 1];
	uint8_t ephemeral[KEY_SIZE], static_key[KEY_SIZE];
	uint8_t ticket[TICKET_MAX];
	size_t ticket_len;
};

/* One side of one handshake. Wipe with hello_fini(). */
struct greeting {
	uint8_t ephemeral_secret[KEY_SIZE];
	uint8_t mine[HELLO_MAX];
	size_t mine_len;
};

/* Decodes untrusted bytes. 0; fails with -EPROTO, and *ret is undefined. */
int hello_decode(const uint8_t *bytes, size_t len, struct hello *ret);

/* Returns the version of bytes that begin like a hello; 0: they do not. */
uint8_t hello_version(const uint8_t *bytes, size_t len);

/* Instead of a hello, from who was dialled: role 0, and a code of greet.c. Anyone on the way could have said it. */
enum { HELLO_REFUSAL = 7 };
void hello_refuse(uint8_t bytes[HELLO_REFUSAL], uint8_t code);
/* Returns the code; -1: these bytes are no refusal. */
int hello_refused(const uint8_t *bytes, size_t len);

/* Makes `g->mine`, with fresh ephemeral keys. The caller wipes it with hello_fini(). */
void hello_init(struct greeting *g, const struct identity *me, const uint8_t *ticket, size_t ticket_len);
void hello_fini(struct greeting *g);

/* The two stream keys, from my secrets, the public key that `peer` is enrolled with, and both hellos.
 * `opened`: this side sent its hello first. 0; fails with -EPROTO when a key of the other side is worthless. */
int hello_keys(const struct greeting *g, const struct identity *me, const uint8_t peer[KEY_SIZE],
	       const struct hello *theirs, const uint8_t *their_bytes, size_t their_len, bool opened,
	       uint8_t ret_send[KEY_SIZE], uint8_t ret_receive[KEY_SIZE]);

#endif
