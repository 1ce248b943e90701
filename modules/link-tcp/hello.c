/* SPDX-License-Identifier: Apache-2.0
 *
 * hello.c - derive two stream keys that only the two enrolled daemons can know.
 *
 * Four X25519 secrets (ephemeral or static of one side with ephemeral or static of the other) and both
 * hellos are hashed together. ephemeral-ephemeral makes every link new (replays and recorded links are
 * worth nothing), the mixed ones prove each static key even when the other one was stolen.
 */
#include "hello.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

static const uint8_t magic[4] = { 'K', 'E', 'E', 'L' };
static const char label[] = "keelson link 2";

enum { AT_VERSION = 4, AT_ROLE = 5, AT_HOST_LEN = 6, AT_HOST = 7 };

_Static_assert(KEY_SIZE == crypto_scalarmult_BYTES, "X25519 keys");
_Static_assert(KEY_SIZE == crypto_secretstream_xchacha20poly1305_KEYBYTES, "stream keys");

uint8_t hello_version(const uint8_t *bytes, size_t len)
{
	return len > AT_VERSION && memcmp(bytes, magic, sizeof(magic)) == 0 ? bytes[AT_VERSION] : 0;
}

void hello_refuse(uint8_t bytes[HELLO_REFUSAL], uint8_t code)
{
	memcpy(bytes, magic, sizeof(magic));
	bytes[AT_VERSION] = HELLO_VERSION;
	bytes[AT_ROLE] = 0;
	bytes[AT_HOST_LEN] = code;
}

int hello_refused(const uint8_t *bytes, size_t len)
{
	return len == HELLO_REFUSAL && hello_version(bytes, len) == HELLO_VERSION && bytes[AT_ROLE] == 0 ?
		       bytes[AT_HOST_LEN] : -1;
}

int hello_decode(const uint8_t *bytes, size_t len, struct hello *ret)
{
	struct hello h = { 0 };
	size_t host_len, at_ticket;

	if (len < AT_HOST || hello_version(bytes, len) != HELLO_VERSION)
		return -EPROTO;
	h.daemon = bytes[AT_ROLE];
	host_len = bytes[AT_HOST_LEN];
	at_ticket = AT_HOST + host_len + 2 * KEY_SIZE;
	if (key_role_word(h.daemon) == NULL || len <= at_ticket || bytes[at_ticket] > TICKET_MAX ||
	    len != at_ticket + 1 + bytes[at_ticket] || !key_host_valid((const char *)bytes + AT_HOST, host_len))
		return -EPROTO;
	h.ticket_len = bytes[at_ticket];
	memcpy(h.ticket, bytes + at_ticket + 1, h.ticket_len);
	memcpy(h.host, bytes + AT_HOST, host_len);
	memcpy(h.ephemeral, bytes + AT_HOST + host_len, KEY_SIZE);
	memcpy(h.static_key, bytes + AT_HOST + host_len + KEY_SIZE, KEY_SIZE);
	*ret = h;
	return 0;
}

void hello_init(struct greeting *g, const struct identity *me, const uint8_t *ticket, size_t ticket_len)
{
	size_t host_len = strlen(me->host);
	uint8_t *at = g->mine;

	memcpy(at, magic, sizeof(magic));
	at[AT_VERSION] = HELLO_VERSION;
	at[AT_ROLE] = (uint8_t)me->daemon;
	at[AT_HOST_LEN] = (uint8_t)host_len;
	memcpy(at + AT_HOST, me->host, host_len);
	at += AT_HOST + host_len;
	crypto_kx_keypair(at, g->ephemeral_secret);
	memcpy(at + KEY_SIZE, me->public_key, KEY_SIZE);
	at += 2 * KEY_SIZE;
	*at = (uint8_t)ticket_len;
	if (ticket_len > 0)
		memcpy(at + 1, ticket, ticket_len);
	g->mine_len = (size_t)(at + 1 - g->mine) + ticket_len;
}

void hello_fini(struct greeting *g)
{
	sodium_memzero(g, sizeof(*g));
}

static void hash_hello(crypto_generichash_state *s, const uint8_t *bytes, size_t len)
{
	uint8_t size[2] = { (uint8_t)(len >> 8), (uint8_t)len };

	crypto_generichash_update(s, size, sizeof(size));
	crypto_generichash_update(s, bytes, len);
}

/* In the order of the side that spoke first: ee, es, se, ss. */
static int shared_secrets(const struct greeting *g, const struct identity *me,
			  const uint8_t peer[KEY_SIZE], const struct hello *theirs, bool opened,
			  uint8_t ret[4][KEY_SIZE])
{
	unsigned mine_first = opened ? 1 : 2, theirs_first = opened ? 2 : 1;

	if (crypto_scalarmult(ret[0], g->ephemeral_secret, theirs->ephemeral) != 0 ||
	    crypto_scalarmult(ret[mine_first], g->ephemeral_secret, peer) != 0 ||
	    crypto_scalarmult(ret[theirs_first], me->secret_key, theirs->ephemeral) != 0 ||
	    crypto_scalarmult(ret[3], me->secret_key, peer) != 0)
		return -EPROTO;
	return 0;
}

int hello_keys(const struct greeting *g, const struct identity *me, const uint8_t peer[KEY_SIZE],
	       const struct hello *theirs, const uint8_t *their_bytes, size_t their_len, bool opened,
	       uint8_t ret_send[KEY_SIZE], uint8_t ret_receive[KEY_SIZE])
{
	uint8_t secrets[4][KEY_SIZE], keys[2 * KEY_SIZE];
	crypto_generichash_state s;
	int ret = shared_secrets(g, me, peer, theirs, opened, secrets);

	if (ret == 0) {
		crypto_generichash_init(&s, NULL, 0, sizeof(keys));
		crypto_generichash_update(&s, (const uint8_t *)label, sizeof(label));
		crypto_generichash_update(&s, secrets[0], sizeof(secrets));
		hash_hello(&s, opened ? g->mine : their_bytes, opened ? g->mine_len : their_len);
		hash_hello(&s, opened ? their_bytes : g->mine, opened ? their_len : g->mine_len);
		crypto_generichash_final(&s, keys, sizeof(keys));
		memcpy(opened ? ret_send : ret_receive, keys, KEY_SIZE);
		memcpy(opened ? ret_receive : ret_send, keys + KEY_SIZE, KEY_SIZE);
		sodium_memzero(&s, sizeof(s));
	}
	sodium_memzero(secrets, sizeof(secrets));
	sodium_memzero(keys, sizeof(keys));
	return ret;
}
