/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rivals.c - a second host with the name and the key of one that is linked; a host that comes back; why a link fails, in both
 * logs, once per change.
 */
#include "test_world.h"

static struct carrier twin;

/* Another daemon with the name and the key of `mom`, in a home of its own. */
static void twin_start(void)
{
	carrier_init(&twin, KEEL_MOM, "twin");
	strcpy(twin.daemon.host, MOM_HOST);
	write_key(twin.key_file, "mom", MOM_HOST, mom_id.secret_key, 0600);
	enrol(&twin, "server", "server", &server_id);
	strcpy(twin.address, mom.address);
	twin.conf.server = twin.address;
	carrier_start(&twin);
	quick(&twin);
}

static bool log_of_twin(void *text)
{
	return daemon_log_has(&twin.daemon, text);
}

static int lines_of(const struct carrier *c, const char *text)
{
	char command[512];
	FILE *f;
	int n = -1;

	snprintf(command, sizeof(command), "cat %s/[0-9]* | grep -cF -e '%s'", c->daemon.home, text);
	f = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void test_second_host(void)
{
	pair_start();
	twin_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, log_of_twin,
				       "a host with this name and this key is linked there already and answers, from 127.0.0.1 port ",
				       DEADLINE_MS), 0);
	CU_ASSERT(daemon_log_has(&twin.daemon, "; this one came from 127.0.0.1. Each host needs a name and a key of its own"));
	turn_for(300); /* many tries */
	CU_ASSERT_EQUAL(lines_of(&twin, "cannot link with"), 1);
	CU_ASSERT_EQUAL(lines_of(&server, "refused: a second host with the name and the key of " MOM_HOST ", which is linked from 127.0.0.1"), 1);
	CU_ASSERT(server.link.refused_untold > 1);
	CU_ASSERT_EQUAL(twin.daemon.ups, 0);
	CU_ASSERT_EQUAL(server.daemon.ups, 1);
	CU_ASSERT_EQUAL(mom.daemon.downs + server.daemon.downs, 0);
	/* The first one ends: the second is taken, and the first refused. */
	keel_module.stop(&mom.owner.pub);
	wait_counter(&twin.daemon.ups, 1);
	CU_ASSERT(daemon_log_has(&twin.daemon, " without a link"));
	carrier_stop(&twin);
	pair_stop();
}

/* Its daemon is there and does not answer: refused is who comes only as long as the pong has its time. */
static void test_first_is_silent(void)
{
	pair_start();
	server.link.limits.rival_ms = 100;
	keel_watch_for(mom.link.conns->watch, 0);
	mom.link.conns->events = 0;
	twin_start();
	wait_counter(&twin.daemon.ups, 1);
	CU_ASSERT(daemon_log_has(&server.daemon, "it does not answer, and links anew"));
	CU_ASSERT_EQUAL(server.daemon.ups, 2);
	CU_ASSERT_EQUAL(server.daemon.downs, 0);
	carrier_stop(&twin);
	pair_stop();
}

static int rivals(const struct link *l)
{
	int n = 0;

	for (const struct conn *c = l->conns; c != NULL; c = c->next)
		n += c->state == CONN_RIVAL;
	return n;
}

static bool has_rivals(void *arg)
{
	return rivals(&server.link) >= *(int *)arg;
}

/* The link ends while one waits: it is taken at once. */
static void test_first_ends_meanwhile(void)
{
	int one = 1;

	pair_start();
	server.conf.grace = 60000;
	server.link.limits.rival_ms = 60000;
	keel_watch_for(mom.link.conns->watch, 0);
	mom.link.conns->events = 0;
	twin_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, has_rivals, &one, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(twin.daemon.ups, 0);
	CU_ASSERT_EQUAL(server.link.n_half_open, 1);
	keel_module.stop(&mom.owner.pub);
	wait_counter(&twin.daemon.ups, 1);
	CU_ASSERT_EQUAL(server.link.n_half_open, 0);
	carrier_stop(&twin);
	pair_stop();
}

/* Stopped, or without memory, while one waits. */
static void test_ends_with_rival(void)
{
	int one = 1;

	pair_start();
	server.link.limits.rival_ms = 60000;
	keel_watch_for(mom.link.conns->watch, 0);
	mom.link.conns->events = 0;
	twin_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, has_rivals, &one, DEADLINE_MS), 0);
	keel_module.stop(&server.owner.pub);
	CU_ASSERT_PTR_NULL(server.link.conns);
	CU_ASSERT_EQUAL(server.link.n_half_open, 0);
	carrier_stop(&twin);
	pair_stop();
}

/* ---- reasons ------------------------------------------------------------------------------------------- */
static void wait_mom_log(const char *text)
{
	CU_ASSERT_EQUAL_FATAL(loop_run_until(w.loop, told_why, &(struct refusal){ .mom_log = text }, DEADLINE_MS), 0);
}

static void test_each_change_of_the_reason(void)
{
	struct keel_err err = { 0 };
	struct identity other;
	char path[256];

	pair_init();
	snprintf(path, sizeof(path), "%s/%s.pub", server.peers_dir, MOM_HOST);
	keel_module.stop(&server.owner.pub);
	mom_start();
	wait_mom_log("Connection refused; nothing listens there: does that daemon run");
	turn_for(100);
	CU_ASSERT_EQUAL(lines_of(&mom, "cannot link with"), 1);
	unlink(path);
	server.conf.listen = mom.address;
	CU_ASSERT_FATAL(keel_module.start(&server.owner.pub, &err) == 0);
	wait_mom_log("the key of this host is not enrolled there; copy its .pub file");
	turn_for(100);
	CU_ASSERT_EQUAL(lines_of(&mom, "cannot link with"), 2);
	CU_ASSERT_EQUAL(lines_of(&server, "refused: no key is enrolled for this host"), 1);
	make_identity(&other, KEEL_MOM, MOM_HOST);
	enrol(&server, MOM_HOST, "mom", &other);
	wait_mom_log("another key of this host is enrolled there");
	keel_module.stop(&server.owner.pub);
	while (lines_of(&mom, "Connection refused") < 2) /* a change, too */
		turn_for(20);
	enrol(&server, MOM_HOST, "mom", &mom_id);
	CU_ASSERT_FATAL(keel_module.start(&server.owner.pub, &err) == 0);
	wait_counter(&mom.daemon.ups, 1);
	CU_ASSERT(daemon_log_has(&mom.daemon, ", after 0 s without a link"));
	CU_ASSERT_EQUAL(lines_of(&mom, "cannot link with"), 4);
	conn_drop(server.link.conns, "cut by the test");
	wait_counter(&mom.daemon.ups, 2);
	CU_ASSERT_EQUAL(lines_of(&mom, "without a link"), 2);
	pair_stop();
}

static void test_name_that_does_not_resolve(void)
{
	pair_init();
	strcpy(mom.address, "no.such.host.invalid:15001");
	mom_start();
	wait_mom_log("its name does not resolve: ");
	turn_for(50);
	CU_ASSERT_EQUAL(lines_of(&mom, "cannot link with no.such.host.invalid:15001: its name does not resolve"), 1);
	pair_stop();
}

/* An address that has failed for one reason, then another, and other addresses beside it. */
static void test_addresses_of_a_name(void)
{
	static const char *const tries[][3] = {
		{ "10.0.0.1 port 1", "No route to host", "new" },  { "10.0.0.2 port 1", "Connection refused", "new" },
		{ "10.0.0.1 port 1", "No route to host", NULL },   { "10.0.0.2 port 1", "Connection refused", NULL },
		{ "10.0.0.1 port 1", "Connection refused", "new" }, { "10.0.0.1 port 1", "No route to host", "new" },
		{ "", "its name does not resolve", "new" },	   { "", "its name does not resolve", NULL },
		{ "10.0.0.1 port 1", "No route to host", "new" },  { "10.0.0.3 port 1", "no answer", "new" },
		{ "10.0.0.4 port 1", "no answer", "new" },	   { "10.0.0.5 port 1", "no answer", "new" },
		{ "10.0.0.6 port 1", "no answer", "new" },	   { "10.0.0.6 port 1", "no answer", NULL },
	};
	struct way *way;

	pair_init();
	mom_start();
	wait_counter(&mom.daemon.ups, 1);
	way = way_find(&mom.link, "server");
	CU_ASSERT_PTR_NOT_NULL_FATAL(way);
	for (size_t i = 0; i < KEEL_COUNT(tries); i++) {
		int before = lines_of(&mom, "cannot link with");

		dial_again(way, false, tries[i][0], tries[i][1]);
		CU_ASSERT_EQUAL(lines_of(&mom, "cannot link with") - before, tries[i][2] != NULL);
	}
	pair_stop();
}

/* More strangers than are remembered: the log goes on, and says how many it left out. */
static void test_more_than_are_remembered(void)
{
	struct conn c = { .link = &server.link, .address = "10.0.0.1 port 7" };

	pair_init();
	for (int i = 0; i <= REFUSALS; i++) {
		snprintf(c.theirs.host, sizeof(c.theirs.host), "n%d", i);
		server.link.refused_log_ms = INT64_MIN / 2;
		turn_for(2);
		refused_log(&c, "no key is enrolled for this host");
		refused_log(&c, "no key is enrolled for this host");
	}
	CU_ASSERT_EQUAL(lines_of(&server, "refused: no key"), REFUSALS + 1);
	CU_ASSERT_EQUAL(lines_of(&server, "(1 more refused before)"), REFUSALS);
	server.link.refused_log_ms = INT64_MIN / 2;
	strcpy(c.theirs.host, "n0"); /* the oldest is forgotten */
	refused_log(&c, "no key is enrolled for this host");
	server.link.refused_log_ms = INT64_MIN / 2;
	strcpy(c.theirs.host, "n9");
	refused_log(&c, "no key is enrolled for this host");
	CU_ASSERT_EQUAL(lines_of(&server, "refused: no key"), REFUSALS + 2);
	strcpy(c.name, "n9"); /* it was linked: news */
	refused_forget(&c);
	refused_log(&c, "no key is enrolled for this host");
	CU_ASSERT_EQUAL(lines_of(&server, "refused: no key"), REFUSALS + 3);
	carrier_stop(&server);
	daemon_stop(&mom.daemon);
	world_stop();
}

TESTS_MAIN("rivals", TEST(test_second_host), TEST(test_first_is_silent), TEST(test_first_ends_meanwhile), TEST(test_ends_with_rival),
	   TEST(test_each_change_of_the_reason), TEST(test_name_that_does_not_resolve), TEST(test_addresses_of_a_name),
	   TEST(test_more_than_are_remembered))
