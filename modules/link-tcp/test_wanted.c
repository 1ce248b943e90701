/* SPDX-License-Identifier: Apache-2.0
 *
 * test_wanted.c - what a daemon has to have before it links: a key of its own, the address of a server.
 */
#include "test_world.h"

/* Where nothing is said: link.key, else HOST.key, as keelson-key makes it. */
static void test_own_key_named(void)
{
	struct keel_err err = { 0 };
	char dir[180], path[256];

	pair_init();
	snprintf(dir, sizeof(dir), "%s/mom_priv", mom.daemon.home);
	CU_ASSERT_FATAL(mkdir(dir, 0755) == 0 || errno == EEXIST);
	mom.conf.key_file = "";
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mom_priv/link.key is missing"));
	snprintf(path, sizeof(path), "%s/" MOM_HOST ".key", dir);
	write_key(path, "server", MOM_HOST, mom_id.secret_key, 0600);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mom_priv/" MOM_HOST ".key is a key of a server"));
	snprintf(path, sizeof(path), "%s/link.key", dir);
	write_key(path, "mom", "n2.example.org", mom_id.secret_key, 0600);
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mom_priv/link.key is the key of host n2.example.org"));
	pair_stop();
}

/* A mom has a server, with a port; a server that takes no links needs no key. */
static void test_a_mom_has_a_server(void)
{
	struct keel_err err = { 0 };

	pair_init();
	carrier_stop(&server);
	mom.conf.server = NULL;
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "link-tcp.server: expected HOST:PORT where the server takes links"));
	mom.conf.server = "head";
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "got \"head\"; write link-tcp: { server = \"head:15001\"; }; there"));
	carrier_stop(&mom);
	world_stop();
}

static void test_a_server_without_links_needs_no_key(void)
{
	struct keel_err err = { 0 };

	world_start();
	carrier_init(&server, KEEL_SERVER, SERVER_HOST);
	CU_ASSERT_EQUAL(carrier_try(&server, &err), 0);
	server.loaded = true;
	carrier_stop(&server);
	world_stop();
}

TESTS_MAIN("wanted", TEST(test_own_key_named), TEST(test_a_mom_has_a_server), TEST(test_a_server_without_links_needs_no_key))
