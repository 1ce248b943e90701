/* SPDX-License-Identifier: Apache-2.0
 *
 * test_moms.c - moms that link with each other because modules expect them: expect().
 */
#include "test_world.h"

/* ---- moms -------------------------------------------------------------------------------------------- */
static const char *key_text(const struct identity *id)
{
	static char text[64];

	return sodium_bin2base64(text, sizeof(text), id->public_key, KEY_SIZE, sodium_base64_VARIANT_ORIGINAL);
}

#define OTHER_HOST "n2.example.org"

/* Two moms that are not enrolled with each other: `server` is n2, which listens. */
static void moms_init(void)
{
	keyed_init(KEEL_MOM, OTHER_HOST);
	server.conf.listen = mom.conf.listen = "127.0.0.1:0";
	carrier_start(&server);
	carrier_start(&mom);
	quick(&server);
	quick(&mom);
}

static int32_t expect_at(struct carrier *at, const char *host, const struct carrier *where, const struct identity *id)
{
	char address[64] = "";

	if (where != NULL)
		snprintf(address, sizeof(address), "127.0.0.1:%d", port_of(where));
	return ways_expect(&at->owner.pub, host, where != NULL ? address : NULL, id != NULL ? key_text(id) : NULL);
}

static void test_moms_talk(void)
{
	moms_init();
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &mom_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0);
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
	CU_ASSERT_STRING_EQUAL(server.daemon.up_peer, MOM_HOST);
	CU_ASSERT_EQUAL(server.daemon.up_daemon, KEEL_MOM);
	CU_ASSERT_STRING_EQUAL(mom.daemon.up_peer, OTHER_HOST);
	CU_ASSERT_EQUAL(send_text(&mom.daemon, OTHER_HOST, "hello n2"), 0);
	CU_ASSERT_EQUAL(send_text(&server.daemon, MOM_HOST, "hello n1"), 0);
	wait_counter(&server.daemon.messages, 1);
	wait_counter(&mom.daemon.messages, 1);
	CU_ASSERT_STRING_EQUAL(server.daemon.last_peer, MOM_HOST);
	CU_ASSERT_STRING_EQUAL(server.daemon.last_text, "hello n2");
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_peer, OTHER_HOST);
	conn_drop(server.link.conns, "cut by the test");
	wait_counter(&mom.daemon.ups, 2); /* dialled again */
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, NULL), 0);
	wait_counter(&server.daemon.downs, 1);
	CU_ASSERT(!server.daemon.link->is_up(&server.daemon.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ .server_log = "no key is enrolled" }, DEADLINE_MS), 0);
	pair_stop();
}

/* Both dial: one link stays, and no message that was sent over it is lost. */
static void test_both_dial(void)
{
	moms_init();
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, &mom, &mom_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0);
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
	while (server.daemon.messages == 0 || mom.daemon.messages == 0) {
		send_text(&mom.daemon, OTHER_HOST, "hello n2");
		send_text(&server.daemon, MOM_HOST, "hello n1");
		turn_for(20);
	}
	CU_ASSERT_STRING_EQUAL(server.daemon.last_peer, MOM_HOST);
	CU_ASSERT_STRING_EQUAL(mom.daemon.last_peer, OTHER_HOST);
	turn_for(200);
	server.daemon.ups = 0;
	turn_for(200);
	CU_ASSERT_EQUAL(server.daemon.ups, 0);
	pair_stop();
}

/* A mom that is expected with another key, and one that comes under the name of another. */
static void test_moms_lie(void)
{
	struct identity other;

	moms_init();
	make_identity(&other, KEEL_MOM, MOM_HOST);
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &mom_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, "n3.example.org", &server, &server_id), 0);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ NULL, "it is another host" }, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &other), 0);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ "its key is not the one enrolled", NULL },
				       DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(mom.daemon.ups + server.daemon.ups, 0);
	CU_ASSERT_EQUAL(ways_expect(&mom.owner.pub, "server", NULL, key_text(&other)), -EINVAL);
	CU_ASSERT_EQUAL(ways_expect(&mom.owner.pub, "../n1", NULL, key_text(&other)), -EINVAL);
	CU_ASSERT_EQUAL(ways_expect(&mom.owner.pub, "n4", "nowhere", key_text(&other)), -EINVAL);
	CU_ASSERT_EQUAL(ways_expect(&mom.owner.pub, "n4", NULL, "AAAA"), -EINVAL);
	pair_stop();
}

/* Jobs share a pair of hosts: the link stays until the last one has forgotten it, and who waits does not take the address
 * from who dials. With another key it ends at once. */
static void test_moms_are_counted(void)
{
	struct identity other;
	char key[KEEL_CARRIER_KEY];

	moms_init();
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &mom_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0); /* it is being dialled: once */
	while (mom.link.conns == NULL)
		turn_for(1);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, &server_id), 0);
	wait_counter(&mom.daemon.ups, 1);
	turn_for(50);
	CU_ASSERT_EQUAL(mom.daemon.ups, 1);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, NULL), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, NULL), 0);
	CU_ASSERT_EQUAL(ways_proved(&mom.owner.pub, OTHER_HOST, key), 0);
	CU_ASSERT_STRING_EQUAL(key, key_text(&server_id));
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, NULL), 0);
	conn_drop(server.link.conns, "cut by the test");
	wait_counter(&mom.daemon.ups, 2);
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, NULL), 0);
	wait_counter(&mom.daemon.downs, 1);
	CU_ASSERT_PTR_NULL(way_find(&mom.link, OTHER_HOST));
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, NULL, NULL), 0); /* not expected: no harm */
	CU_ASSERT_EQUAL(ways_proved(&mom.owner.pub, OTHER_HOST, key), -ENOTCONN);
	wait_counter(&server.daemon.downs, 1);
	server.daemon.ups = 0;
	CU_ASSERT_EQUAL(expect_at(&mom, OTHER_HOST, &server, &server_id), 0);
	wait_counter(&server.daemon.ups, 1);
	make_identity(&other, KEEL_MOM, MOM_HOST);
	server.daemon.downs = 0;
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &other), 0);
	wait_counter(&server.daemon.downs, 1);
	pair_stop();
}

/* What is linked anyway is not ended by a job that does not need it any more; a host in the server's process is not linked
 * once more. */
static void test_enrolled_and_expected(void)
{
	pair_start();
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, &mom, &mom_id), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, SERVER_HOST, &server, &server_id), 0);
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, NULL), 0);
	CU_ASSERT_EQUAL(expect_at(&mom, SERVER_HOST, NULL, NULL), 0);
	turn_for(300);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	CU_ASSERT_EQUAL(mom.daemon.ups, 1);
	CU_ASSERT_EQUAL(server.daemon.downs + mom.daemon.downs, 0);
	CU_ASSERT_EQUAL(send_text(&mom.daemon, "server", "still here"), 0);
	wait_counter(&server.daemon.messages, 1);
	pair_stop();
}

/* ---- where a mom listens ------------------------------------------------------------------------------- */
static void listen_as(const char *listen, const char *address, const char *expected)
{
	char text[KEEL_CARRIER_ADDRESS], key[KEEL_CARRIER_KEY], full[KEEL_CARRIER_ADDRESS + 16];

	keyed_init(KEEL_MOM, OTHER_HOST);
	server.conf.listen = listen;
	server.conf.address = address;
	server.conf.server = "127.0.0.1:1"; /* where no server is */
	carrier_start(&server);
	CU_ASSERT_EQUAL(ways_own(&server.owner.pub, text, key), 0);
	snprintf(full, sizeof(full), strchr(expected, '$') != NULL ? "%.*s%d" : "%.*s", (int)strcspn(expected, "$"), expected,
		 strchr(expected, '$') != NULL ? port_of(&server) : 0);
	CU_ASSERT_STRING_EQUAL(text, full);
	CU_ASSERT_STRING_EQUAL(key, key_text(&server_id));
	carrier_stop(&mom);
	carrier_stop(&server);
	world_stop();
}

static void test_own_address(void)
{
	listen_as(NULL, NULL, OTHER_HOST ":$");
	listen_as("", "", OTHER_HOST ":$");
	listen_as("127.0.0.1:0", NULL, "127.0.0.1:$");
	listen_as("[::1]:0", NULL, "[::1]:$");
	listen_as("0.0.0.0:0", "10.1.2.3", "10.1.2.3:$");
	listen_as("[::]:0", "[fd00::1]", "[fd00::1]:$");
	listen_as(NULL, "gate.example.org:4000", "gate.example.org:4000");
	listen_as(NULL, "[fd00::1]:4000", "[fd00::1]:4000");
	listen_as("none", NULL, "");
}

static void test_bad_address(void)
{
	struct keel_err err;
	char long_name[KEEL_CARRIER_ADDRESS + 1];

	moms_init();
	carrier_stop(&mom);
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &mom_id), 0);
	memcpy(long_name + KEEL_CARRIER_ADDRESS - 2, ":1", 3); /* as long as may be, and one more */
	CU_ASSERT_EQUAL(ways_expect(&server.owner.pub, MOM_HOST, long_name, key_text(&mom_id)), -EINVAL);
	CU_ASSERT_EQUAL(ways_expect(&server.owner.pub, MOM_HOST, long_name + 1, key_text(&mom_id)), 0);
	keel_module.stop(&server.owner.pub);
	for (const char *const *at = (const char *const[]){ ":1", "host:", long_name, NULL }; *at != NULL; at++) {
		server.conf.address = *at;
		CU_ASSERT_EQUAL(keel_module.start(&server.owner.pub, &err), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "link-tcp.address: expected HOST or HOST:PORT"));
	}
	carrier_stop(&server);
	world_stop();
}

/* Any address is any of IPv6 and of IPv4: the other one links over either. */
static void test_any_address(void)
{
	static const char *const ways[] = { "127.0.0.1:%d", "[::1]:%d" };
	char address[64];

	for (size_t i = 0; i < 2; i++) {
		keyed_init(KEEL_MOM, OTHER_HOST);
		server.conf.listen = "*:0";
		carrier_start(&server);
		carrier_start(&mom);
		quick(&mom);
		snprintf(address, sizeof(address), ways[i], port_of(&server));
		CU_ASSERT_EQUAL(expect_at(&server, MOM_HOST, NULL, &mom_id), 0);
		CU_ASSERT_EQUAL(ways_expect(&mom.owner.pub, OTHER_HOST, address, key_text(&server_id)), 0);
		wait_counter(&mom.daemon.ups, 1);
		pair_stop();
	}
}

TESTS_MAIN("moms", TEST(test_moms_talk), TEST(test_both_dial), TEST(test_moms_lie), TEST(test_moms_are_counted),
	   TEST(test_enrolled_and_expected),
	   TEST(test_own_address), TEST(test_bad_address), TEST(test_any_address))
