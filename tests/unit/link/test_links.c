/* SPDX-License-Identifier: Apache-2.0
 *
 * test_links.c - daemons that link, lose each other, and lie.
 */
#include "fixture.h"

static struct daemon server, mom;
static struct identity server_id, mom_id;

static const struct links_conf memory_conf = { .heartbeat_ms = 1000, .grace_ms = 1000 };

static struct links_conf conf_of(const struct daemon *d, const char *listen_at, const char *server_at)
{
	return (struct links_conf){ .listen = listen_at, .server = server_at, .key_file = d->key_file,
				    .peers_dir = d->peers_dir, .heartbeat_ms = 1000, .grace_ms = 100 };
}

/* A server that listens, and a mom that does not yet dial; keys made and enrolled. */
static void pair_init(void)
{
	struct keel_err err = { 0 };
	struct links_conf conf;

	world_start();
	daemon_init(&server, KEEL_SERVER, SERVER_HOST);
	daemon_init(&mom, KEEL_MOM, MOM_HOST);
	make_identity(&server_id, KEEL_SERVER, SERVER_HOST);
	make_identity(&mom_id, KEEL_MOM, MOM_HOST);
	write_key(server.key_file, "server", SERVER_HOST, server_id.secret_key, 0600);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0600);
	enrol(&server, MOM_HOST, "mom", &mom_id);
	enrol(&mom, "server", "server", &server_id);
	conf = conf_of(&server, "127.0.0.1:0", NULL);
	daemon_links(&server, &conf);
	CU_ASSERT_FATAL(links_start(server.parts.links, &err) == 0);
	snprintf(mom.address, sizeof(mom.address), "127.0.0.1:%d", port_of(&server));
}

static void mom_start(void)
{
	struct links_conf conf = conf_of(&mom, NULL, mom.address);
	struct keel_err err = { 0 };

	daemon_links(&mom, &conf);
	mom.parts.links->limits.backoff_min_ms = 5;
	mom.parts.links->limits.backoff_max_ms = 20;
	CU_ASSERT_FATAL(links_start(mom.parts.links, &err) == 0);
}

static void pair_start(void)
{
	pair_init();
	mom_start();
	wait_counter(&server.ups, 1);
	wait_counter(&mom.ups, 1);
}

static void pair_stop(void)
{
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

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
	daemon_links(&server, &memory_conf);
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
	daemon_links(&server, &memory_conf);
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
	daemon_links(&server, &memory_conf);
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
	daemon_links(&server, &memory_conf);
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

/* ---- TCP ------------------------------------------------------------------------------------------- */
static void test_tcp(void)
{
	pair_start();
	CU_ASSERT_STRING_EQUAL(server.up_peer, MOM_HOST);
	CU_ASSERT_EQUAL(server.up_daemon, KEEL_MOM);
	CU_ASSERT_STRING_EQUAL(mom.up_peer, "server");
	CU_ASSERT_EQUAL(mom.up_daemon, KEEL_SERVER);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "hello mom"), 0);
	CU_ASSERT_EQUAL(send_text(&mom, "server", "hello server"), 0);
	wait_counter(&server.messages, 1);
	wait_counter(&mom.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.last_peer, "server");
	CU_ASSERT_STRING_EQUAL(mom.last_text, "hello mom");
	CU_ASSERT_STRING_EQUAL(server.last_peer, MOM_HOST);
	CU_ASSERT_STRING_EQUAL(server.last_text, "hello server");
	pair_stop();
}

static void test_many_and_large(void)
{
	static char block[5 << 20];
	char number[16];
	struct keel_out *o = out_create();

	pair_start();
	for (int i = 0; i < 2000; i++) {
		snprintf(number, sizeof(number), "%d", i);
		CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, number), 0);
	}
	wait_counter(&mom.messages, 2000);
	CU_ASSERT_STRING_EQUAL(mom.last_text, "1999");
	memset(block, 'b', sizeof(block) - 1);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, block), 0);
	wait_counter(&mom.messages, 2001);
	CU_ASSERT_EQUAL(send_text(&mom, "server", block), 0);
	wait_counter(&server.messages, 1);
	for (int i = 0; i < 7; i++) { /* more than a link takes: 32 MiB */
		snprintf(number, sizeof(number), "%d", i);
		out_put_bytes(o, number, block, sizeof(block));
	}
	CU_ASSERT_EQUAL(server.link->send(&server.owner.pub, MOM_HOST, "text", o), -EMSGSIZE);
	CU_ASSERT_EQUAL(server.ups, 1);
	pair_stop();
}

static void test_lost_and_found(void)
{
	pair_start();
	server.parts.links->grace_ms = 5000;
	conn_drop(server.parts.links->conns, "cut by the test");
	CU_ASSERT(!server.link->is_up(&server.owner.pub, MOM_HOST));
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "nobody"), -ENOTCONN);
	wait_counter(&server.ups, 2);
	wait_counter(&mom.ups, 2);
	CU_ASSERT_EQUAL(server.downs, 0);
	CU_ASSERT_EQUAL(mom.downs, 0);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "again"), 0);
	wait_counter(&mom.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.last_text, "again");
	pair_stop();
}

static void test_grace(void)
{
	pair_start();
	server.parts.links->grace_ms = 30;
	links_stop(mom.parts.links);
	wait_counter(&server.downs, 1);
	turn_for(50);
	CU_ASSERT_EQUAL(server.downs, 1);
	CU_ASSERT_EQUAL(server.ups, 1);
	CU_ASSERT_EQUAL(mom.downs, 0);
	pair_stop();
}

struct refusal {
	const char *server_log, *mom_log; /* NULL: whatever it says */
};

static bool told_why(void *arg)
{
	const struct refusal *r = arg;

	return (r->server_log == NULL || daemon_log_has(&server, r->server_log)) &&
	       (r->mom_log == NULL || daemon_log_has(&mom, r->mom_log));
}

static void test_server_comes_later(void)
{
	struct keel_err err = { 0 };
	struct links *l;

	pair_init();
	l = server.parts.links;
	links_stop(l);
	mom_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &(struct refusal){ .mom_log = "cannot link with" }, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(mom.ups, 0);
	free(l->listen); /* the port it had */
	l->listen = strdup(mom.address);
	CU_ASSERT_FATAL(links_start(l, &err) == 0);
	wait_counter(&mom.ups, 1);
	pair_stop();
}

static void test_messages_of_a_lost_link(void)
{
	pair_start();
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "for the old link"), 0);
	conn_drop(server.parts.links->conns, "cut by the test");
	wait_counter(&mom.ups, 2);
	wait_counter(&server.ups, 2);
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "for the new link"), 0);
	wait_counter(&mom.messages, 1);
	CU_ASSERT_STRING_EQUAL(mom.last_text, "for the new link");
	pair_stop();
}

static bool both_up(void *arg)
{
	(void)arg;
	return server.link->is_up(&server.owner.pub, MOM_HOST) &&
	       mom.link->is_up(&mom.owner.pub, "server");
}

/* Cut at any moment, by either side, in the middle of anything. */
static void test_cut_again_and_again(void)
{
	static char block[200000];
	uint32_t seed = 12345;

	pair_start();
	server.parts.links->grace_ms = mom.parts.links->grace_ms = 60000;
	memset(block, 'b', sizeof(block) - 1);
	for (int i = 0; i < 400; i++) {
		struct links *l;

		seed = seed * 1103515245 + 12345;
		l = seed & 0x10000 ? server.parts.links : mom.parts.links;
		send_text(&server, MOM_HOST, seed & 0x20000 ? block : "small");
		send_text(&mom, "server", seed & 0x40000 ? block : "small");
		turn_for(seed >> 19 & 3);
		if (l->conns != NULL && (seed >> 22 & 7) == 0)
			conn_drop(l->conns, "cut by the test");
	}
	CU_ASSERT_FATAL(loop_run_until(w.loop, both_up, NULL, DEADLINE_MS) == 0);
	CU_ASSERT(server.ups > 3);
	CU_ASSERT_EQUAL(server.downs + mom.downs, 0);
	CU_ASSERT(server.messages > 0 && mom.messages > 0);
	server.messages = mom.messages = 0;
	CU_ASSERT_EQUAL(send_text(&server, MOM_HOST, "at last"), 0);
	CU_ASSERT_EQUAL(send_text(&mom, "server", "at last"), 0);
	while (strcmp(server.last_text, "at last") != 0 || strcmp(mom.last_text, "at last") != 0)
		turn_for(1);
	pair_stop();
}

/* ---- keys that do not fit ----------------------------------------------------------------------------- */
static void expect_no_link(const char *server_log, const char *mom_log)
{
	struct refusal why = { server_log, mom_log };

	mom_start();
	CU_ASSERT_EQUAL(loop_run_until(w.loop, told_why, &why, DEADLINE_MS), 0);
	turn_for(20);
	CU_ASSERT_EQUAL(server.ups, 0);
	CU_ASSERT_EQUAL(mom.ups, 0);
	pair_stop();
}

static void test_mom_not_enrolled(void)
{
	char path[256];

	pair_init();
	snprintf(path, sizeof(path), "%s/%s.pub", server.peers_dir, MOM_HOST);
	unlink(path);
	expect_no_link("no key is enrolled for this host", "is the key of this host enrolled there?");
}

static void test_mom_with_another_key(void)
{
	pair_init();
	make_identity(&mom_id, KEEL_MOM, MOM_HOST);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0600);
	expect_no_link("its key is not the one enrolled", NULL);
}

static void test_server_with_another_key(void)
{
	pair_init();
	make_identity(&server_id, KEEL_SERVER, SERVER_HOST);
	enrol(&mom, "server", "server", &server_id);
	expect_no_link(NULL, "its key is not the one enrolled");
}

static void test_role_bound_to_key(void)
{
	pair_init();
	enrol(&server, MOM_HOST, "server", &mom_id);
	expect_no_link("the key enrolled under this name has another role", NULL);
}

static void test_key_of_another_host(void)
{
	pair_init();
	strcpy(mom_id.host, "n2.example.org");
	enrol(&server, MOM_HOST, "mom", &mom_id);
	expect_no_link("belongs to another host", NULL);
}

static void test_own_key_checked(void)
{
	struct links_conf conf;
	struct links *l = NULL;
	struct keel_err err = { 0 };

	pair_init();
	conf = conf_of(&mom, NULL, mom.address);
	write_key(mom.key_file, "server", MOM_HOST, mom_id.secret_key, 0600);
	CU_ASSERT(links_create(&mom.parts, &conf, &l, &err) == -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "is a key of a server, but this daemon is a mom"));
	write_key(mom.key_file, "mom", "n2.example.org", mom_id.secret_key, 0600);
	CU_ASSERT(links_create(&mom.parts, &conf, &l, &err) == -EINVAL);
	write_key(mom.key_file, "mom", MOM_HOST, mom_id.secret_key, 0640);
	CU_ASSERT(links_create(&mom.parts, &conf, &l, &err) == -EPERM);
	unlink(mom.key_file);
	CU_ASSERT(links_create(&mom.parts, &conf, &l, &err) == -ENOENT);
	conf.listen = "127.0.0.1:0";
	CU_ASSERT(links_create(&mom.parts, &conf, &l, &err) == -EINVAL);
	CU_ASSERT_PTR_NULL(l);
	pair_stop();
}

/* ---- strangers ------------------------------------------------------------------------------------- */
static void put_chunk(struct buf *b, const void *bytes, size_t len)
{
	uint8_t head[4] = { 0, 0, (uint8_t)(len >> 8), (uint8_t)len };

	buf_add(b, head, sizeof(head));
	buf_add(b, bytes, len);
}

/* A handshake done by hand as the enrolled mom; what was said is left in *said. */
static void greet_by_hand(struct stranger *s, struct buf *said)
{
	static const char proof[] = "keelson link proof";
	crypto_secretstream_xchacha20poly1305_state push;
	uint8_t send_key[KEY_SIZE], receive_key[KEY_SIZE], header[STREAM_HEADER], sealed[128];
	unsigned long long sealed_len;
	struct greeting g;
	struct hello theirs;
	size_t len;

	stranger_connect(s, &server);
	hello_init(&g, &mom_id);
	put_chunk(said, g.mine, g.mine_len);
	stranger_write(s, said->data, said->len);
	stranger_wait(s, 4 + strlen(SERVER_HOST) + 7 + 2 * KEY_SIZE);
	CU_ASSERT_FATAL(!s->eof);
	len = (size_t)s->in[2] << 8 | s->in[3];
	CU_ASSERT_FATAL(hello_decode(s->in + 4, len, &theirs) == 0);
	CU_ASSERT_FATAL(hello_keys(&g, &mom_id, server_id.public_key, &theirs, s->in + 4, len, true,
				   send_key, receive_key) == 0);
	crypto_secretstream_xchacha20poly1305_init_push(&push, header, send_key);
	crypto_secretstream_xchacha20poly1305_push(&push, sealed, &sealed_len, (const uint8_t *)proof,
						   sizeof(proof), NULL, 0, 0);
	len = said->len;
	put_chunk(said, header, sizeof(header));
	put_chunk(said, sealed, sealed_len);
	stranger_write(s, said->data + len, said->len - len);
}

static void test_replay(void)
{
	struct stranger s, replay;
	struct buf said;

	pair_init();
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.ups, 1);
	stranger_connect(&replay, &server);
	stranger_write(&replay, said.data, said.len);
	stranger_wait_closed(&replay);
	CU_ASSERT_EQUAL(server.ups, 1);
	CU_ASSERT(daemon_log_has(&server, "it does not have the secret key of the host it names"));
	CU_ASSERT(server.link->is_up(&server.owner.pub, MOM_HOST));
	close(s.fd);
	close(replay.fd);
	buf_fini(&said);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

static void expect_refused(const void *bytes, size_t len)
{
	struct stranger s;

	stranger_connect(&s, &server);
	stranger_write(&s, bytes, len);
	stranger_wait_closed(&s);
	close(s.fd);
	CU_ASSERT_EQUAL(server.parts.links->n_half_open, 0);
}

static void test_garbage(void)
{
	struct greeting g;
	struct identity liar = { .daemon = KEEL_SERVER, .host = "server" };
	struct stranger s;
	struct buf b;

	pair_init();
	server.parts.links->limits.greet_ms = 40;
	expect_refused("GET / HTTP/1.0\r\n\r\n", 18);
	expect_refused("\0\0\0\0", 4);
	expect_refused("\0\0\x10\0", 4);
	expect_refused("\0\0\0\5KEEL\2", 9);
	expect_refused("\0\0\0\7KEEL\1\2\0", 11);
	buf_init(&b);
	hello_init(&g, &liar); /* the role is not that of a mom */
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	buf_reset(&b);
	liar.daemon = KEEL_MOM; /* the name of the server as a host */
	hello_init(&g, &liar);
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	buf_reset(&b);
	hello_init(&g, &mom_id); /* no point of the curve */
	memset(g.mine + 7 + strlen(MOM_HOST), 0, KEY_SIZE);
	put_chunk(&b, g.mine, g.mine_len);
	expect_refused(b.data, b.len);
	/* half a hello, and nothing more */
	stranger_connect(&s, &server);
	stranger_write(&s, b.data, b.len / 2);
	stranger_wait_closed(&s);
	close(s.fd);
	CU_ASSERT_EQUAL(server.ups, 0);
	buf_fini(&b);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

static void test_strangers_do_not_keep_others_out(void)
{
	struct stranger s[12];

	pair_init();
	server.parts.links->limits.half_open = 4;
	for (int i = 0; i < 12; i++)
		stranger_connect(&s[i], &server);
	stranger_wait(&s[0], 1);
	CU_ASSERT(s[0].eof);
	CU_ASSERT(server.parts.links->n_half_open <= 4);
	mom_start();
	wait_counter(&server.ups, 1);
	for (int i = 0; i < 12; i++)
		close(s[i].fd);
	pair_stop();
}

static void test_peer_that_does_not_read(void)
{
	static char block[65536];
	struct stranger s;
	struct buf said;

	pair_init();
	server.parts.links->limits.queue_max = 1 << 20;
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.ups, 1);
	memset(block, 'x', sizeof(block) - 1);
	for (int i = 0; i < 1000 && server.link->is_up(&server.owner.pub, MOM_HOST); i++) {
		send_text(&server, MOM_HOST, block);
		turn_for(0);
	}
	CU_ASSERT(!server.link->is_up(&server.owner.pub, MOM_HOST));
	CU_ASSERT(daemon_log_has(&server, "it does not read"));
	wait_counter(&server.downs, 1);
	close(s.fd);
	buf_fini(&said);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

static void test_silent_peer(void)
{
	struct stranger s;
	struct buf said;

	pair_init();
	server.parts.links->heartbeat_ms = 10;
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.ups, 1);
	wait_counter(&server.downs, 1);
	CU_ASSERT(daemon_log_has(&server, "no sign of life"));
	close(s.fd);
	buf_fini(&said);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

static void test_heartbeat_keeps_a_quiet_link(void)
{
	pair_init();
	server.parts.links->heartbeat_ms = 10;
	mom_start();
	wait_counter(&server.ups, 1);
	turn_for(200);
	CU_ASSERT_EQUAL(server.ups, 1);
	CU_ASSERT(server.link->is_up(&server.owner.pub, MOM_HOST));
	pair_stop();
}

static void test_same_mom_twice(void)
{
	struct stranger first, second;
	struct buf said;

	pair_init();
	server.parts.links->grace_ms = 5000;
	buf_init(&said);
	greet_by_hand(&first, &said);
	wait_counter(&server.ups, 1);
	buf_reset(&said);
	greet_by_hand(&second, &said);
	wait_counter(&server.ups, 2);
	CU_ASSERT_EQUAL(server.downs, 0);
	CU_ASSERT(daemon_log_has(&server, "the same daemon linked again"));
	stranger_wait_closed(&first);
	close(first.fd);
	close(second.fd);
	buf_fini(&said);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

static void test_tampered_bytes(void)
{
	struct stranger s;
	struct buf said;

	pair_init();
	buf_init(&said);
	greet_by_hand(&s, &said);
	wait_counter(&server.ups, 1);
	buf_reset(&said);
	put_chunk(&said, "seventeen bytes, or more of them", 32);
	stranger_write(&s, said.data, said.len);
	stranger_wait_closed(&s);
	CU_ASSERT(daemon_log_has(&server, "bytes that were not sealed by it"));
	close(s.fd);
	buf_fini(&said);
	daemon_stop(&mom);
	daemon_stop(&server);
	world_stop();
}

TESTS_MAIN("links", TEST(test_memory), TEST(test_memory_is_never_deeper), TEST(test_host_named_server),
	   TEST(test_sender_role), TEST(test_tcp), TEST(test_many_and_large), TEST(test_lost_and_found),
	   TEST(test_grace), TEST(test_server_comes_later), TEST(test_messages_of_a_lost_link),
	   TEST(test_cut_again_and_again), TEST(test_mom_not_enrolled), TEST(test_mom_with_another_key),
	   TEST(test_server_with_another_key), TEST(test_role_bound_to_key), TEST(test_key_of_another_host),
	   TEST(test_own_key_checked), TEST(test_replay), TEST(test_garbage),
	   TEST(test_strangers_do_not_keep_others_out), TEST(test_peer_that_does_not_read),
	   TEST(test_silent_peer), TEST(test_heartbeat_keeps_a_quiet_link), TEST(test_same_mom_twice),
	   TEST(test_tampered_bytes))
