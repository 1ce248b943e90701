/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hello.c - the handshake's bytes and keys, and key files, without a connection.
 */
#include "test_world.h"

struct side {
	struct identity id;
	struct greeting g;
	struct hello h; /* mine, as the other side reads it */
	uint8_t send_key[KEY_SIZE], receive_key[KEY_SIZE];
};

static void side_init(struct side *s, uint32_t daemon, const char *host)
{
	make_identity(&s->id, daemon, host);
	hello_init(&s->g, &s->id, (const uint8_t *)"ticket", 6);
	CU_ASSERT_FATAL(hello_decode(s->g.mine, s->g.mine_len, &s->h) == 0);
}

static int keys(struct side *me, const struct side *peer, bool opened)
{
	return hello_keys(&me->g, &me->id, peer->id.public_key, &peer->h, peer->g.mine, peer->g.mine_len,
			  opened, me->send_key, me->receive_key);
}

static bool same(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, KEY_SIZE) == 0;
}

static void test_both_agree(void)
{
	struct side m, s;

	CU_ASSERT_FATAL(sodium_init() >= 0);
	side_init(&m, KEEL_MOM, "n1");
	side_init(&s, KEEL_SERVER, "head");
	CU_ASSERT_STRING_EQUAL(m.h.host, "n1");
	CU_ASSERT_EQUAL(m.h.daemon, KEEL_MOM);
	CU_ASSERT_EQUAL(keys(&m, &s, true), 0);
	CU_ASSERT_EQUAL(keys(&s, &m, false), 0);
	CU_ASSERT(same(m.send_key, s.receive_key));
	CU_ASSERT(same(m.receive_key, s.send_key));
	CU_ASSERT(!same(m.send_key, m.receive_key));
}

/* A peer that lacks one of the secrets, or saw another hello, has other keys. */
static void test_liars_disagree(void)
{
	struct side m, s, liar;

	side_init(&m, KEEL_MOM, "n1");
	side_init(&s, KEEL_SERVER, "head");
	keys(&s, &m, false);
	liar = m;
	crypto_kx_keypair(liar.id.public_key, liar.id.secret_key); /* knows all but the static secret */
	keys(&liar, &s, true);
	CU_ASSERT(!same(liar.send_key, s.receive_key));
	liar = m;
	crypto_kx_keypair(liar.h.ephemeral, liar.g.ephemeral_secret); /* all but the ephemeral one */
	keys(&liar, &s, true);
	CU_ASSERT(!same(liar.send_key, s.receive_key));
	liar = m;
	liar.g.mine[8] ^= 1; /* the name was changed on the way */
	keys(&liar, &s, true);
	CU_ASSERT(!same(liar.send_key, s.receive_key));
	liar = m;
	keys(&liar, &s, false); /* mirrored: a side cannot be made to talk to itself */
	CU_ASSERT(!same(liar.send_key, s.receive_key));
}

static void test_fresh_each_time(void)
{
	struct side m, s, again;

	side_init(&m, KEEL_MOM, "n1");
	side_init(&s, KEEL_SERVER, "head");
	keys(&s, &m, false);
	again = s;
	hello_init(&again.g, &again.id, NULL, 0);
	keys(&again, &m, false);
	CU_ASSERT(!same(again.receive_key, s.receive_key));
}

static void test_worthless_keys(void)
{
	struct side m, s;

	side_init(&m, KEEL_MOM, "n1");
	side_init(&s, KEEL_SERVER, "head");
	memset(m.h.ephemeral, 0, KEY_SIZE);
	CU_ASSERT_EQUAL(keys(&s, &m, false), -EPROTO);
}

static void test_bad_hellos(void)
{
	struct side m;
	struct hello h = { .daemon = 77 };
	uint8_t bytes[HELLO_MAX + 1] = { 0 };

	side_init(&m, KEEL_MOM, "n1");
	for (size_t len = 0; len < m.g.mine_len; len++)
		CU_ASSERT_EQUAL(hello_decode(m.g.mine, len, &h), -EPROTO);
	memcpy(bytes, m.g.mine, m.g.mine_len);
	CU_ASSERT_EQUAL(hello_decode(bytes, m.g.mine_len + 1, &h), -EPROTO);
	for (size_t at = 0; at < 8; at++) { /* magic, version, role 3, length, first letter */
		bytes[at] ^= at == 5 ? 1 : 0x20;
		if (at != 7)
			CU_ASSERT_EQUAL(hello_decode(bytes, m.g.mine_len, &h), -EPROTO);
		bytes[at] ^= at == 5 ? 1 : 0x20;
	}
	bytes[7] = '/';
	CU_ASSERT_EQUAL(hello_decode(bytes, m.g.mine_len, &h), -EPROTO);
	bytes[7] = '\0';
	CU_ASSERT_EQUAL(hello_decode(bytes, m.g.mine_len, &h), -EPROTO);
	CU_ASSERT_EQUAL(h.daemon, 77); /* untouched on error */
}

static void test_tickets(void)
{
	uint8_t ticket[TICKET_MAX] = { 1, 2, 3 };
	struct hello h;
	struct side m;

	make_identity(&m.id, KEEL_MOM, "n1");
	hello_init(&m.g, &m.id, NULL, 0);
	CU_ASSERT_EQUAL(hello_decode(m.g.mine, m.g.mine_len, &h), 0);
	CU_ASSERT_EQUAL(h.ticket_len, 0);
	hello_init(&m.g, &m.id, ticket, sizeof(ticket));
	CU_ASSERT_EQUAL(hello_decode(m.g.mine, m.g.mine_len, &h), 0);
	CU_ASSERT_EQUAL(h.ticket_len, sizeof(ticket));
	CU_ASSERT_EQUAL(memcmp(h.ticket, ticket, sizeof(ticket)), 0);
	m.g.mine[m.g.mine_len - sizeof(ticket) - 1]++; /* past what a ticket may have */
	CU_ASSERT_EQUAL(hello_decode(m.g.mine, m.g.mine_len, &h), -EPROTO);
	CU_ASSERT_EQUAL(hello_version((const uint8_t *)"KEEL\7", 5), 7);
	CU_ASSERT_EQUAL(hello_version((const uint8_t *)"KEEL", 4), 0);
	CU_ASSERT_EQUAL(hello_version((const uint8_t *)"GET / HTTP", 10), 0);
}

static void test_host_names(void)
{
	char longest[KEY_HOST_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	CU_ASSERT(key_host_valid("n1.example.org", 14));
	CU_ASSERT(key_host_valid("a_b-C9", 6));
	CU_ASSERT(key_host_valid(longest, KEY_HOST_MAX));
	CU_ASSERT(!key_host_valid(longest, KEY_HOST_MAX + 1));
	CU_ASSERT(!key_host_valid("", 0));
	CU_ASSERT(!key_host_valid("..", 2));
	CU_ASSERT(!key_host_valid("a/b", 3));
	CU_ASSERT(!key_host_valid("a b", 3));
	CU_ASSERT(!key_host_valid("-rf", 3));
	CU_ASSERT(!key_host_valid("a\0b", 3));
}

static int parse(const char *line)
{
	char host[KEY_HOST_MAX + 1];
	uint8_t key[KEY_SIZE];
	uint32_t daemon;

	return key_parse(line, strlen(line), &daemon, host, key);
}

static void test_key_lines(void)
{
#define K "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	CU_ASSERT_EQUAL(parse("mom n1 " K "\n"), 0);
	CU_ASSERT_EQUAL(parse("server\thead  " K), 0);
	CU_ASSERT_EQUAL(parse(""), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom n1"), -EINVAL);
	CU_ASSERT_EQUAL(parse("moms n1 " K), -EINVAL);
	CU_ASSERT_EQUAL(parse("server,mom n1 " K), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom ../n1 " K), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom n1 AAAA"), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom n1 " K " more"), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom n1 " K "\nmom n2 " K), -EINVAL);
	CU_ASSERT_EQUAL(parse("mom n1 A" K), -EINVAL);
#undef K
}

static void test_public_files(void)
{
	struct identity id, got;
	struct carrier d = { 0 };
	struct keel_err err;
	char path[256];

	world_start();
	snprintf(d.peers_dir, sizeof(d.peers_dir), "%s", w.dir);
	make_identity(&id, KEEL_MOM, "n1");
	enrol(&d, "n1", "mom", &id);
	CU_ASSERT_EQUAL(key_read_public(w.dir, "n1", &got, &err), 0);
	CU_ASSERT(same(got.public_key, id.public_key));
	CU_ASSERT_EQUAL(key_read_public(w.dir, "n2", &got, &err), -ENOENT);
	CU_ASSERT_EQUAL(key_read_public(w.dir, "../n1", &got, &err), -EINVAL);
	snprintf(path, sizeof(path), "%s/dir.pub", w.dir);
	CU_ASSERT_EQUAL(mkdir(path, 0755), 0);
	CU_ASSERT_EQUAL(key_read_public(w.dir, "dir", &got, &err), -EINVAL);
	snprintf(path, sizeof(path), "%s/pipe.pub", w.dir);
	CU_ASSERT_EQUAL(mkfifo(path, 0644), 0);
	CU_ASSERT_EQUAL(key_read_public(w.dir, "pipe", &got, &err), -EINVAL);
	/* past modules/link-tcp/keys.c FILE_MAX */
	snprintf(path, sizeof(path), "%s/n1.pub", w.dir);
	CU_ASSERT_EQUAL(truncate(path, 513), 0);
	CU_ASSERT_EQUAL(key_read_public(w.dir, "n1", &got, &err), -EINVAL);
	world_stop();
}

TESTS_MAIN("hello", TEST(test_both_agree), TEST(test_liars_disagree), TEST(test_fresh_each_time),
	   TEST(test_worthless_keys), TEST(test_bad_hellos), TEST(test_tickets), TEST(test_host_names), TEST(test_key_lines),
	   TEST(test_public_files))
