/* SPDX-License-Identifier: Apache-2.0
 *
 * test_login.c - a login node links with its server only, and by a key of that role only.
 */
#define OTHER_HOST "n2.example.org"

#include "test_world.h"

/* `mom` dials `server`, where its key is enrolled as one of `enrolled`. */
static void dial(const char *enrolled)
{
	enrol(&server, MOM_HOST, enrolled, &mom_id);
	enrol(&mom, "server", "server", &server_id);
	server.conf.listen = "127.0.0.1:0";
	carrier_start(&server);
	snprintf(mom.address, sizeof(mom.address), "127.0.0.1:%d", port_of(&server));
	mom.conf.server = mom.address;
	mom_start();
}

/* The same: `mom` is a daemon of `role`, and the other one is a server. */
static void dial_as(uint32_t role, const char *enrolled)
{
	keyed_init_as(KEEL_SERVER, SERVER_HOST, role);
	dial(enrolled);
}

static void test_login_and_server(void)
{
	struct stat st;
	char path[200];

	dial_as(KEEL_LOGIN, "login");
	wait_counter(&server.daemon.ups, 1);
	wait_counter(&mom.daemon.ups, 1);
	CU_ASSERT_EQUAL(server.daemon.up_daemon, KEEL_LOGIN);
	CU_ASSERT_EQUAL(mom.daemon.up_daemon, KEEL_SERVER);
	CU_ASSERT_STRING_EQUAL(mom.link.address, ""); /* nothing dials it */
	snprintf(path, sizeof(path), "%s/run/mom.port", mom.daemon.home);
	CU_ASSERT(stat(path, &st) < 0);
	pair_stop();
}

/* The key decides what a host is: one that is enrolled as the other is refused. */
static void test_roles_are_bound(void)
{
	struct refusal why = { "the key enrolled under this name has another role", NULL };

	dial_as(KEEL_LOGIN, "mom");
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &why, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(server.daemon.ups + mom.daemon.ups, 0);
	pair_stop();
	dial_as(KEEL_MOM, "login");
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &why, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(server.daemon.ups + mom.daemon.ups, 0);
	pair_stop();
}

static void test_own_key(void)
{
	struct keel_err err = { 0 };

	keyed_init_as(KEEL_SERVER, SERVER_HOST, KEEL_LOGIN);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0600);
	mom.conf.server = "127.0.0.1:1";
	CU_ASSERT_EQUAL(carrier_try(&mom, &err), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a key of a mom, but this daemon is a login"));
	pair_stop();
}

/* An execution host takes none, whatever is enrolled there. */
static void test_not_at_a_mom(void)
{
	keyed_init_as(KEEL_MOM, OTHER_HOST, KEEL_LOGIN);
	dial("login");
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why,
				       &(struct refusal){ "it is a login node, which links with its server only", NULL },
				       DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(server.daemon.ups + mom.daemon.ups, 0);
	pair_stop();
}

TESTS_MAIN("login", TEST(test_login_and_server), TEST(test_roles_are_bound), TEST(test_own_key), TEST(test_not_at_a_mom))
