/* SPDX-License-Identifier: Apache-2.0
 *
 * test_peer.h - the daemon at the other end of the link, as a test plays it: what it says, and what was sent to it.
 */
#ifndef CLIENT_RELAY_TEST_PEER_H
#define CLIENT_RELAY_TEST_PEER_H

#include "client-relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/carrier.h"

extern const struct keel_module keel_module;

enum { SEEN_MOST = 1024, MESSAGE_HEAD = 64 };

static struct keel_mock *mock;
static struct keel_mod *mod;
static const char *peer;
static uint32_t role; /* the peer's */
static struct seen {
	enum op op;
	uint64_t id;
	uint32_t len, number;
} seen[SEEN_MOST];
static uint32_t n_seen;

/* ---- the peer ---------------------------------------------------------------------------------------------- */
static void record_seen(const struct record *r)
{
	if (n_seen < SEEN_MOST)
		seen[n_seen++] = (struct seen){ r->op, r->id, r->len, r->len >= 4 ? number_read(r->data) : 0 };
}

/* The records stand behind their key, as bytes with a length of 1, 2 or 4. */
static void carried_to(struct keel_mod *self, const char *to, const void *bytes, uint32_t len)
{
	const unsigned char *at = memmem(bytes, len, "records", 7), *end = (const unsigned char *)bytes + len;
	uint32_t n = 0;
	struct record r;
	bool bad;

	(void)self;
	CU_ASSERT_STRING_EQUAL(to, peer);
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	at += 7;
	for (int i = 1 << (*at++ - 0xc4); i > 0; i--)
		n = n << 8 | *at++;
	CU_ASSERT_FATAL(n <= (size_t)(end - at));
	end = at + n;
	while (record_next(&at, end, &r, &bad))
		record_seen(&r);
	CU_ASSERT(!bad);
}

static struct keel_carrier_api carrier = { .size = sizeof(carrier), .send = carried_to };

static const struct keel_carry_api *carry(void)
{
	return keel_mock_group(mock, "carry");
}

static void link_up(void)
{
	CU_ASSERT_EQUAL(carry()->up(keel_mock_self(mock), peer, role, 2000), 0);
}

static void link_lost_now(void)
{
	carry()->lost(keel_mock_self(mock), peer);
}

static void message(const void *records, uint32_t len)
{
	const char *name = role == KEEL_SERVER ? TO_HOST : TO_SERVER;
	unsigned char *bytes = malloc(MESSAGE_HEAD + len), *at = bytes;

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	at += sprintf((char *)at, "\x82\xa3msg%c%s\xa7records\xc6", 0xa0 + (int)strlen(name), name);
	number_write(at, len);
	memcpy(at + 4, records, len);
	carry()->in(keel_mock_self(mock), peer, bytes, (uint32_t)(at + 4 - bytes) + len);
	free(bytes);
}

static void say(enum op op, uint64_t id, const void *data, uint32_t len)
{
	unsigned char bytes[1024] = { (unsigned char)op };

	CU_ASSERT_FATAL(len <= sizeof(bytes) - 13);
	number_write(bytes + 1, (uint32_t)(id >> 32));
	number_write(bytes + 5, (uint32_t)id);
	number_write(bytes + 9, len);
	if (len > 0)
		memcpy(bytes + 13, data, len);
	message(bytes, 13 + len);
}

static void say_number(enum op op, uint64_t id, uint32_t number)
{
	unsigned char bytes[4];

	number_write(bytes, number);
	say(op, id, bytes, sizeof(bytes));
}

static uint32_t count(enum op op)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_seen; i++)
		n += seen[i].op == op;
	return n;
}

static const struct seen *last(enum op op)
{
	for (uint32_t i = n_seen; i > 0; i--)
		if (seen[i - 1].op == op)
			return &seen[i - 1];
	return NULL;
}

static void begin(uint32_t daemon, const char *name, uint32_t peers_role)
{
	struct keel_err err;

	mock = keel_mock_new(daemon);
	carrier.self = keel_mock_self(mock);
	keel_mock_service(mock, "carrier", &carrier);
	peer = name;
	role = peers_role;
	n_seen = 0;
	mod = keel_mock_load(mock, &keel_module, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
}

#endif
