/* SPDX-License-Identifier: Apache-2.0
 *
 * test_links.c - messages inside one process, and those that a carrier brings.
 */
#include "fixture.h"
#include "wire/buf.h"

#include "keel/service/carrier.h"

static struct daemon server;

/* ---- memory ---------------------------------------------------------------------------------------- */
static int depth, deepest, answers;

static void on_question(struct keel_mod *m, const char *peer, const struct keel_msg *body)
{
	struct daemon *d = daemon_of(m);

	(void)body;
	depth++;
	deepest = depth > deepest ? depth : deepest;
	answers++;
	if (answers < 10)
		CU_ASSERT_EQUAL(d->link->send(m, peer, "question", out_create()), 0);
	depth--;
}

static void test_memory(void)
{
	struct keel_err err = { 0 };

	world_start();
	daemon_init(&server, KEEL_SERVER | KEEL_MOM, SERVER_HOST);
	daemon_links(&server);
	CU_ASSERT_EQUAL(send_text(&server, "server", "too early"), -ENOTCONN);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	CU_ASSERT_EQUAL(server.ups, 2);
	CU_ASSERT(server.link->is_up(&server.owner.pub, "server"));
	CU_ASSERT(server.link->is_up(&server.owner.pub, SERVER_HOST));
	CU_ASSERT_EQUAL(send_text(&server, "server", "from the mom"), 0);
	CU_ASSERT_EQUAL(server.messages, 0);
	wait_counter(&server.messages, 1);
	CU_ASSERT_STRING_EQUAL(server.last_peer, SERVER_HOST);
	CU_ASSERT_STRING_EQUAL(server.last_text, "from the mom");
	CU_ASSERT_EQUAL(send_text(&server, SERVER_HOST, "from the server"), 0);
	wait_counter(&server.messages, 2);
	CU_ASSERT_STRING_EQUAL(server.last_peer, "server");
	CU_ASSERT_EQUAL(send_text(&server, "elsewhere", "?"), -ENOTCONN);
	daemon_stop(&server);
	world_stop();
}

static void test_memory_is_never_deeper(void)
{
	struct keel_err err = { 0 };

	depth = deepest = answers = 0;
	world_start();
	daemon_init(&server, KEEL_SERVER | KEEL_MOM, SERVER_HOST);
	daemon_links(&server);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	CU_ASSERT_EQUAL(server.link->on(&server.owner.pub, "question", KEEL_ANY, on_question), 0);
	CU_ASSERT_EQUAL(server.link->on(&server.owner.pub, "question", KEEL_ANY, on_question), -EEXIST);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, "server", "question", out_create()), 0);
	wait_counter(&answers, 10);
	CU_ASSERT_EQUAL(deepest, 1);
	daemon_stop(&server);
	world_stop();
}

static void test_host_named_server(void)
{
	struct keel_err err = { 0 };

	world_start();
	daemon_init(&server, KEEL_SERVER | KEEL_MOM, "server");
	daemon_links(&server);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	CU_ASSERT_EQUAL(server.ups, 2);
	CU_ASSERT_EQUAL(server.link->on(&server.owner.pub, "to mom", KEEL_SERVER, on_message), 0);
	CU_ASSERT_EQUAL(server.link->on(&server.owner.pub, "to server", KEEL_MOM, on_message), 0);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, "server", "to mom", out_create()), 0);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, "server", "to server", out_create()), 0);
	wait_counter(&server.messages, 2);
	daemon_stop(&server);
	world_stop();
}

static void test_sender_role(void)
{
	struct keel_err err = { 0 };

	world_start();
	daemon_init(&server, KEEL_SERVER | KEEL_MOM, SERVER_HOST);
	daemon_links(&server);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	CU_ASSERT_EQUAL(server.link->on(&server.owner.pub, "order", KEEL_SERVER, on_message), 0);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, "server", "order", out_create()), 0);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, "server", "nothing", out_create()), 0);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, SERVER_HOST, "order", out_create()), 0);
	wait_counter(&server.messages, 1);
	turn_for(5);
	CU_ASSERT_EQUAL(server.messages, 1);
	CU_ASSERT_STRING_EQUAL(server.last_peer, "server");
	CU_ASSERT(daemon_log_has(&server, "message 'order' refused: it may not come from"));
	CU_ASSERT(daemon_log_has(&server, "message 'nothing' ignored"));
	links_detach(server.parts.links, &server.owner);
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, SERVER_HOST, "order", out_create()), 0);
	turn_for(5);
	CU_ASSERT_EQUAL(server.messages, 1);
	daemon_stop(&server);
	world_stop();
}

/* ---- a carrier ------------------------------------------------------------------------------------- */
static struct owner module;
static char sent[64];
static const char *expected; /* of the image before */

static void send_it(struct keel_mod *m, const char *peer, const void *bytes, uint32_t len)
{
	struct keel_msg *msg;

	CU_ASSERT_PTR_EQUAL(m, &module.pub);
	CU_ASSERT_FATAL(msg_open(bytes, len, &msg) == 0);
	snprintf(sent, sizeof(sent), "%s: %s", peer,
		 msg_api.str(msg, msg_api.str(msg, "text") != NULL ? "text" : "msg"));
	msg_destroy(msg);
}

static const struct keel_carrier_api table = { .size = sizeof(table), .send = send_it };
static const struct keel_service_def service = { .size = sizeof(service), .name = "carrier", .doc = "a test",
						 .table = &table };
static const struct keel_contrib rows[] = { KEEL_ROW(SERVICE, service) };

static const struct keel_carry_api *carried_start(uint32_t roles)
{
	struct keel_err err = { 0 };
	const struct keel_carry_api *carry;

	world_start();
	daemon_init(&server, roles, SERVER_HOST);
	daemon_links(&server);
	module = (struct owner){ .pub = { .name = "carrier" }, .parts = &server.parts };
	CU_ASSERT_FATAL(registry_add(server.parts.registry, &module, rows, 1, &err) == 0);
	if (expected != NULL)
		links_expect(server.parts.links, expected);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	carry = registry_service(server.parts.registry, "carry", 0, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(carry);
	return carry;
}

static void carried_stop(void)
{
	registry_remove(server.parts.registry, &module);
	daemon_stop(&server);
	world_stop();
}

static bool was_sent(void *arg)
{
	return strcmp(sent, arg) == 0;
}

static void test_carrier(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER);
	struct keel_out *o = out_create();
	const char *body;
	uint32_t len;

	out_put_str(o, "msg", "text");
	out_put_str(o, "text", "from n1");
	body = out_bytes(o, &len);
	CU_ASSERT_EQUAL(carry->in(&module.pub, MOM_HOST, body, len), -ENOTCONN);
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 5000), 0);
	CU_ASSERT_EQUAL(server.ups, 1);
	CU_ASSERT_STRING_EQUAL(server.up_peer, MOM_HOST);
	CU_ASSERT_EQUAL(carry->in(&module.pub, MOM_HOST, body, len), 0);
	CU_ASSERT_STRING_EQUAL(server.last_text, "from n1");
	CU_ASSERT_STRING_EQUAL(server.last_peer, MOM_HOST);
	CU_ASSERT_EQUAL(carry->in(&module.pub, MOM_HOST, "?", 1), -EPROTO);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "to n1"), 0);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, was_sent, (void *)MOM_HOST ": to n1", DEADLINE_MS), 0);
	out_drop(o);
	carried_stop();
}

/* What others say as if they carried, and what comes when nothing runs. */
static void test_only_the_carrier(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER);

	CU_ASSERT_EQUAL(carry->up(&server.owner.pub, MOM_HOST, KEEL_MOM, 5000), -EPERM);
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 5000), 0);
	carry->lost(&server.owner.pub, MOM_HOST);
	CU_ASSERT(server.link->is_up(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(carry->in(&server.owner.pub, MOM_HOST, "", 0), -ENOTCONN);
	links_stop(server.parts.links);
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 5000), -EBUSY);
	carried_stop();
}

/* Messages belong to a link; the grace runs when it is lost. */
static void test_lost_link(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER);

	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	sent[0] = '\0';
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "for the old link"), 0);
	carry->lost(&module.pub, MOM_HOST);
	CU_ASSERT(!server.link->is_up(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "for none"), -ENOTCONN);
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "for the new one"), 0);
	CU_ASSERT_EQUAL(loop_run_until(w.loop, was_sent, (void *)MOM_HOST ": for the new one", DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(server.downs, 0);
	carry->lost(&module.pub, MOM_HOST);
	wait_counter(&server.downs, 1);
	CU_ASSERT_EQUAL(server.ups, 2);
	carried_stop();
}

/* A peer that says goodbye has more time to come back. */
static void test_goodbye(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER);
	struct keel_out *o = out_create();
	const char *body;
	uint32_t len;

	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	CU_ASSERT(!server.link->is_awaited(&server.owner.pub, MOM_HOST));
	out_put_str(o, "msg", "keel.goodbye");
	body = out_bytes(o, &len);
	CU_ASSERT_EQUAL(carry->in(&module.pub, MOM_HOST, body, len), 0);
	out_drop(o);
	CU_ASSERT(daemon_log_has(&server, "it restarts"));
	CU_ASSERT_EQUAL(carry->up(&module.pub, "n2", KEEL_MOM, 20), 0);
	carry->lost(&module.pub, MOM_HOST);
	carry->lost(&module.pub, "n2");
	CU_ASSERT(server.link->is_awaited(&server.owner.pub, MOM_HOST));
	wait_counter(&server.downs, 1); /* n2 */
	CU_ASSERT(!server.link->is_awaited(&server.owner.pub, "n2"));
	CU_ASSERT(server.link->is_awaited(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	CU_ASSERT(!server.link->is_awaited(&server.owner.pub, MOM_HOST));
	carry->lost(&module.pub, MOM_HOST); /* the next loss is an ordinary one */
	wait_counter(&server.downs, 2);
	carried_stop();
}

/* What one image hands over, the next one expects. */
static void test_handover(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER);
	struct buf text = { 0 };

	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	CU_ASSERT_EQUAL(carry->up(&module.pub, "n2", KEEL_MOM, 90000), 0);
	CU_ASSERT_EQUAL(carry->up(&module.pub, "n3", KEEL_MOM, 20), 0);
	carry->lost(&module.pub, "n2");
	carry->lost(&module.pub, "n3");
	wait_counter(&server.downs, 1);
	links_goodbye(server.parts.links);
	CU_ASSERT_STRING_EQUAL(sent, MOM_HOST ": keel.goodbye");
	links_handover(server.parts.links, &text);
	carried_stop();
	expected = text.data;
	carry = carried_start(KEEL_SERVER);
	expected = NULL;
	buf_fini(&text);
	CU_ASSERT(server.link->is_awaited(&server.owner.pub, MOM_HOST));
	CU_ASSERT(server.link->is_awaited(&server.owner.pub, "n2"));
	CU_ASSERT(!server.link->is_awaited(&server.owner.pub, "n3"));
	CU_ASSERT(!server.link->is_up(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "too early"), -ENOTCONN);
	CU_ASSERT_EQUAL(carry->up(&module.pub, MOM_HOST, KEEL_MOM, 20), 0);
	CU_ASSERT(!server.link->is_awaited(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "now"), 0);
	CU_ASSERT_EQUAL(server.downs, 0);
	carried_stop();
}

static void test_a_host_of_this_process(void)
{
	const struct keel_carry_api *carry = carried_start(KEEL_SERVER | KEEL_MOM);

	CU_ASSERT_EQUAL(carry->up(&module.pub, SERVER_HOST, KEEL_MOM, 5000), -EBUSY);
	CU_ASSERT_EQUAL(carry->up(&module.pub, "server", KEEL_SERVER, 5000), -EBUSY);
	carried_stop();
}

static void test_without_a_carrier(void)
{
	struct keel_err err = { 0 };

	world_start();
	daemon_init(&server, KEEL_MOM, MOM_HOST);
	daemon_links(&server);
	CU_ASSERT_EQUAL(links_start(server.parts.links, &err), 0);
	CU_ASSERT(daemon_log_has(&server, "no module carries messages between hosts"));
	CU_ASSERT_EQUAL(send_text(&server, "server", "nobody"), -ENOTCONN);
	daemon_stop(&server);
	world_stop();
}

TESTS_MAIN("links", TEST(test_memory), TEST(test_memory_is_never_deeper), TEST(test_host_named_server),
	   TEST(test_sender_role), TEST(test_carrier), TEST(test_only_the_carrier), TEST(test_lost_link),
	   TEST(test_goodbye), TEST(test_handover), TEST(test_a_host_of_this_process), TEST(test_without_a_carrier))
