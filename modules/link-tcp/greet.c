/* SPDX-License-Identifier: Apache-2.0
 *
 * greet.c - the handshake of a connection, one chunk at a time.
 *
 * What a hello says is believed only after the proof: a chunk that opens under the stream key, which
 * needs the secret key of the daemon whose public key is enrolled for that role and host. Who dialled proves itself first: it is
 * up when it has the other proof, or reads why it gets none, sealed. What is refused before gets a code alone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "link-tcp.h"

static const char proof[] = "keelson link proof";

/* What is said here, and what who dialled makes of it; the code is the place, from 1: new rows come last. */
static const struct {
	const char *here, *there;
} refusals[] = {
	{ "no key is enrolled for this host",
	  "the key of this host is not enrolled there; copy its .pub file into the directory of peers there (keelson-key(8))" },
	{ "its key is not the one enrolled",
	  "another key of this host is enrolled there; copy the .pub file of this host's key into the directory of peers there" },
	{ "the key enrolled under this name has another role",
	  "the key enrolled there under this host's name is one of another role; enrol the one that this daemon has" },
	{ "the key enrolled under this name belongs to another host",
	  "the key enrolled there under this host's name is that of another host; enrol the one that this host has" },
	{ "it is no mom", "that daemon links with moms only, and the key of this one has another role" },
	{ "its host is served by this very daemon",
	  "the server runs a host of this name itself (its roles are server and mom); give this host another name (host_name)" },
	{ "no host may have this name", "no host may have the name of this one; give it another (host_name)" },
	{ "it is a login node, which links with its server only", "a login node links with its server only (link-tcp.server)" },
};

void greet_open(struct conn *c)
{
	conn_chunk(c, c->greeting.mine, c->greeting.mine_len);
}

/* The error in the name or the role that the hello says; NULL: none. */
static const char *name_objection(const struct conn *c, bool server)
{
	const struct hello *h = &c->theirs;

	if (server)
		return h->daemon == KEEL_SERVER ? NULL : "it is no server";
	if (h->daemon != KEEL_MOM && (h->daemon != KEEL_LOGIN || !(keel_daemon(c->link->mod) & KEEL_SERVER)))
		return h->daemon == KEEL_LOGIN ? "it is a login node, which links with its server only" : "it is no mom";
	if (strcmp(h->host, SERVER_PEER) == 0)
		return "no host may have this name";
	if (c->way != NULL && strcmp(h->host, c->way->host) != 0)
		return "it is another host";
	if ((keel_daemon(c->link->mod) & KEEL_MOM) && strcmp(h->host, keel_host_name(c->link->mod)) == 0)
		return "its host is served by this very daemon";
	return NULL;
}

/* The key of this name: what expect() was given, else what is enrolled. NULL, or the error. */
static const char *key_of(const struct conn *c, bool server, struct identity *ret)
{
	const struct link *l = c->link;
	const struct way *w = way_find(l, c->name);
	char file[KEY_HOST_MAX + 8];
	struct keel_err err;
	int failed;

	if (w != NULL && w->has_key) {
		*ret = (struct identity){ .daemon = KEEL_MOM };
		memcpy(ret->host, w->host, strlen(w->host) + 1);
		memcpy(ret->public_key, w->key, KEY_SIZE);
		return NULL;
	}
	snprintf(file, sizeof(file), "%s.pub", c->name);
	failed = key_read_public(l->peers_dir, c->name, ret, &err);
	if (failed == 0)
		failed = key_guard(l->peers_dir, file, &err);
	if (failed < 0 && failed != -ENOENT)
		keel_log(l->mod, KEEL_LOG_ERROR, "Link", c->name, "%s", err.text);
	if (failed < 0)
		return server ? "the server's key (server.pub) is not enrolled here" : "no key is enrolled for this host";
	return NULL;
}

/* The enrolled key of the peer that the hello names. NULL, or the error. */
static const char *enrolled(struct conn *c, struct identity *ret)
{
	const struct hello *h = &c->theirs;
	bool server = c->way != NULL && strcmp(c->way->host, SERVER_PEER) == 0;
	const char *why = c->opened && c->way == NULL ? "it is expected no more" : name_objection(c, server);

	if (why != NULL)
		return why;
	c->daemon = h->daemon;
	strcpy(c->name, server ? SERVER_PEER : h->host);
	why = key_of(c, server, ret);
	if (why != NULL)
		return why;
	if (ret->daemon != h->daemon)
		return "the key enrolled under this name has another role";
	if (strcmp(ret->host, h->host) != 0)
		return "the key enrolled under this name belongs to another host";
	if (sodium_memcmp(ret->public_key, h->static_key, KEY_SIZE) != 0)
		return "its key is not the one enrolled";
	return NULL;
}

/* Who dialled gets the code; who was dialled nothing. */
static void refuse(struct conn *c)
{
	uint8_t bytes[HELLO_REFUSAL];
	size_t code = 0;
	const char *why = c->broken;

	while (code < KEEL_COUNT(refusals) && strcmp(refusals[code].here, why) != 0)
		code++;
	if (c->opened || code == KEEL_COUNT(refusals))
		return;
	hello_refuse(bytes, (uint8_t)(code + 1));
	c->broken = NULL;
	conn_chunk(c, bytes, sizeof(bytes));
	conn_write(c);
	c->broken = why;
}

static const char *refused_words(int code)
{
	return code >= 1 && (size_t)code <= KEEL_COUNT(refusals) ?
		       refusals[code - 1].there : "it refuses this host; its log says why";
}

static void on_hello(struct conn *c, const uint8_t *bytes, size_t len)
{
	struct identity peer;
	uint8_t send_key[KEY_SIZE], receive_key[KEY_SIZE];
	uint8_t header[STREAM_HEADER];

	uint8_t version = hello_version(bytes, len);

	if (version != 0 && version != HELLO_VERSION) {
		/* Both say both numbers: who was dialled answers with its hello before it goes. */
		if (!c->opened) {
			conn_chunk(c, c->greeting.mine, c->greeting.mine_len);
			conn_write(c);
		}
		snprintf(c->broken_text, sizeof(c->broken_text),
			 "it speaks version %u of the link protocol, this daemon %u", version, HELLO_VERSION);
		c->broken = c->broken_text;
		return;
	}
	if (c->opened && hello_refused(bytes, len) >= 0) {
		c->broken = refused_words(hello_refused(bytes, len));
		return;
	}
	if (hello_decode(bytes, len, &c->theirs) < 0) {
		c->broken = "not the link protocol";
		return;
	}
	c->broken = enrolled(c, &peer);
	if (c->broken != NULL) {
		refuse(c);
		return;
	}
	if (hello_keys(&c->greeting, &c->link->me, peer.public_key, &c->theirs, bytes, len, c->opened,
		       send_key, receive_key) < 0) {
		c->broken = "a worthless key";
		return;
	}
	if (!c->opened)
		conn_chunk(c, c->greeting.mine, c->greeting.mine_len);
	crypto_secretstream_xchacha20poly1305_init_push(&c->push, header, send_key);
	conn_chunk(c, header, sizeof(header));
	if (c->opened)
		conn_seal(c, proof, sizeof(proof), 0);
	/* Kept where the header, which comes next, is awaited. */
	memcpy(c->pull.k, receive_key, KEY_SIZE);
	sodium_memzero(send_key, sizeof(send_key));
	sodium_memzero(receive_key, sizeof(receive_key));
	c->state = CONN_HEADER;
}

static void on_header(struct conn *c, const uint8_t *bytes, size_t len)
{
	uint8_t key[KEY_SIZE];

	memcpy(key, c->pull.k, KEY_SIZE);
	if (len != STREAM_HEADER ||
	    crypto_secretstream_xchacha20poly1305_init_pull(&c->pull, bytes, key) != 0)
		c->broken = "not the link protocol";
	sodium_memzero(key, sizeof(key));
	c->state = CONN_PROOF;
}

void greet_take(struct conn *c)
{
	conn_seal(c, proof, sizeof(proof), 0);
	conn_up(c);
}

static void on_proof(struct conn *c, const uint8_t *bytes, size_t len)
{
	uint8_t plain[GREET_MAX];
	unsigned long long n;
	unsigned char tag;
	struct conn *other;

	if (len < crypto_secretstream_xchacha20poly1305_ABYTES ||
	    crypto_secretstream_xchacha20poly1305_pull(&c->pull, plain, &n, &tag, bytes, len, NULL, 0) != 0) {
		c->broken = "it does not have the secret key of the host it names";
		return;
	}
	if (c->opened && tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL) {
		snprintf(c->broken_text, sizeof(c->broken_text), "%.*s", (int)n, (const char *)plain);
		c->broken = c->broken_text;
		return;
	}
	if (n != sizeof(proof) || memcmp(plain, proof, sizeof(proof)) != 0) {
		c->broken = "not the link protocol";
		return;
	}
	other = conn_named(c->link, c->name);
	if (c->opened)
		conn_up(c);
	else if (other != NULL && !other->opened)
		rival_begin(c, other);
	else
		greet_take(c);
}

void greet_chunk(struct conn *c, const uint8_t *bytes, size_t len)
{
	switch (c->state) {
	case CONN_HELLO:
		on_hello(c, bytes, len);
		break;
	case CONN_HEADER:
		on_header(c, bytes, len);
		break;
	case CONN_PROOF:
		on_proof(c, bytes, len);
		break;
	default:
		c->broken = "not the link protocol";
		break;
	}
}
